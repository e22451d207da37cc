// Where a body is between two outputs, and how it is turned.

import { quaternionAt, vectorAt, type MotionRecord } from "./record.ts";
import { conjugate, mixed, normalized, ofTurn, product, scaled, toBody, turnOf, type Quat, type Vec3 } from "./vectors.ts";

export interface Pose {
  position: Vec3;
  quaternion: Quat;
  angularVelocity: Vec3;
  angularVelocityBody: Vec3;
  angularMomentum: Vec3;
}

/** The output at or before t, and how far t is towards the next one: 0 to 1. */
export function placeOf(time: Float64Array, t: number): { before: number; share: number } {
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
 * The attitude between two outputs: the turn about the body's own axes that the angular velocity makes (with all its
 * whole turns), and about the world's axes what is then missing at the far end, such as a top's precession.
 * The error falls with the third power of the time between outputs.
 */
export function attitudeBetween(from: Quat, to: Quat, fromRate: Vec3, toRate: Vec3, seconds: number, share: number): Quat {
  const [first, second] = [toBody(from, fromRate), toBody(to, toRate)];
  // The rate taken as changing evenly from the first to the second.
  const turn = (s: number): Vec3 => scaled(seconds * s, mixed(first, second, s / 2));
  const missing = turnOf(product(to, conjugate(product(from, ofTurn(turn(1))))));
  const smooth = share * share * (3 - 2 * share);
  return normalized(product(ofTurn(scaled(smooth, missing)), product(from, ofTurn(turn(share)))));
}

export function poseAt(record: MotionRecord, body: number, t: number): Pose {
  const { before, share } = placeOf(record.time, t);
  const a = before * record.bodies + body;
  const b = record.times > 1 ? a + record.bodies : a;
  const seconds = record.times > 1 ? record.time[before + 1] - record.time[before] : 0;
  const [qa, qb] = [quaternionAt(record.quaternion, a), quaternionAt(record.quaternion, b)];
  const [wa, wb] = [vectorAt(record.angularVelocity, a), vectorAt(record.angularVelocity, b)];
  const quaternion = share === 1 ? qb : share === 0 ? qa : attitudeBetween(qa, qb, wa, wb, seconds, share);
  const angularVelocity = mixed(wa, wb, share);
  return {
    position: mixed(vectorAt(record.position, a), vectorAt(record.position, b), share),
    quaternion,
    angularVelocity,
    angularVelocityBody: mixed(toBody(qa, wa), toBody(qb, wb), share),
    angularMomentum: mixed(vectorAt(record.angularMomentum, a), vectorAt(record.angularMomentum, b), share),
  };
}

/** A vector of the record, such as a force, at time t. */
export function vectorOver(record: MotionRecord, values: Float64Array, body: number, t: number): Vec3 {
  const { before, share } = placeOf(record.time, t);
  const a = before * record.bodies + body;
  const b = record.times > 1 ? a + record.bodies : a;
  return mixed(vectorAt(values, a), vectorAt(values, b), share);
}
