// Props against geometry: cones that touch along omega, stands under pivots, horizons that a background keeps.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Box3, Group, PerspectiveCamera, Points, Vector3, type Mesh } from "three";
import { LIGHT } from "../src/colors.ts";
import type { MotionRecord } from "../src/motion/record.ts";
import { fromRotationVector, length, product, scaled, toWorld, type Quat, type Vec3 } from "../src/motion/vectors.ts";
import { poseInFrame, type Instant, type ViewContext } from "../src/view/context.ts";
import { cloud } from "../src/view/props/cloud.ts";
import { coneOf, cones } from "../src/view/props/cones.ts";
import { propsKey } from "../src/view/props/index.ts";
import { globe } from "../src/view/props/globe.ts";
import { axle, bonds, box, rod } from "../src/view/props/solids.ts";
import { shaft, stand } from "../src/view/props/stand.ts";
import { WideLine } from "../src/view/lines.ts";
import { MAX_LENGTH } from "../src/view/quantities.ts";
import { EMPTY_STAGE, type PropBase } from "../src/view/stage.ts";
import { raiseCamera } from "../src/view/turning.ts";

const BASE: PropBase = { label: "", attached: "world", body: null, color: "", since: null, until: null };
const UNIT = 0.5;

/** The symmetric top I = (2, 2, 8), omega = (1, 0, 1) at time t: omega in the body turns at 3, the axis about L at |L|/2. */
function top(t: number): { quaternion: Quat; angularVelocity: Vec3 } {
  const tilt = Math.atan2(2, 8);
  const space = fromRotationVector(scaled((Math.hypot(2, 8) / 2) * t, [Math.sin(tilt), 0, Math.cos(tilt)]));
  const quaternion = product(space, fromRotationVector([0, 0, -3 * t]));
  return { quaternion, angularVelocity: toWorld(quaternion, [Math.cos(3 * t), Math.sin(3 * t), 1]) };
}

function context(): ViewContext {
  const { quaternion, angularVelocity } = top(0);
  const record = {
    ...{ bodies: 1, times: 1, hasPivot: false, pivots: [], isFree: true, origin: [0, 0, 0], stage: EMPTY_STAGE },
    time: Float64Array.from([0]),
    appearances: [{ size: UNIT }],
    appearanceIndex: new Uint32Array(1),
    position: new Float64Array(3),
    velocity: new Float64Array(3),
    quaternion: Float64Array.from(quaternion),
    angularVelocity: Float64Array.from(angularVelocity),
    angularMomentum: Float64Array.from([2, 0, 8]),
  } as unknown as MotionRecord;
  const framing = { unit: UNIT, displacements: null } as unknown as ViewContext["framing"];
  return { record, watched: 0, framing, colors: LIGHT, effects: "low" };
}

const extent = (object: Group | Mesh): Box3 => new Box3().setFromObject(object);

test("half angles of the cones are those of the closed form, also where omega is against the axis", () => {
  assert.ok(Math.abs(coneOf([0, 0, 1], [1, 0, 1]).half - Math.PI / 4) < 1e-14);
  assert.ok(Math.abs((coneOf([2, 0, 8], [1, 0, 1]).half * 180) / Math.PI - 30.963757) < 1e-6);
  const against = coneOf([0, 0, 2], [1, 0, -1]);
  assert.deepEqual(against.axis.map(Math.abs), [0, 0, 1]);
  assert.ok(against.axis[2] < 0 && Math.abs(against.half - Math.PI / 4) < 1e-14);
});

test("both rims pass through the tip of omega at all times, in both frames", () => {
  const given = context();
  for (const frame of ["space", "body"] as const) {
    const parts = cones({ ...BASE, attached: "body", kind: "cones", axis: [0, 0, 1] }, given)!;
    const placed = new Group().add(parts.object);
    for (const t of [0, 0.37, 1.9]) {
      const pose = { ...top(t), position: [0, 0, 0], anchor: [0, 0, 0] };
      const instant = { t, pose, focus: [0, 0, 0] } as unknown as Instant;
      const framePose = poseInFrame(frame, given, instant);
      placed.quaternion.set(framePose.attitude[1], framePose.attitude[2], framePose.attitude[3], framePose.attitude[0]);
      parts.update!(instant, framePose);
      placed.updateMatrixWorld(true);
      const omega = framePose.along(pose.angularVelocity);
      const tip = new Vector3(...scaled(MAX_LENGTH.omega / length(omega), omega));
      const rims: WideLine[] = [];
      placed.traverse((part) => part instanceof WideLine && rims.push(part));
      assert.equal(rims.length, 2);
      for (const rim of rims) {
        const points = rim.geometry.getAttribute("start");
        const away = Array.from({ length: points.count }, (_, i) => new Vector3().fromBufferAttribute(points, i).applyMatrix4(rim.matrixWorld).distanceTo(tip));
        // Half the distance of two points of the rim.
        assert.ok(Math.min(...away) < (1.01 * Math.PI * MAX_LENGTH.omega) / 96);
      }
    }
  }
});

test("without free rotation there are no cones", () => {
  const given = context();
  given.record.isFree = false;
  assert.equal(cones({ ...BASE, kind: "cones", axis: [0, 0, 1] }, given), null);
});

