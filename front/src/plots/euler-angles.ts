// Euler angles over time: phi about z, theta about the new x, psi about the new z, as in motion.euler_angles
// (src/polhode/rotations.py), but unwrapped.

import { quaternionAt, vectorAt } from "../motion/record.ts";
import { toBody, type Quat, type Vec3 } from "../motion/vectors.ts";

const TURN = 2 * Math.PI;
const ROUNDING = 4 * Number.EPSILON;

/** (phi, theta, psi) in rad: -pi < phi <= pi, 0 <= theta <= pi, -pi < psi <= pi; psi is 0 where theta is 0 or pi. */
export function eulerAngles(q: Quat): Vec3 {
  const leading = [q[0], q[3], q[1], q[2]].find((c) => c !== 0) ?? 0;
  const sign = leading < 0 ? -1 : 1;
  const [w, x, y, z] = q.map((c) => sign * c + 0);
  const across = Math.hypot(x, y);
  const along = Math.hypot(w, z);
  const theta = 2 * Math.atan2(across, along);
  if (across <= ROUNDING * along) return [wrapAngle(2 * Math.atan2(z, w)), theta, 0];
  if (along <= ROUNDING * across) return [wrapAngle(2 * Math.atan2(y, x)), theta, 0];
  const halfSum = Math.atan2(z, w);
  const halfDifference = Math.atan2(y, x);
  return [wrapAngle(halfSum + halfDifference), theta, wrapAngle(halfSum - halfDifference)];
}

const wrapAngle = (angle: number): number =>
  angle > Math.PI ? angle - TURN : angle <= -Math.PI ? angle + TURN : angle;

/** Rates of the angles, in rad/s, from the angular velocity in body axes.  [Christian 2011, eq. 17.36, inverted] */
export function angleRates([, theta, psi]: Vec3, [x, y, z]: Vec3): Vec3 {
  const phiRate = (x * Math.sin(psi) + y * Math.cos(psi)) / Math.sin(theta);
  return [phiRate, x * Math.cos(psi) - y * Math.sin(psi), z - phiRate * Math.cos(theta)];
}

/**
 * Unwrap an angle: of all values that differ by whole turns, the nearest to the extrapolation by the rates at both ends,
 * or, where these differ too much (near theta = 0 or pi), the nearest to the previous value.
 */
export function unwrapAngle(previousAngle: number, angle: number, rateBefore: number, rateAfter: number, seconds: number): number {
  const isReliable = Math.abs(rateAfter - rateBefore) * seconds < Math.PI;
  const expected = isReliable ? previousAngle + ((rateBefore + rateAfter) / 2) * seconds : previousAngle;
  return angle + TURN * Math.round((expected - angle) / TURN);
}

/** Whether theta is 0 or pi to rounding, where only phi + psi or phi - psi is defined. */
const isGimbalLocked = ([, theta, psi]: Vec3): boolean => psi === 0 && (theta <= 2 * ROUNDING || theta >= Math.PI - 2 * ROUNDING);

/** The same attitude with a given psi, where phi and psi rotate about the same axis. */
const withPsi = ([phi, theta]: Vec3, psi: number): Vec3 => [theta > 1 ? phi + psi : phi - psi, theta, psi];

/**
 * phi, theta and psi of one body at all times; phi and psi are unwrapped, also across a gap of NaN.  Where only their
 * sum or difference is defined, psi is that of the previous output (the next one, at the start), to avoid a false jump.
 */
export function eulerAnglesOverTime(
  time: Float64Array,
  quaternion: Float64Array,
  angularVelocity: Float64Array,
  bodies: number,
  body: number,
): [Float64Array, Float64Array, Float64Array] {
  const found: Vec3[] = [];
  let previous: { t: number; angles: Vec3; rates: Vec3 } | null = null;
  for (let n = 0; n < time.length; n++) {
    const q = quaternionAt(quaternion, n * bodies + body);
    const wrapped = eulerAngles(q);
    const angles: Vec3 = isGimbalLocked(wrapped) && previous !== null ? withPsi(wrapped, previous.angles[2]) : wrapped;
    const rates = angleRates(angles, toBody(q, vectorAt(angularVelocity, n * bodies + body)));
    if (previous !== null) {
      for (const i of [0, 2]) {
        angles[i] = unwrapAngle(previous.angles[i], angles[i], previous.rates[i], rates[i], time[n] - previous.t);
      }
    }
    if (angles.every(Number.isFinite)) previous = { t: time[n], angles, rates };
    found.push(angles);
  }
  if (found.length > 1 && isGimbalLocked(found[0]) && !isGimbalLocked(found[1]) && Number.isFinite(found[1][2])) {
    const [phi, theta, psi] = withPsi(found[0], found[1][2]);
    found[0] = [unwrapAngle(found[1][0], phi, 0, 0, 0), theta, psi];
  }
  return [0, 1, 2].map((i) => Float64Array.from(found, (angles) => angles[i])) as [Float64Array, Float64Array, Float64Array];
}
