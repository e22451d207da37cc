// Decodes motion records as the page does, and prints them as JSON for tests/web/test_front_end.py.
//   node read-records.mjs FILE ...
import { build } from "esbuild";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "..", "src");
const output = mkdtempSync(join(tmpdir(), "polhode-front-"));
try {
  const bundle = join(output, "read-records.mjs");
  const contents = ["motion/record", "motion/pose", "plots/euler-angles", "colors"]
    .map((name) => `export * from ${JSON.stringify(join(source, `${name}.ts`))};`)
    .join("\n");
  await build({ stdin: { contents, resolveDir: source }, outfile: bundle, bundle: true, platform: "node", format: "esm" });
  const { decodeRecord, poseAt, anglesOverTime, EULER, YAW_PITCH_ROLL, LIGHT } = await import(pathToFileURL(bundle).href);
  const motions = process.argv.slice(2).map((file) => {
    const bytes = readFileSync(file);
    const record = decodeRecord(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    const { time } = record;
    const halfway = Array.from(time.subarray(1), (t, i) => poseAt(record, 0, (time[i] + t) / 2).quaternion);
    const [angles, yawPitchRoll] = [EULER, YAW_PITCH_ROLL].map((convention) => anglesOverTime(record, 0, convention).angles);
    return { record, halfway, angles, yawPitchRoll };
  });
  // Typed arrays become plain ones; NaN and infinity become null.
  const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
  process.stdout.write(JSON.stringify({ motions, light: LIGHT }, plain));
} finally {
  rmSync(output, { recursive: true, force: true });
}
