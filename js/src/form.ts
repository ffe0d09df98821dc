import { faceOf } from "./face.js";
import { newIntent, type IntentOptions } from "./intent.js";
import type { SemelError } from "./problem.js";

declare global {
  // Empty in programs for Node.js alone, whose types do not know of it.
  interface HTMLFormElement {}
}

/** What the status line of a form says. */
export interface Words {
  /** While the request is under way. */
  busy: string;
  /** After an answer from 200 to 399. */
  done: string;
  /** After another answer. */
  refused: string;
  /** While the outcome is not known. */
  unsure: string;
}

/** Settings of {@link submitOnce}. */
export interface SubmitOptions extends IntentOptions {
  /**
   * Lets the browser submit the form, with the key in a field of its own. Default
   * false: a script sends it, retries, and sees the answer.
   */
  native?: boolean;
  /** The name of that field. Default `idempotency_key`. */
  field?: string;
  /** The name of the form's field with a one-time token of the server. Default `form_token`. */
  token?: string;
  /** Beside method and body, for `fetch`: headers, credentials. */
  init?: RequestInit;
  /** What the status line says; each text has an English default. */
  words?: Partial<Words>;
  /** Gets the operation's answer, whatever its status. Default: after a redirect within the origin the page goes there. */
  onAnswer?: (response: Response) => void | Promise<void>;
  /** Gets a {@link SemelError}, or what fetch threw. */
  onError?: (error: unknown) => void;
}

// Milliseconds. A form is busy for longer than a double click, however fast the answer
// comes; and it is usable again if the page that it leads to does not come.
const REST = 1e3;
const LEAVE = 1e4;

const ENGLISH: Words = {
  busy: "Sending...",
  done: "Done.",
  refused: "Refused.",
  unsure: "No answer yet. Sending again is safe.",
};

/**
 * Makes a POST form submit each thing that the user means once. While a submission is
 * under way a second one is prevented, the form's submit buttons are disabled and the
 * form is aria-busy; a status line (its element with role=status, or one that is
 * added) tells what happens. Each submission has the key of its {@link newIntent},
 * kept over reloads under the form's name.
 *
 * Call it once per form, after other submit listeners. It returns a function that
 * undoes it. form.submit() raises no event and goes past it; use form.requestSubmit().
 */
export function submitOnce(form: HTMLFormElement, opts: SubmitOptions = {}): () => void {
  const { native, field = "idempotency_key", token = "form_token", words, onAnswer, onError, init, ...rest } = opts;
  const intent = newIntent({ name: nameOf(form), ...rest });
  const say = { ...ENGLISH, ...words };
  const face = faceOf(form);
  const off = new AbortController();
  let key = ""; // of the native submission under way

  const send = async (url: string, body: BodyInit, secret: string | null) => {
    let free = Date.now() + REST;
    face.hold(say.busy);
    try {
      const answer = await intent.fetch(url, { ...init, method: "POST", body }, { token: secret });
      face.say(answer.status < 400 ? say.done : answer.status > 499 && intent.key ? say.unsure : say.refused);
      if (onAnswer) await onAnswer(answer);
      else if (answer.redirected) {
        free += LEAVE;
        location.assign(answer.url);
      }
    } catch (error) {
      face.say(intent.key ? say.unsure : (error as SemelError).detail);
      onError?.(error);
    } finally {
      face.end(free - Date.now());
    }
  };

  const submit = (event: SubmitEvent) => {
    const attribute = (name: string) => event.submitter?.getAttribute("form" + name) ?? form.getAttribute(name);
    if (face.busy()) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    if (event.defaultPrevented || !/^post$/i.test(attribute("method")!)) return;
    const url = attribute("action") || location.href;
    const data = new FormData(form, event.submitter);
    const secret = data.get(token) as string | null;
    if (native) {
      key = intent.changed(JSON.stringify([url, ...data], describe), secret);
      face.hold(say.busy);
      setTimeout(() => {
        key = "";
        face.end(event.defaultPrevented ? 0 : LEAVE, "");
      });
      return;
    }
    event.preventDefault();
    void send(url, /^multi/i.test(attribute("enctype")!) ? data : new URLSearchParams(data as never), secret);
  };

  form.addEventListener("submit", submit, off);
  // The browser's, and those of listeners that look at the form in between.
  form.addEventListener("formdata", ({ formData }) => key && formData.set(field, key), off);
  // Back from the page that the form led to, which the browser has kept as it was.
  addEventListener("pageshow", (event) => event.persisted && face.end(0, ""), off);
  return () => {
    off.abort();
    face.end();
  };
}

/** What the form is called in the tab's storage. A field called id would hide the property. */
function nameOf(form: HTMLFormElement): string {
  return location.href.split("#")[0] + "#" + (form.getAttribute("id") ?? [...document.forms].indexOf(form));
}

/** Of files, what can be told without reading them. */
function describe(_: string, value: unknown): unknown {
  return value instanceof File ? [value.name, value.size, value.lastModified] : value;
}
