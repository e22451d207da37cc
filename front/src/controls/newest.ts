// Requests that follow a control while it is dragged: one is under way at a time, and of those that come meanwhile only
// the newest is kept.

export class NewestWins<T> {
  private waiting: { value: T } | null = null;
  private isUnderWay = false;

  constructor(private readonly start: (value: T) => void) {}

  /** Start at once, or when the one under way is finished, unless a newer one comes. */
  offer(value: T): void {
    if (this.isUnderWay) {
      this.waiting = { value };
      return;
    }
    this.isUnderWay = true;
    this.start(value);
  }

  /** The one under way was answered, refused or canceled: the one that waits, if any, starts. */
  finish(): void {
    const next = this.waiting;
    this.waiting = null;
    this.isUnderWay = false;
    if (next !== null) this.offer(next.value);
  }

  /** Forget all: what follows is another kind of request, which supersedes them. */
  clear(): void {
    this.waiting = null;
    this.isUnderWay = false;
  }
}
