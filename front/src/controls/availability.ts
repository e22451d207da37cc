// Why a display option is unavailable for a motion.

import type { MotionRecord } from "../motion/record.ts";
import type { Switch } from "../options.ts";
import { withSpaces } from "./format.ts";

const TOO_MANY_BODIES = "Not drawn: there are too many bodies.";

const isZero = (values: Float64Array): boolean => values.every((x) => !(Math.abs(x) > 0));

/** A sentence for each switch that is unavailable. */
export function unavailableReasons(record: MotionRecord, watched: number): Partial<Record<Switch, string>> {
  const why: Partial<Record<Switch, string>> = {};
  const appearance = record.appearances[record.appearanceIndex[watched]];
  if (isZero(record.angularVelocity)) why.omega = why.trailOmega = "Nothing rotates.";
  if (isZero(record.angularMomentum)) why.L = why.trailL = `The angular momentum is zero about the ${record.hasPivot ? "pivot" : "center of mass"}.`;
  const unknown = record.unknownForces.length > 0 ? `Unknown: a file cannot store ${record.unknownForces.map(withSpaces).join(", ")}.` : "";
  const impulses = record.events.some(({ name }) => name === "impulse") ? "Only impulses act, at the marked times." : "";
  const { forcesOmitted } = record;
  if (record.torque === null || isZero(record.torque)) why.torque = unknown || (forcesOmitted && !record.isFree ? TOO_MANY_BODIES : "No torque acts.");
  if (record.forces.every((force) => isZero(force.values))) why.forces = unknown || (forcesOmitted ? TOO_MANY_BODIES : impulses || "No force acts.");
  if (appearance !== undefined && appearance.kind === "particle")
    why.bodyAxes = why.trailAxis1 = why.trailAxis2 = why.trailAxis3 = why.trailPoint = "A particle has no axes.";
  if (!moves(record, watched)) {
    why.trailCenter = "The center of mass does not move.";
    why.follow = "The body does not move: there is nothing to follow.";
  }
  if (record.impacts === null) why.impacts = record.contacts.length > 0 ? "No impacts are recorded." : "There are no contacts.";
  if (record.poinsotUnavailable !== "") why.poinsot = record.poinsotUnavailable;
  if (record.closedForm === null) why.closedForm = withSpaces(record.closedFormUnavailable) || "No closed form is known for this motion.";
  return why;
}

function moves(record: MotionRecord, body: number): boolean {
  for (let k = 1; k < record.times; k++)
    for (let i = 0; i < 3; i++)
      if (record.position[3 * (k * record.bodies + body) + i] !== record.position[3 * body + i]) return true;
  return false;
}
