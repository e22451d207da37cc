// The playback speeds in the play bar, in seconds of motion per second.

import { groupDigits, short } from "./format.ts";

const FACTORS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export interface Speed {
  value: number;
  words: string;
}

/** From a hundredth to a hundred times the natural speed, and the current one. */
export function speedsAround(natural: number, now: number): Speed[] {
  const values = FACTORS.map((factor) => Number((factor * natural).toPrecision(6)));
  if (!values.some((value) => isSame(value, now))) values.push(now);
  return values.sort((a, b) => a - b).map((value) => ({ value, words: wordsOf(value) }));
}

export const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.abs(b);

export const wordsOf = (speed: number): string => (speed === 1 ? "×1, real time" : `×${groupDigits(short(speed, 3))}`);
