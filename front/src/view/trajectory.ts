// The trajectory of a body, sampled finely enough that paths look smooth.

import { poseAt, type Pose } from "../motion/pose.ts";
import { vectorAt, type MotionRecord } from "../motion/record.ts";
import { length } from "../motion/vectors.ts";

/** Maximum rotation between two points of a path, in rad, and maximum number of points. */
const MAX_ANGLE = 0.1;
const MAX_POINTS = 3000;

export interface Trajectory {
  times: Float64Array;
  poses: Pose[];
}

/** Cache: both frames use the same trajectory. */
const cache = new WeakMap<MotionRecord, { body: number; trajectory: Trajectory }>();

/** Poses at the outputs, and in between where the body rotates far; up to a failure, if there is one. */
export function trajectoryOf(record: MotionRecord, body: number): Trajectory {
  const before = cache.get(record);
  if (before?.body === body) return before.trajectory;
  const trajectory = sampleTrajectory(record, body);
  cache.set(record, { body, trajectory });
  return trajectory;
}

function sampleTrajectory(record: MotionRecord, body: number): Trajectory {
  const pieces = piecesOf(record, body);
  const wanted = pieces.reduce((a, b) => a + b, 1);
  const scale = wanted > MAX_POINTS ? (MAX_POINTS - record.times) / wanted : 1;
  const times: number[] = [record.time[0]];
  for (let k = 0; k + 1 < record.times; k++) {
    const n = Math.max(1, Math.floor(pieces[k] * scale));
    const [a, b] = [record.time[k], record.time[k + 1]];
    for (let i = 1; i <= n; i++) times.push(i === n ? b : a + ((b - a) * i) / n);
  }
  const poses: Pose[] = [];
  for (const t of times) {
    const pose = poseAt(record, body, t);
    if (![...pose.position, ...pose.quaternion].every(Number.isFinite)) break;
    poses.push(pose);
  }
  return { times: Float64Array.from(times.slice(0, poses.length)), poses };
}

function piecesOf(record: MotionRecord, body: number): number[] {
  const pieces: number[] = [];
  for (let k = 0; k + 1 < record.times; k++) {
    const rate = length(vectorAt(record.angularVelocity, k * record.bodies + body));
    const turn = rate * (record.time[k + 1] - record.time[k]);
    pieces.push(Number.isFinite(turn) ? Math.min(200, Math.max(1, Math.ceil(turn / MAX_ANGLE))) : 1);
  }
  return pieces;
}
