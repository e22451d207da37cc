// Temporal aliasing: a body that turns more than half a turn between two frames appears to rotate differently
// (stroboscopic effect).

import { turnsPerFrame, FRAMES_PER_SECOND } from "../motion/playback.ts";
import { vectorAt, type MotionRecord } from "../motion/record.ts";
import { length } from "../motion/vectors.ts";
import { short } from "./format.ts";

/** Turns per frame: above the first the rotation is aliased, below the second it is easy to follow. */
export const ALIASED = 0.5;
const MAX_TURNS_PER_FRAME = 1 / 12;

/** Largest angular speed of a body, in rad/s. */
export function maxAngularSpeed(record: MotionRecord, body: number): number {
  let most = 0;
  for (let k = 0; k < record.times; k++) {
    const rate = length(vectorAt(record.angularVelocity, k * record.bodies + body));
    if (rate > most) most = rate;
  }
  return most;
}

/** The largest playback speed 1, 2 or 5 times a power of ten with at most a twelfth of a turn per frame. */
export function slowMotionSpeed(rate: number): number {
  const most = (MAX_TURNS_PER_FRAME * FRAMES_PER_SECOND * 2 * Math.PI) / rate;
  const power = 10 ** Math.floor(Math.log10(most));
  const found = [5, 2, 1].map((n) => Number((n * power).toPrecision(1))).find((speed) => speed <= most);
  return found ?? power;
}

/** A warning that the rotation is aliased at this playback speed; "" if it is not. */
export function aliasingWarning(rate: number, speed: number): string {
  const turns = turnsPerFrame(rate, speed);
  if (!(turns > ALIASED)) return "";
  return (
    `The body makes ${short(turns, 2)} turns between two frames of the display: ` +
    "the rotation you see is not the real one (stroboscopic effect)."
  );
}

/** A warning that the outputs are too far apart to show the rotation; "" if they are not. */
export function samplingWarning(record: MotionRecord, body: number): string {
  let most = 0;
  for (let k = 0; k + 1 < record.times; k++) {
    const [a, b] = [k, k + 1].map((row) => length(vectorAt(record.angularVelocity, row * record.bodies + body)));
    const turns = (Math.max(a, b) * (record.time[k + 1] - record.time[k])) / (2 * Math.PI);
    if (turns > most) most = turns;
  }
  if (!(most > ALIASED)) return "";
  return (
    `The body makes up to ${short(most, 2)} turns between two outputs; ` +
    "the motion drawn in between is extrapolated from the angular velocity."
  );
}
