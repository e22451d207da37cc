// Where a body is between two outputs, and how it is turned.

import { quaternionAt, vectorAt, type MotionRecord, type Track } from "./record.ts";
import {
  conjugate,
  minus,
  mixed,
  normalized,
  ofTurn,
  plus,
  product,
  scaled,
  toBody,
  toWorld,
  turnOf,
  type Quat,
  type Vec3,
} from "./vectors.ts";

/** Where a body is and how it is turned. */
export interface Stance {
  position: Vec3;
  quaternion: Quat;
  /** Where arrows begin: the pivot of a body that is held, the centre of mass of any other. */
  anchor: Vec3;
}

export interface Pose extends Stance {
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

/** The place between two outputs: the cubic that has places and velocities of both. */
export function placeBetween(from: Vec3, to: Vec3, fromRate: Vec3, toRate: Vec3, seconds: number, share: number): Vec3 {
  const [s, r] = [share, 1 - share];
  const rates = plus(scaled(r * r * s * seconds, fromRate), scaled(-s * s * r * seconds, toRate));
  return plus(mixed(from, to, s * s * (3 - 2 * s)), rates);
}

/** The rows of the outputs before and after t, the time between them, and how far t is on the way. */
function around(record: MotionRecord, body: number, t: number): { a: number; b: number; seconds: number; share: number } {
  const { before, share } = placeOf(record.time, t);
  const a = before * record.bodies + body;
  if (record.times < 2) return { a, b: a, seconds: 0, share };
  return { a, b: a + record.bodies, seconds: record.time[before + 1] - record.time[before], share };
}

/** Of the motion itself, or of its ghost. */
export function stanceAt(record: MotionRecord, track: Track, body: number, t: number): Stance {
  const { a, b, seconds, share } = around(record, body, t);
  const [qa, qb] = [quaternionAt(track.quaternion, a), quaternionAt(track.quaternion, b)];
  const [wa, wb] = [vectorAt(track.angularVelocity, a), vectorAt(track.angularVelocity, b)];
  const quaternion = share === 1 ? qb : share === 0 ? qa : attitudeBetween(qa, qb, wa, wb, seconds, share);
  const pivot = record.pivots[body];
  if (pivot) {
    return { position: minus(pivot.world, toWorld(quaternion, pivot.body)), quaternion, anchor: pivot.world };
  }
  const [xa, xb] = [vectorAt(track.position, a), vectorAt(track.position, b)];
  const [va, vb] = [vectorAt(track.velocity, a), vectorAt(track.velocity, b)];
  const position = share === 1 ? xb : share === 0 ? xa : placeBetween(xa, xb, va, vb, seconds, share);
  return { position, quaternion, anchor: position };
}

export function poseAt(record: MotionRecord, body: number, t: number): Pose {
  const { a, b, share } = around(record, body, t);
  const [qa, qb] = [quaternionAt(record.quaternion, a), quaternionAt(record.quaternion, b)];
  const [wa, wb] = [vectorAt(record.angularVelocity, a), vectorAt(record.angularVelocity, b)];
  return {
    ...stanceAt(record, record, body, t),
    angularVelocity: mixed(wa, wb, share),
    angularVelocityBody: mixed(toBody(qa, wa), toBody(qb, wb), share),
    angularMomentum: mixed(vectorAt(record.angularMomentum, a), vectorAt(record.angularMomentum, b), share),
  };
}

/** A vector of the record, such as a force, at time t. */
export function vectorOver(record: MotionRecord, values: Float64Array, body: number, t: number): Vec3 {
  const { a, b, share } = around(record, body, t);
  return mixed(vectorAt(values, a), vectorAt(values, b), share);
}
