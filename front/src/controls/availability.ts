// Why a switch means nothing for a motion.

import type { MotionRecord } from "../motion/record.ts";
import type { Options } from "../options.ts";
import { spaced } from "./format.ts";

export type Switch = { [K in keyof Options]: Options[K] extends boolean ? K : never }[keyof Options] & string;

const CROWD = "There are too many bodies to draw these arrows for each.";

const isNothing = (values: Float64Array): boolean => values.every((x) => !(Math.abs(x) > 0));

/** A sentence for each switch that is of no use; the others are left out. */
export function reasons(record: MotionRecord, watched: number): Partial<Record<Switch, string>> {
  const why: Partial<Record<Switch, string>> = {};
  const look = record.looks[record.lookOf[watched]];
  if (isNothing(record.angularVelocity)) why.omega = why.trailOmega = "Nothing turns here.";
  if (isNothing(record.angularMomentum)) why.L = why.trailL = `There is no angular momentum about the ${record.isHeld ? "pivot" : "centre of mass"}.`;
  const unknown = record.unknownForces.length > 0 ? `Not known: a file cannot hold ${record.unknownForces.map(spaced).join(", ")}.` : "";
  const blows = record.crossings.some(({ name }) => name === "impulse") ? "Only blows act, at the instants that are marked." : "";
  const { isCrowd } = record;
  if (record.torque === null || isNothing(record.torque)) why.torque = unknown || (isCrowd && !record.isFree ? CROWD : "No torque acts.");
  if (record.forces.every((force) => isNothing(force.values))) why.forces = unknown || (isCrowd ? CROWD : blows || "No force acts.");
  if (look !== undefined && look.kind === "particle")
    why.bodyAxes = why.trailAxis1 = why.trailAxis2 = why.trailAxis3 = why.trailPoint = "A particle has no axes.";
  if (!moves(record, watched)) {
    why.trailCentre = "The centre of mass stays where it is.";
    why.follow = "The body stays where it is: there is nothing to follow.";
  }
  if (record.whyNoPoinsot !== "") why.poinsot = record.whyNoPoinsot;
  if (record.ghost === null) why.ghost = spaced(record.whyNoGhost) || "No closed form is known for this motion.";
  return why;
}

function moves(record: MotionRecord, body: number): boolean {
  for (let k = 1; k < record.times; k++)
    for (let i = 0; i < 3; i++)
      if (record.position[3 * (k * record.bodies + body) + i] !== record.position[3 * body + i]) return true;
  return false;
}
