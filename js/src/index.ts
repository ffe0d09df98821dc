/**
 * One key per intent, from the user's click to the server: forms that submit once,
 * and fetch that retries with the same key and the same bytes.
 *
 *     import { submitOnce } from "@semel/client";
 *     submitOnce(document.querySelector("form"));
 *
 * @packageDocumentation
 */
export { idempotentFetch, type FetchOptions } from "./fetch.js";
export { submitOnce, type SubmitOptions, type Words } from "./form.js";
export { newIntent, type Intent, type IntentOptions } from "./intent.js";
export { newKey } from "./key.js";
export { replayed, SemelError, type Fault, type Retry } from "./problem.js";
export { answered } from "./shelf.js";
