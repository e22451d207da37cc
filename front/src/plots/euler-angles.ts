// Attitude angles over time, unwrapped: Euler's angles and yaw, pitch and roll, as in src/polhode/rotations.py.  Both
// have a middle angle at which the other two rotate about the same axis; there only their sum or difference is defined.

import { quaternionAt, vectorAt } from "../motion/record.ts";
import { length, toBody, type Quat, type Vec3 } from "../motion/vectors.ts";

const TURN = 2 * Math.PI;
const ROUNDING = 4 * Number.EPSILON;

/** Closer to where they are undefined, in rad, 32-bit quaternions do not resolve the first and the third angle. */
const UNDEFINED_WITHIN = 1e-4;

/**
 * Where the first and the third angle change faster than this many times the angular speed, they turn against each other
 * because the middle angle is close to where they are undefined.  If that lasts for half a turn at most, and for a small
 * part of the motion, it is a step that the body does not make; otherwise a precession.
 */
const MAX_RATIO = 4;
const MAX_STEP = Math.PI;
const MAX_STEP_PART = 0.1;

/** A change between two outputs that differs by more, in rad, from what the rates give, is not drawn as a line. */
const MAX_SURPRISE = 1;

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

/** (yaw, pitch, roll) in rad: about z, then the new y, then the new x. */
export function yawPitchRoll([w, x, y, z]: Quat): Vec3 {
  const halfSum = Math.atan2(x + z, w - y);
  const halfDifference = Math.atan2(z - x, w + y);
  const pitch = 2 * Math.atan2(Math.hypot(w + y, z - x), Math.hypot(w - y, x + z)) - Math.PI / 2;
  return [wrapAngle(halfSum + halfDifference), pitch, wrapAngle(halfSum - halfDifference)];
}

const wrapAngle = (angle: number): number =>
  angle > Math.PI ? angle - TURN : angle <= -Math.PI ? angle + TURN : angle;

/** Rates of the angles, in rad/s, from the angular velocity in body axes.  [Christian 2011, eq. 17.36, inverted] */
export function angleRates([, theta, psi]: Vec3, [x, y, z]: Vec3): Vec3 {
  const phiRate = (x * Math.sin(psi) + y * Math.cos(psi)) / Math.sin(theta);
  return [phiRate, x * Math.cos(psi) - y * Math.sin(psi), z - phiRate * Math.cos(theta)];
}

/** Rates of yaw, pitch and roll, in rad/s, from the angular velocity in body axes. */
export function yawPitchRollRates([, pitch, roll]: Vec3, [x, y, z]: Vec3): Vec3 {
  const yawRate = (y * Math.sin(roll) + z * Math.cos(roll)) / Math.cos(pitch);
  return [yawRate, y * Math.cos(roll) - z * Math.sin(roll), x + yawRate * Math.sin(pitch)];
}

export interface Convention {
  angles(q: Quat): Vec3;
  rates(angles: Vec3, angularVelocityBody: Vec3): Vec3;
  /** How far the middle angle is from where the other two are undefined. */
  margin(middle: number): number;
}

export const EULER: Convention = { angles: eulerAngles, rates: angleRates, margin: (theta) => Math.min(theta, Math.PI - theta) };
export const YAW_PITCH_ROLL: Convention = {
  angles: yawPitchRoll,
  rates: yawPitchRollRates,
  margin: (pitch) => Math.PI / 2 - Math.abs(pitch),
};

/**
 * Unwrap an angle: of all values that differ by whole turns, the nearest to the extrapolation by the rates at both ends,
 * or, where these differ too much (near an undefined angle), the nearest to the previous value.  `isSure` says whether
 * it agrees with the rates, so that a line from the previous value to this one is true.
 */
export function unwrapAngle(
  previousAngle: number,
  angle: number,
  rateBefore: number,
  rateAfter: number,
  seconds: number,
): { angle: number; isSure: boolean } {
  const isReliable = Math.abs(rateAfter - rateBefore) * seconds < Math.PI;
  const expected = isReliable ? previousAngle + ((rateBefore + rateAfter) / 2) * seconds : previousAngle;
  const unwrapped = angle + TURN * Math.round((expected - angle) / TURN);
  return { angle: unwrapped, isSure: isReliable && Math.abs(unwrapped - expected) <= MAX_SURPRISE };
}

