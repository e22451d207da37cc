// What the views look at: chosen for bodies of any size, that stay or go far, alone or in a crowd.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LIGHT } from "../src/colors.ts";
import type { Look, MotionRecord } from "../src/motion/record.ts";
import { length, minus, type Vec3 } from "../src/motion/vectors.ts";
import { courseOf } from "../src/view/trajectory.ts";
import { framed, lattice, remarkOf } from "../src/view/framing.ts";
import { roundNumber, squareWords } from "../src/view/ground.ts";
import { quantitiesOf } from "../src/view/quantities.ts";
import { instantAt, standIn } from "../src/view/context.ts";

interface Given {
  size?: number;
  bodies?: number;
  times?: number;
  axis?: "body" | "member" | null;
  at?: (k: number, body: number) => Vec3;
  rate?: Vec3;
}

function record(given: Given): MotionRecord {
  const { size = 1, bodies = 1, times = 11, axis = null, at = (): Vec3 => [0, 0, 0], rate = [0, 0, 1] } = given;
  const rows = Array.from({ length: times * bodies }, (_, r) => [Math.floor(r / bodies), r % bodies]);
  const kind = size > 0 ? "shape" : "particle";
  const vertices = Float64Array.from([size, 0, 0, 0, size, 0, 0, 0, size]);
  const shape = { vertices, faces: Uint32Array.from([0, 1, 2]), size };
  const look: Look = { kind, sentence: "", axes: [1, 0, 0, 0], ...shape };
  return {
    ...{ axis, bodies, times, isHeld: false, pivots: [], isFree: true, forces: [], torque: null, ghost: null },
    members: Array.from({ length: bodies }, (_, i) => i),
    time: Float64Array.from({ length: times }, (_, k) => k),
    looks: [look],
    lookOf: new Uint32Array(bodies),
    position: Float64Array.from(rows.flatMap(([k, body]) => at(k, body))),
    velocity: new Float64Array(3 * rows.length),
    quaternion: Float64Array.from(rows.flatMap(() => [1, 0, 0, 0])),
    angularVelocity: Float64Array.from(rows.flatMap(() => rate)),
    angularMomentum: Float64Array.from(rows.flatMap(() => rate)),
  } as unknown as MotionRecord;
}

test("a body that stays fills the view, whether it is 1e-10 m or 1 km large", () => {
  for (const size of [1e-10, 1, 1e3]) {
    const framing = framed(record({ size }), 0);
    assert.equal(framing.unit, size);
    assert.ok(framing.radius.whole > 1.75 && framing.radius.whole < 2.5);
    assert.ok(!framing.isFar && !framing.hasGround);
    assert.equal(remarkOf(framing, false), "");
  }
});

test("a path of five sizes is shown whole; one of five hundred is followed, and drawn larger if it is not", () => {
  const near = framed(record({ at: (k) => [k, 0, 0] }), 0);
  assert.ok(!near.isFar && near.hasGround);
  assert.deepEqual(near.middle, [5, 0, 0]);
  const far = framed(record({ at: (k) => [100 * k, 0, 0] }), 0);
  assert.ok(far.isFar);
  assert.equal(remarkOf(far, true), "");
  assert.equal(remarkOf(far, false), "bodies are drawn 63 times larger");
});

test("far-apart bodies of a system are drawn larger, by a number that is told", () => {
  const framing = framed(record({ bodies: 2, axis: "body", at: (_, body) => [600 * body, 0, 0] }), 0);
  assert.ok(!framing.isFar);
  assert.equal(remarkOf(framing, false), "bodies are drawn 38 times larger");
});

test("members at one place are set apart, each at its own", () => {
  const framing = framed(record({ bodies: 9, axis: "member" }), 0);
  assert.match(remarkOf(framing, false), /set apart/);
  const places = lattice(1000, 2.7);
  places.forEach((a, i) => places.slice(i + 1, i + 40).forEach((b) => assert.ok(length(minus(a, b)) > 2.69)));
});

test("a particle, a single output and a failed member are framed by finite numbers", () => {
  const particle = framed(record({ size: 0, at: (k) => [k, k, 0] }), 0);
  const lone = framed(record({ size: 0, times: 1 }), 0);
  const failed = framed(record({ at: () => [NaN, NaN, NaN] }), 0);
  for (const { unit, radius, middle, ground } of [particle, lone, failed]) {
    for (const number of [unit, radius.whole, radius.following, ground, ...middle]) assert.ok(Number.isFinite(number));
    assert.ok(unit > 0 && radius.whole > 0);
  }
  assert.ok(!particle.isFar);
});

test("followed, the body stays in the middle of the picture; in its own frame it stays anyway", () => {
  const motion = record({ at: (k) => [1e6 + 1000 * k, 7, 0] });
  const subject = { record: motion, watched: 0, framing: framed(motion, 0), colours: LIGHT, effects: "low" as const };
  for (const frame of ["space", "body"] as const) {
    assert.deepEqual(standIn(frame, subject, instantAt(subject, 3.5, true)).place, [0, 0, 0]);
  }
});

test("a path has points close in turning, however few outputs there are, and not too many", () => {
  assert.ok(courseOf(record({ rate: [0, 0, 2] }), 0).times.length >= 200);
  const fast = courseOf(record({ rate: [0, 0, 1e4], times: 500 }), 0);
  assert.ok(fast.times.length <= 3000);
  fast.times.forEach((t, k) => assert.ok(k === 0 || t > fast.times[k - 1]));
  assert.equal(courseOf(record({ times: 1 }), 0).poses.length, 1);
});

test("the longest arrow of each kind is a little longer than the body; a particle has no axes", () => {
  const found = quantitiesOf(record({ rate: [0, 3, 4] }), 0, LIGHT);
  const omega = found.find(({ name }) => name === "omega")!;
  const pose = courseOf(record({ rate: [0, 3, 4] }), 0).poses[0];
  assert.ok(Math.abs(length(omega.at(pose, 0)) - 1.55) < 1e-12);
  assert.deepEqual(found.map(({ name }) => name), ["axis 1", "axis 2", "axis 3", "omega", "L"]);
  assert.deepEqual(quantitiesOf(record({ size: 0, rate: [0, 0, 0] }), 0, LIGHT), []);
});

test("squares of the grid are round numbers in a unit that suits", () => {
  assert.deepEqual([0.3, 0.8, 4e-10].map(roundNumber), [0.2, 1, 5e-10]);
  assert.deepEqual([2000, 0.5, 5e-2, 2e-10].map(squareWords), ["2 km", "50 cm", "5 cm", "200 pm"]);
});
