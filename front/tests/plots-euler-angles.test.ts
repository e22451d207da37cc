import assert from "node:assert/strict";
import { test } from "node:test";
import { fromRotationVector, product, type Quat, type Vec3 } from "../src/motion/vectors.ts";
import { eulerAnglesOverTime, eulerAngles } from "../src/plots/euler-angles.ts";
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
  const [phi, theta, psi] = eulerAnglesOverTime(time, record.quaternion, record.angularVelocity, 1, 0);
  near([...phi], [...time].map((t) => precession * t));
  near([...psi], [...time].map((t) => spin * t), 1e-11);
  near([...theta], [...time].map(() => 0.6));
});

test("a gap stays a gap, and the angles are unwrapped across it", () => {
  const record = recordOf([0, 1, 2, 3], symmetricTop(0.6, 0, 5));
  record.quaternion.fill(NaN, 4, 8);
  const [, , psi] = eulerAnglesOverTime(record.time, record.quaternion, record.angularVelocity, 1, 0);
  assert.ok(Number.isNaN(psi[1]));
  near([psi[2], psi[3]], [10, 15]);
});

test("a body that starts upright and tilts about y has no jump, though psi is 0 by convention at the start", () => {
  const tilting = {
    quaternion: (t: number): Quat => fromRotationVector([0, 0.2 * t, 0]),
    angularVelocity: (): Vec3 => [0, 0.2, 0],
  };
  const record = recordOf([0, 1, 2], tilting);
  const [phi, theta, psi] = eulerAnglesOverTime(record.time, record.quaternion, record.angularVelocity, 1, 0);
  near([...phi], [Math.PI / 2, Math.PI / 2, Math.PI / 2]);
  near([...psi], [-Math.PI / 2, -Math.PI / 2, -Math.PI / 2]);
  near([...theta], [0, 0.2, 0.4]);
});
