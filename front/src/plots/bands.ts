// Quantiles over the members of an ensemble, at each time.

/** From low to high; the median is in the middle. */
export const LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95];

/**
 * The quantiles of each curve: one array over time for each of LEVELS.  `columnsOf(member)` gives the member's curves.
 * Members that are NaN at a time do not count there.
 */
export function quantileBands(times: number, members: number, columnsOf: (member: number) => readonly Float64Array[]): Float64Array[][] {
  const blocks: Float64Array[] = [];
  for (let m = 0; m < members; m++) {
    for (const [c, values] of columnsOf(m).entries()) {
      const block = (blocks[c] ??= new Float64Array(times * members));
      for (let n = 0; n < times; n++) block[n * members + m] = values[n];
    }
  }
  return blocks.map((block) => {
    const bands = LEVELS.map(() => new Float64Array(times));
    for (let n = 0; n < times; n++) {
      // Typed arrays sort numerically, with NaN at the end.
      const row = block.subarray(n * members, (n + 1) * members).sort();
      let count = members;
      while (count > 0 && Number.isNaN(row[count - 1])) count--;
      for (const [i, level] of LEVELS.entries()) bands[i][n] = quantileOfSorted(row, count, level);
    }
    return bands;
  });
}

/** Linear interpolation between the nearest ranks, as NumPy's default. */
function quantileOfSorted(sorted: Float64Array, count: number, level: number): number {
  if (count === 0) return NaN;
  const place = level * (count - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, count - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
