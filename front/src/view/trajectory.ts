// Where a body has been, finely enough that paths look smooth.

import { poseAt, type Pose } from "../motion/pose.ts";
import { vectorAt, type MotionRecord } from "../motion/record.ts";
import { length } from "../motion/vectors.ts";

/** Points of a path are at most so many rad of turning apart; so many at most. */
const CLOSE = 0.1;
const MOST = 3000;

export interface Course {
  times: Float64Array;
  poses: Pose[];
}

/** Each is asked for by the paths of both frames. */
const known = new WeakMap<MotionRecord, { body: number; course: Course }>();

/** The outputs, and instants between them where the body turns far; up to where the body fails, if it does. */
export function courseOf(record: MotionRecord, body: number): Course {
  const before = known.get(record);
  if (before?.body === body) return before.course;
  const course = newCourse(record, body);
  known.set(record, { body, course });
  return course;
}

function newCourse(record: MotionRecord, body: number): Course {
  const pieces = piecesOf(record, body);
  const wanted = pieces.reduce((a, b) => a + b, 1);
  const scale = wanted > MOST ? (MOST - record.times) / wanted : 1;
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
    pieces.push(Number.isFinite(turn) ? Math.min(200, Math.max(1, Math.ceil(turn / CLOSE))) : 1);
  }
  return pieces;
}
