// Sliders: from a position to a value and back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Scale } from "../src/controls/scale.ts";

test("a slider has real values, rounded to its resolution", () => {
  const scale = new Scale(1, 20);
  assert.equal(scale.isLogarithmic, false);
  assert.deepEqual([scale.min, scale.max], [1, 20]);
  assert.equal(scale.step, 0.01);
  assert.equal(scale.valueAt(7.123456), 7.12);
  assert.equal(scale.valueAt(scale.positionOf(3)), 3);
});

test("the ends of the range are reached, but not exceeded", () => {
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
  assert.equal(scale.valueAt(scale.positionOf(0.1)), 0.1);
});

test("keys step through round values, and skip neither the default nor the ends", () => {
  const spin = new Scale(1, 20);
  assert.equal(spin.next(5, 1, 5), 5.2);
  assert.equal(spin.next(5.2, -1, 5), 5);
  assert.equal(spin.next(5.03, 1, 5), 5.2);
  assert.equal(spin.next(5.2, 1, 5.25), 5.25);
  assert.equal(spin.next(19.99, 1, 5), 20);
  assert.equal(spin.next(20, 1, 5), 20);
  assert.equal(new Scale(-10, 10).next(0, -1, 0), -0.2);
});

test("keys step through round values on a logarithmic slider too", () => {
  const scale = new Scale(0.1, 100000);
  assert.equal(scale.next(1, 1, 100), 1.2);
  assert.equal(scale.next(1, -1, 100), 0.8);
  assert.equal(scale.next(0.1, -1, 100), 0.1);
  assert.equal(scale.next(8000, 1, 100), 10000);
});
