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
// The shaders in three.js are strings.  Those of materials and features that the page does not use are left out, and the
// tabs, which mean nothing to GLSL: together an eighth of the page.
const USED_SHADERS = ["depth", "meshbasic", "meshlambert", "meshphysical", "points", "shadow"];
/** Parts that are added to every shader. */
const USED_CHUNKS = ["colorspace_pars_fragment", "colorspace_fragment", "common"];
const UNUSED_FEATURES =
  /^#if(def USE_| defined\( ?USE_|def )(TRANSMISSION|IRIDESCENCE|CLEARCOAT\w*|ENVMAP\w*|SKINNING|MORPH\w+|DISPLACEMENTMAP|BUMPMAP|NORMALMAP\w*|LIGHTMAP|AOMAP|ALPHAHASH|ALPHAMAP|EMISSIVEMAP|SPECULARMAP|FOG|GRADIENTMAP)\b/;
function trimShaders(source) {
  const strings = new Map([...source.matchAll(/^(?:var|const) ([\w$]+) = ("(?:[^"\\]|\\.)*");$/gm)].map((found) => [found[1], JSON.parse(found[2])]));
  const table = source.match(/^const ShaderChunk = \{([^}]*)\}/m)[1];
  const names = new Map([...table.matchAll(/(\w+): ([\w$]+)/g)].map((found) => [found[1], found[2]]));
  const used = new Set();
  const visit = (name) => {
    const variable = names.get(name);
    if (variable === undefined || used.has(variable)) return;
    const text = strings.get(variable);
    if (UNUSED_FEATURES.test(text) && isOneBlock(text)) return;
    used.add(variable);
    for (const found of text.matchAll(/#include <(\w+)>/g)) visit(found[1]);
  };
  USED_CHUNKS.forEach(visit);
  for (const shader of USED_SHADERS) [`${shader}_vert`, `${shader}_frag`].forEach(visit);
  const chunks = new Set(names.values());
  return source.replaceAll(/^(var|const) ([\w$]+) = "(?:[^"\\]|\\.)*";$/gm, (whole, kind, name) =>
    !chunks.has(name) ? whole : `${kind} ${name} = ${JSON.stringify(used.has(name) ? strings.get(name).replaceAll(/\n\t+/g, "\n") : "")};`,
  );
}
/** Whether the condition of the first line ends with the last one. */
function isOneBlock(text) {
  const lines = text.trim().split("\n").map((line) => line.trim());
  let depth = 0;
  return !lines[0].includes("||") && lines.every((line, k) => {
    depth += Number(/^#if/.test(line)) - Number(line.startsWith("#endif"));
    const isElse = depth === 1 && /^#el/.test(line);
    return !isElse && (depth > 0 || k === lines.length - 1);
  });
}
const shaders = {
  name: "shaders",
  setup({ onLoad }) {
    onLoad({ filter: /three[\\/]build[\\/]three\.module\.js$/ }, ({ path }) => ({
      contents: trimShaders(readFileSync(path, "utf8")),
      loader: "js",
    }));
  },
};
await build({
  plugins: [shaders],
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
