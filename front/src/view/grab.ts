// Dragging something of a motion's start: the tip of an arrow along a line, or a body about an axis.  A ray from the eye
// through the pointer says where it is dragged to; the parameter changes by what that means.

import { cross, dot, length, minus, plus, scaled, type Vec3 } from "../motion/vectors.ts";
import type { Grab } from "./stage.ts";

/** From the eye, with a unit vector. */
export interface SightLine {
  origin: Vec3;
  direction: Vec3;
}

/** What a drag moves, in the axes and lengths of a view. */
export type Track =
  | { kind: "line"; through: Vec3; along: Vec3; /** Lengths of the view per SI unit. */ perUnit: number }
  | { kind: "circle"; center: Vec3; axis: Vec3; point: Vec3 };

/** A line at less than this angle to the line of sight, as its squared sine, cannot be followed. */
const END_ON = 0.03;
/** Number of angles, a quarter turn to each side of the last one, that are compared before the search goes on between them. */
const ANGLES = 48;
/** Of two angles that look the same, the one closer to the last is meant. */
const CONTINUITY = 1e-3;

/** Distance along a line, from `through`, of its point closest to the line of sight; null if the line is seen end-on. */
export function followLine({ origin, direction }: SightLine, through: Vec3, along: Vec3): number | null {
  const cosine = dot(along, direction);
  const sine2 = 1 - cosine * cosine;
  if (sine2 < END_ON) return null;
  const gap = minus(origin, through);
  return (dot(gap, along) - dot(gap, direction) * cosine) / sine2;
}

/** Angle about an axis by which a point comes closest to the line of sight, near the angle `last`. */
export function followCircle({ origin, direction }: SightLine, center: Vec3, axis: Vec3, point: Vec3, last: number): number {
  const arm = minus(point, center);
  const level = scaled(dot(arm, axis), axis);
  const [x, y] = [minus(arm, level), cross(axis, arm)];
  const size2 = dot(x, x);
  const miss = (angle: number): number => {
    const at = plus(plus(center, level), plus(scaled(Math.cos(angle), x), scaled(Math.sin(angle), y)));
    const off = cross(minus(at, origin), direction);
    return dot(off, off) + CONTINUITY * size2 * (angle - last) ** 2;
  };
  const step = Math.PI / ANGLES;
  let best = last;
  for (let k = -ANGLES / 2; k <= ANGLES / 2; k++) if (miss(last + k * step) < miss(best)) best = last + k * step;
  let [low, high] = [best - step, best + step];
  while (high - low > 1e-7) {
    const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
    if (miss(a) < miss(b)) high = b;
    else low = a;
  }
  return (low + high) / 2;
}

/** One drag: from the value at its start to the value for each later line of sight; null where it cannot be told. */
export function startDrag(grab: Grab, track: Track, first: SightLine, value: number): (sight: SightLine) => number | null {
  if (track.kind === "line") {
    const { through, along, perUnit } = track;
    const from = followLine(first, through, along);
    return (sight) => {
      const to = followLine(sight, through, along);
      return from === null || to === null ? null : value + (grab.scale * (to - from)) / perUnit;
    };
  }
  const { center, axis, point } = track;
  const from = followCircle(first, center, axis, point, 0);
  let last = from;
  return (sight) => {
    last = followCircle(sight, center, axis, point, last);
    return value + grab.scale * (last - from);
  };
}

/** A value within a range, rounded to a thousandth of it, so that the field shows few digits. */
export function withinRange(value: number, low: number, high: number): number {
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(high - low || 1)));
  return Math.min(high, Math.max(low, Number(value.toFixed(Math.min(decimals, 20)))));
}

/** What the start of a motion looks like in a view. */
export interface StartGeometry {
  anchor: Vec3;
  reach: number;
  /** Body axes, and the vertical. */
  axes: [Vec3, Vec3, Vec3];
  up: Vec3;
  /** Tip of an arrow, and its lengths per SI unit, by its name in quantities.ts; null if it is not drawn. */
  arrow(name: string): { from: Vec3; tip: Vec3; perUnit: number } | null;
}

/** Length of the arm by which a body is turned, relative to its reach: where the tip of its axis is drawn. */
const ARM = 1.3;

/** How something is dragged in a view; null if it is not drawn there. */
export function trackOf(grab: Grab, start: StartGeometry): Track | null {
  const { anchor, reach, axes, up } = start;
  if (grab.what !== "attitude") {
    const arrow = start.arrow(grab.what === "force" ? `force ${grab.force}` : "omega");
    if (!arrow) return null;
    const { from, tip, perUnit } = arrow;
    const own = minus(tip, from);
    const along = grab.what === "force" ? scaled(1 / length(own), own) : axes[grab.component as number];
    return along === undefined ? null : { kind: "line", through: tip, along, perUnit };
  }
  const circle = (axis: Vec3, arm: Vec3): Track => ({ kind: "circle", center: anchor, axis, point: plus(anchor, scaled(ARM * reach, arm)) });
  if (grab.component !== "tilt") return circle(axes[grab.component], axes[grab.component === 2 ? 0 : 2]);
  const nodes = cross(up, axes[2]);
  // A body that stands upright may tilt to any side; it is turned about its first axis.
  return circle(length(nodes) > 1e-6 ? scaled(1 / length(nodes), nodes) : axes[0], axes[2]);
}
