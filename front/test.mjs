// Runs the tests: bundles each tests/*.test.ts for Node, and passes them to Node's test runner.
//   node test.mjs [part of a name ...]     by default all
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(join(here, "tests"))
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (files.length === 0) throw new Error(`no test is named ${wanted.join(" or ")}: see front/tests`);

const output = mkdtempSync(join(tmpdir(), "polhode-front-"));
try {
  await build({
    entryPoints: files.map((name) => join(here, "tests", name)),
    outdir: output,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const bundles = readdirSync(output).map((name) => join(output, name));
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...bundles], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(output, { recursive: true, force: true });
}
