import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { idempotentFetch, replayed, SemelError } from "../src/index.js";
import { answer, cut, lost, problem, quiet, reason, World, type Event } from "./world.js";

const same = "same-key";

// What is asked again, with which wait: half of the bound, since the random number is
// 0.5, on top of what the server asks for.
const again: Record<string, { first: Event; at: number }> = {
  "network error": { first: lost, at: 50 },
  "429": { first: answer(429), at: 50 },
  "503": { first: answer(503), at: 50 },
  "503 with seconds": { first: answer(503, null, { "Retry-After": "3" }), at: 3050 },
  "503 with a date of the server's clock": {
    first: answer(503, null, { "Retry-After": "Wed, 21 Oct 2015 07:28:05 GMT", Date: "Wed, 21 Oct 2015 07:28:00 GMT" }),
    at: 5050,
  },
  "503 with a date and no clock": { first: answer(503, null, { "Retry-After": new Date(1_700_000_004_000).toUTCString() }), at: 4050 },
  "503 with a date that has passed": { first: answer(503, null, { "Retry-After": "Wed, 21 Oct 2015 07:28:05 GMT" }), at: 50 },
  "503 with nonsense": { first: answer(503, null, { "Retry-After": "soon" }), at: 50 },
  "in-progress": { first: problem("in-progress", 409, same, { "Retry-After": "1" }), at: 1050 },
  "incomplete-body": { first: problem("incomplete-body", 400, same), at: 50 },
  overloaded: { first: problem("overloaded", 503, same), at: 50 },
  "upstream-unreachable": { first: problem("upstream-unreachable", 502, same), at: 50 },
  "upstream-no-answer, released": { first: problem("upstream-no-answer", 504, same), at: 50 },
  "an unknown code that says same-key": { first: problem("brand-new", 418, same), at: 50 },
  "an answer cut in its JSON": { first: cut({ "Content-Type": "application/json; charset=utf-8" }), at: 50 },
  "an answer cut in its HTML": { first: cut({ "Content-Type": "text/html" }), at: 50 },
  "an answer cut before its length": { first: cut({ "Content-Length": "100" }), at: 50 },
};

for (const [name, { first, at }] of Object.entries(again)) {
  test(`sent again: ${name}`, async (t) => {
    const world = new World(t, [first, answer(201, "made")]);
    const response = await world.post();
    assert.equal(response.status, 201);
    assert.equal(await response.text(), "made");
    assert.deepEqual(world.times, [0, at]);
    const [one, two] = world.seen;
    assert.ok(one!.key);
    assert.deepEqual([two!.key, two!.body, two!.type, two!.url, two!.method], [one!.key, one!.body, one!.type, one!.url, one!.method]);
  });
}

// The operation's own answers, and replays of whatever status, come back as they are.
const answers: Record<string, Event> = {
  "200": answer(200, "x"),
  "400": answer(400, "x"),
  "401": answer(401, "x"),
  "409 of a service": answer(409, "x", { "Content-Type": "application/json" }),
  "422 of a service": answer(422, "x"),
  "500": answer(500, "x"),
  "502": answer(502, "x"),
  "504": answer(504, "x"),
  "a replayed 429": answer(429, "x", { "Idempotent-Replayed": "true" }),
  "a replayed 503": answer(503, "x", { "Idempotent-Replayed": "true" }),
  "a recorded problem of the service": problem("in-progress", 409, same, { "Idempotent-Replayed": "true" }),
  "JSON that looks like a problem": answer(409, '{"code":"in-progress","retry":"same-key"}', { "Content-Type": "application/json" }),
  "a problem without retry": answer(409, '{"code":"in-progress"}', { "Content-Type": "application/problem+json" }),
  "a problem without code": answer(409, '{"retry":"same-key"}', { "Content-Type": "application/problem+json" }),
  "a problem that is no JSON": answer(409, '{"code":', { "Content-Type": "application/problem+json" }),
  "a problem that is null": answer(409, "null", { "Content-Type": "application/problem+json" }),
};

