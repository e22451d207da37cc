// Bundles the page: one script, one sheet of styles, the page's skeleton, and the licences of what is inside.
//   node build.mjs [FOLDER]     by default the folder of the Python package that serves it
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const place = resolve(process.argv[2] ?? join(here, "..", "src", "polhode", "web", "built"));
mkdirSync(place, { recursive: true });
// What hatch_build.py says about the sources of the files there holds no more.
rmSync(join(place, "made-of.txt"), { force: true });
await build({
  entryPoints: { lab: join(here, "src", "main.ts"), "lab-style": join(here, "src", "style.css") },
  outdir: place,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
copyFileSync(join(here, "src", "page.html"), join(place, "page.html"));
const inside = ["three", "uplot"].map((name) => {
  const folder = join(here, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(place, "licences.txt"), inside.join("\n----\n\n"));
