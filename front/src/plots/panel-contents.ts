// What each panel shows of a motion; knows nothing of drawing.

import type { Colours } from "../colors.ts";
import type { MotionRecord, Series } from "../motion/record.ts";
import { quaternionAt, vectorAt } from "../motion/record.ts";
import { length, toBody, type Vec3 } from "../motion/vectors.ts";
import { anglesOver } from "./euler-angles.ts";
import { decimalsFor, powerFor } from "./number-format.ts";
import { extent, largestOf, logRangeOf, rangeOf } from "./ranges.ts";

export interface Curve {
  /** "ω" and its index, "1". */
  name: string;
  index: string;
  /** For who listens: "omega 1". */
  spoken: string;
  /** A name of the page's colours, or a colour. */
  colour: string;
  /** Already divided by the power of ten; on a logarithmic axis, logarithms to the base ten. */
  values: Float64Array;
}

export interface Contents {
  key: string;
  heading: string;
  unit: string;
  power: number;
  decimals: number;
  curves: Curve[];
  /** Other members of the ensemble, drawn faintly behind. */
  behind: { colour: string; values: Float64Array }[];
  range: [number, number];
  isLogarithmic: boolean;
  note: string;
}

type Three = [Float64Array, Float64Array, Float64Array];

/** So many other members are drawn behind the one that is watched. */
const FAINT = 30;
/** What is smaller than this part of the size of a thing is rounding. */
const NOISE = 1e-12;
/** Beyond so many rad the tilt would be a flat line beside phi and psi: it gets a panel of its own. */
const FAR = 8 * Math.PI;
const AXES: (keyof Colours)[] = ["axis1", "axis2", "axis3"];
/** For things that have no colour of their own: these have one for the dark page, too. */
const SEVERAL: (keyof Colours)[] = ["axis3", "axis1", "axis2", "omega", "L", "torque", "path", "muted"];
const PLACES: Vec3 = [0, 1, 2];

/** The panels that say something, from top to bottom. */
export function contentsOf(record: MotionRecord, watched: number): Contents[] {
  const others = record.axis === "member" ? spread(record.bodies, watched) : [];
  const turns = largestOf([record.angularVelocity]) > 0;
  return [
    ...(turns ? [rates(record, watched, others, true), rates(record, watched, others, false)] : []),
    ...(turns ? angles(record, watched, others) : []),
    ...energies(record, watched, others),
    ...departures(record),
    ...positions(record, watched, others),
    ...torques(record, watched, others),
  ];
}

/** Up to thirty others, spread evenly over all. */
function spread(count: number, watched: number): number[] {
  const most = Math.min(count, FAINT + 1);
  const chosen = Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / Math.max(most - 1, 1)));
  return chosen.filter((one) => one !== watched).slice(0, FAINT);
}

function components(record: MotionRecord, values: Float64Array, body: number, inBody = false): Three {
  const found: Three = [new Float64Array(record.times), new Float64Array(record.times), new Float64Array(record.times)];
  for (let n = 0; n < record.times; n++) {
    const row = n * record.bodies + body;
    const vector = vectorAt(values, row);
    const seen = inBody ? toBody(quaternionAt(record.quaternion, row), vector) : vector;
    for (const i of PLACES) found[i][n] = seen[i];
  }
  return found;
}

interface Naming {
  key: string;
  heading: string;
  unit: string;
  name: string;
  spoken: string;
  indices: string[];
  note?: string;
}

function vectorPanel(naming: Naming, watched: Three, others: Three[]): Contents {
  const curves = PLACES.map((i) => ({
    name: naming.name,
    index: naming.indices[i],
    spoken: `${naming.spoken} ${naming.indices[i]}`.trim(),
    colour: AXES[i],
    values: watched[i],
  }));
  const behind = others.flatMap((one) => PLACES.map((i) => ({ colour: AXES[i] as string, values: one[i] })));
  return linear(naming, curves, behind);
}

/** A panel in a unit whose numbers are neither long nor small. */
function linear(
  head: { key: string; heading: string; unit: string; note?: string },
  curves: Curve[],
  behind: Contents["behind"],
): Contents {
  const all = [...curves, ...behind];
  const largest = largestOf(all.map((one) => one.values));
  const power = powerFor(largest);
  const inUnit = (values: Float64Array): Float64Array => (power === 0 ? values : values.map((x) => x / 10 ** power));
  const shown = curves.map((one) => ({ ...one, values: inUnit(one.values) }));
  const faint = behind.map((one) => ({ ...one, values: inUnit(one.values) }));
  return {
    key: head.key,
    heading: head.heading,
    unit: head.unit,
    power,
    decimals: decimalsFor(largest / 10 ** power),
    curves: shown,
    behind: faint,
    range: rangeOf(
      shown.map((one) => one.values),
      faint.map((one) => one.values),
    ),
    isLogarithmic: false,
    note: head.note ?? "",
  };
}

function rates(record: MotionRecord, watched: number, others: number[], inBody: boolean): Contents {
  const taken = (body: number): Three => components(record, record.angularVelocity, body, inBody);
  const naming = inBody
    ? { key: "omega-body", heading: "Angular velocity, body axes", indices: ["1", "2", "3"] }
    : { key: "omega-space", heading: "Angular velocity, space axes", indices: ["x", "y", "z"] };
  return vectorPanel({ ...naming, unit: "rad/s", name: "ω", spoken: "omega" }, taken(watched), others.map(taken));
}

