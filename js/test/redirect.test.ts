import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { idempotentFetch } from "../src/index.js";
import { answer, lost, reason, World, type Event } from "./world.js";

interface Request {
  line: string;
  key: string | undefined;
  body: string;
}

/** A server that redirects as told: the path /307/x leads to x with 307. */
async function server(t: TestContext): Promise<{ url: string; seen: Request[] }> {
  const seen: Request[] = [];
  const read = async (r: IncomingMessage) => {
    let body = "";
    for await (const chunk of r) body += chunk;
    seen.push({ line: `${r.method} ${r.url}`, key: r.headers["idempotency-key"] as string | undefined, body });
  };
  const http = createServer(async (r, w) => {
    await read(r);
    const [, status, to] = /^\/(30\d)\/(.*)$/.exec(decodeURIComponent(r.url!)) ?? [];
    if (status) w.writeHead(+status, { Location: to === "loop" ? r.url! : to! }).end();
    else w.end("here");
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}

const post = { method: "POST", body: "ten" };
const quick = { horizon: 1, key: "mine" };

test("307 and 308 keep key and body within the origin", async (t) => {
  const { url, seen } = await server(t);
  const response = await idempotentFetch(`${url}/307//308//end`, post, quick);
  assert.equal(await response.text(), "here");
  assert.deepEqual(seen, [
    { line: "POST /307//308//end", key: "mine", body: "ten" },
    { line: "POST /308//end", key: "mine", body: "ten" },
    { line: "POST /end", key: "mine", body: "ten" },
  ]);
});

for (const status of [301, 302, 303]) {
  test(`${status} becomes a GET without a key`, async (t) => {
    const { url, seen } = await server(t);
    await idempotentFetch(`${url}/${status}//end`, post, quick);
    assert.deepEqual(seen[1], { line: "GET /end", key: undefined, body: "" });
  });
}

// HTTP rules: the key never goes to another origin, nor does what it guards.
for (const status of [301, 303, 307, 308]) {
  test(`${status} to another origin is not followed`, async (t) => {
    const [here, there] = [await server(t), await server(t)];
    const error = await reason(idempotentFetch(`${here.url}/${status}/${encodeURIComponent(there.url)}`, post, { ...quick, horizon: 5000 }));
    assert.deepEqual([error.code, error.retry, error.key, error.tries], ["redirected", "never", "mine", 1]);
    assert.match(error.detail, new RegExp(there.url));
    assert.deepEqual([here.seen.length, there.seen.length], [1, 0]);
  });
}

test("the signal of a Request counts behind a redirect, too", async () => {
  const stop = new AbortController();
  const inits: (RequestInit | undefined)[] = [];
  const twice: typeof fetch = async (_, init) => {
    inits.push(init);
    return new Response(null, inits.length === 1 ? { status: 307, headers: { Location: "/end" } } : {});
  };
  await idempotentFetch(new Request("https://pay.test/", { ...post, signal: stop.signal }), undefined, { ...quick, fetch: twice });
  stop.abort();
  assert.deepEqual(
    inits.map((init) => init?.signal?.aborted),
    [true, true],
  );
});

test("a loop ends", async (t) => {
  const { url, seen } = await server(t);
  assert.equal((await reason(idempotentFetch(`${url}/307/loop`, post, quick))).code, "redirected");
  assert.equal(seen.length, 21);
});

test("who asks for the redirect itself gets it", async (t) => {
  const { url, seen } = await server(t);
  const response = await idempotentFetch(`${url}/303//end`, { ...post, redirect: "manual" }, quick);
  assert.deepEqual([response.status, response.headers.get("location"), seen.length], [303, "/end", 1]);
});

/** A page of an origin, as far as fetch is concerned. */
function page(t: TestContext, origin: string) {
  Object.defineProperty(globalThis, "location", { value: { origin }, configurable: true });
  t.after(() => delete (globalThis as { location?: unknown }).location);
}

/** What a browser makes of a redirect, by what it was told. */
function browser(leaves: boolean): Event {
  return ({ init }) => {
    if (init.redirect === "manual") return Object.defineProperty(new Response(), "type", { value: "opaqueredirect" });
    if (leaves) throw new TypeError("Failed to fetch");
    return new Response("here");
  };
}

const modes = (world: World) => world.seen.map(({ init }) => `${init.mode ?? "-"} ${init.redirect}`);

test("a page's own origin: the browser is told not to leave it", async (t) => {
  page(t, "https://pay.test");
  const world = new World(t, [browser(false)]);
  assert.equal(await (await world.post()).text(), "here");
  assert.deepEqual(modes(world), ["same-origin follow"]);
});

test("a lost redirect within the origin is followed in the end", async (t) => {
  page(t, "https://pay.test");
  const world = new World(t, [lost, browser(false)]);
  assert.equal(await (await world.post()).text(), "here");
  assert.deepEqual(modes(world), ["same-origin follow", "same-origin manual", "same-origin follow"]);
  assert.equal(new Set(world.seen.map((seen) => seen.key)).size, 1);
});

test("a redirect out of the origin is told from a lost answer", async (t) => {
  page(t, "https://pay.test");
  const world = new World(t, [browser(true)]);
  const error = await reason(world.post());
  assert.deepEqual([error.code, error.status, world.seen.length], ["redirected", 0, 6]);
});

test("a redirect within the origin that is lost again is followed in the end", async (t) => {
  page(t, "https://pay.test");
  const world = new World(t, [lost, browser(false), lost, browser(false)]);
  assert.equal(await (await world.post()).text(), "here");
});

test("a lost answer is no redirect", async (t) => {
  page(t, "https://pay.test");
  const world = new World(t, [lost, lost, answer(201)]);
  assert.equal((await world.post()).status, 201);
});

test("another origin's redirect is not followed, since nobody can see where it leads", async (t) => {
  page(t, "https://shop.test");
  const world = new World(t, [browser(false)]);
  const error = await reason(world.post());
  assert.deepEqual([error.code, modes(world)], ["redirected", ["- manual"]]);
});
