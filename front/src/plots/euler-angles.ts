// Euler angles over time: phi about z, theta about the new x, psi about the new z, as motion.euler_angles has them
// (src/polhode/rotations.py), and followed beyond a turn.

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
  if (across <= ROUNDING * along) return [withinATurn(2 * Math.atan2(z, w)), theta, 0];
  if (along <= ROUNDING * across) return [withinATurn(2 * Math.atan2(y, x)), theta, 0];
  const halfSum = Math.atan2(z, w);
  const halfDifference = Math.atan2(y, x);
  return [withinATurn(halfSum + halfDifference), theta, withinATurn(halfSum - halfDifference)];
}

const withinATurn = (angle: number): number =>
  angle > Math.PI ? angle - TURN : angle <= -Math.PI ? angle + TURN : angle;

/** How fast the angles grow, in rad/s, by the angular velocity along body axes.  [seed 004 eq. 17.36, inverted] */
export function angleRates([, theta, psi]: Vec3, [x, y, z]: Vec3): Vec3 {
  const phiRate = (x * Math.sin(psi) + y * Math.cos(psi)) / Math.sin(theta);
  return [phiRate, x * Math.cos(psi) - y * Math.sin(psi), z - phiRate * Math.cos(theta)];
}

/**
 * The angle after a known one: of all that differ by whole turns, the nearest to what the rates at both ends lead to.
 * Where these differ so much that they do not tell (near theta = 0 or pi), the nearest to the known one.
 */
export function followed(known: number, angle: number, rateBefore: number, rateAfter: number, seconds: number): number {
  const told = Math.abs(rateAfter - rateBefore) * seconds < Math.PI;
  const expected = told ? known + ((rateBefore + rateAfter) / 2) * seconds : known;
  return angle + TURN * Math.round((expected - angle) / TURN);
}

/** Whether theta is 0 or pi to rounding, where only phi + psi or phi - psi is known. */
const isUpright = ([, theta, psi]: Vec3): boolean => psi === 0 && (theta <= 2 * ROUNDING || theta >= Math.PI - 2 * ROUNDING);

/** The same attitude with a psi that was wanted, where phi and psi turn about the same line. */
const shared = ([phi, theta]: Vec3, psi: number): Vec3 => [theta > 1 ? phi + psi : phi - psi, theta, psi];

/**
 * phi, theta and psi of one body at all times; phi and psi go on beyond a turn, and over a gap of NaN.
 * Where only their sum or difference is known, psi is that of the output before (after, at the start): no jump is drawn
 * that the body does not make.
 */
export function anglesOver(
  time: Float64Array,
  quaternion: Float64Array,
  angularVelocity: Float64Array,
  bodies: number,
  body: number,
): [Float64Array, Float64Array, Float64Array] {
  const found: Vec3[] = [];
  let then: { t: number; angles: Vec3; rates: Vec3 } | null = null;
  for (let n = 0; n < time.length; n++) {
    const q = quaternionAt(quaternion, n * bodies + body);
    const within = eulerAngles(q);
    const angles: Vec3 = isUpright(within) && then !== null ? shared(within, then.angles[2]) : within;
    const rates = angleRates(angles, toBody(q, vectorAt(angularVelocity, n * bodies + body)));
    if (then !== null) {
      for (const i of [0, 2]) {
        angles[i] = followed(then.angles[i], angles[i], then.rates[i], rates[i], time[n] - then.t);
      }
    }
    if (angles.every(Number.isFinite)) then = { t: time[n], angles, rates };
    found.push(angles);
  }
  if (found.length > 1 && isUpright(found[0]) && !isUpright(found[1]) && Number.isFinite(found[1][2])) {
    const [phi, theta, psi] = shared(found[0], found[1][2]);
    found[0] = [followed(found[1][0], phi, 0, 0, 0), theta, psi];
  }
  return [0, 1, 2].map((i) => Float64Array.from(found, (angles) => angles[i])) as [Float64Array, Float64Array, Float64Array];
}
