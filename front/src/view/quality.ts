// How finely the views are drawn: as well as the machine can while something moves, and at its best when it is still.

/** What is drawn: pixels of the canvas per pixel of the page, and shadows. */
export interface Quality {
  ratio: number;
  shadows: boolean;
}

/** Frames slower than this, in ms, make the drawing coarser; only frames much faster make it finer again. */
const SLOW = 40;
const FAST = 20;
/** Number of frames that are judged together, or three if they take as long, in ms; and those skipped after a change. */
const WINDOW = 10;
const FEW = { frames: 3, time: 1000 };
const SKIPPED = 2;
/** A longer frame, in ms, says nothing about drawing: the tab was hidden, or a motion arrived. */
const INTERRUPTED = 2000;
/** A quality that was too slow is tried again after this time, in ms, and then after twice as long each time. */
const FIRST_WAIT = 8000;
/** A coarser drawing that is not faster by this factor is not worth it. */
const WORTH = 1.2;

/** The qualities of a screen, the best first. */
export function qualitiesFor(devicePixelRatio: number): Quality[] {
  const best = Math.min(2, devicePixelRatio);
  const all = [best, 1, 1, 0.75, 0.5].map((ratio, k) => ({ ratio: Math.min(ratio, best), shadows: k < 2 }));
  return all.filter(({ ratio, shadows }, k) => k === 0 || ratio !== all[k - 1].ratio || shadows !== all[k - 1].shadows);
}

export class AdaptiveQuality {
  /** 0 is the best. */
  level = 0;
  private times: number[] = [];
  private skipped = 0;
  /** Median time of a frame at each level, and when and how long a level is avoided. */
  private readonly medians: number[] = [];
  private readonly avoided: { until: number; wait: number }[] = [];
  private isSettled = false;

  constructor(private readonly levels: number) {}

  /** A frame that took this time was drawn; returns whether the level has changed. */
  judge(milliseconds: number, now: number): boolean {
    if (milliseconds > INTERRUPTED || this.levels < 2 || this.isSettled) return false;
    if (this.skipped < SKIPPED) {
      this.skipped += 1;
      return false;
    }
    this.times.push(milliseconds);
    const { length } = this.times;
    const isSlow = length >= FEW.frames && this.times.reduce((a, b) => a + b) > FEW.time;
    if (length < WINDOW && !isSlow) return false;
    const median = this.times.sort((a, b) => a - b)[Math.floor(length / 2)];
    this.times = [];
    this.medians[this.level] = median;
    if (median > SLOW) return this.goDown(now);
    const above = this.avoided[this.level - 1];
    if (median < FAST && this.level > 0 && now >= (above?.until ?? 0)) return this.goTo(this.level - 1);
    return false;
  }

  private goDown(now: number): boolean {
    const wait = 2 * (this.avoided[this.level]?.wait ?? FIRST_WAIT / 2);
    this.avoided[this.level] = { until: now + wait, wait };
    if (this.level + 1 < this.levels) return this.goTo(this.level + 1);
    // Still slow: something else takes the time.  Keep only what made a difference.
    this.isSettled = true;
    const enough = this.medians.findIndex((time) => time <= WORTH * this.medians[this.level]);
    return this.goTo(enough);
  }

  private goTo(level: number): boolean {
    const isOther = level !== this.level;
    this.level = level;
    this.skipped = 0;
    this.times = [];
    return isOther;
  }
}