export interface AnglesOverTime {
  angles: [Float64Array, Float64Array, Float64Array];
  /** rad/s */
  rates: [Float64Array, Float64Array, Float64Array];
  /** Outputs after which no line is drawn to the next one. */
  breaks: Set<number>;
}

/** A body's attitude over time: times, and arrays of shape (times, bodies, 3 or 4). */
export interface Turning {
  time: Float64Array;
  quaternion: Float64Array;
  angularVelocity: Float64Array;
  bodies: number;
}

/**
 * The angles of one body at all times; the first and the third are unwrapped, and NaN where they are undefined or step
 * because they nearly are.
 */
export function anglesOverTime(motion: Turning, body: number, convention: Convention): AnglesOverTime {
  const { time, quaternion, angularVelocity, bodies } = motion;
  const columns = (): AnglesOverTime["angles"] => [0, 1, 2].map(() => new Float64Array(time.length)) as AnglesOverTime["angles"];
  const found = { angles: columns(), rates: columns(), breaks: new Set<number>() };
  const isFast = new Uint8Array(time.length);
  let previous: { t: number; n: number; angles: Vec3; rates: Vec3 } | null = null;
  for (let n = 0; n < time.length; n++) {
    const q = quaternionAt(quaternion, n * bodies + body);
    const angles = convention.angles(q);
    const angularVelocityBody = toBody(q, vectorAt(angularVelocity, n * bodies + body));
    const rates = convention.rates(angles, angularVelocityBody);
    isFast[n] = Number(Math.abs(rates[0]) > MAX_RATIO * length(angularVelocityBody));
    if (!(convention.margin(angles[1]) > UNDEFINED_WITHIN)) {
      // The rate of the middle angle depends on the third one, which is undefined.
      angles[0] = angles[2] = rates[0] = rates[1] = rates[2] = NaN;
    } else {
      for (const i of previous === null ? [] : [0, 2]) {
        const { angle, isSure } = unwrapAngle(previous!.angles[i], angles[i], previous!.rates[i], rates[i], time[n] - previous!.t);
        angles[i] = angle;
        if (!isSure && previous!.n === n - 1) found.breaks.add(n - 1);
      }
      previous = { t: time[n], n, angles, rates };
    }
    for (const i of [0, 1, 2]) {
      found.angles[i][n] = angles[i];
      found.rates[i][n] = rates[i];
    }
  }
  removeSteps(time, found.angles, isFast);
  return found;
}

/** Make gaps of the steps of the first and the third angle. */
function removeSteps(time: Float64Array, [first, , third]: AnglesOverTime["angles"], isFast: Uint8Array): void {
  const longest = MAX_STEP_PART * (time[time.length - 1] - time[0]);
  for (let from = isFast.indexOf(1); from >= 0; ) {
    const end = isFast.indexOf(0, from);
    const until = end < 0 ? isFast.length : end;
    const isShort = time[until - 1] - time[from] <= longest;
    // NaN within a step is no reason to keep the rest of it.
    if (isShort && !(Math.abs(first[until - 1] - first[from]) > MAX_STEP)) [first, third].forEach((angle) => angle.fill(NaN, from, until));
    from = isFast.indexOf(1, until);
  }
}

/**
 * The angle about the vertical of a body whose third axis is always vertical: phi + psi if it points up, phi - psi if it
 * points down; unwrapped.
 */
export function angleAboutVertical({ time, quaternion, angularVelocity, bodies }: Turning, body: number): Float64Array {
  const found = new Float64Array(time.length);
  let last = -1;
  for (let n = 0; n < time.length; n++) {
    const row = n * bodies + body;
    const [w, x, y, z] = quaternionAt(quaternion, row);
    const angle = Math.hypot(x, y) < Math.hypot(w, z) ? 2 * Math.atan2(z, w) : 2 * Math.atan2(y, x);
    const rate = (at: number): number => angularVelocity[3 * (at * bodies + body) + 2];
    found[n] = last < 0 ? wrapAngle(angle) : unwrapAngle(found[last], angle, rate(last), rate(n), time[n] - time[last]).angle;
    if (Number.isFinite(found[n])) last = n;
  }
  return found;
}
