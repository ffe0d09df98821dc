import { SemelError } from "./problem.js";

/**
 * Returns the function that sends a request once, as init says. It follows redirects
 * as far as the key may go, which is within the origin, and throws `redirected` where
 * they leave it.
 */
export function sender(request: Request, init: RequestInit, header: string, go: typeof fetch): () => Promise<Response> {
  const start = new URL(request.url);
  // Who says "error" or "manual" gets that.
  const ours = request.redirect === "follow";
  // Within the page's own origin the browser follows, and can refuse to leave it.
  const home = ours && globalThis.location?.origin === start.origin;
  // Elsewhere it is done by hand where that is possible, which is not in browsers.
  const byHand = ours && !home;
  let { redirect } = request;
  if (byHand) redirect = "manual";
  let answered = 0; // with a redirect

  const send = async () => {
    let next = { ...init, redirect };
    if (home) next.mode = "same-origin";
    let answer = await go(request, next);
    let url = start;
    for (let hops = 0; byHand && answer.status > 300 && answer.headers.has("location"); hops++) {
      url = new URL(answer.headers.get("location")!, url);
      if (url.origin !== start.origin || hops > 19) throw redirected(url);
      if (answer.status < 307) {
        const headers = new Headers(init.headers);
        headers.delete(header);
        next = { ...next, method: "GET", body: null, headers };
      }
      answer = await go(url, next);
    }
    return answer;
  };

  return async () => {
    try {
      let answer = await send();
      if (ours && answer.type === "opaqueredirect") {
        // Thrice, since what follows can be lost too.
        if (!home || ++answered > 2) throw redirected("elsewhere");
        redirect = "follow";
        answer = await send();
      }
      await readWhole(answer);
      return answer;
    } catch (error) {
      // A redirect to another origin looks like a lost answer. The next try, which is
      // made anyway, tells.
      if (home) redirect = "manual";
      throw error;
    }
  };
}

function redirected(to: unknown): SemelError {
  return new SemelError({ code: "redirected", retry: "never", detail: "" + to });
}

/** Reads answers that are no streams, so that one that breaks off is asked for again. */
async function readWhole(answer: Response): Promise<void> {
  const { headers } = answer;
  if (headers.has("content-length") || /[/+]json|html/.test(headers.get("content-type")!)) await answer.clone().arrayBuffer();
}
