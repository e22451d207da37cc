// Framing of bodies of any size, at rest or moving far, single or many.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LIGHT } from "../src/colors.ts";
import type { Appearance, MotionRecord } from "../src/motion/record.ts";
import { roundNumber } from "../src/motion/rounding.ts";
import { length, minus, type Vec3 } from "../src/motion/vectors.ts";
import { trajectoryOf } from "../src/view/trajectory.ts";
import { frameMotion, lattice, framingNote } from "../src/view/framing.ts";
import { formatLength } from "../src/view/ground.ts";
import { EMPTY_STAGE } from "../src/view/stage.ts";
import { quantitiesOf } from "../src/view/quantities.ts";
import { instantAt, poseInFrame } from "../src/view/context.ts";

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
  const appearance: Appearance = { kind, sentence: "", axes: [1, 0, 0, 0], ...shape };
  return {
    ...{ axis, bodies, times, hasPivot: false, pivots: [], isFree: true, forces: [], patches: [], contacts: [], torque: null, closedForm: null, origin: [0, 0, 0], stage: EMPTY_STAGE },
    members: Array.from({ length: bodies }, (_, i) => i),
    time: Float64Array.from({ length: times }, (_, k) => k),
    appearances: [appearance],
    appearanceIndex: new Uint32Array(bodies),
    position: Float64Array.from(rows.flatMap(([k, body]) => at(k, body))),
    velocity: new Float64Array(3 * rows.length),
    quaternion: Float64Array.from(rows.flatMap(() => [1, 0, 0, 0])),
    angularVelocity: Float64Array.from(rows.flatMap(() => rate)),
    angularMomentum: Float64Array.from(rows.flatMap(() => rate)),
  } as unknown as MotionRecord;
}

test("a body at rest fills the view, whether its size is 1e-10 m or 1 km", () => {
  for (const size of [1e-10, 1, 1e3]) {
    const framing = frameMotion(record({ size }), 0);
    assert.equal(framing.unit, size);
    assert.ok(framing.radius.whole > 1.75 && framing.radius.whole < 2.5);
    assert.ok(!framing.isFar && !framing.hasGround);
    assert.equal(framingNote(framing, false), "");
  }
});

test("a path of five sizes is shown entirely; with one of five hundred the body is followed, or drawn larger", () => {
  const near = frameMotion(record({ at: (k) => [k, 0, 0] }), 0);
  assert.ok(!near.isFar && near.hasGround);
  assert.deepEqual(near.middle, [5, 0, 0]);
  const far = frameMotion(record({ at: (k) => [100 * k, 0, 0] }), 0);
  assert.ok(far.isFar);
  assert.equal(framingNote(far, true), "");
  assert.equal(framingNote(far, false), "bodies are drawn 63 times larger");
});

test("distant bodies of a system are drawn larger, by a factor that is stated", () => {
  const framing = frameMotion(record({ bodies: 2, axis: "body", at: (_, body) => [600 * body, 0, 0] }), 0);
  assert.ok(!framing.isFar);
  assert.equal(framingNote(framing, false), "bodies are drawn 38 times larger");
});

test("members at the same position are drawn side by side", () => {
  const framing = frameMotion(record({ bodies: 9, axis: "member" }), 0);
  assert.match(framingNote(framing, false), /side by side/);
  const places = lattice(1000, 2.7);
  places.forEach((a, i) => places.slice(i + 1, i + 40).forEach((b) => assert.ok(length(minus(a, b)) > 2.69)));
});

test("the framing of a particle, a single output and a failed member is finite", () => {
  const particle = frameMotion(record({ size: 0, at: (k) => [k, k, 0] }), 0);
  const lone = frameMotion(record({ size: 0, times: 1 }), 0);
  const failed = frameMotion(record({ at: () => [NaN, NaN, NaN] }), 0);
  for (const { unit, radius, middle, ground } of [particle, lone, failed]) {
    for (const number of [unit, radius.whole, radius.following, ground, ...middle]) assert.ok(Number.isFinite(number));
    assert.ok(unit > 0 && radius.whole > 0);
  }
  assert.ok(!particle.isFar);
});

test("a followed body stays at the center of the view; in its own frame it does anyway", () => {
  const motion = record({ at: (k) => [1e6 + 1000 * k, 7, 0] });
  const context = { record: motion, watched: 0, framing: frameMotion(motion, 0), colors: LIGHT, effects: "low" as const };
  for (const frame of ["space", "body"] as const) {
    assert.deepEqual(poseInFrame(frame, context, instantAt(context, 3.5, true)).position, [0, 0, 0]);
  }
});

test("a path has enough points for its rotation, however few outputs there are, but not too many", () => {
  assert.ok(trajectoryOf(record({ rate: [0, 0, 2] }), 0).times.length >= 200);
  const fast = trajectoryOf(record({ rate: [0, 0, 1e4], times: 500 }), 0);
  assert.ok(fast.times.length <= 3000);
  fast.times.forEach((t, k) => assert.ok(k === 0 || t > fast.times[k - 1]));
  assert.equal(trajectoryOf(record({ times: 1 }), 0).poses.length, 1);
});

test("the longest arrow of each kind is slightly longer than the body; a particle has no axes", () => {
  const found = quantitiesOf(record({ rate: [0, 3, 4] }), 0, LIGHT);
  const omega = found.find(({ name }) => name === "omega")!;
  const pose = trajectoryOf(record({ rate: [0, 3, 4] }), 0).poses[0];
  assert.ok(Math.abs(length(omega.at(pose, 0)) - 1.55) < 1e-12);
  assert.deepEqual(found.map(({ name }) => name), ["axis 1", "axis 2", "axis 3", "omega", "L"]);
  assert.deepEqual(quantitiesOf(record({ size: 0, rate: [0, 0, 0] }), 0, LIGHT), []);
});

test("grid squares are round numbers in a suitable unit", () => {
  assert.deepEqual([0.3, 0.8, 4e-10].map(roundNumber), [0.2, 1, 5e-10]);
  assert.deepEqual([2000, 0.5, 5e-2, 2e-10].map(formatLength), ["2 km", "50 cm", "5 cm", "200 pm"]);
});

test("bodies that touch a floor are drawn in their true size", () => {
  const floor = { name: "floor", corners: [], lines: [], cell: 1 };
  const far = record({ bodies: 2, axis: "body", at: (_, body) => [500 * body, 0, 0] });
  assert.ok(frameMotion(far, 0).larger.whole > 1);
  assert.equal(frameMotion({ ...far, patches: [floor] }, 0).larger.whole, 1);
});
