// Numbers as plots write them: in a unit with a power of ten where they are very large or small, with as many digits as
// the panel can show.

import { raised, significant } from "../controls/format.ts";

const MINUS = "−";
const NONE = "–";

/** 10⁻¹² */
export const powerOfTen = (power: number): string => "10" + raised(String(power));

/** The power of ten, in steps of three, by which numbers up to `largest` are divided: none from 0.01 to 10 000. */
export function powerFor(largest: number): number {
  if (!(largest > 0) || !Number.isFinite(largest) || (largest >= 0.01 && largest < 1e4)) return 0;
  return 3 * Math.floor(Math.log10(largest) / 3);
}

/** "rad/s", or "10⁻³ rad/s". */
export const unitWith = (power: number, unit: string): string =>
  (power === 0 ? unit : `${powerOfTen(power)} ${unit}`).trim();

/** So many decimals that the largest shows four figures; below 1, three. */
export function decimalsFor(largest: number): number {
  if (!(largest > 0) || !Number.isFinite(largest)) return 3;
  const power = Math.floor(Math.log10(largest));
  return Math.min(Math.max(3 - (power < 0 ? power + 1 : power), 0), 6);
}

/** A number with that many decimals, and a minus sign as wide as a plus. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return NONE;
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

/** A departure: 2.2 × 10⁻¹⁶. */
export const departure = (value: number): string => (Number.isFinite(value) ? significant(value, 2) : NONE);

/** A tick, with the decimals that the distance between ticks needs. */
export const tick = (value: number, distance: number): string =>
  value === 0 ? "0" : fixed(value, Math.min(Math.max(-Math.floor(Math.log10(distance) + 1e-9), 0), 12));

/** "3.214 s", or "1.037 × 10⁶ s". */
export const quantity = (value: number, decimals: number, power: number, unit: string): string =>
  `${fixed(value / 10 ** power, decimals)}${power === 0 ? "" : " × " + powerOfTen(power)} ${unit}`;
