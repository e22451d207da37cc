// Bundles the page: one script, one style sheet, the HTML, and the licenses of the bundled packages.
//   node build.mjs [FOLDER]     by default the folder of the Python package
import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2] ?? join(here, "..", "src", "polhode", "web", "built"));
mkdirSync(output, { recursive: true });
// The fingerprint written by hatch_build.py is no longer valid.
rmSync(join(output, "fingerprint.txt"), { force: true });
// The shaders in three.js are strings with indented lines: the tabs mean nothing to GLSL, and weigh some kilobytes.
const unindentShaders = {
  name: "unindent-shaders",
  setup({ onLoad }) {
    onLoad({ filter: /three[\\/]build[\\/]three\.[a-z.]*js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(/(?:\\n)(?:\\t)+/g, "\\n"),
      loader: "js",
    }));
  },
};
await build({
  plugins: [unindentShaders],
  entryPoints: { lab: join(here, "src", "main.ts"), "lab-style": join(here, "src", "style.css") },
  outdir: output,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
copyFileSync(join(here, "src", "page.html"), join(output, "page.html"));
const licenses = ["three", "uplot"].map((name) => {
  const folder = join(here, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(output, "licenses.txt"), licenses.join("\n----\n\n"));
