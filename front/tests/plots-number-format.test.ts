import assert from "node:assert/strict";
import { test } from "node:test";
import { decimalsFor, departure, fixed, powerFor, powerOfTen, quantity, tick, unitWith } from "../src/plots/number-format.ts";
import { rangeOf, ticksWithin } from "../src/plots/ranges.ts";
import { Stretch } from "../src/plots/time-range.ts";

test("powers of ten in steps of three, none for numbers that can be read", () => {
  assert.deepEqual([0.01, 1, 9999, 1e4, 0.009, 5e-47, 0, NaN].map(powerFor), [0, 0, 0, 3, -3, -48, 0, 0]);
  assert.equal(unitWith(-12, "J"), "10⁻¹² J");
  assert.equal(powerOfTen(3), "10³");
});

test("four figures of the largest, three below 1, and no minus before a zero", () => {
  assert.deepEqual([1234, 12.3, 1, 0.02].map(decimalsFor), [0, 2, 3, 4]);
  assert.deepEqual([fixed(-1.2345, 2), fixed(-0.001, 2), fixed(NaN, 2)], ["−1.23", "0.00", "–"]);
  assert.deepEqual([departure(2.22e-16), departure(0), departure(NaN)], ["2.2 × 10⁻¹⁶", "0", "–"]);
  assert.deepEqual([quantity(3.2, 2, 0, "s"), quantity(1.037e6, 3, 6, "s")], ["3.20 s", "1.037 × 10⁶ s"]);
});

test("ticks are round, within, and written alike", () => {
  const ticks = ticksWithin(-0.31, 0.52, 5);
  assert.deepEqual(ticks.map((x) => tick(x, ticks[1] - ticks[0])), ["−0.2", "0", "0.2", "0.4"]);
  assert.deepEqual(ticksWithin(-17, -10, 4, 1), [-16, -14, -12, -10]);
  assert.deepEqual(ticksWithin(1, 1, 4), []);
});

test("ranges: room around, zero as an end where it is near, and a range for nothing", () => {
  const [low, high] = rangeOf([[-1, 1]]);
  assert.ok(low < -1 && low > -1.2 && high > 1 && high < 1.2);
  assert.ok(rangeOf([[1, 10]])[0] < 0);
  assert.ok(rangeOf([[9, 10]])[0] > 8.5);
  assert.deepEqual(rangeOf([[0, 0]]), [-1, 1]);
  assert.deepEqual(rangeOf([[NaN]]), [-1, 1]);
  assert.ok(rangeOf([[9, 9 + 1e-9], [10, 10]])[0] < 0, "curves that stay are shown flat, with zero in sight");
});

test("zooming keeps the place under the pointer, and ends at the whole", () => {
  const stretch = new Stretch();
  stretch.take(0, 10);
  stretch.zoom(0.5, 0.2);
  assert.deepEqual([stretch.from, stretch.to], [1, 6]);
  stretch.pan(1);
  assert.deepEqual([stretch.from, stretch.to], [5, 10]);
  stretch.take(0, 10);
  assert.equal(stretch.isWhole, false);
  stretch.zoom(100, 0.5);
  assert.deepEqual([stretch.from, stretch.to, stretch.isWhole], [0, 10, true]);
  stretch.zoom(0.1, 0.5);
  stretch.take(0, 20);
  assert.deepEqual([stretch.from, stretch.to], [0, 20]);
});

test("the page is turned when the instant moves out of sight, not when a person looks elsewhere", () => {
  const stretch = new Stretch();
  stretch.take(0, 10);
  stretch.zoom(0.2, 0);
  assert.equal(stretch.follow(1), false);
  assert.equal(stretch.follow(2.5), true);
  assert.ok(stretch.from < 2.5 && stretch.to > 4);
  stretch.pan(2);
  assert.equal(stretch.follow(2.5), false);
});

test("a single instant stands in the middle", () => {
  const stretch = new Stretch();
  stretch.take(3, 3);
  assert.equal(stretch.shareOf(3), 0.5);
});
