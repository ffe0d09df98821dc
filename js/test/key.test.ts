import assert from "node:assert/strict";
import { test } from "node:test";
import { newKey } from "../src/index.js";
import { digest } from "../src/key.js";

test("a key is a random UUID of version 4", () => {
  const keys = Array.from({ length: 1000 }, newKey);
  for (const key of keys) assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(keys).size, keys.length);
});

test("each digit of a key takes each value", () => {
  const keys = Array.from({ length: 1000 }, newKey);
  for (const [place, digit] of [...keys[0]!].entries()) {
    if (/[-]/.test(digit) || place === 14 || place === 19) continue;
    assert.equal(new Set(keys.map((key) => key[place])).size, 16, `place ${place}`);
  }
});

// Pages without TLS have no crypto.randomUUID and no crypto.subtle.
test("a key needs no secure context", (t) => {
  const real = globalThis.crypto;
  t.after(() => Object.defineProperty(globalThis, "crypto", { value: real, configurable: true }));
  Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: real.getRandomValues.bind(real) }, configurable: true });
  assert.equal(newKey().length, 36);
});

test("near contents have other digests", () => {
  const contents = ["", "0", "a", "b", "ab", "ba", "aab", "Aa", "BB", "amount=10", "amount=11", "amount=100", "é", "e\u0301", "日", "本", "\0", "\0\0"];
  for (let n = 0; n < 20_000; n++) contents.push(`amount=${n}&item=tea`);
  assert.equal(new Set(contents.map(digest)).size, contents.length);
});
