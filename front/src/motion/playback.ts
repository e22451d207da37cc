// The clock of the page: which instant is shown, and how fast it goes.  It follows the real clock, however slow the
// machine draws.

export type Listener = () => void;

export const FRAMES_PER_SECOND = 60;
const SHORTEST = 3;
const LONGEST = 30;
const PLEASANT = 10;

export class Playback {
  first = 0;
  last = 0;
  t = 0;
  /** Seconds of motion in a second of the page. */
  speed = 1;
  playing = false;
  repeats = true;
  private outputs: Float64Array = new Float64Array(1);
  private listeners: Listener[] = [];
  private then: number | null = null;

  /** Begin with another motion; keeps the instant if it lies within (a knob was turned), else goes to the start. */
  take(time: Float64Array, keep: boolean): void {
    this.outputs = time;
    this.first = time[0];
    this.last = time[time.length - 1];
    if (!keep) this.speed = naturalSpeed(this.last - this.first);
    if (!keep || this.t > this.last || this.t < this.first) this.t = this.first;
    // A single instant cannot be played.
    if (this.last <= this.first) this.playing = false;
    this.told();
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  play(): void {
    if (this.last <= this.first) return;
    if (this.t >= this.last) this.t = this.first;
    this.playing = true;
    this.then = null;
    this.told();
  }

  pause(): void {
    this.playing = false;
    this.told();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(t: number): void {
    if (Number.isNaN(t)) return;
    this.t = Math.min(Math.max(t, this.first), this.last);
    this.told();
  }

  /** To the next output, or the one before; pauses. */
  step(by: 1 | -1): void {
    this.playing = false;
    // An instant that is an output but for rounding is left by a whole step.
    const close = 1e-9 * (this.last - this.first);
    const next = by > 0 ? firstBeyond(this.outputs, this.t + close) : firstBeyond(this.outputs, this.t - close) - 1;
    this.seek(this.outputs[next] ?? (by > 0 ? this.last : this.first));
  }

  setSpeed(speed: number): void {
    if (!(speed > 0) || !Number.isFinite(speed)) return;
    this.speed = speed;
    this.told();
  }

  /** Called before every frame with the real clock, in ms; whether the instant has changed. */
  tick(now: number): boolean {
    if (!this.playing) return false;
    const passed = this.then === null ? 0 : (now - this.then) / 1000;
    this.then = now;
    if (passed === 0) return false;
    this.t += passed * this.speed;
    if (this.t >= this.last) {
      if (this.repeats) this.t = this.first + ((this.t - this.first) % (this.last - this.first));
      else {
        this.t = this.last;
        this.playing = false;
      }
    }
    this.told();
    return true;
  }

  private told(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The place of the first output after t; how many there are, if none is. */
function firstBeyond(outputs: Float64Array, t: number): number {
  let low = 0;
  let high = outputs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (outputs[middle] > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Real time where that can be watched, else so that the whole takes about ten seconds: a round number. */
export function naturalSpeed(duration: number): number {
  if (!(duration > 0) || (duration >= SHORTEST && duration <= LONGEST)) return 1;
  const wanted = duration / PLEASANT;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((n) => n * power).reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a));
}

/** By how many turns the body turns between two frames of the screen; beyond a half the eye sees another turn. */
export const turnsAFrame = (rate: number, speed: number): number => (rate * speed) / FRAMES_PER_SECOND / (2 * Math.PI);
