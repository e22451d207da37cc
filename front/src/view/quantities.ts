// The vectors of a motion that are drawn as arrows and trails, with their colors and lengths.

import type { Colors } from "../colors.ts";
import { interpolateVector, type Pose } from "../motion/pose.ts";
import type { MotionRecord } from "../motion/record.ts";
import { plus, scaled, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Switch } from "../options.ts";
import type { Frame, FramePose, Instant, ViewContext } from "./context.ts";
import type { HeldScales } from "./grabber.ts";
import { relativeTo } from "./turning.ts";

/** Longest arrow of each kind during the motion, relative to the reach of the body; as in Polhode's figures. */
export const MAX_LENGTH = { omega: 1.55, L: 1.75, torque: 1.3, force: 1.15, axis: 1.3 };
/** A torque smaller than this relative to |L| |omega| is rounding. */
const NEGLIGIBLE = 1e-9;

/** Name in src/polhode/web/motion_record.py. */
const REACTION = "reaction of the pivot";
const FREE = { isFixed: false, boldness: 1, from: null };

export interface Quantity {
  name: string;
  label: string;
  color: string;
  isShown: Switch;
  /** The option for the path of its tip, if it has one. */
  trail: Switch | null;
  /** Length per SI unit, relative to the reach of the body. */
  perUnit: number;
  /** World axes, relative to the reach of the body. */
  at(pose: Pose, t: number): Vec3;
  /** Body axes; if known more accurately than by rotating `at`. */
  inBody?(pose: Pose): Vec3;
  /** Whether it is fixed in the body, and so has no path there. */
  isFixed: boolean;
  /** Thickness: of two arrows in the same direction the bolder is the shorter. */
  boldness: number;
  /** Start in the body, in m, of a force; null for the pivot or the center of mass. */
  from: Vec3 | null;
}

/** Cache: both frames, arrows and trails ask for the same. */
const cache = new WeakMap<MotionRecord, { body: number; colors: Colors; held: HeldScales | null; quantities: Quantity[] }>();

/** `held` are the scales to be kept while something is dragged. */
export function quantitiesOf(record: MotionRecord, body: number, colors: Colors, held: HeldScales | null = null): Quantity[] {
  const before = cache.get(record);
  if (before?.body === body && before.colors === colors && before.held === held) return before.quantities;
  const quantities = findQuantities(record, body, colors, held);
  cache.set(record, { body, colors, held, quantities });
  return quantities;
}

function findQuantities(record: MotionRecord, body: number, colors: Colors, held: HeldScales | null): Quantity[] {
  const { kind } = record.appearances[record.appearanceIndex[body]];
  const found: Quantity[] = kind === "particle" ? [] : axes(colors);
  const w = largest(record, record.angularVelocity, body);
  const L = largest(record, record.angularMomentum, body);
  const scaleOf = (name: string, most: number, largest: number): number => held?.perUnit.get(name) ?? most / largest;
  const [perW, perL] = [scaleOf("omega", MAX_LENGTH.omega, w), scaleOf("L", MAX_LENGTH.L, L)];
  if (w > 0) {
    found.push({
      ...{ name: "omega", label: "ω", color: colors.omega, isShown: "omega", trail: "trailOmega", ...FREE },
      boldness: 1.15,
      perUnit: perW,
      at: (pose) => times(perW, pose.angularVelocity),
      inBody: (pose) => times(perW, pose.angularVelocityBody),
    });
  }
  if (L > 0) {
    found.push({
      ...{ name: "L", label: "L", color: colors.L, isShown: "L", trail: "trailL", ...FREE },
      boldness: 0.9,
      perUnit: perL,
      at: (pose) => times(perL, pose.angularMomentum),
    });
  }
  const torque = record.torque && largest(record, record.torque, body);
  if (torque && torque > NEGLIGIBLE * L * w) {
    const perUnit = scaleOf("torque", MAX_LENGTH.torque, torque);
    found.push({
      perUnit,
      ...{ name: "torque", label: "torque", color: colors.torque, isShown: "torque", trail: null, ...FREE },
      at: (_, t) => times(perUnit, interpolateVector(record, record.torque!, body, t)),
    });
  }
  const force = Math.max(0, ...record.forces.map(({ values }) => largest(record, values, body)));
  for (const { name, values, point } of record.forces) {
    if (!(largest(record, values, body) > NEGLIGIBLE * force)) continue;
    const perUnit = scaleOf(`force ${name}`, MAX_LENGTH.force, force);
    found.push({
      perUnit,
      ...{ name: `force ${name}`, label: shortName(name), color: colors.force, isShown: "forces", trail: null, ...FREE },
      from: name === REACTION ? null : (point ?? [0, 0, 0]),
      at: (_, t) => times(perUnit, interpolateVector(record, values, body, t)),
    });
  }
  return found;
}

/** Start and vector of an arrow in the view of a frame, in units. */
export function arrowStart(quantity: Quantity, frame: Frame, context: ViewContext, instant: Instant, pose: FramePose): { from: Vec3; vector: Vec3 } {
  const own = frame === "body" && quantity.inBody ? quantity.inBody(instant.pose) : null;
  const seen = frame === "space" ? relativeTo(instant.turning, instant.pose) : instant.pose;
  const vector = scaled(instant.reach, own ?? pose.along(quantity.at(seen, instant.t)));
  const drawn = instant.larger / context.framing.unit;
  const from = quantity.from ? plus(pose.position, toWorld(pose.attitude, scaled(drawn, quantity.from))) : pose.anchor;
  return { from, vector };
}

/** "spring between" as "spring", "force at 2" as "force 2". */
const shortName = (name: string): string => (name === REACTION ? "reaction" : name.replace(/ (between|at)\b/, ""));

function axes(colors: Colors): Quantity[] {
  return ([1, 2, 3] as const).map((n) => {
    const along: Vec3 = [+(n === 1), +(n === 2), +(n === 3)].map((x) => x * MAX_LENGTH.axis) as Vec3;
    return {
      name: `axis ${n}`,
      label: `${n}`,
      color: colors[`axis${n}`],
      isShown: "bodyAxes",
      trail: `trailAxis${n}`,
      isFixed: true,
      boldness: 0.72,
      perUnit: MAX_LENGTH.axis,
      from: null,
      at: (pose) => toWorld(pose.quaternion, along),
      inBody: () => along,
    };
  });
}

function largest(record: MotionRecord, values: Float64Array, body: number): number {
  let most = 0;
  for (let k = 0; k < record.times; k++) {
    const i = 3 * (k * record.bodies + body);
    const size = Math.sqrt(values[i] ** 2 + values[i + 1] ** 2 + values[i + 2] ** 2);
    if (size > most && size < Infinity) most = size;
  }
  return most;
}

const times = (s: number, v: Vec3): Vec3 => [s * v[0], s * v[1], s * v[2]];
