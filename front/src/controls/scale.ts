// Conversion between slider positions and values.

import { roundNumber } from "../motion/rounding.ts";

const LOGARITHMIC_RATIO = 1000;
const RESOLUTION = 500;
const KEY_STEPS = 100;
/** Values that the keys step through in each decade of a logarithmic slider. */
const STOPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

export class Scale {
  readonly isLogarithmic: boolean;
  /** Range of slider positions. */
  readonly min: number;
  readonly max: number;

  constructor(
    readonly low: number,
    readonly high: number,
  ) {
    this.isLogarithmic = low > 0 && high / low > LOGARITHMIC_RATIO;
    this.min = this.positionOf(low);
    this.max = this.positionOf(high);
  }

  /** Resolution of the slider; null if it is logarithmic. */
  get step(): number | null {
    if (this.isLogarithmic) return null;
    return Number((10 ** Math.floor(Math.log10((this.high - this.low) / RESOLUTION))).toPrecision(1));
  }

  /** The next round value up (1) or down (-1) for the arrow keys; the default and the ends are not skipped. */
  next(value: number, by: 1 | -1, defaultValue: number): number {
    const stops = [...this.roundValuesAround(value), defaultValue, this.low, this.high];
    const beyond = stops.filter((stop) => by * (stop - value) > 1e-9 * Math.abs(value) && stop >= this.low && stop <= this.high);
    return beyond.length === 0 ? value : by * Math.min(...beyond.map((stop) => by * stop));
  }

  private roundValuesAround(value: number): number[] {
    const exact = (x: number): number => Number(x.toPrecision(12));
    if (this.isLogarithmic) {
      const power = Math.floor(Math.log10(Math.max(value, this.low)));
      return [power - 1, power, power + 1].flatMap((p) => STOPS.map((stop) => exact(stop * 10 ** p)));
    }
    const step = roundNumber((this.high - this.low) / KEY_STEPS);
    const at = Math.round(value / step);
    return [at - 1, at, at + 1].map((n) => exact(n * step));
  }

  positionOf(value: number): number {
    return this.isLogarithmic ? Math.log10(value) : value;
  }

  /** The value at a slider position, rounded to the resolution, within the range. */
  valueAt(position: number): number {
    const { step } = this;
    const rounded = step === null ? (10 ** position).toPrecision(3) : (Math.round(position / step) * step).toPrecision(12);
    return Math.min(Math.max(Number(rounded), this.low), this.high);
  }
}
