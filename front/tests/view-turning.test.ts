// What a uniformly rotating frame sees, against its definition.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PerspectiveCamera, Vector3 } from "three";
import type { Vec3 } from "../src/motion/vectors.ts";
import { dashes } from "../src/view/props/figures.ts";
import { switchesOf } from "../src/options.ts";
import { EMPTY_STAGE, isSameStage, type ThirdFrame } from "../src/view/stage.ts";
import { pathInFrame, turnCamera } from "../src/view/turning.ts";

const FRAME: ThirdFrame = { name: "platform", angularVelocity: [0, 0, 2], origin: [1, 0, 0], first: false };

test("a point that turns with the frame is at rest in it, and one at rest moves on a circle the other way", () => {
  const times = [0, 0.3, 1.1];
  const turning = times.map((t): Vec3 => [1 + Math.cos(2 * t), Math.sin(2 * t), 5]);
  const resting = times.map((): Vec3 => [2, 0, 5]);
  for (const x of pathInFrame(turning, times, FRAME, [0, 0, 0])) x.forEach((c, i) => assert.ok(Math.abs(c - [2, 0, 5][i]) < 1e-14));
  pathInFrame(resting, times, FRAME, [0, 0, 0]).forEach((x, k) => {
    const expected = [1 + Math.cos(2 * times[k]), -Math.sin(2 * times[k]), 5];
    x.forEach((c, i) => assert.ok(Math.abs(c - expected[i]) < 1e-14));
  });
});

test("in the view of the frame, a point that turns with it stays at the same pixel", () => {
  const camera = new PerspectiveCamera(28, 1, 0.1, 100);
  const project = (t: number): Vector3 => {
    camera.up.set(0, 0, 1);
    camera.position.set(3, -6, 2);
    camera.lookAt(0, 0, 0);
    camera.updateMatrixWorld();
    turnCamera(camera, FRAME, t);
    return new Vector3(Math.cos(2 * t), Math.sin(2 * t), 0.4).project(camera);
  };
  assert.ok(project(0).distanceTo(project(0.7)) < 1e-12);
});

test("dashes cover three fifths of a line and stay on it", () => {
  const found = dashes([[0, 0, 0], [1, 0, 0], [1, 2, 0]], 30);
  let covered = 0;
  for (let k = 0; k < found.length; k += 2) covered += Math.hypot(...found[k + 1].map((x, i) => x - found[k][i]));
  assert.ok(Math.abs(covered - 1.8) < 1e-9, String(covered));
  for (const [x, y] of found) assert.ok(Math.abs(y) < 1e-12 || Math.abs(x - 1) < 1e-12);
});

test("a stage switches what it names, and two motions that begin alike keep what the user has changed", () => {
  const stage = { ...EMPTY_STAGE, switches: ["trailAxis3" as const], off: ["L" as const] };
  const { trailAxis3, L, omega } = switchesOf(stage);
  assert.deepEqual([trailAxis3, L, omega], [true, false, true]);
  assert.ok(!("dark" in switchesOf(stage)));
  assert.ok(isSameStage(stage, { ...stage, shows: "other words" }));
  assert.ok(!isSameStage(stage, EMPTY_STAGE));
});
