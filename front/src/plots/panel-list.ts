// The panels of the plots by id: which quantities each shows, and for which motions it has a meaning.

import type { MotionRecord } from "../motion/record.ts";
import table from "./quantities.json";
import { largestOf, extent } from "./ranges.ts";
import { familiesOf, findQuantity, type Columns, type Family } from "./quantities.ts";

/** Quantities of a family that share one axis.  A panel has one strip or several. */
export interface Strip {
  /** Of the panel: "euler_angles". */
  id: string;
  /** Unique: "euler_angles/1". */
  key: string;
  heading: string;
  family: Family;
  /** Places of the quantities in the family. */
  places: number[];
  note: string;
  isLogarithmic: boolean;
  /** Whether it is one of several strips, which are lower. */
  isLow: boolean;
}

/** Ids of the panels that the page has by itself, as they are listed, and what they are called there. */
const PANELS = table.panels as [string, string][];

/** The panels of a record: the page's own, then the quantities that it was sent. */
export const panelsOf = (record: MotionRecord): string[] => [...PANELS.map(([id]) => id), ...record.quantities.map(({ name }) => name)];

/** The names of the Euler angles, and of the panels with one of them. */
const TOP_ANGLES = ["Precession φ", "Tilt θ", "Spin ψ"];
const ONE_ANGLE: Record<string, number> = { precession: 0, tilt: 1, spin_angle: 2 };

/** What a panel is called in the list. */
export const panelWords = (record: MotionRecord, id: string): string =>
  PANELS.find(([one]) => one === id)?.[1] ?? TOP_ANGLES[ONE_ANGLE[id]] ?? record.quantities.find(({ name }) => name === id)?.heading ?? id;

/** Shown at first if the motion has no stage that says otherwise. */
const DEFAULTS = ["angular_velocity", "angular_velocity_world", "attitude", "energy", "drift", "position", "torque"];

/** The family of a panel, where its name is another. */
const FAMILIES: Record<string, string> = {
  angular_velocity: "angular_velocity_body",
  angular_velocity_world: "angular_velocity",
  ...{ tilt_precession: "euler_angles", precession: "euler_angles", tilt: "euler_angles", spin_angle: "euler_angles" },
};

/** Relative size of rounding. */
const NOISE = 1e-12;
const FULL_TURN = 2 * Math.PI;

/** "phase:theta:theta_rate": the ids of its quantities; null for any other panel. */
export function phaseOf(id: string): { x: string; y: string } | null {
  const [kind, x, y, ...rest] = id.split(":");
  return kind === "phase" && x !== undefined && y !== undefined && rest.length === 0 ? { x, y } : null;
}

/** The panels that a motion shows at first. */
export function firstPanels(record: MotionRecord, watched: number): string[] {
  if (record.stage.panels.length > 0) return [...record.stage.panels];
  // Euler angles of a body that tumbles have gaps.
  const { values } = familiesOf(record).get("euler_angles")!.columns(watched);
  const gaps = values[0].reduce((count, x, n) => count + Number(Number.isNaN(x) && Number.isFinite(values[1][n])), 0);
  const isUpright = gaps === record.times;
  const attitude = isUpright || gaps <= 1 ? "euler_angles" : "quaternion";
  return DEFAULTS.map((id) => (id === "attitude" ? attitude : id)).filter((id) => whyNot(record, watched, id) === "");
}

/** Why a motion has no such panel; "" if it has. */
export function whyNot(record: MotionRecord, watched: number, id: string): string {
  // Of a large ensemble all numbers are looked at: once.
  const known = reasons.get(record) ?? new Map<string, string>();
  reasons.set(record, known);
  const key = `${watched} ${id}`;
  const reason = known.get(key) ?? findReason(record, watched, id);
  known.set(key, reason);
  return reason;
}

const reasons = new WeakMap<MotionRecord, Map<string, string>>();

function findReason(record: MotionRecord, watched: number, id: string): string {
  const phase = phaseOf(id);
  if (phase !== null) {
    const missing = [phase.x, phase.y].filter((one) => findQuantity(record, one) === null);
    return missing.length === 0 ? "" : `this motion has no quantity ${missing.map((one) => `“${one}”`).join(" and ")}`;
  }
  switch (id) {
    case "angular_velocity":
    case "angular_velocity_world":
    case "euler_angles":
    case "tilt_precession":
    case "tilt":
    case "precession":
    case "spin_angle":
    case "yaw_pitch_roll":
    case "quaternion":
    case "angular_momentum":
      return largestOf([record.angularVelocity]) > 0 ? "" : "nothing rotates";
    case "position":
    case "velocity":
    case "speed":
      return moves(record, watched) ? "" : "nothing moves";
    case "energy":
      return record.energies.some((one) => largestOf([one.values]) > 0) ? "" : "no energy is known";
    case "drift":
      return record.drifts.length > 0 ? "" : "nothing is conserved";
    case "torque": {
      const size = largestOf([record.angularMomentum]) * largestOf([record.angularVelocity]);
      return record.torque !== null && largestOf([record.torque]) > NOISE * size ? "" : "no torque acts";
    }
    case "forces":
      if (record.forcesOmitted) return "there are too many bodies to send their forces";
      return record.forces.some((one) => largestOf([one.values]) > 0) ? "" : "no force acts";
    default: {
      const sent = record.quantities.find(({ name }) => name === id);
      if (sent === undefined) return `there is no panel “${id}”`;
      return sent.values.some(Number.isFinite) ? "" : "its numbers are not known";
    }
  }
}

