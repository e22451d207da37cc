// Which vectors of a motion become arrows and trails, in which colour and how long.

import type { Colours } from "../colors.ts";
import { vectorOver, type Pose } from "../motion/pose.ts";
import { vectorAt, type MotionRecord } from "../motion/record.ts";
import { length, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";

type Switch = { [K in keyof Options]: Options[K] extends boolean ? K : never }[keyof Options];

/** The longest arrow of each kind during the motion, in the body's reach; as in Polhode's pictures. */
export const LONGEST = { omega: 1.55, L: 1.75, torque: 1.3, force: 1.15, axis: 1.3 };
/** A torque smaller than this beside |L| |omega| is rounding. */
const NOTHING = 1e-9;

/** As src/polhode/web/motion_record.py calls it. */
const REACTION = "reaction of the pivot";
const FREE = { isFixed: false, boldness: 1, from: null };

export interface Quantity {
  name: string;
  label: string;
  colour: string;
  isShown: Switch;
  /** The switch of the path of its tip, if it has one. */
  trail: Switch | null;
  /** World axes, in the body's reach. */
  at(pose: Pose, t: number): Vec3;
  /** Along body axes; where it is known better than by turning `at`. */
  inBody?(pose: Pose): Vec3;
  /** Fixed in the body, so that it has no path there. */
  isFixed: boolean;
  /** Thickness: where two lie on each other the bolder hides the other, which is longer. */
  boldness: number;
  /** A point of the body, in m, where it begins: a force's; null for where L is taken about, as all else. */
  from: Vec3 | null;
}

export function quantitiesOf(record: MotionRecord, body: number, colours: Colours): Quantity[] {
  const { kind } = record.looks[record.lookOf[body]];
  const found: Quantity[] = kind === "particle" ? [] : axes(colours);
  const w = largest(record, record.angularVelocity, body);
  const L = largest(record, record.angularMomentum, body);
  const [perW, perL] = [LONGEST.omega / w, LONGEST.L / L];
  if (w > 0) {
    found.push({
      ...{ name: "omega", label: "ω", colour: colours.omega, isShown: "omega", trail: "trailOmega", ...FREE },
      boldness: 1.15,
      at: (pose) => times(perW, pose.angularVelocity),
      inBody: (pose) => times(perW, pose.angularVelocityBody),
    });
  }
  if (L > 0) {
    found.push({
      ...{ name: "L", label: "L", colour: colours.L, isShown: "L", trail: "trailL", ...FREE },
      boldness: 0.9,
      at: (pose) => times(perL, pose.angularMomentum),
    });
  }
  const torque = record.torque && largest(record, record.torque, body);
  if (torque && torque > NOTHING * L * w) {
    found.push({
      ...{ name: "torque", label: "torque", colour: colours.torque, isShown: "torque", trail: null, ...FREE },
      at: (_, t) => times(LONGEST.torque / torque, vectorOver(record, record.torque!, body, t)),
    });
  }
  const force = Math.max(0, ...record.forces.map(({ values }) => largest(record, values, body)));
  for (const { name, values, point } of record.forces) {
    if (!(largest(record, values, body) > NOTHING * force)) continue;
    found.push({
      ...{ name: `force ${name}`, label: shortName(name), colour: colours.force, isShown: "forces", trail: null, ...FREE },
      from: name === REACTION ? null : (point ?? [0, 0, 0]),
      at: (_, t) => times(LONGEST.force / force, vectorOver(record, values, body, t)),
    });
  }
  return found;
}

/** "spring between" as "spring", "force at 2" as "force 2": beside an arrow the rest goes without saying. */
const shortName = (name: string): string => (name === REACTION ? "reaction" : name.replace(/ (between|at)\b/, ""));

function axes(colours: Colours): Quantity[] {
  return ([1, 2, 3] as const).map((n) => {
    const along: Vec3 = [+(n === 1), +(n === 2), +(n === 3)].map((x) => x * LONGEST.axis) as Vec3;
    return {
      name: `axis ${n}`,
      label: `${n}`,
      colour: colours[`axis${n}`],
      isShown: "bodyAxes",
      trail: `trailAxis${n}`,
      isFixed: true,
      boldness: 0.72,
      from: null,
      at: (pose) => toWorld(pose.quaternion, along),
      inBody: () => along,
    };
  });
}

function largest(record: MotionRecord, values: Float64Array, body: number): number {
  let most = 0;
  for (let k = 0; k < record.times; k++) {
    const size = length(vectorAt(values, k * record.bodies + body));
    if (size > most && size < Infinity) most = size;
  }
  return most;
}

const times = (s: number, v: Vec3): Vec3 => [s * v[0], s * v[1], s * v[2]];