for (const [name, event] of Object.entries(answers)) {
  test(`returned: ${name}`, async (t) => {
    const world = new World(t, [event]);
    const response = await world.post();
    assert.equal(world.seen.length, 1);
    assert.notEqual(await response.text(), "", "the body can be read");
  });
}

// What the layer says no to is an error, and never asked again.
const refusals = {
  "missing-key": [400, "fix-request"],
  "invalid-key": [400, "fix-request"],
  "no-principal": [401, "fix-request"],
  "key-reused": [422, "fix-request"],
  "outcome-unknown": [409, "never"],
  "upstream-no-answer": [504, "never"],
  "result-unavailable": [409, "never"],
  "duplicate-content": [409, "never"],
  "payload-too-large": [413, "fix-request"],
  "some-day": [400, "new-key"],
} as const;

for (const [code, [status, retry]] of Object.entries(refusals)) {
  test(`refused: ${code}`, async (t) => {
    const world = new World(t, [problem(code, status, retry, { "Retry-After": "2" })]);
    const error = await reason(world.post());
    assert.ok(error instanceof SemelError && error instanceof Error);
    assert.deepEqual(
      { name: error.name, code: error.code, status: error.status, retry: error.retry, detail: error.detail, title: error.title, tries: error.tries },
      { name: "SemelError", code, status, retry, detail: "Detail.", title: "Title", tries: 1 },
    );
    assert.equal(error.retryAfter, 2000);
    assert.equal(error.key, world.seen[0]!.key);
    assert.ok(!error.message.includes(error.key!), "the message tells the key");
  });
}

test("the answer that was not kept: its status is told", async (t) => {
  const body = JSON.stringify({ code: "result-unavailable", retry: "never", original_status: 201 });
  const world = new World(t, [answer(409, body, { "Content-Type": "application/problem+json" })]);
  assert.equal((await reason(world.post())).original_status, 201);
});

test("a replay is told from a first answer", async (t) => {
  const world = new World(t, [answer(201, "x"), answer(201, "x", { "Idempotent-Replayed": "true" })]);
  assert.equal(replayed(await world.post()), false);
  assert.equal(replayed(await world.post()), true);
});

test("the wait doubles up to its bound, and is random below it", async (t) => {
  const world = new World(t, [lost]);
  await reason(world.post({}, { horizon: 14_000 }));
  const waits = world.times.map((at, i) => at - (world.times[i - 1] ?? 0)).slice(1);
  assert.deepEqual(waits, [50, 100, 200, 400, 800, 1600, 2500, 2500, 2500, 2500]);
  const jittered = new World(t, [lost, answer(200)], 0.9);
  await jittered.post({}, { backoff: 1000 });
  assert.deepEqual(jittered.times, [0, 900]);
});

test("no try begins after the horizon; then the error has the key", async (t) => {
  const world = new World(t, [lost]);
  const error = await reason(world.post());
  assert.ok(world.times.at(-1)! < 60_000 && world.times.at(-1)! > 50_000, `the last at ${world.times.at(-1)}`);
  assert.deepEqual([error.code, error.status, error.retry, error.tries], ["no-answer", 0, "same-key", world.seen.length]);
  assert.equal(error.key, world.seen[0]!.key);
  assert.equal(error.cause.message, "fetch failed");
});

test("what cannot be waited for is returned at once", async (t) => {
  const busy = new World(t, [answer(503, "busy", { "Retry-After": "60" })]);
  assert.equal(await (await busy.post()).text(), "busy");
  assert.deepEqual(busy.times, [0]);
  const running = new World(t, [problem("in-progress", 409, same, { "Retry-After": "3600" })]);
  assert.equal((await reason(running.post())).code, "in-progress");
  assert.deepEqual(running.times, [0]);
});

// A laptop that was shut: the timer comes long after the horizon, when the server may
// have forgotten the key.
test("no try begins late because the machine slept", async (t) => {
  const world = new World(t, [lost]);
  const sent = idempotentFetch("https://pay.test/", { method: "POST" }, { fetch: world.fetch });
  await quiet();
  assert.equal(world.seen.length, 1);
  mock.method(Date, "now", () => world.start + 100_000);
  const error = await reason(world.run(sent));
  assert.deepEqual([error.code, world.seen.length], ["no-answer", 1]);
});

