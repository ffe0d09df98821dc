// Builds dist/: the ES module (readable and minified), the script-tag build, and with
// the argument "tests" the tests. It fails if the minified module is too large.
import { build } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

// Bytes of the minified ES module after gzip: less than 3 kB.
const LIMIT = 3000;

const shared = { bundle: true, target: "es2022", logLevel: "warning" };
const library = { ...shared, entryPoints: ["src/index.ts"], sourcemap: true };

async function buildLibrary() {
  await Promise.all([
    build({ ...library, format: "esm", outfile: "dist/semel.js" }),
    build({ ...library, format: "esm", minify: true, outfile: "dist/semel.min.js" }),
    build({ ...library, format: "iife", minify: true, globalName: "semel", outfile: "dist/semel.global.js" }),
  ]);
  const code = readFileSync("dist/semel.min.js", "utf8").replace(/\/\/# sourceMappingURL=.*\n$/, "");
  const size = gzipSync(code, { level: 9 }).length;
  console.log(`@semel/client: ${size} bytes gzipped (minified ES module; the limit is ${LIMIT})`);
  if (size >= LIMIT) throw new Error(`the bundle is too large by ${size - LIMIT + 1} bytes`);
}

async function buildTests() {
  await build({
    ...shared,
    entryPoints: readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`),
    format: "esm",
    platform: "node",
    external: ["@semel/client*", "esbuild"],
    sourcemap: "inline",
    outdir: "dist/test",
  });
}

try {
  await (process.argv[2] === "tests" ? buildTests() : buildLibrary());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
