// A motion as a table, out of the record that the page has: one row for each output and body.

import type { MotionRecord } from "../motion/record.ts";

/** Whether all numbers have 32 bits only. */
export const isSingle = (record: MotionRecord): boolean =>
  [record.quaternion, record.velocity, record.angularVelocity].every((values) => values.every((x) => Number.isNaN(x) || Math.fround(x) === x));

/** Column names as in Python's export_csv. */
export function csvOf(record: MotionRecord): string {
  const vectors: [string, string, Float64Array, number[]][] = [
    ["position", "m", record.position, record.origin],
    ["velocity", "m_s", record.velocity, [0, 0, 0]],
    ["angular_velocity", "rad_s", record.angularVelocity, [0, 0, 0]],
    ["angular_momentum", "kg_m2_s", record.angularMomentum, [0, 0, 0]],
  ];
  const heads = [
    "time_s",
    ...(record.axis === null ? [] : [record.axis]),
    ...["w", "x", "y", "z"].map((c) => `quaternion_${c}`),
    ...vectors.flatMap(([name, unit]) => ["x", "y", "z"].map((c) => `${name}_${c}_${unit}`)),
  ];
  // Nine digits tell two 32-bit numbers apart; JavaScript's shortest text does that for 64 bits.
  const digits = isSingle(record) ? (x: number): string => String(Number(x.toPrecision(9))) : String;
  const rows = [heads.join()];
  for (let k = 0; k < record.times; k++)
    for (let body = 0; body < record.bodies; body++) {
      const row = k * record.bodies + body;
      const cells = [String(record.time[k]), ...(record.axis === null ? [] : [String(record.members[body])])];
      for (let c = 0; c < 4; c++) cells.push(digits(record.quaternion[4 * row + c]));
      for (const [, , values, origin] of vectors) for (let c = 0; c < 3; c++) cells.push(digits(values[3 * row + c] + origin[c]));
      rows.push(cells.join());
    }
  return `${rows.join("\n")}\n`;
}