test("abort ends the waiting with the caller's reason", async (t) => {
  const world = new World(t, [lost]);
  const stop = new AbortController();
  const sent = reason(idempotentFetch("https://pay.test/", { method: "POST", signal: stop.signal }, { fetch: world.fetch, backoff: 5000 }));
  await quiet();
  assert.equal(world.seen.length, 1);
  stop.abort(new Error("enough"));
  assert.equal((await sent).message, "enough");
  mock.timers.runAll();
  await quiet();
  assert.equal(world.seen.length, 1);
});

test("abort between an answer and the waiting for it ends it too", async (t) => {
  const stop = new AbortController();
  const late: Event = (seen) => {
    stop.abort(new Error("enough"));
    return answer(503, null, { "Retry-After": "30" })(seen);
  };
  const world = new World(t, [late]);
  const sent = idempotentFetch("https://pay.test/", { method: "POST", signal: stop.signal }, { fetch: world.fetch });
  let error: any;
  sent.catch((reason) => (error = reason));
  await quiet();
  assert.deepEqual([error?.message, world.seen.length], ["enough", 1]);
});

test("an aborted request is not sent again", async (t) => {
  const world = new World(t, [answer(200)]);
  const error = await reason(world.post({ signal: AbortSignal.abort() }));
  assert.deepEqual([error.name, world.seen.length], ["AbortError", 0]);
});

test("methods: which have a key, and which are asked again", async (t) => {
  for (const [method, given, sent, tries] of [
    ["POST", undefined, true, 2],
    ["PATCH", undefined, true, 2],
    ["patch", undefined, true, 2],
    ["PUT", undefined, false, 1],
    ["DELETE", undefined, false, 1],
    ["PUT", "mine", true, 2],
    ["DELETE", "mine", true, 2],
    ["GET", "mine", false, 1],
    ["HEAD", "mine", false, 1],
  ] as const) {
    const world = new World(t, [answer(503), answer(200)]);
    const opts = { fetch: world.fetch, ...(given && { key: given }) };
    await world.run(idempotentFetch("https://pay.test/", { method }, opts));
    assert.equal(world.seen.length, tries, method);
    assert.equal(world.seen[0]!.key !== null, sent, method);
    if (sent && given) assert.equal(world.seen[0]!.key, given);
    assert.equal(world.seen[0]!.method, method.toUpperCase());
  }
});

test("the caller's key: in the header, or in the options", async (t) => {
  const world = new World(t, [answer(200)]);
  await world.post({ headers: { "idempotency-key": "mine" } });
  await world.post({}, { key: "ours" });
  await world.post({}, { header: "Cko-Idempotency-Key", key: "theirs" });
  assert.deepEqual(
    world.seen.map((seen) => seen.key),
    ["mine", "ours", null],
  );
  assert.equal(new Headers(world.seen[2]!.init.headers).get("cko-idempotency-key"), "theirs");
});

test("two calls have two keys", async (t) => {
  const world = new World(t, [answer(200)]);
  await world.post();
  await world.post();
  assert.notEqual(world.seen[0]!.key, world.seen[1]!.key);
});

test("a wrong request is refused as by fetch, and not sent", async (t) => {
  const world = new World(t, [answer(200)]);
  assert.ok((await reason(idempotentFetch("no address", { method: "POST" }, { fetch: world.fetch }))) instanceof TypeError);
  assert.equal(world.seen.length, 0);
});

test("what fetch is given beside reaches it", async (t) => {
  const world = new World(t, [answer(200)]);
  await world.post({ credentials: "include", keepalive: true, headers: { "X-CSRF": "c" } });
  const { credentials, keepalive, headers } = world.seen[0]!.init;
  assert.deepEqual([credentials, keepalive, new Headers(headers).get("x-csrf")], ["include", true, "c"]);
});
