// What a person has switched on, in one place; whoever shows it listens.

import type { Vec3 } from "./motion/vectors.ts";

export interface Options {
  /** Arrows. */
  omega: boolean;
  L: boolean;
  torque: boolean;
  forces: boolean;
  bodyAxes: boolean;
  /** Paths of tips. */
  trailOmega: boolean;
  trailL: boolean;
  trailAxis1: boolean;
  trailAxis2: boolean;
  trailAxis3: boolean;
  trailCentre: boolean;
  trailPoint: boolean;
  /** A point of the body, from its centre of mass, along body axes, in m. */
  point: Vec3;
  poinsot: boolean;
  ghost: boolean;
  /** The camera of the space view goes with the body that is watched. */
  follow: boolean;
  /** Which body or member, by its place in the record. */
  watched: number;
  dark: boolean;
}

export const DEFAULTS: Options = {
  omega: true,
  L: true,
  torque: true,
  forces: true,
  bodyAxes: true,
  trailOmega: true,
  trailL: false,
  trailAxis1: false,
  trailAxis2: false,
  trailAxis3: false,
  trailCentre: true,
  trailPoint: false,
  point: [0, 0, 0],
  poinsot: false,
  ghost: false,
  follow: false,
  watched: 0,
  dark: false,
};

export class Choices {
  private listeners: ((changed: Partial<Options>) => void)[] = [];
  readonly now: Options;

  constructor(first: Partial<Options> = {}) {
    this.now = { ...DEFAULTS, ...first };
  }

  set(changed: Partial<Options>): void {
    Object.assign(this.now, changed);
    for (const listener of this.listeners) listener(changed);
  }

  onChange(listener: (changed: Partial<Options>) => void): void {
    this.listeners.push(listener);
  }
}
