import { deliver, type FetchOptions } from "./fetch.js";
import { digest, newKey } from "./key.js";
import { problemOf, replayed } from "./problem.js";
import { shelf } from "./shelf.js";

/** Settings of {@link newIntent}, and the defaults of its requests. */
export interface IntentOptions extends Omit<FetchOptions, "key"> {
  /** Keeps the key over reloads, in the tab's session storage under this name. Default: in memory. */
  name?: string;
}

/**
 * The keys of one thing that a user wants done: the same key for the same content
 * until there is an answer, and a new one after each answer and for other content. So
 * a retry cannot execute twice, and a user who corrects a rejected form is not told
 * for ever that the key was used.
 */
export interface Intent {
  /** The key in use, if there is one. */
  readonly key: string | undefined;
  /**
   * Returns the key under which content is to be sent now. A one-time token of the
   * server takes the place of the keys that would be made here: the same token is the
   * same key, until the server refuses what was sent under it.
   */
  changed(content: string, token?: string | null): string;
  /**
   * Tells what came of a request that was sent with a key (default: the one in use):
   * the response, before its body is read, or the error. Resolves with whether it was
   * an answer, after which there is a new key. No answer is: an error of the network,
   * 401, 429, in-progress and other problems that say same-key, and while the outcome
   * is not known: outcome-unknown, and a status from 500 on that is no replay.
   */
  settled(answer: unknown, key?: string): Promise<boolean>;
  /**
   * Sends a request as {@link idempotentFetch} does, under the intent's key, and
   * settles it. Content is method, address and body; boundaries of FormData do not count.
   */
  fetch(input: string | URL | Request, init?: RequestInit, opts?: Omit<FetchOptions, "key"> & { token?: string | null }): Promise<Response>;
}

/** Returns an intent without a key. Use one per form. */
export function newIntent(defaults: IntentOptions = {}): Intent {
  const kept = shelf(defaults.name);

  const intent: Intent = {
    get key() {
      return kept().k;
    },
    changed(content, token) {
      const c = digest(content);
      let held = kept();
      if (token && held.t !== token) held = kept({ k: token, c, t: token });
      else if (!held.k || held.c !== c) held = kept({ k: newKey(), c, t: token });
      return held.k!;
    },
    async settled(answer, key = intent.key) {
      const done = await isAnswer(answer);
      const { k, t } = kept();
      if (done && k === key && !(t && (answer as Response).ok)) kept({ t });
      return done;
    },
    async fetch(input, init, opts) {
      const { token, ...rest } = { ...defaults, ...opts };
      let key: string | undefined;
      const answer = deliver(input, init, rest, (request, body) => (key = intent.changed(contentOf(request, body), token)));
      const outcome = await answer.catch((error) => error);
      if (key) await intent.settled(outcome, key);
      return answer;
    },
  };
  return intent;
}

/** What counts of a request. Without a boundary nothing is split. */
function contentOf({ method, url, headers }: Request, body: ArrayBuffer): string {
  const boundary = /boundary=(.+)/.exec(headers.get("content-type")!)?.[1];
  return method + url + new TextDecoder("latin1").decode(body).split(boundary!).join();
}

/** Whether an answer or error says what came of the operation. */
async function isAnswer(answer: any): Promise<boolean> {
  if (answer instanceof Response) {
    if (replayed(answer)) return true;
    answer = (await problemOf(answer)) ?? answer;
  }
  const { status, code, retry } = answer || {};
  return status > 0 && status < 500 && status !== 401 && status !== 429 && retry !== "same-key" && code !== "outcome-unknown";
}
