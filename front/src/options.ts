// The user's display options in one place; components that depend on them subscribe to changes.

import type { Vec3 } from "./motion/vectors.ts";
import type { Stage } from "./view/stage.ts";

export interface Options {
  /** Arrows. */
  omega: boolean;
  L: boolean;
  torque: boolean;
  forces: boolean;
  bodyAxes: boolean;
  /** Paths of arrow tips. */
  trailOmega: boolean;
  trailL: boolean;
  trailAxis1: boolean;
  trailAxis2: boolean;
  trailAxis3: boolean;
  trailCenter: boolean;
  trailPoint: boolean;
  /** A point of the body relative to its center of mass, body axes, in m. */
  point: Vec3;
  /** Points of contact and impulses at impacts. */
  impacts: boolean;
  poinsot: boolean;
  closedForm: boolean;
  /** Whether the camera of the space view follows the watched body. */
  follow: boolean;
  /** Whether the space view is seen from the stage's third frame. */
  turning: boolean;
  /** Index of the watched body or member in the record. */
  watched: number;
  dark: boolean;
}

/** Options that are on or off. */
export type Switch = { [K in keyof Options]: Options[K] extends boolean ? K : never }[keyof Options];

const DEFAULTS: Options = {
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
  trailCenter: true,
  trailPoint: false,
  point: [0, 0, 0],
  impacts: true,
  poinsot: false,
  closedForm: false,
  follow: false,
  turning: false,
  watched: 0,
  dark: false,
};

/** What a stage switches on and off at first; the rest is as usual. */
export function switchesOf({ switches, off, frame }: Pick<Stage, "switches" | "off" | "frame">): Partial<Options> {
  const { point: _point, watched: _watched, dark: _dark, follow: _follow, ...usual } = DEFAULTS;
  const set = (names: Switch[], isOn: boolean): Partial<Options> => Object.fromEntries(names.map((name) => [name, isOn]));
  return { ...usual, turning: frame?.first ?? false, ...set(switches, true), ...set(off, false) };
}

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
