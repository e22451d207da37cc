// Runs the glTF validator on files and prints a JSON object of errors and warnings by file.
//   node validate-gltf.mjs FILE...
import { readFileSync } from "node:fs";
import validator from "gltf-validator";

const severities = ["errors", "warnings"];
const reports = {};
for (const file of process.argv.slice(2)) {
  const { issues, info } = await validator.validateBytes(new Uint8Array(readFileSync(file)), { uri: file });
  const found = severities.map((name, severity) => [
    name,
    issues.messages.filter((m) => m.severity === severity).map((m) => `${m.code} at ${m.pointer}: ${m.message}`),
  ]);
  reports[file] = { ...Object.fromEntries(found), truncated: issues.truncated, triangles: info.totalTriangleCount };
}
console.log(JSON.stringify(reports, null, 2));