test("a stand reaches from the floor to the pivot; rods, axles and shafts have their lengths", () => {
  const given = context();
  const high = extent(stand({ ...BASE, kind: "stand", pivot: [1, 2, 3], height: 1.5, radius: 0.05 }, given).object as Group);
  assert.ok(Math.abs(high.max.z) < 1e-6 && Math.abs(high.min.z + 1.5 / UNIT) < 1e-6);
  const bar = { ...BASE, start: [0, 0, -1] as Vec3, end: [0, 0, 0.5] as Vec3, radius: 0.1 };
  for (const parts of [rod({ ...bar, kind: "rod", endRadius: null }, given), axle({ ...bar, kind: "axle" }, given)]) {
    const found = extent(parts.object as Mesh);
    assert.ok(Math.abs(found.max.z - 1.5 / UNIT) < 1e-6 && Math.abs(found.min.z) < 1e-6);
    assert.deepEqual(parts.anchor, [0, 0, -1]);
  }
  const held = shaft({ ...BASE, kind: "shaft", point: [0, 0, 0], direction: [0, 2, 0], length: 3, radius: 0.1, bearings: true }, given);
  const found = extent(held.object as Group);
  assert.ok(Math.abs(found.max.y - 1.5 / UNIT) < 1e-6 && found.max.x > 0.2);
});

test("boxes are turned by their quaternion, and bonds join their points", () => {
  const given = context();
  const half = Math.SQRT1_2;
  const turned = box({ ...BASE, kind: "box", sides: [1, 2, 3], center: [0, 0, 0], quaternion: [half, half, 0, 0] }, given);
  const size = extent(turned.object as Mesh).getSize(new Vector3()).multiplyScalar(UNIT);
  assert.ok(size.distanceTo(new Vector3(1, 3, 2)) < 1e-6);
  const atoms = { ...BASE, kind: "bonds" as const, points: [[0, 0, 0], [0, 0, 1]] as Vec3[], pairs: [[0, 1]] as [number, number][] };
  const molecule = bonds({ ...atoms, radius: 0.1, radii: [0.2, 0.3], colors: ["ink", "#ff0000"] }, given).object as Group;
  assert.equal(molecule.children.length, 3);
  assert.ok(Math.abs(extent(molecule).max.z * UNIT - 1.3) < 1e-6);
});

test("dots of times to come are fainter than those of the past", () => {
  const points: Vec3[] = [[0, 0, 0], [1, 0, 0], [2, 0, 0]];
  const parts = cloud({ ...BASE, kind: "cloud", points, times: [0, 1, 2], pixels: 5, color: "#000000" }, context());
  const reds = (t: number): number[] => {
    parts.update!({ t } as Instant, undefined as never);
    const tones = (parts.object as Points).geometry.getAttribute("color");
    return [0, 1, 2].map((i) => tones.getX(i));
  };
  assert.deepEqual(reds(1.5).map((x) => x > 0), [false, false, true]);
  assert.deepEqual(reds(0.5).map((x) => x > 0), [false, true, true]);
});

test("a planet that is drawn smaller and nearer looks the same", () => {
  const given = context();
  const radius = 6.4e6;
  const parts = globe({ ...BASE, kind: "globe", radius, center: [0, 0, 0], axis: [0, 0, 1], rate: 0 }, given);
  const placed = new Group().add(parts.object);
  placed.position.set(-(radius + 9000) / UNIT, 0, 0);
  const camera = new PerspectiveCamera(28, 1, 0.1, 400);
  camera.position.set(1, -8, 2);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  parts.fit!(camera, 400, 400);
  placed.updateMatrixWorld(true);
  for (const [a, b] of [[0.02, 0.01], [0.05, -0.03]]) {
    const place = new Vector3(Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a));
    const drawn = place.clone().applyMatrix4(parts.object.matrixWorld);
    const true_ = place.multiplyScalar(radius / UNIT).add(placed.position);
    const [one, other] = [drawn, true_].map((x) => x.clone().sub(camera.position));
    assert.ok(one.angleTo(other) < 1e-7);
    assert.ok(one.length() < other.length() / 10);
  }
});

test("the direction that shall be upward is upward on the screen, and z is left alone", () => {
  const camera = new PerspectiveCamera(28, 1, 0.1, 100);
  const aim = (up: Vec3 | undefined): Vector3 => {
    camera.up.set(0, 0, 1);
    camera.position.set(3, -6, 2);
    camera.lookAt(0, 0, 0);
    camera.updateMatrixWorld();
    raiseCamera(camera, up);
    return new Vector3(...(up ?? [0, 0, 1])).project(camera);
  };
  for (const up of [undefined, [0, 0, 1], [1, 0, 0], [0.6, 0, -0.8]] as (Vec3 | undefined)[]) {
    const { x, y } = aim(up);
    assert.ok(Math.abs(x) < 1e-12 && y > 0.2);
  }
});

test("props are kept while they are built from the same, and never those that follow the motion", () => {
  const given = (length: number, radius: number, kind = "axis"): ViewContext => {
    const made = context();
    const props = [{ ...BASE, kind, length }] as unknown as ViewContext["record"]["stage"]["props"];
    return { ...made, record: { ...made.record, stage: { ...EMPTY_STAGE, props } }, framing: { ...made.framing, radius: { whole: radius, following: 1 } } };
  };
  assert.equal(propsKey(given(1, 2)), propsKey(given(1, 2)));
  assert.notEqual(propsKey(given(1, 2)), propsKey(given(3, 2)));
  assert.notEqual(propsKey(given(1, 2)), propsKey(given(1, 4)));
  assert.equal(propsKey(given(1, 2, "rod")), propsKey(given(1, 4, "rod")));
  assert.equal(propsKey(given(1, 2, "cones")), null);
});
