import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { transform } from "esbuild";
import * as source from "../src/index.js";

// The tests run in js/.
for (const page of ["../docs/client-js.md", "README.md"]) {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```(js|jsx|ts)\n(.*?)^```/gms)];

  test(`${page}: the code is code, and what it imports is there`, async () => {
    assert.ok(blocks.length > 0);
    for (const [, loader, code] of blocks) {
      await transform(code!, { loader: loader as "js" });
      for (const [, names] of code!.matchAll(/import \{([^}]*)\} from "@semel\/client"/g)) {
        for (const name of names!.split(",")) assert.ok(name.trim() in source, `${page} imports ${name}`);
      }
      for (const [, name] of code!.matchAll(/\bsemel\.(\w+)/g)) assert.ok(name! in source, `${page} uses semel.${name}`);
    }
  });
}

test("the documentation names each option, and each export", () => {
  const page = readFileSync("../docs/client-js.md", "utf8");
  const declared = ["fetch", "intent", "form"].flatMap((file) => {
    const text = readFileSync(`src/${file}.ts`, "utf8");
    return [...text.matchAll(/interface \w*(?:Options|Words)[^{]*\{(.*?)^\}/gms)].flatMap(([, body]) => [...body!.matchAll(/^  (\w+)\??:/gm)].map(([, name]) => name!));
  });
  assert.ok(declared.length > 12);
  for (const name of [...declared, ...Object.keys(source)]) assert.match(page, new RegExp(`\`[^\`]*\\b${name}\\b`), `${name} is not in docs/client-js.md`);
});
