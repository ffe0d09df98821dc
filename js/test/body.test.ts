import assert from "node:assert/strict";
import { test } from "node:test";
import { idempotentFetch } from "../src/index.js";
import { answer, lost, World } from "./world.js";

const bodies: Record<string, () => RequestInit> = {
  text: () => ({ body: "ten" }),
  none: () => ({}),
  bytes: () => ({ body: new Uint8Array([0, 255, 10, 13]) }),
  blob: () => ({ body: new Blob(["ten"], { type: "image/png" }) }),
  parameters: () => ({ body: new URLSearchParams({ amount: "10" }) }),
  stream: () => ({ body: new Blob(["a stream"]).stream(), duplex: "half" }) as RequestInit,
  "form data": () => {
    const body = new FormData();
    body.append("amount", "10");
    body.append("file", new File(["\0\xff"], "receipt.pdf"));
    return { body };
  },
};

// Field fault: a client library serialises the form again on each try, with another
// boundary, and the server sees another payload under the same key.
for (const [name, make] of Object.entries(bodies)) {
  test(`each try sends the same bytes: ${name}`, async (t) => {
    const world = new World(t, [lost, answer(503), answer(201)]);
    await world.run(idempotentFetch("https://pay.test/", { method: "POST", ...make() }, { fetch: world.fetch }));
    const [one, ...others] = world.seen;
    assert.equal(others.length, 2);
    for (const other of others) assert.deepEqual([other.body, other.type, other.key], [one!.body, one!.type, one!.key]);
  });
}

test("a form's boundary is the one of its content type", async (t) => {
  const world = new World(t, [answer(201)]);
  await world.run(idempotentFetch("https://pay.test/", { method: "POST", ...bodies["form data"]!() }, { fetch: world.fetch }));
  const { body, type } = world.seen[0]!;
  const read = await new Response(body, { headers: { "Content-Type": type! } }).formData();
  assert.equal(read.get("amount"), "10");
  assert.equal((read.get("file") as File).name, "receipt.pdf");
});

test("a Request is taken as input, with its body", async (t) => {
  const world = new World(t, [lost, answer(201)]);
  const request = new Request("https://pay.test/charges", { method: "POST", body: "ten", headers: { "X-Mine": "1" } });
  await world.run(idempotentFetch(request, undefined, { fetch: world.fetch }));
  assert.deepEqual(
    world.seen.map((seen) => [seen.body, new Headers(seen.init.headers).get("x-mine")]),
    [
      ["ten", "1"],
      ["ten", "1"],
    ],
  );
});
