import { newKey } from "./key.js";
import { problemOf, replayed, retryAfter, SemelError } from "./problem.js";
import { sender } from "./send.js";

/** Settings of {@link idempotentFetch}. Times are in milliseconds. */
export interface FetchOptions {
  /** The key of the operation. Default: the one in the request's header, else a new one. */
  key?: string;
  /** The header that carries the key. Default `Idempotency-Key`. */
  header?: string;
  /** For how long after the first try another may begin; keep it below the server's retention. Default 60000. */
  horizon?: number;
  /** Bounds the random wait after the first try; it doubles with each. Default 100. */
  backoff?: number;
  /** Bounds the random wait. Default 5000. */
  maxBackoff?: number;
  /** Sends one try. Default the global fetch. */
  fetch?: typeof fetch;
}

/**
 * Does what fetch does, and sends a POST or PATCH (with a key of yours also a PUT or
 * DELETE) with one key and the same bytes again while there is no answer: after a
 * network error, a cut answer, 429, 503, and a problem whose `retry` is `same-key`,
 * such as in-progress. It waits for Retry-After and a random time on top.
 *
 * It resolves with the operation's own answers, whatever their status; {@link replayed}
 * tells a replay from a first answer. It rejects with a {@link SemelError} for answers
 * of the layer itself and if there was none, and as fetch does if the request is wrong
 * or aborted.
 *
 * Redirects are followed within the origin only: the key goes to no other.
 */
export const idempotentFetch: (input: string | URL | Request, init?: RequestInit, opts?: FetchOptions) => Promise<Response> = deliver;

/** Is {@link idempotentFetch}; with keyOf, which makes the key if there is none, for PUT and DELETE too. */
export async function deliver(
  input: string | URL | Request,
  init?: RequestInit,
  opts: FetchOptions = {},
  keyOf?: (request: Request, body: ArrayBuffer) => string,
): Promise<Response> {
  const { header = "idempotency-key", horizon = 6e4, backoff = 100, maxBackoff = 5e3, fetch: go = fetch } = opts;
  const request = new Request(input, init);
  const { signal } = request;
  const method = request.method.toUpperCase(); // fetch leaves patch as it is
  const headers = new Headers(request.headers);
  let key = opts.key || headers.get(header);
  if (!/^P(OST|ATCH)$/.test(method) && !((key || keyOf) && /^(PUT|DELETE)$/.test(method))) return go(request);

  // Once, for all tries: FormData would have another boundary each time.
  const body = await request.arrayBuffer();
  headers.set(header, (key ||= (keyOf ?? newKey)(request, body)));
  const send = sender(request, { ...init, method, headers, body, signal }, header, go);
  const until = Date.now() + horizon;
  for (let tries = 1; ; tries++) {
    let answer: Response | undefined;
    let fault: any;
    try {
      answer = await send();
      fault = await problemOf(answer);
    } catch (error) {
      fault = error;
    }
    signal.throwIfAborted();
    const wait = (answer ? retryAfter(answer) : 0) + Math.random() * Math.min(maxBackoff, backoff * 2 ** (tries - 1));
    if ((fault?.retry ? fault.retry === "same-key" : isBusy(answer)) && Date.now() + wait < until) {
      await pause(wait, signal);
      // A machine that slept wakes up late.
      if (Date.now() < until) continue;
    }
    if (answer && !fault) return answer;
    throw Object.assign(fault?.retry ? fault : new SemelError({ code: "no-answer", retry: "same-key", detail: "it may be done" }, fault), { key, tries });
  }
}

/** Whether an answer of the operation's own, if any, says to come again. */
function isBusy(answer: Response | undefined): boolean {
  return !answer || (/429|503/.test("" + answer.status) && !replayed(answer));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.onabort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
  });
}
