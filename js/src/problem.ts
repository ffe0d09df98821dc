/** What a client may do, as the member `retry` of a problem says. */
export type Retry = "same-key" | "fix-request" | "new-key" | "never";

/** The facts of a {@link SemelError}: the members of the problem, and these. */
export interface Fault {
  /**
   * A code of docs/problems.md, or one of this client: `no-answer` (the operation may
   * have been executed) and `redirected` (it was answered with a redirect that leads
   * to another origin, where the key must not go).
   */
  code: string;
  /** What may be done. */
  retry: Retry;
  /** What happened, for developers. */
  detail: string;
  /** A name of the problem. */
  title?: string;
  /** The HTTP status, 0 if there was no answer that can be read. */
  status: number;
  /** How long the server asks to wait, in milliseconds; 0 if it did not say. */
  retryAfter: number;
  /** The status of the answer that was not kept, where it is known. */
  original_status?: number;
  /** The key that was sent. Keep it out of logs. */
  key?: string;
  /** How often the request was sent. */
  tries?: number;
}

// Its facts are properties of the error.
export interface SemelError extends Fault {}

/**
 * The operation did not answer: Semel did, or nobody. Act on `code` or `retry`. The
 * operation's own answers, a 422 for instance, are no errors but responses.
 */
export class SemelError extends Error {
  constructor(fault: Partial<Fault>, cause?: unknown) {
    super(fault.code + ": " + fault.detail, { cause });
    Object.assign(this, { name: "SemelError", status: 0, retryAfter: 0 }, fault);
  }
}

/** Reports whether a response is a recorded answer that was sent before. */
export function replayed(response: Response): boolean {
  return response.headers.has("idempotent-replayed");
}

/** Returns the wait that a response asks for, in milliseconds (RFC 9110, section 10.2.3). */
export function retryAfter({ headers }: Response): number {
  const value = headers.get("retry-after") as never as number;
  // A date counts from the server's own, so that the clocks need not agree.
  return value >= 0 ? value * 1e3 : Math.max(0, Date.parse(value as never) - (Date.parse(headers.get("date")!) || Date.now())) || 0;
}

/**
 * Returns the problem that a response is, if the layer itself made it. A recorded
 * answer is the operation's, whatever it looks like. The body can be read afterwards;
 * it must not have been read before.
 */
export async function problemOf(response: Response): Promise<SemelError | undefined> {
  const { status, headers } = response;
  if (status < 400 || replayed(response) || !/problem\+json/i.test(headers.get("content-type")!)) return;
  const copy = response.clone();
  const body = await copy.json().catch(() => {});
  if (body?.code && body.retry) return new SemelError({ ...body, status, retryAfter: retryAfter(response) });
  return;
}
