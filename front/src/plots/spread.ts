// The other members of an ensemble: quantile bands, or the curves of some of them.

import type { MotionRecord } from "../motion/record.ts";
import { quantileBands } from "./bands.ts";
import type { Strip } from "./panel-list.ts";
import type { Spread } from "./plot-choices.ts";

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

/** The bands of a strip, computed once per record: for each of its quantities one array per level. */
export function bandsOf(record: MotionRecord, { family, places }: Strip): Float64Array[][] {
  const cache = bandCache.get(record) ?? new Map<string, Float64Array[][]>();
  bandCache.set(record, cache);
  const key = family.quantities[places[0]].id + places.join();
  let found = cache.get(key);
  if (found === undefined) {
    found = quantileBands(record.times, record.bodies, (member) => {
      const { values } = family.columns(member);
      return places.map((place) => values[place]);
    });
    cache.set(key, found);
  }
  return found;
}

export const hasBands = (record: MotionRecord, { family, places }: Strip): boolean =>
  bandCache.get(record)?.has(family.quantities[places[0]].id + places.join()) ?? false;

const bandCache = new WeakMap<MotionRecord, Map<string, Float64Array[][]>>();

/** Value of the swept parameter of a member as a fraction of its range, 0 to 1; null without a sweep. */
export function shareOfColor(record: MotionRecord, member: number): number | null {
  const values = record.colors?.values;
  if (values === undefined) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? (values[member] - low) / (high - low) : 0.5;
}
