import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import * as source from "../src/index.js";

const names = Object.keys(source).sort();

test("the package exports what the source does", async () => {
  assert.deepEqual(Object.keys(await import("@semel/client")).sort(), names);
  assert.deepEqual(Object.keys(await import("@semel/client/min")).sort(), names);
});

test("the script-tag build makes one global", () => {
  const page: Record<string, any> = {};
  runInNewContext(readFileSync("dist/semel.global.js", "utf8"), page);
  assert.deepEqual(Object.keys(page), ["semel"]);
  assert.deepEqual(Object.keys(page.semel).sort(), names);
});

test("nothing is needed at run time", () => {
  const { dependencies, peerDependencies, sideEffects } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.deepEqual([dependencies, peerDependencies, sideEffects], [undefined, undefined, false]);
  assert.doesNotMatch(readFileSync("dist/semel.js", "utf8"), /\b(import|require)\s*\(|^import /m);
});
