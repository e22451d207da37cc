// Which stretch of time the plots show: the whole, or a part that was zoomed into.

const SMALLEST = 1e-5;

export class Stretch {
  from = 0;
  to = 1;
  private first = 0;
  private last = 1;
  private shown = NaN;

  /** Of another motion; a part that was zoomed into stays if the motion lasts as long as the one before. */
  take(first: number, last: number): void {
    if (first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    this.whole();
  }

  get isWhole(): boolean {
    return this.to - this.from >= this.longest;
  }

  whole(): void {
    // A single instant stands in the middle of a second.
    const room = this.last > this.first ? 0 : 0.5;
    [this.from, this.to] = [this.first - room, this.last + room];
  }

  /** The part becomes `factor` times as long, about the place `share` (0 to 1) of what is shown. */
  zoom(factor: number, share: number): void {
    const length = Math.min(Math.max((this.to - this.from) * factor, SMALLEST * this.longest), this.longest);
    this.begin(this.from + share * (this.to - this.from - length), length);
  }

  /** Move by a share of what is shown. */
  pan(share: number): void {
    this.begin(this.from + share * (this.to - this.from), this.to - this.from);
  }

  at(share: number): number {
    return this.from + Math.min(Math.max(share, 0), 1) * (this.to - this.from);
  }

  shareOf(t: number): number {
    return (t - this.from) / (this.to - this.from);
  }

  /** Turn the page when the instant moves out of sight; whether it did. */
  follow(t: number): boolean {
    const moved = t !== this.shown;
    this.shown = t;
    if (!moved || (t >= this.from && t <= this.to)) return false;
    const length = this.to - this.from;
    this.begin(t - (t > this.to ? 0.05 : 0.95) * length, length);
    return true;
  }

  private get longest(): number {
    return this.last > this.first ? this.last - this.first : 1;
  }

  private begin(from: number, length: number): void {
    if (length >= this.longest) return this.whole();
    this.from = Math.min(Math.max(from, this.first), this.last - length);
    this.to = this.from + length;
  }
}
