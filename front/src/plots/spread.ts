// The other members of an ensemble: quantile bands, or the curves of some of them.

import type { MotionRecord } from "../motion/record.ts";
import { quantileBands } from "./bands.ts";
import type { Spread } from "./plot-choices.ts";
import type { Family } from "./quantities.ts";

/** Maximum number of members that are drawn as curves, without and with a color of their own. */
const MAX_MEMBERS = 30;
const MAX_COLORED = 60;
/** Quantiles of fewer members say little. */
const MIN_FOR_BANDS = 8;

/** How the other members are drawn; "none" if there are none. */
export function spreadStyle(record: MotionRecord, asked: Spread): Exclude<Spread, "auto"> {
  if (record.axis !== "member" || record.bodies < 2) return "none";
  if (asked !== "auto") return asked;
  return record.colors === undefined && record.bodies >= MIN_FOR_BANDS ? "bands" : "members";
}

/** Members that are drawn as curves, evenly spaced. */
export function drawnMembers(record: MotionRecord, watched: number): number[] {
  const most = Math.min(record.bodies, record.colors === undefined ? MAX_MEMBERS + 1 : MAX_COLORED);
  const chosen = Array.from({ length: most }, (_, i) => Math.round((i * (record.bodies - 1)) / Math.max(most - 1, 1)));
  return chosen.filter((one) => one !== watched);
}

/** The bands of the quantities of a family, one array per level for each; computed once per record. */
export function bandsOf(record: MotionRecord, family: Family): Float64Array[][] {
  let found = bands.get(family);
  if (found === undefined) bands.set(family, (found = quantileBands(record.times, record.bodies, (member) => family.columns(member).values)));
  return found;
}

export const hasBands = (family: Family): boolean => bands.has(family);

const bands = new WeakMap<Family, Float64Array[][]>();

/** Value of the swept parameter of a member as a fraction of its range, 0 to 1; null without a sweep. */
export function shareOfColor(record: MotionRecord, member: number): number | null {
  const values = record.colors?.values;
  if (values === undefined) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? (values[member] - low) / (high - low) : 0.5;
}

/** What is drawn beside the watched member, as a sentence; "" for nothing. */
export function spreadNote(record: MotionRecord, style: Exclude<Spread, "auto">, watched: number): string {
  if (style === "bands") return `Bands: 5, 25, 75 and 95 % of ${record.bodies} members; dashed: their median.`;
  const drawn = style === "members" ? drawnMembers(record, watched).length + 1 : record.bodies;
  return drawn < record.bodies ? `${drawn} of ${record.bodies} members are drawn.` : "";
}
