import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { newIntent, SemelError, type Intent } from "../src/index.js";
import { answer, lost, problem, World, type Event } from "./world.js";

const replay = { "Idempotent-Replayed": "true" };

// The table of the Go client's Intent, entry by entry.
const keeps: Record<string, Event> = {
  "no answer": lost,
  "401": answer(401),
  "429": answer(429),
  "500": answer(500),
  "501": answer(501),
  "502": answer(502),
  "503": answer(503),
  "504": answer(504),
  "in-progress": problem("in-progress", 409, "same-key"),
  "no-principal": problem("no-principal", 401, "fix-request"),
  "store-unavailable": problem("store-unavailable", 503, "same-key"),
  "upstream-unreachable": problem("upstream-unreachable", 502, "same-key"),
  "outcome-unknown": problem("outcome-unknown", 409, "never"),
  "upstream-no-answer": problem("upstream-no-answer", 504, "never"),
  "an unknown 500": problem("unknown", 500, "never"),
};
const renews: Record<string, Event> = {
  "200": answer(200),
  "303": answer(303),
  "400": answer(400),
  "402": answer(402),
  "409": answer(409),
  "422": answer(422),
  "recorded 500": answer(500, null, replay),
  "recorded 502": answer(502, null, replay),
  "recorded 503": answer(503, null, replay),
  "recorded 429": answer(429, null, replay),
  "key-reused": problem("key-reused", 422, "fix-request"),
  "invalid-key": problem("invalid-key", 400, "fix-request"),
  "result-unavailable": problem("result-unavailable", 409, "never"),
};

for (const [same, table] of [
  [true, keeps],
  [false, renews],
] as const) {
  for (const [name, event] of Object.entries(table)) {
    test(`the key ${same ? "stays" : "is new"} after ${name}`, async (t) => {
      const world = new World(t, [event]);
      const intent = newIntent({ fetch: world.fetch, horizon: 1 });
      for (let i = 0; i < 2; i++) await submit(world, intent).catch(() => {});
      const [one, two] = world.seen;
      assert.ok(one!.key);
      assert.equal(one!.key === two!.key, same);
    });

    test(`told by hand: the key ${same ? "stays" : "is new"} after ${name}`, async () => {
      const intent = newIntent();
      const key = intent.changed("ten");
      let outcome: unknown;
      try {
        outcome = await event(undefined as never);
      } catch (error) {
        outcome = error;
      }
      assert.equal(await intent.settled(outcome), !same);
      assert.equal(intent.changed("ten") === key, same);
      if (outcome instanceof Response) await outcome.text(); // it can be read
    });
  }
}

function submit(world: World, intent: Intent, body: BodyInit = "ten", init: RequestInit = {}, url = "https://pay.test/charges") {
  return world.run(intent.fetch(url, { method: "POST", body, ...init }));
}

// Field fault: a user corrects a rejected form and meets 422 for ever.
test("other content, another address or another method is another intent", async (t) => {
  const world = new World(t, [lost]);
  const intent = newIntent({ fetch: world.fetch, horizon: 1 });
  const sends: [string, RequestInit, string?][] = [
    ["ten", {}],
    ["eleven", {}],
    ["eleven", {}, "https://pay.test/charges?x=1"],
    ["eleven", { method: "PUT" }, "https://pay.test/charges?x=1"],
  ];
  for (const [body, init, url] of sends) {
    await submit(world, intent, body, init, url).catch(() => {});
    await submit(world, intent, body, init, url).catch(() => {});
  }
  const keys = world.seen.map((seen) => seen.key);
  for (let i = 0; i < keys.length; i += 2) assert.equal(keys[i], keys[i + 1], `send ${i}`);
  assert.equal(new Set(keys).size, sends.length);
});

test("the boundary of a form is no content", async (t) => {
  const world = new World(t, [lost]);
  const intent = newIntent({ fetch: world.fetch, horizon: 1 });
  const form = (amount: string) => {
    const data = new FormData();
    data.append("amount", amount);
    data.append("file", new File(["\0\xfe"], "receipt.pdf"));
    return data;
  };
  for (const amount of ["10", "10", "11"]) await submit(world, intent, form(amount)).catch(() => {});
  const [one, two, three] = world.seen;
  assert.notEqual(one!.type, two!.type, "the boundaries are the same: this test shows nothing");
  assert.equal(one!.key, two!.key);
  assert.notEqual(two!.key, three!.key);
});

test("bytes that are no text count", async (t) => {
  const world = new World(t, [lost]);
  const intent = newIntent({ fetch: world.fetch, horizon: 1 });
  for (const byte of [0x80, 0x81, 0xfe, 0xff]) await submit(world, intent, new Uint8Array([byte])).catch(() => {});
  assert.equal(new Set(world.seen.map((seen) => seen.key)).size, 4);
});

