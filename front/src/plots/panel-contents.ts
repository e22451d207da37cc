// The contents of each plot panel, independent of drawing.

import type { Colors } from "../colors.ts";
import type { MotionRecord, Series } from "../motion/record.ts";
import { quaternionAt, vectorAt } from "../motion/record.ts";
import { length, toBody, type Vec3 } from "../motion/vectors.ts";
import { eulerAnglesOverTime } from "./euler-angles.ts";
import { decimalsFor, powerFor } from "./number-format.ts";
import { extent, largestOf, logRangeOf, rangeOf } from "./ranges.ts";

export interface Curve {
  /** "ω" and its index, "1". */
  name: string;
  index: string;
  /** For screen readers: "omega 1". */
  spoken: string;
  /** A key of Colors, or a CSS color. */
  color: string;
  /** Divided by the power of ten; on a logarithmic axis, decadic logarithms. */
  values: Float64Array;
}

export interface PanelContents {
  key: string;
  heading: string;
  unit: string;
  power: number;
  decimals: number;
  curves: Curve[];
  /** Other members of the ensemble, drawn faintly in the background. */
  background: { color: string; values: Float64Array }[];
  range: [number, number];
  isLogarithmic: boolean;
  note: string;
}

type Components = [Float64Array, Float64Array, Float64Array];

/** Maximum number of other members drawn background the watched one. */
const MAX_BACKGROUND = 30;
/** Relative size of rounding. */
const NOISE = 1e-12;
/** Beyond this range of phi and psi, in rad, theta gets its own panel. */
const MAX_SHARED_ANGLE = 8 * Math.PI;
const AXES: (keyof Colors)[] = ["axis1", "axis2", "axis3"];
/** For quantities without a color of their own; all have a counterpart in the dark theme. */
const FALLBACK_COLORS: (keyof Colors)[] = ["axis3", "axis1", "axis2", "omega", "L", "torque", "path", "muted"];
const COMPONENTS: Vec3 = [0, 1, 2];

/** The panels that are not empty, from top to bottom. */
export function panelContents(record: MotionRecord, watched: number): PanelContents[] {
  const others = record.axis === "member" ? spacedMembers(record.bodies, watched) : [];
  const rotates = largestOf([record.angularVelocity]) > 0;
  return [
    ...(rotates ? [angularVelocityPanel(record, watched, others, true), angularVelocityPanel(record, watched, others, false)] : []),
    ...(rotates ? eulerAnglePanels(record, watched, others) : []),
    ...energyPanels(record, watched, others),
    ...driftPanels(record),
    ...positionPanels(record, watched, others),
    ...torquePanels(record, watched, others),
  ];
}

/** Up to thirty other members, evenly spaced. */
function spacedMembers(count: number, watched: number): number[] {
  const most = Math.min(count, MAX_BACKGROUND + 1);
  const chosen = Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / Math.max(most - 1, 1)));
  return chosen.filter((one) => one !== watched).slice(0, MAX_BACKGROUND);
}

