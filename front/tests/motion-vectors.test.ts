import assert from "node:assert/strict";
import { test } from "node:test";
import { cross, lerp, fromRotationVector, product, toBody, toWorld, toRotationVector, type Vec3 } from "../src/motion/vectors.ts";

function near(found: number[], expected: number[], room = 1e-15): void {
  assert.equal(found.length, expected.length);
  found.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= room, `${found} is not ${expected}`));
}

test("Hamilton's rules: i j = k, j k = i, k i = j, i i = -1", () => {
  assert.deepEqual(product([0, 1, 0, 0], [0, 0, 1, 0]), [0, 0, 0, 1]);
  assert.deepEqual(product([0, 0, 1, 0], [0, 0, 0, 1]), [0, 1, 0, 0]);
  assert.deepEqual(product([0, 0, 0, 1], [0, 1, 0, 0]), [0, 0, 1, 0]);
  assert.equal(product([0, 1, 0, 0], [0, 1, 0, 0])[0], -1);
});

test("a quarter turn about z takes x to y, and back", () => {
  const quarter = fromRotationVector([0, 0, Math.PI / 2]);
  near(toWorld(quarter, [1, 0, 0]), [0, 1, 0]);
  near(toBody(quarter, [0, 1, 0]), [1, 0, 0]);
});

test("x cross y is z", () => assert.deepEqual(cross([1, 0, 0], [0, 1, 0]), [0, 0, 1]));

test("rotation vectors round-trip through quaternions of either sign", () => {
  for (const turn of [[0.3, -0.2, 0.9], [1e-9, 0, 0], [0, 3.1, 0], [0, 0, 0]] as Vec3[]) {
    const q = fromRotationVector(turn);
    near(toRotationVector(q), turn, 4e-15);
    near(toRotationVector([-q[0], -q[1], -q[2], -q[3]]), turn, 4e-15);
  }
});

test("lerp a quarter of the way", () => near(lerp([0, 0, 4], [4, 0, 0], 0.25), [1, 0, 3]));
