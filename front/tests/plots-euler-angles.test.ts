import assert from "node:assert/strict";
import { test } from "node:test";
import { fromRotationVector, product, type Quat, type Vec3 } from "../src/motion/vectors.ts";
import { angleAboutVertical, anglesOverTime, EULER, eulerAngles, YAW_PITCH_ROLL, yawPitchRoll } from "../src/plots/euler-angles.ts";
import { recordOf, symmetricTop } from "./closed-forms.ts";

const made = (phi: number, theta: number, psi: number): Quat =>
  product(product(fromRotationVector([0, 0, phi]), fromRotationVector([theta, 0, 0])), fromRotationVector([0, 0, psi]));

function near(found: readonly number[], expected: readonly number[], room = 1e-12): void {
  found.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= room, `${found} is not ${expected}`));
}

test("angles about z, the new x and the new z, from either of the two quaternions", () => {
  for (const angles of [[0.3, 0.7, -1.1], [-3, 3, 3], [Math.PI, 1, Math.PI]] as Vec3[]) {
    const q = made(...angles);
    near(eulerAngles(q), angles);
    near(eulerAngles([-q[0], -q[1], -q[2], -q[3]]), angles);
  }
});

test("where only the sum of phi and psi is defined, psi is 0", () => {
  near(eulerAngles(made(0.5, 0, 0.25)), [0.75, 0, 0]);
  near(eulerAngles(made(0.5, Math.PI, 0.25)), [0.25, Math.PI, 0]);
  near(eulerAngles([0, 0, 0, 1]), [Math.PI, 0, 0]);
});

test("a top's phi and psi are unwrapped over whole turns between outputs", () => {
  const time = Float64Array.from({ length: 9 }, (_, i) => i);
  const [precession, spin] = [0.4, 2 * Math.PI * 3.7];
  const record = recordOf([...time], symmetricTop(0.6, precession, spin));
  const [phi, theta, psi] = anglesOverTime(record, 0, EULER).angles;
  near([...phi], [...time].map((t) => precession * t));
  near([...psi], [...time].map((t) => spin * t), 1e-11);
  near([...theta], [...time].map(() => 0.6));
});

test("a gap stays a gap, and the angles are unwrapped across it", () => {
  const record = recordOf([0, 1, 2, 3], symmetricTop(0.6, 0, 5));
  record.quaternion.fill(NaN, 4, 8);
  const [, , psi] = anglesOverTime(record, 0, EULER).angles;
  assert.ok(Number.isNaN(psi[1]));
  near([psi[2], psi[3]], [10, 15]);
});

/** A body that tilts about a fixed horizontal axis, through the vertical at t = 1. */
const tilting = {
  quaternion: (t: number): Quat => fromRotationVector([0, 0.2 * (t - 1), 0]),
  angularVelocity: (): Vec3 => [0, 0.2, 0],
};

test("where the third axis is vertical phi and psi are gaps, and theta is not", () => {
  const record = recordOf([1, 2, 3], tilting);
  const [phi, theta, psi] = anglesOverTime(record, 0, EULER).angles;
  near([...phi.slice(1)], [Math.PI / 2, Math.PI / 2]);
  near([...psi.slice(1)], [-Math.PI / 2, -Math.PI / 2]);
  assert.ok(Number.isNaN(phi[0]) && Number.isNaN(psi[0]));
  near([...theta], [0, 0.2, 0.4]);
});

test("a jump between two outputs is not a line: phi changes by half a turn where the body tilts through the vertical", () => {
  const { angles, breaks } = anglesOverTime(recordOf([0, 0.5, 1.5, 2], tilting), 0, EULER);
  near([Math.abs(angles[0][2] - angles[0][1])], [Math.PI]);
  assert.deepEqual([...breaks], [1]);
});

test("close to the vertical, where phi and psi turn against each other, both are gaps", () => {
  // The axis passes the vertical at a distance of 0.02 rad: phi changes by nearly half a turn within 0.7 s.
  const passing = {
    quaternion: (t: number): Quat => product(fromRotationVector([0, 0.2 * t, 0]), fromRotationVector([0.02, 0, 0])),
    angularVelocity: (): Vec3 => [0, 0.2, 0],
  };
  const time = Array.from({ length: 81 }, (_, i) => -4 + i / 10);
  const { angles, breaks } = anglesOverTime(recordOf(time, passing), 0, EULER);
  const [phi, theta, psi] = angles;
  assert.ok(Number.isNaN(phi[40]) && Number.isNaN(psi[40]));
  near([theta[40]], [0.02]);
  for (let n = 1; n < time.length; n++) assert.ok(!(Math.abs(phi[n] - phi[n - 1]) > 0.3), `phi jumps at ${time[n]}`);
  assert.equal(breaks.size, 0);
});

test("a fast precession at a small tilt is no step, though phi changes much faster than the body turns", () => {
  // Nearly without spin, as Euler's disk: the angular speed is 2 * 0.02 * 40 / 2 rad/s.
  const time = Array.from({ length: 200 }, (_, i) => i / 100);
  const [phi] = anglesOverTime(recordOf(time, symmetricTop(0.02, 40, -40)), 0, EULER).angles;
  near([...phi], time.map((t) => 40 * t), 1e-8);
});

test("rates of the angles are their derivatives, by central differences", () => {
  const step = 1e-4;
  const known = symmetricTop(0.6, 0.4, 3);
  for (const convention of [EULER, YAW_PITCH_ROLL]) {
    const { angles, rates } = anglesOverTime(recordOf([1 - step, 1, 1 + step], known), 0, convention);
    near([0, 1, 2].map((i) => rates[i][1]), [0, 1, 2].map((i) => (angles[i][2] - angles[i][0]) / (2 * step)), 1e-6);
  }
});

test("yaw about z, pitch about the new y, roll about the new x, from either of the two quaternions", () => {
  for (const [yaw, pitch, roll] of [[0.3, 0.7, -1.1], [-3, -1.5, 3]]) {
    const q = product(product(fromRotationVector([0, 0, yaw]), fromRotationVector([0, pitch, 0])), fromRotationVector([roll, 0, 0]));
    near(yawPitchRoll(q), [yaw, pitch, roll]);
    near(yawPitchRoll([-q[0], -q[1], -q[2], -q[3]]), [yaw, pitch, roll]);
  }
});

test("yaw and roll are gaps where the pitch is a quarter turn", () => {
  const pitching = { quaternion: (t: number): Quat => fromRotationVector([0, t, 0]), angularVelocity: (): Vec3 => [0, 1, 0] };
  const [yaw, pitch, roll] = anglesOverTime(recordOf([1, Math.PI / 2], pitching), 0, YAW_PITCH_ROLL).angles;
  near([yaw[0], pitch[0], roll[0], pitch[1]], [0, 1, 0, Math.PI / 2]);
  assert.ok(Number.isNaN(yaw[1]) && Number.isNaN(roll[1]));
});

test("the angle of a body that spins upright, or upside down, counts whole turns", () => {
  const time = [0, 1, 2, 3];
  near([...angleAboutVertical(recordOf(time, symmetricTop(0, 0, 20)), 0)], time.map((t) => 20 * t), 1e-11);
  // phi - psi: the spin is about the axis that points down.
  near([...angleAboutVertical(recordOf(time, symmetricTop(Math.PI, 0, 20)), 0)], time.map((t) => -20 * t), 1e-11);
});