function components(record: MotionRecord, values: Float64Array, body: number, inBody = false): Components {
  const found: Components = [new Float64Array(record.times), new Float64Array(record.times), new Float64Array(record.times)];
  for (let n = 0; n < record.times; n++) {
    const row = n * record.bodies + body;
    const vector = vectorAt(values, row);
    const seen = inBody ? toBody(quaternionAt(record.quaternion, row), vector) : vector;
    for (const i of COMPONENTS) found[i][n] = seen[i];
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

function vectorPanel(naming: Naming, watched: Components, others: Components[]): PanelContents {
  const curves = COMPONENTS.map((i) => ({
    name: naming.name,
    index: naming.indices[i],
    spoken: `${naming.spoken} ${naming.indices[i]}`.trim(),
    color: AXES[i],
    values: watched[i],
  }));
  const background = others.flatMap((one) => COMPONENTS.map((i) => ({ color: AXES[i] as string, values: one[i] })));
  return linearPanel(naming, curves, background);
}

/** A panel with a linear axis, in a power of ten of its unit that keeps numbers short. */
function linearPanel(
  head: { key: string; heading: string; unit: string; note?: string },
  curves: Curve[],
  background: PanelContents["background"],
): PanelContents {
  const all = [...curves, ...background];
  const largest = largestOf(all.map((one) => one.values));
  const power = powerFor(largest);
  const inUnit = (values: Float64Array): Float64Array => (power === 0 ? values : values.map((x) => x / 10 ** power));
  const scaledCurves = curves.map((one) => ({ ...one, values: inUnit(one.values) }));
  const scaledBackground = background.map((one) => ({ ...one, values: inUnit(one.values) }));
  return {
    key: head.key,
    heading: head.heading,
    unit: head.unit,
    power,
    decimals: decimalsFor(largest / 10 ** power),
    curves: scaledCurves,
    background: scaledBackground,
    range: rangeOf(
      scaledCurves.map((one) => one.values),
      scaledBackground.map((one) => one.values),
    ),
    isLogarithmic: false,
    note: head.note ?? "",
  };
}

function angularVelocityPanel(record: MotionRecord, watched: number, others: number[], inBody: boolean): PanelContents {
  const extract = (body: number): Components => components(record, record.angularVelocity, body, inBody);
  const naming = inBody
    ? { key: "omega-body", heading: "Angular velocity, body axes", indices: ["1", "2", "3"] }
    : { key: "omega-space", heading: "Angular velocity, space axes", indices: ["x", "y", "z"] };
  return vectorPanel({ ...naming, unit: "rad/s", name: "ω", spoken: "omega" }, extract(watched), others.map(extract));
}

function eulerAnglePanels(record: MotionRecord, watched: number, others: number[]): PanelContents[] {
  const extract = (body: number): Components =>
    eulerAnglesOverTime(record.time, record.quaternion, record.angularVelocity, record.bodies, body);
  const [mine, theirs] = [extract(watched), others.map(extract)];
  const all = [mine, ...theirs];
  // As in Polhode's figures of tops.
  const style = [
    { name: "φ", spoken: "phi", color: "axis3" },
    { name: "θ", spoken: "theta", color: "axis1" },
    { name: "ψ", spoken: "psi", color: "axis2" },
  ];
  const panel = (key: string, heading: string, places: number[]): PanelContents =>
    linearPanel(
      { key, heading, unit: "rad" },
      places.map((i) => ({ ...style[i], index: "", values: mine[i] })),
      theirs.flatMap((one) => places.map((i) => ({ color: style[i].color, values: one[i] }))),
    );
  if (largestOf(all.flatMap((one) => [one[0], one[2]])) <= MAX_SHARED_ANGLE) return [panel("angles", "Euler angles", [0, 1, 2])];
  const tilts = largestOf(all.map((one) => one[1])) > 0;
  return [panel("angles-turning", "Euler angles φ and ψ", [0, 2]), ...(tilts ? [panel("angles-tilt", "Tilt θ", [1])] : [])];
}

function column(series: Series, times: number, which: number): Float64Array {
  return Float64Array.from({ length: times }, (_, n) => series.values[n * series.columns + which]);
}

function energyPanels(record: MotionRecord, watched: number, others: number[]): PanelContents[] {
  if (record.energies.length === 0) return [];
  const of = (series: Series, body: number): Float64Array => column(series, record.times, series.columns > 1 ? body : 0);
  const curves = record.energies.map((series, i) => ({
    name: series.name,
    index: "",
    spoken: series.name,
    color: ENERGIES.has(series.name) ? series.name : FALLBACK_COLORS[i % FALLBACK_COLORS.length],
    values: of(series, watched),
  }));
  if (largestOf(curves.map((one) => one.values)) === 0) return [];
  const background = record.energies.flatMap((series, i) =>
    series.columns > 1 ? others.map((body) => ({ color: curves[i].color, values: of(series, body) })) : [],
  );
  const several = record.axis === "body" && record.energies.every((series) => series.columns === 1);
  const note = several ? "sum over all bodies" : "";
  return [linearPanel({ key: "energy", heading: "Energy", unit: record.energies[0].unit, note }, curves, background)];
}

const ENERGIES = new Set(["translational", "rotational", "kinetic", "potential", "total"]);

function driftPanels(record: MotionRecord): PanelContents[] {
  if (record.drifts.length === 0) return [];
  const changed = record.drifts.filter((series) => largestOf([series.values]) > 0);
  const constant = record.drifts.filter((series) => largestOf([series.values]) === 0);
  const curves = changed.map((series, i) => ({
    name: series.name,
    index: "",
    spoken: series.name,
    color: FALLBACK_COLORS[i % FALLBACK_COLORS.length],
    values: column(series, record.times, 0).map(Math.log10),
  }));
  return [
    {
      key: "drifts",
      heading: "Relative drift of conserved quantities",
      unit: "",
      power: 0,
      decimals: 0,
      curves,
      background: [],
      range: logRangeOf(curves.map((one) => one.values)),
      isLogarithmic: true,
      note: constant.length > 0 ? "exactly conserved: " + constant.map((series) => series.name).join(", ") : "",
    },
  ];
}

function positionPanels(record: MotionRecord, watched: number, others: number[]): PanelContents[] {
  const extract = (body: number): Components => components(record, record.position, body);
  const [mine, theirs] = [extract(watched), others.map(extract)];
  const size = Math.max(record.appearances[record.appearanceIndex[watched]]?.size ?? 0, largestOf(mine));
  const moves = [mine, ...theirs].some((one) => one.some((values) => spanOf(values) > NOISE * size));
  if (!moves) return [];
  const from = length(record.origin) > 0 ? `relative to (${record.origin.map((x) => x.toPrecision(4)).join(", ")}) m` : "";
  const naming = { key: "position", heading: "Position", unit: "m", name: "", spoken: "", indices: ["x", "y", "z"] };
  return [vectorPanel({ ...naming, note: from }, mine, theirs)];
}

function spanOf(values: Float64Array): number {
  const [low, high] = extent([values]);
  return Number.isNaN(low) ? 0 : high - low;
}

function torquePanels(record: MotionRecord, watched: number, others: number[]): PanelContents[] {
  const torque = record.torque;
  if (torque === null) return [];
  const size = largestOf([record.angularMomentum]) * largestOf([record.angularVelocity]);
  if (!(largestOf([torque]) > NOISE * size)) return [];
  const extract = (body: number): Components => components(record, torque, body);
  const heading = !record.hasPivot ? "Torque" : "Torque about the pivot";
  const naming = { key: "torque", heading, unit: "N m", name: "τ", spoken: "torque", indices: ["x", "y", "z"] };
  return [vectorPanel(naming, extract(watched), others.map(extract))];
}
