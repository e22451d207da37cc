// The camera of a view, against what a projection must show.

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PerspectiveCamera, Vector3 } from "three";
import { dot, type Vec3 } from "../src/motion/vectors.ts";
import { anglesOf, cameraAxes, HALF_VIEW, INITIAL_CAMERA, Orbit } from "../src/view/orbit.ts";
import { wheelZooms } from "../src/view/camera-gestures.ts";

const close = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

function seenAt(orbit: Orbit, place: Vec3, aspect: number): { x: number; y: number } {
  const camera = new PerspectiveCamera((2 * HALF_VIEW * 180) / Math.PI);
  orbit.aim(camera, [0.5, -1, 2], 3, aspect);
  const { x, y } = new Vector3(...place).project(camera);
  return { x, y };
}

test("the axes of the camera are orthonormal and right-handed, at the poles too", () => {
  for (const [azimuth, elevation] of [[-55, 22], [0, 90], [130, -90], [270, 0]]) {
    const { right, up, back } = cameraAxes(azimuth, elevation);
    for (const v of [right, up, back]) close(dot(v, v), 1);
    for (const [a, b] of [[right, up], [up, back], [back, right]]) close(dot(a, b), 0);
    close(new Vector3(...right).cross(new Vector3(...up)).dot(new Vector3(...back)), 1);
    const found = anglesOf(back, azimuth);
    close(found.elevationDeg, elevation);
    close(Math.cos(((found.azimuthDeg - azimuth) * Math.PI) / 180), 1);
  }
});

test("the center of what is shown is in the middle, and its edge at the smaller side", () => {
  const orbit = new Orbit(() => undefined);
  for (const aspect of [0.6, 1, 1.7]) {
    const { x, y } = seenAt(orbit, [0.5, -1, 2], aspect);
    close(x, 0);
    close(y, 0);
    const { up, right } = cameraAxes(INITIAL_CAMERA.azimuthDeg, INITIAL_CAMERA.elevationDeg);
    const along = aspect < 1 ? right : up;
    const edge = seenAt(orbit, [0.5 + 3 * along[0], -1 + 3 * along[1], 2 + 3 * along[2]], aspect);
    close(Math.max(edge.x, edge.y), 1);
  }
});

test("zooming keeps what is under the pointer, and panning moves it with the pointer", () => {
  const aspect = 1.4;
  const orbit = new Orbit(() => undefined);
  orbit.set({ azimuthDeg: 20, elevationDeg: -35, zoom: 1.3 });
  const { right, up } = cameraAxes(20, -35);
  const place: Vec3 = [0, 1, 2].map((i) => [0.5, -1, 2][i] + 0.9 * right[i] - 0.4 * up[i]) as Vec3;
  const before = seenAt(orbit, place, aspect);
  // From the center of the view, in half heights.
  orbit.zoomBy(2.5, before.x * aspect, before.y, aspect);
  const zoomed = seenAt(orbit, place, aspect);
  close(zoomed.x, before.x);
  close(zoomed.y, before.y);
  orbit.pan(0.3, -0.2, aspect);
  const moved = seenAt(orbit, place, aspect);
  close(moved.x - before.x, 0.3 / aspect);
  close(moved.y - before.y, -0.2);
});

test("what a link demands is moved into the range, and nonsense is ignored", () => {
  const orbit = new Orbit(() => undefined);
  orbit.set({ azimuthDeg: 400, elevationDeg: 120, zoom: 1e9, pan: [100, 0, 0] });
  assert.deepEqual(orbit.state, { azimuthDeg: 40, elevationDeg: 90, zoom: 40, pan: [6, 0, 0] });
  orbit.set({ azimuthDeg: Number.NaN, zoom: "big" as unknown as number, pan: [0, Number.NaN, 0] });
  assert.deepEqual(orbit.state, { azimuthDeg: 40, elevationDeg: 90, zoom: 40, pan: [6, 0, 0] });
});

test("the camera of a stage is where it starts and where it is reset to", () => {
  const orbit = new Orbit(() => undefined);
  orbit.startAt({ azimuthDeg: 10, elevationDeg: 5, zoom: 2, target: null, radius: null, up: [0, 0, 1] });
  orbit.rotate(30, 30);
  orbit.pan(1, 1, 1);
  orbit.reset();
  assert.deepEqual(orbit.state, { azimuthDeg: 10, elevationDeg: 5, zoom: 2, pan: [0, 0, 0] });
});

test("in a frame the wheel zooms only with Ctrl, or in a view that was clicked", () => {
  const plain = { ctrlKey: false, metaKey: false };
  assert.equal(wheelZooms(plain, false, false), true);
  assert.equal(wheelZooms(plain, true, false), false);
  assert.equal(wheelZooms(plain, true, true), true);
  assert.equal(wheelZooms({ ...plain, ctrlKey: true }, true, false), true);
});
