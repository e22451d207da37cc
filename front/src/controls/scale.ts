// From the place of a slider to a value, and back.

const MANY_DECADES = 1000;
const FINEST = 500;

export class Scale {
  readonly isLogarithmic: boolean;
  /** What the slider itself runs from and to. */
  readonly min: number;
  readonly max: number;

  constructor(
    readonly low: number,
    readonly high: number,
  ) {
    this.isLogarithmic = low > 0 && high / low > MANY_DECADES;
    this.min = this.placeOf(low);
    this.max = this.placeOf(high);
  }

  /** The smallest change that a hand sets; none where the slider is logarithmic. */
  get step(): number | null {
    if (this.isLogarithmic) return null;
    return Number((10 ** Math.floor(Math.log10((this.high - this.low) / FINEST))).toPrecision(1));
  }

  placeOf(value: number): number {
    return this.isLogarithmic ? Math.log10(value) : value;
  }

  /** Rounded to what a hand can set, within the range. */
  valueAt(place: number): number {
    const { step } = this;
    const rounded = step === null ? (10 ** place).toPrecision(3) : (Math.round(place / step) * step).toPrecision(12);
    return Math.min(Math.max(Number(rounded), this.low), this.high);
  }
}
