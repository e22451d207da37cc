// Axis ranges and ticks.

/** Smallest and largest finite number; [NaN, NaN] if there are none. */
export function extent(lists: readonly ArrayLike<number>[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      const value = list[i];
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : [NaN, NaN];
}

export const largestOf = (lists: readonly ArrayLike<number>[]): number => {
  const [low, high] = extent(lists);
  return Number.isNaN(low) ? 0 : Math.max(Math.abs(low), Math.abs(high));
};

/** Whether numbers are nearly equal: their span is below a millionth of their size. */
export function isFlat(list: ArrayLike<number>): boolean {
  const [low, high] = extent([list]);
  return Number.isNaN(low) || high - low <= 1e-6 * Math.max(Math.abs(low), Math.abs(high));
}

/**
 * A range slightly larger than the data.  If all curves are constant up to rounding it includes zero, so that they look
 * flat, unless the spread of background curves should be visible.
 */
export function rangeOf(lists: readonly ArrayLike<number>[], background: readonly ArrayLike<number>[] = []): [number, number] {
  const [low, high] = extent([...lists, ...background]);
  if (Number.isNaN(low) || (low === 0 && high === 0)) return [-1, 1];
  const isSpread = background.length > 0 && high - low > 1e-6 * Math.max(Math.abs(low), Math.abs(high));
  if (!isSpread && lists.every((list) => isFlat(list))) {
    const room = low < 0 && high > 0 ? 1 : 1.2;
    return withRoom(Math.min(0, room * low), Math.max(0, room * high));
  }
  // Extend the range to zero if it is close.
  if (low > 0 && low < 0.25 * high) return withRoom(0, high);
  return high < 0 && high > 0.25 * low ? withRoom(low, 0) : withRoom(low, high);
}

const withRoom = (low: number, high: number): [number, number] => [low - ROOM * (high - low), high + ROOM * (high - low)];
const ROOM = 0.06;

/** Range of decadic logarithms: from below the rounding level to above the largest. */
export function logRangeOf(lists: readonly ArrayLike<number>[]): [number, number] {
  const [, high] = extent(lists);
  return [LOG_BOTTOM, Math.max(Math.ceil(Number.isNaN(high) ? LOG_TOP : high + 0.1), LOG_TOP)];
}

const LOG_BOTTOM = -17;
const LOG_TOP = -14;

/** At most `most` round numbers within a range, at least `least` apart. */
export function ticksWithin(low: number, high: number, most: number, least = 0): number[] {
  const wanted = Math.max((high - low) / Math.max(most, 1), least);
  if (!(wanted > 0) || !Number.isFinite(wanted)) return [];
  const power = 10 ** Math.floor(Math.log10(wanted));
  const distance = power * ([1, 2, 5].find((n) => n * power >= wanted * (1 - 1e-9)) ?? 10);
  const first = Math.ceil(low / distance - 1e-9);
  const last = Math.floor(high / distance + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => (first + i) * distance);
}
