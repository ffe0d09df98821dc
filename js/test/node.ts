// A program for Node.js without the types of browsers, as its author writes it: the
// types of the package are all that it needs, and are checked as strictly.
import { idempotentFetch, newIntent, newKey, replayed, SemelError, type FetchOptions, type Intent } from "@semel/client";

const options: FetchOptions = { key: newKey(), fetch };
const intent: Intent = newIntent({ name: "order" });

export async function order(url: URL): Promise<string> {
  try {
    const answer = await idempotentFetch(new Request(url, { method: "POST", body: "tea" }), { headers: { "X-Shop": "1" } }, options);
    await intent.fetch("https://pay.test/", { method: "POST" });
    return replayed(answer) ? "again" : await answer.text();
  } catch (error) {
    if (error instanceof SemelError && error.retry === "same-key") return error.key ?? "";
    throw error;
  }
}
