import assert from "node:assert/strict";
import { test } from "node:test";
import { decimalsFor, formatDrift, fixed, powerFor, powerOfTen, tick, unitWith } from "../src/plots/number-format.ts";
import { rangeOf, ticksWithin } from "../src/plots/ranges.ts";
import { TimeRange } from "../src/plots/time-range.ts";

test("powers of ten in steps of three, none for readable numbers", () => {
  assert.deepEqual([0.01, 1, 9999, 1e4, 0.009, 5e-47, 0, NaN].map(powerFor), [0, 0, 0, 3, -3, -48, 0, 0]);
  assert.equal(unitWith(-12, "J"), "10⁻¹² J");
  assert.equal(powerOfTen(3), "10³");
});

test("four figures for the largest, three below 1, and no negative zero", () => {
  assert.deepEqual([1234, 12.3, 1, 0.02].map(decimalsFor), [0, 2, 3, 4]);
  assert.deepEqual([fixed(-1.2345, 2), fixed(-0.001, 2), fixed(NaN, 2)], ["−1.23", "0.00", "–"]);
  assert.deepEqual([formatDrift(2.22e-16), formatDrift(0), formatDrift(NaN)], ["2.2 × 10⁻¹⁶", "0", "–"]);
});

test("ticks are round, within range, and formatted alike", () => {
  const ticks = ticksWithin(-0.31, 0.52, 5);
  assert.deepEqual(ticks.map((x) => tick(x, ticks[1] - ticks[0])), ["−0.2", "0", "0.2", "0.4"]);
  assert.deepEqual(ticksWithin(-17, -10, 4, 1), [-16, -14, -12, -10]);
  assert.deepEqual(ticksWithin(1, 1, 4), []);
});

test("ranges have margins, end at zero if it is near, and exist for empty data", () => {
  const [low, high] = rangeOf([[-1, 1]]);
  assert.ok(low < -1 && low > -1.2 && high > 1 && high < 1.2);
  assert.ok(rangeOf([[1, 10]])[0] < 0);
  assert.ok(rangeOf([[9, 10]])[0] > 8.5);
  assert.deepEqual(rangeOf([[0, 0]]), [-1, 1]);
  assert.deepEqual(rangeOf([[NaN]]), [-1, 1]);
  assert.ok(rangeOf([[9, 9 + 1e-9], [10, 10]])[0] < 0, "constant curves look flat, with zero in range");
});

test("zooming keeps the time under the pointer, and ends at the whole range", () => {
  const range = new TimeRange();
  range.setLimits(0, 10);
  range.zoom(0.5, 0.2);
  assert.deepEqual([range.from, range.to], [1, 6]);
  range.pan(1);
  assert.deepEqual([range.from, range.to], [5, 10]);
  range.setLimits(0, 10);
  assert.equal(range.isWhole, false);
  range.zoom(100, 0.5);
  assert.deepEqual([range.from, range.to, range.isWhole], [0, 10, true]);
  range.zoom(0.1, 0.5);
  range.setLimits(0, 20);
  assert.deepEqual([range.from, range.to], [0, 20]);
});

test("the range follows the current time when it leaves, but not when the user pans", () => {
  const range = new TimeRange();
  range.setLimits(0, 10);
  range.zoom(0.2, 0);
  assert.equal(range.follow(1), false);
  assert.equal(range.follow(2.5), true);
  assert.ok(range.from < 2.5 && range.to > 4);
  range.pan(2);
  assert.equal(range.follow(2.5), false);
});

test("a single output is centered", () => {
  const range = new TimeRange();
  range.setLimits(3, 3);
  assert.equal(range.shareOf(3), 0.5);
});
