// The playback clock of the page: current time and speed.  It follows the real clock regardless of the frame rate.

import { roundNumber } from "./rounding.ts";

export type Listener = () => void;

export const FRAMES_PER_SECOND = 60;
const SHORTEST_REAL_TIME = 3;
const LONGEST_REAL_TIME = 30;
const TARGET_DURATION = 10;

export class Playback {
  first = 0;
  last = 0;
  t = 0;
  /** Seconds of motion per second of real time. */
  speed = 1;
  playing = false;
  repeats = true;
  private outputs: Float64Array = new Float64Array(1);
  private listeners: Listener[] = [];
  private lastTick: number | null = null;

  /** Load another motion; `keep` keeps time and speed (a parameter was changed), as long as the time is within range. */
  load(time: Float64Array, keep: boolean): void {
    this.outputs = time;
    this.first = time[0];
    this.last = time[time.length - 1];
    if (!keep) this.speed = naturalSpeed(this.last - this.first);
    if (!keep || this.t > this.last || this.t < this.first) this.t = this.first;
    // A single output cannot be played.
    if (this.last <= this.first) this.playing = false;
    this.notify();
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  play(): void {
    if (this.last <= this.first) return;
    if (this.t >= this.last) this.t = this.first;
    this.playing = true;
    this.lastTick = null;
    this.notify();
  }

  pause(): void {
    this.playing = false;
    this.notify();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(t: number): void {
    if (Number.isNaN(t)) return;
    this.t = Math.min(Math.max(t, this.first), this.last);
    this.notify();
  }

  /** Pause at the next or the previous output. */
  step(by: 1 | -1): void {
    this.playing = false;
    // From a time equal to an output up to rounding, go a whole step.
    const close = 1e-9 * (this.last - this.first);
    const next = by > 0 ? firstBeyond(this.outputs, this.t + close) : firstBeyond(this.outputs, this.t - close) - 1;
    this.seek(this.outputs[next] ?? (by > 0 ? this.last : this.first));
  }

  setSpeed(speed: number): void {
    if (!(speed > 0) || !Number.isFinite(speed)) return;
    this.speed = speed;
    this.notify();
  }

  /** Advance to the real time `now`, in ms; called before every frame.  Returns whether the time has changed. */
  tick(now: number): boolean {
    if (!this.playing) return false;
    const passed = this.lastTick === null ? 0 : (now - this.lastTick) / 1000;
    this.lastTick = now;
    if (passed === 0) return false;
    this.t += passed * this.speed;
    if (this.t >= this.last) {
      if (this.repeats) this.t = this.first + ((this.t - this.first) % (this.last - this.first));
      else {
        this.t = this.last;
        this.playing = false;
      }
    }
    this.notify();
    return true;
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Index of the first output after t, or their number if there is none. */
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

/** 1 (real time) for durations of 3 to 30 s, otherwise a round number that plays the motion in about ten seconds. */
export function naturalSpeed(duration: number): number {
  if (!(duration > 0) || (duration >= SHORTEST_REAL_TIME && duration <= LONGEST_REAL_TIME)) return 1;
  return roundNumber(duration / TARGET_DURATION);
}

/** Turns per displayed frame; above one half the rotation is aliased. */
export const turnsPerFrame = (rate: number, speed: number): number => (rate * speed) / FRAMES_PER_SECOND / (2 * Math.PI);