function angles(record: MotionRecord, watched: number, others: number[]): Contents[] {
  const taken = (body: number): Three =>
    anglesOver(record.time, record.quaternion, record.angularVelocity, record.bodies, body);
  const [mine, theirs] = [taken(watched), others.map(taken)];
  const all = [mine, ...theirs];
  // As in Polhode's pictures of tops.
  const style = [
    { name: "φ", spoken: "phi", colour: "axis3" },
    { name: "θ", spoken: "theta", colour: "axis1" },
    { name: "ψ", spoken: "psi", colour: "axis2" },
  ];
  const panel = (key: string, heading: string, places: number[]): Contents =>
    linear(
      { key, heading, unit: "rad" },
      places.map((i) => ({ ...style[i], index: "", values: mine[i] })),
      theirs.flatMap((one) => places.map((i) => ({ colour: style[i].colour, values: one[i] }))),
    );
  if (largestOf(all.flatMap((one) => [one[0], one[2]])) <= FAR) return [panel("angles", "Euler angles", [0, 1, 2])];
  const tilts = largestOf(all.map((one) => one[1])) > 0;
  return [panel("angles-turning", "Euler angles φ and ψ", [0, 2]), ...(tilts ? [panel("angles-tilt", "Tilt θ", [1])] : [])];
}

function column(series: Series, times: number, which: number): Float64Array {
  return Float64Array.from({ length: times }, (_, n) => series.values[n * series.columns + which]);
}

function energies(record: MotionRecord, watched: number, others: number[]): Contents[] {
  if (record.energies.length === 0) return [];
  const of = (series: Series, body: number): Float64Array => column(series, record.times, series.columns > 1 ? body : 0);
  const curves = record.energies.map((series, i) => ({
    name: series.name,
    index: "",
    spoken: series.name,
    colour: ENERGIES.has(series.name) ? series.name : SEVERAL[i % SEVERAL.length],
    values: of(series, watched),
  }));
  if (largestOf(curves.map((one) => one.values)) === 0) return [];
  const behind = record.energies.flatMap((series, i) =>
    series.columns > 1 ? others.map((body) => ({ colour: curves[i].colour, values: of(series, body) })) : [],
  );
  const several = record.axis === "body" && record.energies.every((series) => series.columns === 1);
  const note = several ? "of all bodies together" : "";
  return [linear({ key: "energy", heading: "Energy", unit: record.energies[0].unit, note }, curves, behind)];
}

const ENERGIES = new Set(["translational", "rotational", "kinetic", "potential", "total"]);

function departures(record: MotionRecord): Contents[] {
  if (record.departures.length === 0) return [];
  const moved = record.departures.filter((series) => largestOf([series.values]) > 0);
  const still = record.departures.filter((series) => largestOf([series.values]) === 0);
  const curves = moved.map((series, i) => ({
    name: series.name,
    index: "",
    spoken: series.name,
    colour: SEVERAL[i % SEVERAL.length],
    values: column(series, record.times, 0).map(Math.log10),
  }));
  return [
    {
      key: "departures",
      heading: "Departure of what should stay",
      unit: "relative to its size",
      power: 0,
      decimals: 0,
      curves,
      behind: [],
      range: logRangeOf(curves.map((one) => one.values)),
      isLogarithmic: true,
      note: still.length > 0 ? "exactly 0: " + still.map((series) => series.name).join(", ") : "",
    },
  ];
}

function positions(record: MotionRecord, watched: number, others: number[]): Contents[] {
  const taken = (body: number): Three => components(record, record.position, body);
  const [mine, theirs] = [taken(watched), others.map(taken)];
  const size = Math.max(record.looks[record.lookOf[watched]]?.size ?? 0, largestOf(mine));
  const moves = [mine, ...theirs].some((one) => one.some((values) => spanOf(values) > NOISE * size));
  if (!moves) return [];
  const from = length(record.origin) > 0 ? `from (${record.origin.map((x) => x.toPrecision(4)).join(", ")}) m` : "";
  const naming = { key: "position", heading: "Position", unit: "m", name: "", spoken: "", indices: ["x", "y", "z"] };
  return [vectorPanel({ ...naming, note: from }, mine, theirs)];
}

function spanOf(values: Float64Array): number {
  const [low, high] = extent([values]);
  return Number.isNaN(low) ? 0 : high - low;
}

function torques(record: MotionRecord, watched: number, others: number[]): Contents[] {
  const torque = record.torque;
  if (torque === null) return [];
  const size = largestOf([record.angularMomentum]) * largestOf([record.angularVelocity]);
  if (!(largestOf([torque]) > NOISE * size)) return [];
  const taken = (body: number): Three => components(record, torque, body);
  const heading = !record.isHeld ? "Torque" : "Torque about the pivot";
  const naming = { key: "torque", heading, unit: "N m", name: "τ", spoken: "torque", indices: ["x", "y", "z"] };
  return [vectorPanel(naming, taken(watched), others.map(taken))];
}