function moves(record: MotionRecord, watched: number): boolean {
  const family = familiesOf(record).get("position")!;
  const bodies = record.axis === "member" ? Array.from({ length: record.bodies }, (_, k) => k) : [watched];
  const size = Math.max(record.appearances[record.appearanceIndex[watched]]?.size ?? 0, largestOf([record.position]));
  return bodies.some((body) => family.columns(body).values.some((values) => spanOf(values) > NOISE * size));
}

/** Difference of the largest and the smallest finite number. */
function spanOf(values: Float64Array): number {
  const [low, high] = extent([values]);
  return Number.isNaN(low) ? 0 : high - low;
}

/** The strips of a panel, from top to bottom; none for a phase plot. */
export function stripsOf(record: MotionRecord, watched: number, id: string): Strip[] {
  const family = familiesOf(record).get(FAMILIES[id] ?? id);
  if (family === undefined || phaseOf(id) !== null) return [];
  const whole = family.quantities.map((_, i) => i);
  const one = (heading: string, places: number[], note = "", of = family, isLow = false): Strip => ({
    ...{ id, key: id, heading, family: of, places, note, isLogarithmic: id === "drift", isLow },
  });
  const several = (strips: Strip[]): Strip[] => strips.map((strip, i) => ({ ...strip, key: i === 0 ? id : `${id}/${i}`, isLow: true }));
  const words = panelWords(record, id);
  const only = ONE_ANGLE[id];
  if (FAMILIES[id] === "euler_angles" || id === "euler_angles") {
    const { values } = family.columns(watched);
    const names = id === "euler_angles" ? ["Euler angle φ", "Euler angle θ", "Euler angle ψ"] : TOP_ANGLES;
    const places = only !== undefined ? [only] : id === "euler_angles" ? [1, 0, 2] : [1, 0];
    if (values[0].every(Number.isNaN) && values[1].some(Number.isFinite)) {
      const isDown = (values[1].find(Number.isFinite) ?? 0) > 1;
      const sum = `φ ${isDown ? "−" : "+"} ψ`;
      const note = `Axis 3 of the body stays vertical, so that only ${sum} is determined.`;
      const vertical = one(`Euler angles ${sum}`, [0], note, familiesOf(record).get("angle_about_vertical")!);
      return several([...(places.includes(1) ? [one(names[1], [1])] : []), ...(only === 1 ? [] : [vertical])]);
    }
    const note = hasGaps(family.columns(watched)) ? "Gaps: near θ = 0 and 180°, φ and ψ are not determined, or turn against each other." : "";
    const noted = places.find((place) => place !== 1);
    return several(places.map((place) => one(names[place], [place], place === noted ? note : "")));
  }
  if (id === "yaw_pitch_roll") {
    const { values } = family.columns(watched);
    const note = hasGaps(family.columns(watched)) ? "Gaps: near a pitch of ±90°, yaw and roll are not determined, or turn against each other." : "";
    if (values.every((one) => spanOf(one) <= FULL_TURN)) return [one(words, whole, note)];
    return several(["Yaw", "Pitch", "Roll"].map((name, i) => one(name, [i], i === 0 ? note : "")));
  }
  if (id === "drift") {
    const isConstant = (i: number): boolean => largestOf([family.columns(watched).values[i]]) === 0;
    const exact = whole.filter(isConstant).map((i) => family.quantities[i].name);
    const note = exact.length > 0 ? "exactly conserved: " + exact.join(", ") : "";
    return [one(words, whole.filter((i) => !isConstant(i)), note)];
  }
  return [one(family.heading, whole, noteOf(record, id, family))];
}

const hasGaps = ({ values, breaks }: Columns): boolean =>
  values[0].some((x, n) => Number.isNaN(x) && Number.isFinite(values[1][n])) || (breaks?.[0]?.size ?? 0) > 0;

function noteOf(record: MotionRecord, id: string, family: Family): string {
  if (id === "energy" && record.axis === "body" && !family.isPerBody) return "sum over all bodies";
  if (id === "position" && record.origin.some((x) => x !== 0)) return `relative to (${record.origin.map((x) => x.toPrecision(4)).join(", ")}) m`;
  return "";
}
