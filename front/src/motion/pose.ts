// Position and attitude of a body between two outputs.

import { quaternionAt, vectorAt, type MotionRecord, type StateArrays } from "./record.ts";
import {
  conjugate,
  minus,
  lerp,
  normalized,
  fromRotationVector,
  plus,
  product,
  scaled,
  toBody,
  toWorld,
  toRotationVector,
  type Quat,
  type Vec3,
} from "./vectors.ts";

/** Position and attitude of a body. */
export interface Placement {
  position: Vec3;
  quaternion: Quat;
  /** Where arrows start: the pivot if there is one, otherwise the center of mass. */
  anchor: Vec3;
}

export interface Pose extends Placement {
  angularVelocity: Vec3;
  angularVelocityBody: Vec3;
  angularMomentum: Vec3;
}

/** Index of the output at or before t, and the fraction (0 to 1) of the way to the next. */
export function locateTime(time: Float64Array, t: number): { before: number; share: number } {
  const last = time.length - 1;
  if (last < 1 || t <= time[0]) return { before: 0, share: 0 };
  if (t >= time[last]) return { before: last - 1, share: 1 };
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle;
    else high = middle;
  }
  return { before: low, share: (t - time[low]) / (time[high] - time[low]) };
}

/**
 * Attitude between two outputs: the rotation about body axes that the angular velocity gives (whole turns included),
 * corrected about world axes by what is missing at the second output, such as a top's precession.
 * The error is of third order in the time between outputs.
 */
export function interpolateAttitude(from: Quat, to: Quat, fromRate: Vec3, toRate: Vec3, seconds: number, share: number): Quat {
  const [first, second] = [toBody(from, fromRate), toBody(to, toRate)];
  // The rate is interpolated linearly.
  const turn = (s: number): Vec3 => scaled(seconds * s, lerp(first, second, s / 2));
  const missing = toRotationVector(product(to, conjugate(product(from, fromRotationVector(turn(1))))));
  const smooth = share * share * (3 - 2 * share);
  return normalized(product(fromRotationVector(scaled(smooth, missing)), product(from, fromRotationVector(turn(share)))));
}

/** Position between two outputs: the cubic Hermite interpolant of positions and velocities. */
export function interpolatePosition(from: Vec3, to: Vec3, fromRate: Vec3, toRate: Vec3, seconds: number, share: number): Vec3 {
  const [s, r] = [share, 1 - share];
  const rates = plus(scaled(r * r * s * seconds, fromRate), scaled(-s * s * r * seconds, toRate));
  return plus(lerp(from, to, s * s * (3 - 2 * s)), rates);
}

/** Rows of the outputs before and after t, the time between them, and the fraction of the way. */
function bracket(record: MotionRecord, body: number, t: number): { a: number; b: number; seconds: number; share: number } {
  const { before, share } = locateTime(record.time, t);
  const a = before * record.bodies + body;
  if (record.times < 2) return { a, b: a, seconds: 0, share };
  return { a, b: a + record.bodies, seconds: record.time[before + 1] - record.time[before], share };
}

/** Position and attitude at time t, of the motion itself or of its closed form. */
export function placementAt(record: MotionRecord, states: StateArrays, body: number, t: number): Placement {
  const { a, b, seconds, share } = bracket(record, body, t);
  const [qa, qb] = [quaternionAt(states.quaternion, a), quaternionAt(states.quaternion, b)];
  const [wa, wb] = [vectorAt(states.angularVelocity, a), vectorAt(states.angularVelocity, b)];
  const quaternion = share === 1 ? qb : share === 0 ? qa : interpolateAttitude(qa, qb, wa, wb, seconds, share);
  const pivot = record.pivots[body];
  if (pivot) {
    return { position: minus(pivot.world, toWorld(quaternion, pivot.body)), quaternion, anchor: pivot.world };
  }
  const [xa, xb] = [vectorAt(states.position, a), vectorAt(states.position, b)];
  const [va, vb] = [vectorAt(states.velocity, a), vectorAt(states.velocity, b)];
  const position = share === 1 ? xb : share === 0 ? xa : interpolatePosition(xa, xb, va, vb, seconds, share);
  return { position, quaternion, anchor: position };
}

export function poseAt(record: MotionRecord, body: number, t: number): Pose {
  const { a, b, share } = bracket(record, body, t);
  const [qa, qb] = [quaternionAt(record.quaternion, a), quaternionAt(record.quaternion, b)];
  const [wa, wb] = [vectorAt(record.angularVelocity, a), vectorAt(record.angularVelocity, b)];
  return {
    ...placementAt(record, record, body, t),
    angularVelocity: lerp(wa, wb, share),
    angularVelocityBody: lerp(toBody(qa, wa), toBody(qb, wb), share),
    angularMomentum: lerp(vectorAt(record.angularMomentum, a), vectorAt(record.angularMomentum, b), share),
  };
}

/** A vector of the record, such as a force, interpolated to time t. */
export function interpolateVector(record: MotionRecord, values: Float64Array, body: number, t: number): Vec3 {
  const { a, b, share } = bracket(record, body, t);
  return lerp(vectorAt(values, a), vectorAt(values, b), share);
}
