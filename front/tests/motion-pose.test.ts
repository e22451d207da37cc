import assert from "node:assert/strict";
import { test } from "node:test";
import { locateTime, poseAt, interpolateVector } from "../src/motion/pose.ts";
import { plus, toWorld, type Vec3 } from "../src/motion/vectors.ts";
import { angleBetween, recordOf, symmetricTop, type Known } from "./closed-forms.ts";

const even = (count: number, last: number): number[] => Array.from({ length: count + 1 }, (_, i) => (i * last) / count);

/** Largest angle between the closed form and the interpolation, at many times. */
function worst(known: Known, times: number[]): number {
  const record = recordOf(times, known);
  const last = times[times.length - 1];
  return Math.max(...even(997, last).map((t) => angleBetween(poseAt(record, 0, t).quaternion, known.quaternion(t))));
}

test("locating a time among uneven outputs", () => {
  const time = Float64Array.of(0, 1, 4);
  assert.deepEqual(locateTime(time, -1), { before: 0, share: 0 });
  assert.deepEqual(locateTime(time, 0.25), { before: 0, share: 0.25 });
  assert.deepEqual(locateTime(time, 1), { before: 1, share: 0 });
  assert.deepEqual(locateTime(time, 2.5), { before: 1, share: 0.5 });
  assert.deepEqual(locateTime(time, 9), { before: 1, share: 1 });
  assert.deepEqual(locateTime(Float64Array.of(3), 9), { before: 0, share: 0 });
});

test("a body that makes 3.7 turns between outputs is interpolated correctly", () => {
  const rate = 2 * Math.PI * 3.7;
  assert.ok(worst(symmetricTop(0, 0, rate), [0, 1, 2]) < 1e-13);
  assert.ok(worst(symmetricTop(0, 0, -rate), [0, 1, 2]) < 1e-13);
});

test("so is one that makes whole or half turns", () => {
  for (const turns of [1, 3, 0.5, 2.5]) assert.ok(worst(symmetricTop(0, 0, 2 * Math.PI * turns), [0, 1, 2, 3]) < 1e-13);
});

test("a fast top that precesses slowly keeps its spin between outputs: 3.02 turns and 0.05 rad of precession", () => {
  assert.ok(worst(symmetricTop(0.5, 0.05, 2 * Math.PI * 3.02), even(20, 20)) < 0.03);
});

test("the error of a tumbling top is of third order, against its closed form", () => {
  const errors = [20, 40, 80, 160].map((count) => worst(symmetricTop(0.7, 2.0, 3.0), even(count, 4)));
  const orders = errors.slice(1).map((error, i) => Math.log2(errors[i] / error));
  for (const order of orders) assert.ok(order > 2.8 && order < 3.3, `orders ${orders}`);
  assert.ok(errors[3] < 2e-5, `${errors}`);
});

test("at an output, including the last, the pose is that of the output", () => {
  const known = symmetricTop(0.7, 2.0, 3.0);
  const record = recordOf(even(8, 4), known);
  for (const t of [0, 0.5, 3.5, 4]) assert.deepEqual(poseAt(record, 0, t).quaternion, known.quaternion(t));
  assert.deepEqual(poseAt(record, 0, 3).position, [3, 6, -3]);
});

test("with one output there is one pose", () => {
  const known = symmetricTop(0.7, 2.0, 3.0);
  const record = recordOf([2], known);
  for (const t of [0, 2, 5]) assert.deepEqual(poseAt(record, 0, t).quaternion, known.quaternion(2));
});

test("a failed member is NaN, but not before it failed", () => {
  const record = recordOf([0, 1, 2], symmetricTop(0.7, 2.0, 3.0));
  record.quaternion.fill(NaN, 8);
  assert.ok(poseAt(record, 0, 1.5).quaternion.every(Number.isNaN));
  assert.ok(poseAt(record, 0, 0.5).quaternion.every(Number.isFinite));
});

test("a vector is interpolated between outputs", () => {
  const record = recordOf([0, 1, 3], symmetricTop(0, 0, 1));
  assert.deepEqual(interpolateVector(record, Float64Array.of(0, 0, 0, 2, 0, 4, 2, 8, 0), 0, 2), [2, 4, 2]);
});

test("free fall between two outputs is the exact parabola", () => {
  const time = [0, 1, 2];
  const place = (t: number): Vec3 => [3 * t, 0, 10 * t - 5 * t * t];
  const rate = (t: number): Vec3 => [3, 0, 10 - 10 * t];
  const position = Float64Array.from(time.flatMap(place));
  const velocity = Float64Array.from(time.flatMap(rate));
  const record = recordOf(time, symmetricTop(0.3, 1, 5), { position, velocity });
  for (const t of [0.3, 1, 1.7]) {
    poseAt(record, 0, t).position.forEach((x, i) => assert.ok(Math.abs(x - place(t)[i]) < 1e-12));
  }
});

test("the pivot is fixed, also between outputs", () => {
  const pivot = { world: [1, 2, 3] as Vec3, body: [0.4, -0.2, 0.7] as Vec3 };
  const record = recordOf([0, 0.5, 1], symmetricTop(0.3, 1, 5), { hasPivot: true, pivots: [pivot] });
  for (const t of [0.1, 0.5, 0.77]) {
    const { position, quaternion, anchor } = poseAt(record, 0, t);
    assert.deepEqual(anchor, pivot.world);
    const point = plus(position, toWorld(quaternion, pivot.body));
    point.forEach((x, i) => assert.ok(Math.abs(x - pivot.world[i]) < 1e-12));
  }
});
