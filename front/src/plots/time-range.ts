// The time range of the plots: the whole motion, or a part after zooming in.

const MIN_FRACTION = 1e-5;

export class TimeRange {
  from = 0;
  to = 1;
  private first = 0;
  private last = 1;
  private lastTime = NaN;

  /** Set the limits of another motion; the zoom is kept if they are the same. */
  setLimits(first: number, last: number): void {
    if (first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    this.reset();
  }

  get isWhole(): boolean {
    return this.to - this.from >= this.longest;
  }

  reset(): void {
    // A single output is centered in a range of one second.
    const room = this.last > this.first ? 0 : 0.5;
    [this.from, this.to] = [this.first - room, this.last + room];
  }

  /** Scale the range by `factor` about the fraction `share` (0 to 1) of it. */
  zoom(factor: number, share: number): void {
    const length = Math.min(Math.max((this.to - this.from) * factor, MIN_FRACTION * this.longest), this.longest);
    this.setRange(this.from + share * (this.to - this.from - length), length);
  }

  /** Shift by a fraction of the range. */
  pan(share: number): void {
    this.setRange(this.from + share * (this.to - this.from), this.to - this.from);
  }

  at(share: number): number {
    return this.from + Math.min(Math.max(share, 0), 1) * (this.to - this.from);
  }

  shareOf(t: number): number {
    return (t - this.from) / (this.to - this.from);
  }

  /** Shift the range when the current time leaves it; returns whether it did. */
  follow(t: number): boolean {
    const moved = t !== this.lastTime;
    this.lastTime = t;
    if (!moved || (t >= this.from && t <= this.to)) return false;
    const length = this.to - this.from;
    this.setRange(t - (t > this.to ? 0.05 : 0.95) * length, length);
    return true;
  }

  private get longest(): number {
    return this.last > this.first ? this.last - this.first : 1;
  }

  private setRange(from: number, length: number): void {
    if (length >= this.longest) return this.reset();
    this.from = Math.min(Math.max(from, this.first), this.last - length);
    this.to = this.from + length;
  }
}
