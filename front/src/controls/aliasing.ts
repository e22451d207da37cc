// What the eye can follow, and where it is deceived: a body that turns more than half a turn between two pictures seems
// to turn otherwise (the stroboscope).

import { turnsAFrame, FRAMES_PER_SECOND } from "../motion/playback.ts";
import { vectorAt, type MotionRecord } from "../motion/record.ts";
import { length } from "../motion/vectors.ts";
import { short } from "./format.ts";

export const HALF = 0.5;
const WATCHABLE = 1 / 12;

/** The greatest angular speed of a body, in rad/s. */
export function fastest(record: MotionRecord, body: number): number {
  let most = 0;
  for (let k = 0; k < record.times; k++) {
    const rate = length(vectorAt(record.angularVelocity, k * record.bodies + body));
    if (rate > most) most = rate;
  }
  return most;
}

/** The largest speed of 1, 2 or 5 times a power of ten at which it turns at most a twelfth between two frames. */
export function slowMotion(rate: number): number {
  const most = (WATCHABLE * FRAMES_PER_SECOND * 2 * Math.PI) / rate;
  const power = 10 ** Math.floor(Math.log10(most));
  const found = [5, 2, 1].map((n) => Number((n * power).toPrecision(1))).find((speed) => speed <= most);
  return found ?? power;
}

/** Why the eye is deceived at this speed; "" if it is not. */
export function deception(rate: number, speed: number): string {
  const turns = turnsAFrame(rate, speed);
  if (!(turns > HALF)) return "";
  return (
    `The body turns ${short(turns, 2)} times between two frames of the screen: ` +
    "the eye sees another spin than it has (stroboscope)."
  );
}

/** Whether the stored outputs themselves lie too far apart; "" if not. */
export function sparse(record: MotionRecord, body: number): string {
  let most = 0;
  for (let k = 0; k + 1 < record.times; k++) {
    const [a, b] = [k, k + 1].map((row) => length(vectorAt(record.angularVelocity, row * record.bodies + body)));
    const turns = (Math.max(a, b) * (record.time[k + 1] - record.time[k])) / (2 * Math.PI);
    if (turns > most) most = turns;
  }
  if (!(most > HALF)) return "";
  return (
    `Between two outputs the body turns up to ${short(most, 2)} times; ` +
    "what is drawn in between is a steady turn, counted from the angular velocity."
  );
}
