// Formatting of numbers in plots: with a power of ten if they are very large or small, and as many digits as fit.

import { superscript, significant } from "../controls/format.ts";

const MINUS = "−";
const NONE = "–";

/** 10⁻¹² */
export const powerOfTen = (power: number): string => "10" + superscript(String(power));

/** Power of ten, in steps of three, by which numbers up to `largest` are divided; 0 from 0.01 to 10 000. */
export function powerFor(largest: number): number {
  if (!(largest > 0) || !Number.isFinite(largest) || (largest >= 0.01 && largest < 1e4)) return 0;
  return 3 * Math.floor(Math.log10(largest) / 3);
}

/** "rad/s", or "10⁻³ rad/s". */
export const unitWith = (power: number, unit: string): string =>
  (power === 0 ? unit : `${powerOfTen(power)} ${unit}`).trim();

/** Number of decimals for which the largest number has four figures; three below 1. */
export function decimalsFor(largest: number): number {
  if (!(largest > 0) || !Number.isFinite(largest)) return 3;
  const power = Math.floor(Math.log10(largest));
  return Math.min(Math.max(3 - (power < 0 ? power + 1 : power), 0), 6);
}

/** A number with a fixed number of decimals and a typographic minus sign. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return NONE;
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

/** A relative drift: 2.2 × 10⁻¹⁶. */
export const formatDrift = (value: number): string => (Number.isFinite(value) ? significant(value, 2) : NONE);

/** A tick label, with the decimals that the distance between ticks requires. */
export const tick = (value: number, distance: number): string =>
  value === 0 ? "0" : fixed(value, Math.min(Math.max(-Math.floor(Math.log10(distance) + 1e-9), 0), 12));
