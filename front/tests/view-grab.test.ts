// Dragging in the views, against points that were placed beforehand.

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { cross, fromRotationVector, length, minus, plus, scaled, toWorld, type Vec3 } from "../src/motion/vectors.ts";
import { followCircle, followSpan, groupGrabs, startDrag, trackOf, withinRange, type SightLine, type StartGeometry } from "../src/view/grab.ts";
import type { Grab } from "../src/view/stage.ts";

const EYE: Vec3 = [4, -9, 3];
const unit = (v: Vec3): Vec3 => scaled(1 / length(v), v);
/** The line of sight on which a point lies. */
const sightOf = (point: Vec3): SightLine => ({ origin: EYE, direction: unit(minus(point, EYE)) });
const close = (a: number, b: number, within: number): void => assert.ok(Math.abs(a - b) < within, `${a} is not ${b}`);
const grab = (more: Partial<Grab>): Grab => ({ what: "angular_velocity", knob: "spin", component: 0, force: "", scale: 1, ...more });
const GEOMETRY: StartGeometry = {
  anchor: [0.1, 0.2, 0.3],
  reach: 2,
  axes: [[1, 0, 0], [0, 0.8, 0.6], [0, -0.6, 0.8]],
  up: [0, 0, 1],
  arrow: (name) => (name === "force weight" || name === "omega" ? { from: [0, 0, 0], tip: [0, 0, -3], perUnit: 0.5 } : null),
};

test("a point of a line is found from the line of sight through it", () => {
  const [through, along]: [Vec3, Vec3] = [[0.3, 0.1, -0.2], unit([1, 2, 0.5])];
  for (const s of [-2, -0.3, 0, 0.7, 3]) close(followSpan(sightOf(plus(through, scaled(s, along))), through, [along])[0], s, 0.02 * Math.abs(s) + 1e-12);
});

test("both coordinates of a point of a plane are found", () => {
  const [through, a, b]: [Vec3, Vec3, Vec3] = [[0.3, 0.1, -0.2], unit([1, 0, 0.2]), unit([0, 0.2, 1])];
  const [s, t] = followSpan(sightOf(plus(through, plus(scaled(1.5, a), scaled(-0.8, b)))), through, [a, b]);
  close(s, 1.5, 0.03);
  close(t, -0.8, 0.03);
});

test("three directions follow the pointer on the screen by the shortest way", () => {
  const axes: Vec3[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const sight = sightOf([0.5, 0.2, -0.4]);
  const moved = followSpan(sight, [0, 0, 0], axes) as Vec3;
  close(length(cross(minus(moved, EYE), sight.direction)), 0, 0.01);
});

test("a direction seen end-on stays bounded", () => {
  const sight = sightOf([0.05, 0.02, 0]);
  const [s] = followSpan(sight, [0, 0, 0], [unit(EYE)]);
  assert.ok(Math.abs(s) < 1);
});

test("the angle of a point on a circle is found, beyond half a turn too", () => {
  const [center, axis, point]: [Vec3, Vec3, Vec3] = [[0.2, 0, 0.1], unit([0.3, -1, 0.4]), [1.2, 0.4, 0.9]];
  const at = (angle: number): Vec3 => plus(center, toWorld(fromRotationVector(scaled(angle, axis)), minus(point, center)));
  let last = 0;
  for (let k = 1; k <= 80; k++) {
    last = followCircle(sightOf(at(0.05 * k)), center, axis, point, last);
    close(last, 0.05 * k, 5e-3);
  }
});

test("a circle seen edge-on follows from one side to the other", () => {
  // The axis is across the line of sight: front and back of the circle look the same.
  const axis = unit(cross(EYE, [0, 0, 1]));
  const [point, center]: [Vec3, Vec3] = [[0, 0, 1], [0, 0, 0]];
  const at = (angle: number): Vec3 => toWorld(fromRotationVector(scaled(angle, axis)), point);
  for (const way of [1, -1]) close(followCircle(sightOf(at(0.3 * way)), center, axis, point, 0.25 * way), 0.3 * way, 0.01);
});

test("a drag changes the parameters by what it means, from their values at its start", () => {
  const grabs = [grab({ knob: "spin", component: 1, scale: 60 / (2 * Math.PI) }), grab({ knob: "nudge", component: 0 })];
  const track = trackOf(grabs, GEOMETRY)!;
  assert.ok(track.kind === "span");
  // One unit along the second body axis, at 0.5 lengths per rad/s: 2 rad/s, in revolutions per minute.
  const move = startDrag(grabs, track, sightOf(track.through), [100, 0.1]);
  const [spin, nudge] = move(sightOf(plus(track.through, GEOMETRY.axes[1])));
  close(spin, 100 + (2 * 60) / (2 * Math.PI), 0.5);
  close(nudge, 0.1, 0.05);
});

test("a tilt grows when the third axis is dragged away from the vertical", () => {
  const tilt = [grab({ what: "attitude", knob: "theta", component: "tilt", scale: 180 / Math.PI })];
  const track = trackOf(tilt, GEOMETRY)!;
  assert.ok(track.kind === "circle");
  const move = startDrag(tilt, track, sightOf(track.point), [36.87]);
  const farther = plus(track.center, toWorld(fromRotationVector([0.2, 0, 0]), minus(track.point, track.center)));
  close(move(sightOf(farther))[0], 36.87 + (0.2 * 180) / Math.PI, 0.2);
});

test("components of one arrow are dragged together, angles on their own, and what is not drawn not at all", () => {
  const grabs = [
    grab({ knob: "a", component: 0 }),
    grab({ what: "attitude", knob: "theta", component: "tilt" }),
    grab({ knob: "b", component: 2 }),
    grab({ what: "force", force: "weight", knob: "mass" }),
    grab({ what: "attitude", knob: "phi", component: 0 }),
  ];
  const groups = groupGrabs(grabs).map((group) => group.map(({ knob }) => knob).join());
  assert.deepEqual(groups, ["a,b", "theta", "mass", "phi"]);
  assert.equal(trackOf([grab({ what: "force", force: "thrust" })], GEOMETRY), null);
  assert.equal(trackOf([grab({ component: "tilt" })], GEOMETRY), null);
  const force = trackOf([grab({ what: "force", force: "weight" })], GEOMETRY)!;
  assert.deepEqual(force.kind === "span" && force.directions, [[0, 0, -1]]);
});

test("a value stays in its range and has few digits", () => {
  assert.equal(withinRange(5.123456, 0, 20), 5.12);
  assert.equal(withinRange(25, 0, 20), 20);
  assert.equal(withinRange(-1e-5, 0, 1e-3), 0);
  assert.equal(withinRange(1.23456e-4, 0, 1e-3), 1.23e-4);
  assert.equal(withinRange(123456.7, 0, 1e6), 123457);
});
