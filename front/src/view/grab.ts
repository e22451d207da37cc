// Dragging something of a motion's start: the tip of an arrow along a line, or a body about an axis.  A ray from the eye
// through the pointer says where it is dragged to; the parameter changes by what that means.

import { cross, dot, length, minus, plus, scaled, type Vec3 } from "../motion/vectors.ts";
import type { Grab } from "./stage.ts";

/** From the eye, with a unit vector. */
export interface SightLine {
  origin: Vec3;
  direction: Vec3;
}

/** What a drag moves, in the axes and lengths of a view: a tip along some directions, or a point about an axis. */
export type Track =
  | { kind: "span"; through: Vec3; directions: Vec3[]; /** Lengths of the view per SI unit. */ perUnit: number }
  | { kind: "circle"; center: Vec3; axis: Vec3; point: Vec3 };

/** A direction close to the line of sight hardly moves on the screen: this keeps its share bounded. */
const END_ON = 0.003;
/** Number of angles, a quarter turn to each side of the last one, that are compared before the search goes on between them. */
const ANGLES = 48;
/** Of two angles that look the same, the one closer to the last is meant. */
const CONTINUITY = 1e-3;

/**
 * Distances along one to three directions, from `through`, to the point closest to the line of sight: least squares,
 * regularized where directions are seen end-on or more of them are given than the screen has.
 */
export function followSpan({ origin, direction }: SightLine, through: Vec3, directions: Vec3[]): number[] {
  const across = (v: Vec3): Vec3 => minus(v, scaled(dot(v, direction), direction));
  const seen = directions.map(across);
  const gap = across(minus(origin, through));
  const rows = seen.map((a, i) => [...seen.map((b, k) => dot(a, b) + (i === k ? END_ON : 0)), dot(a, gap)]);
  return solve(rows);
}

/** Solution of a small positive definite system, whose last column is the right-hand side, by Gauss and Jordan. */
function solve(rows: number[][]): number[] {
  for (let i = 0; i < rows.length; i++) {
    const pivot = rows[i][i];
    rows[i] = rows[i].map((x) => x / pivot);
    for (let k = 0; k < rows.length; k++) {
      const factor = rows[k][i];
      if (k !== i) rows[k] = rows[k].map((x, j) => x - factor * rows[i][j]);
    }
  }
  return rows.map((row) => row[rows.length]);
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

/** One drag: from the values of the parameters at its start to those for each later line of sight. */
export function startDrag(grabs: Grab[], track: Track, first: SightLine, values: number[]): (sight: SightLine) => number[] {
  if (track.kind === "span") {
    const { through, directions, perUnit } = track;
    const from = followSpan(first, through, directions);
    return (sight) => followSpan(sight, through, directions).map((to, k) => values[k] + (grabs[k].scale * (to - from[k])) / perUnit);
  }
  const { center, axis, point } = track;
  const from = followCircle(first, center, axis, point, 0);
  let last = from;
  return (sight) => {
    last = followCircle(sight, center, axis, point, last);
    return [values[0] + grabs[0].scale * (last - from)];
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

/** Length of the arm by which a body is turned, relative to its reach: on its axis, away from the tips of other arrows. */
const ARM = 0.95;

/** What is dragged together: all components of an angular velocity or of a force, or one angle of a body. */
export function groupGrabs(grabs: Grab[]): Grab[][] {
  const keys = grabs.map(keyOf);
  return [...new Set(keys)].map((key) => grabs.filter((_, i) => keys[i] === key));
}

export const keyOf = ({ what, knob, force }: Grab): string => (what === "attitude" ? `${what} ${knob}` : `${what} ${force}`.trim());

/** How a group is dragged in a view; null if it is not drawn there. */
export function trackOf(grabs: Grab[], start: StartGeometry): Track | null {
  const { anchor, reach, axes, up } = start;
  const { what, component, force } = grabs[0];
  if (what !== "attitude") {
    const arrow = start.arrow(what === "force" ? `force ${force}` : "omega");
    if (!arrow) return null;
    const { from, tip, perUnit } = arrow;
    const own = minus(tip, from);
    const directions = what === "force" ? [scaled(1 / length(own), own)] : grabs.map((grab) => axes[grab.component as number]);
    return directions.includes(undefined!) ? null : { kind: "span", through: tip, directions, perUnit };
  }
  const circle = (axis: Vec3, arm: Vec3): Track => ({ kind: "circle", center: anchor, axis, point: plus(anchor, scaled(ARM * reach, arm)) });
  if (component !== "tilt") return circle(axes[component], axes[component === 2 ? 0 : 2]);
  const nodes = cross(up, axes[2]);
  // A body that stands upright may tilt to any side; it is turned about its first axis.
  return circle(length(nodes) > 1e-6 ? scaled(1 / length(nodes), nodes) : axes[0], axes[2]);
}
