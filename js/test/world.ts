import { mock, type TestContext } from "node:test";
import { idempotentFetch, type FetchOptions } from "../src/index.js";

/** One try as the server saw it. */
export interface Seen {
  at: number; // milliseconds since the first try
  url: string;
  method: string;
  key: string | null;
  type: string | null;
  body: string;
  init: RequestInit;
}

/** What the network does with a try. */
export type Event = (seen: Seen) => Response | Promise<Response>;

export const lost: Event = () => {
  throw new TypeError("fetch failed");
};

export function answer(status: number, body: BodyInit | null = null, headers: Record<string, string> = {}): Event {
  return () => new Response(body, { status, headers });
}

/** An answer of the layer itself, as semelhttp writes it. */
export function problem(code: string, status: number, retry: string, headers: Record<string, string> = {}): Event {
  const body = JSON.stringify({ type: "t", title: "Title", status, detail: "Detail.", code, retry });
  return answer(status, body, { "Content-Type": "application/problem+json", ...headers });
}

/** An answer whose connection is cut after its headers. */
export function cut(headers: Record<string, string>): Event {
  return () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"half":'));
        controller.error(new TypeError("terminated"));
      },
    });
    return new Response(body, { status: 201, headers });
  };
}

/** A network with a plan: each try is the next event; the last one repeats. */
export class World {
  seen: Seen[] = [];
  start: number;

  constructor(
    t: TestContext,
    private plan: Event[],
    random = 0.5,
  ) {
    mock.timers.reset(); // of the test's last world
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_700_000_000_000 });
    mock.method(Math, "random", () => random);
    t.after(() => {
      mock.timers.reset();
      mock.restoreAll();
    });
    this.start = Date.now();
  }

  fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const seen: Seen = {
      at: Date.now() - this.start,
      url: request.url,
      method: request.method,
      key: request.headers.get("Idempotency-Key"),
      type: request.headers.get("Content-Type"),
      body: await request.text(),
      init,
    };
    this.seen.push(seen);
    return this.plan[Math.min(this.seen.length, this.plan.length) - 1]!(seen);
  };

  post(init: RequestInit = {}, opts: FetchOptions = {}): Promise<Response> {
    return this.run(idempotentFetch("https://pay.test/charges", { method: "POST", body: "ten", ...init }, { fetch: this.fetch, ...opts }));
  }

  /** Lets time pass until the promise has an outcome. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const done = () => {
      over = true;
    };
    promise.then(done, done);
    while (!over) {
      await quiet();
      if (!over) mock.timers.runAll();
    }
    return promise;
  }

  get times(): number[] {
    return this.seen.map((seen) => seen.at);
  }
}

/** Waits until everything that needs no time has happened. */
export async function quiet(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns what a promise rejects with. */
export async function reason(promise: Promise<unknown>): Promise<any> {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  if (!error) throw new Error("there was no error");
  return error;
}