test("a double click is one intent", async (t) => {
  const world = new World(t, [answer(201)]);
  const intent = newIntent({ fetch: world.fetch });
  await Promise.all(Array.from({ length: 20 }, () => submit(world, intent)));
  assert.deepEqual([world.seen.length, new Set(world.seen.map((seen) => seen.key)).size], [20, 1]);
  await submit(world, intent);
  assert.notEqual(world.seen.at(-1)!.key, world.seen[0]!.key);
});

test("a late answer does not touch the key of what has changed since", async () => {
  const intent = newIntent();
  const old = intent.changed("ten");
  const current = intent.changed("eleven");
  assert.equal(await intent.settled(new Response(null, { status: 201 }), old), true);
  assert.equal(intent.changed("eleven"), current);
});

test("the key can be read while it is in use", async () => {
  const intent = newIntent();
  assert.equal(intent.key, undefined);
  assert.equal(intent.changed("ten"), intent.key);
  await intent.settled(new Response());
  assert.equal(intent.key, undefined);
});

test("reads pass, and leave the key alone", async (t) => {
  const world = new World(t, [answer(200)]);
  const intent = newIntent({ fetch: world.fetch });
  const key = intent.changed("ten");
  await world.run(intent.fetch("https://pay.test/"));
  assert.deepEqual([world.seen[0]!.key, intent.key], [null, key]);
});

test("what is no error is no answer", async () => {
  const intent = newIntent();
  const key = intent.changed("ten");
  for (const outcome of [undefined, null, "lost", new DOMException("stopped", "AbortError")]) assert.equal(await intent.settled(outcome), false);
  assert.equal(intent.key, key);
});

test("PUT and DELETE of an intent have its key", async (t) => {
  const world = new World(t, [answer(200)]);
  const intent = newIntent({ fetch: world.fetch });
  for (const method of ["PUT", "DELETE"]) await world.run(intent.fetch("https://pay.test/", { method }));
  for (const seen of world.seen) assert.ok(seen.key);
});

test("the error of the layer reaches the caller", async (t) => {
  const world = new World(t, [problem("outcome-unknown", 409, "never")]);
  await assert.rejects(submit(world, newIntent({ fetch: world.fetch })), (error) => error instanceof SemelError && error.code === "outcome-unknown");
});

// A token is one time's: a success stays its answer, and what was refused may be corrected.
test("a token of the server is the key until what it was sent with is refused", async (t) => {
  const world = new World(t, [lost, answer(422), lost, answer(201), answer(201, null, replay), answer(201)]);
  const intent = newIntent({ fetch: world.fetch, horizon: 1 });
  const send = (body: string, token: string) => world.run(intent.fetch("https://pay.test/", { method: "POST", body }, { token })).catch(() => {});
  await send("ten", "token-1"); // no answer
  await send("ten", "token-1"); // 422
  await send("eleven", "token-1"); // no answer
  await send("eleven", "token-1"); // 201
  await send("ten", "token-2"); // 201
  await send("ten", "token-2");
  const [a, b, c, d, e, f] = world.seen.map((seen) => seen.key);
  assert.deepEqual([a, b, e, f], ["token-1", "token-1", "token-2", "token-2"]);
  assert.equal(c, d);
  assert.ok(c !== a && c);
});

test("two tabs with one token have one key", () => {
  assert.equal(newIntent().changed("ten", "token"), newIntent().changed("ten", "token"));
});

/** The session storage of a tab. */
function storage(t: TestContext, value: object = {}) {
  Object.defineProperty(globalThis, "sessionStorage", { value, configurable: true });
  t.after(() => delete (globalThis as { sessionStorage?: unknown }).sessionStorage);
  return value as Record<string, string>;
}

test("under a name the key is kept over a reload, and its content is not", (t) => {
  const kept = storage(t);
  const key = newIntent({ name: "pay" }).changed("card=4111");
  assert.equal(newIntent({ name: "pay" }).changed("card=4111"), key);
  assert.notEqual(newIntent({ name: "other" }).changed("card=4111"), key);
  assert.ok(!JSON.stringify(kept).includes("4111"));
});

test("an answer ends the kept key too", async (t) => {
  storage(t);
  const intent = newIntent({ name: "pay" });
  const key = intent.changed("ten");
  await intent.settled(new Response());
  assert.notEqual(newIntent({ name: "pay" }).changed("ten"), key);
});

for (const [name, box] of Object.entries({
  "there is none": undefined,
  "it is forbidden": new Proxy({}, { get: forbid, set: forbid }),
  "it is full": new Proxy({}, { set: forbid }),
  "it holds nonsense": { "semel:pay": "{" },
})) {
  test(`without session storage the key is kept in memory: ${name}`, async (t) => {
    if (box) storage(t, box);
    const intent = newIntent({ name: "pay" });
    const key = intent.changed("ten");
    assert.equal(intent.changed("ten"), key);
    await intent.settled(new Response());
    assert.notEqual(intent.changed("ten"), key);
  });
}

function forbid(): never {
  throw new DOMException("denied", "SecurityError");
}
