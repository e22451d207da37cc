// Sliders: from a place to a value and back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Scale } from "../src/controls/scale.ts";

test("a slider carries real values, rounded to what a hand can set", () => {
  const scale = new Scale(1, 20);
  assert.equal(scale.isLogarithmic, false);
  assert.deepEqual([scale.min, scale.max], [1, 20]);
  assert.equal(scale.step, 0.01);
  assert.equal(scale.valueAt(7.123456), 7.12);
  assert.equal(scale.valueAt(scale.placeOf(3)), 3);
});

test("the ends of the range are reached, and nothing beyond", () => {
  const scale = new Scale(0.0051, 0.1999);
  assert.equal(scale.valueAt(0.0051), 0.0051);
  assert.equal(scale.valueAt(0.1999), 0.1999);
});

test("more than three decades make it logarithmic; three do not, nor does a range with zero or less", () => {
  assert.equal(new Scale(0.1, 10000).isLogarithmic, true);
  assert.equal(new Scale(1, 1000).isLogarithmic, false);
  assert.equal(new Scale(0, 1e6).isLogarithmic, false);
  assert.equal(new Scale(-1e6, 1e6).isLogarithmic, false);
});

test("the middle of a logarithmic slider is the geometric mean", () => {
  const scale = new Scale(0.1, 100000);
  assert.equal(scale.valueAt((scale.min + scale.max) / 2), 100);
  assert.equal(scale.valueAt(scale.placeOf(0.1)), 0.1);
});
