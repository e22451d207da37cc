import assert from "node:assert/strict";
import { test } from "node:test";
import { LEVELS, quantileBands } from "../src/plots/bands.ts";

/** By definition, with a sort of plain numbers: linear interpolation between ranks, as numpy.quantile. */
function quantile(values: number[], level: number): number {
  const sorted = values.filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
  const place = level * (sorted.length - 1);
  const [below, share] = [Math.trunc(place), place % 1];
  return share === 0 ? sorted[below] : sorted[below] * (1 - share) + sorted[below + 1] * share;
}

test("bands are the quantiles at each time, for each curve, and members that failed do not count", () => {
  const [times, members] = [7, 53];
  const value = (curve: number, member: number, n: number): number =>
    member % 10 === n ? NaN : Math.sin(17 * member * (curve + 1) + n * n) * 10 ** (curve - n);
  const bands = quantileBands(times, members, (m) =>
    [0, 1].map((curve) => Float64Array.from({ length: times }, (_, n) => value(curve, m, n))),
  );
  for (const curve of [0, 1]) {
    for (const [i, level] of LEVELS.entries()) {
      for (let n = 0; n < times; n++) {
        const expected = quantile(Array.from({ length: members }, (_, m) => value(curve, m, n)), level);
        const [found, room] = [bands[curve][i][n], 1e-14 * 10 ** (curve - n)];
        assert.ok(Math.abs(found - expected) <= room, `${found} is not ${expected}`);
      }
    }
  }
});

test("numpy.quantile(range(6), [0.05, 0.25, 0.5, 0.75, 0.95])", () => {
  const [levels] = quantileBands(1, 6, (m) => [Float64Array.of(5 - m)]);
  assert.deepEqual(levels.map(([x]) => x), [0.25, 1.25, 2.5, 3.75, 4.75]);
});

test("where all members have failed there is no band", () => {
  const [levels] = quantileBands(1, 3, () => [Float64Array.of(NaN)]);
  assert.ok(levels.every(([x]) => Number.isNaN(x)));
});
