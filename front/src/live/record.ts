// The record of a motion that the page has computed itself: src/polhode/gallery/live_page.py describes the program's
// output, and the arithmetic is that of src/polhode/web/motion_record.py and results/audit.py.

import type { Appearance, AuditFinding, MotionRecord, Series } from "../motion/record.ts";
import { vectorAt } from "../motion/record.ts";
import type { Vec3 } from "../motion/vectors.ts";

type FindingKind = "kinetic" | "energy" | "work" | "momentum" | "across" | "angular" | "origin" | "along" | "drift";

/** One scenario of a model: what its program writes for each output. */
export interface LiveRun {
  name: string;
  /** Start and length of each kind of numbers. */
  columns: Record<string, [number, number]>;
  size: number;
  forces: { name: string; array: string; point: Vec3 | null }[];
  energies: string[];
  findings: { kind: FindingKind; quantity: string; unit: string; conserved: boolean; reason: string }[];
  /** Where numbers that depend on knobs are, besides the motion's, and what they are at first. */
  extra: Record<string, [number, number]>;
  base: Record<string, number[]>;
  /** Of these the page knows the first values only. */
  unfollowed: string[];
  /** The direction of all forces, if there is one. */
  direction: number[];
  /** Compressed: the record at the first values. */
  record: string;
}

/** What the worker answers. */
export interface Answer {
  id: number;
  run: number;
  refused?: true;
  numbers: Float64Array;
  time: Float64Array;
  seen: Float64Array;
}

/** Relative change of L up to which it counts as constant. */
const FREE_TOLERANCE = 1e-2;
/** Beyond this many sizes of everything, positions are relative to the middle of the path. */
const FAR = 100;

export function liveRecord(template: MotionRecord, run: LiveRun, answer: Answer, isFirst: boolean): MotionRecord {
  const { time, seen, numbers } = answer;
  const times = time.length;
  const column = (name: string): Float64Array => {
    const [start, length] = run.columns[name];
    const found = new Float64Array(times * length);
    for (let i = 0, to = 0; i < times; i++) for (let k = 0; k < length; k++) found[to++] = seen[i * run.size + start + k];
    return found;
  };
  const extra = (name: string): Float64Array | null =>
    name in run.extra ? numbers.slice(run.extra[name][0], run.extra[name][1]) : null;
  const appearances = template.appearances.map((one, i) => stretched(one, extra(`extent_${i}`), run.base[`extent_${i}`]));
  const absolute = column("position");
  const origin = originOf(absolute, appearances);
  const position = origin.some((x) => x !== 0) ? absolute.map((x, i) => x - origin[i % 3]) : absolute;
  const angularVelocity = column("angular_velocity");
  const angularMomentum = column("angular_momentum");
  const torque = "torque" in run.columns ? column("torque") : null;
  const hasTorque = torque?.some((x) => x !== 0) ?? false;
  const rotates = angularVelocity.some((x) => x !== 0);
  const poinsotUnavailable = template.hasPivot
    ? template.poinsotUnavailable
    : !rotates
      ? "Nothing rotates."
      : hasTorque || !isConstant(angularMomentum, template.bodies)
        ? "A torque or an impulse acts: the angular momentum changes, so there is no invariable plane."
        : "";
  const forces = run.forces
    .map(({ name, array, point }) => ({ name, unit: "N", point, values: column(array) }))
    .filter(({ values }) => values.some((x) => x !== 0));
  const series = (name: string, unit: string, values: Float64Array): Series => ({ name, unit, values, columns: 1 });
  const all = run.energies.map((name) => series(name, "J", column(`energy_${name}`)));
  const isPart = ({ name }: Series): boolean => name === "translational" || name === "rotational";
  const energies = all.filter((one) => !isPart(one) || one.values.some((x) => x !== 0));
  // Where the direction of the forces is not known, what is conserved along or across it is not measured.
  const isUnknown = run.unfollowed.includes("optional directions") && !isFirst;
  const measured = run.findings.filter(({ kind }) => !(isUnknown && (kind === "across" || kind === "along")));
  const audited = measured.map((one) => measure(one.kind, one, run, time, column, extra("optional directions")));
  const pivotBody = extra("pivot_body");
  return {
    ...template,
    id: answer.id,
    time,
    times,
    origin,
    appearances,
    moments: extra("moments") ?? template.moments,
    axes: extra("axes") ?? template.axes,
    position,
    velocity: column("velocity"),
    quaternion: column("quaternion"),
    angularVelocity,
    angularMomentum,
    torque: hasTorque ? torque : null,
    forces,
    energies: energies.length > 0 ? energies : all,
    quantities: template.quantities.flatMap((one) => (`quantity_${one.name}` in run.columns ? [{ ...one, values: column(`quantity_${one.name}`) }] : [])),
    findings: audited.map(({ finding }) => finding),
    drifts: audited.filter(({ finding }) => finding.conserved).map(({ finding, history }) => series(finding.quantity, "1", history)),
    pivots: template.hasPivot ? pivotsOf(column("pivot_world"), origin, pivotBody, template) : [],
    isFree: poinsotUnavailable === "",
    poinsotUnavailable,
    stage: stageAt(template, run, numbers, isFirst),
  };
}

function pivotsOf(world: Float64Array, origin: Vec3, body: Float64Array | null, template: MotionRecord): MotionRecord["pivots"] {
  return template.pivots.map((pivot, i) => {
    const [x, y, z] = vectorAt(world, i);
    return { world: [x - origin[0], y - origin[1], z - origin[2]], body: body === null ? pivot.body : vectorAt(body, 0) };
  });
}

/** What is drawn, in proportion to lengths along the body's axes. */
function stretched(appearance: Appearance, extent: Float64Array | null, base: number[] | undefined): Appearance {
  if (extent === null || base === undefined) return appearance;
  const by = base.map((x, k) => extent[k] / x);
  if (by.every((x) => x === 1)) return appearance;
  const vertices = appearance.vertices.map((x, i) => x * by[i % 3]);
  let size = 0;
  for (let i = 0; i < vertices.length; i += 3) size = Math.max(size, Math.hypot(vertices[i], vertices[i + 1], vertices[i + 2]));
  return { ...appearance, vertices, size };
}

function originOf(position: Float64Array, appearances: Appearance[]): Vec3 {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < position.length; i++) {
    if (!Number.isFinite(position[i])) continue;
    low[i % 3] = Math.min(low[i % 3], position[i]);
    high[i % 3] = Math.max(high[i % 3], position[i]);
  }
  const middle = low.map((x, k) => (x + high[k]) / 2);
  const size = Math.max(...appearances.map((one) => one.size), ...low.map((x, k) => high[k] - x));
  return Math.max(...middle.map(Math.abs)) > FAR * size ? [middle[0], middle[1], middle[2]] : [0, 0, 0];
}

function isConstant(momentum: Float64Array, bodies: number): boolean {
  let size = 0;
  let change = 0;
  for (let i = 0; i < momentum.length; i += 3) size = Math.max(size, Math.hypot(momentum[i], momentum[i + 1], momentum[i + 2]));
  for (let i = 0; i < momentum.length; i++) change = Math.max(change, Math.abs(momentum[i] - momentum[i % (3 * bodies)]));
  return change <= FREE_TOLERANCE * size;
}

/** The stage with the numbers that belong to the knobs; without props, if those cannot be followed. */
function stageAt(template: MotionRecord, run: LiveRun, numbers: Float64Array, isFirst: boolean): MotionRecord["stage"] {
  const { stage } = template;
  if (isFirst) return stage;
  if (run.unfollowed.includes("optional stage")) return { ...stage, props: [] };
  if (!("optional stage" in run.extra)) return stage;
  let at = run.extra["optional stage"][0];
  const filled = (value: unknown): unknown => {
    if (typeof value === "number") return numbers[at++];
    if (Array.isArray(value)) return value.map(filled);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, filled(part)]));
  };
  return filled(stage) as MotionRecord["stage"];
}

/** The largest drift of a quantity from its value at the start, and the relative drift at each output. */
function measure(
  kind: FindingKind,
  said: LiveRun["findings"][number],
  run: LiveRun,
  time: Float64Array,
  column: (name: string) => Float64Array,
  direction: Float64Array | null,
): { finding: AuditFinding; history: Float64Array } {
  const { quantity, unit, conserved, reason } = said;
  const { values, width, sizes } = quantityOf(kind, time.length, column, [...(direction ?? run.direction)]);
  const drifts = new Float64Array(time.length);
  for (let i = 0; i < time.length; i++) {
    let sum = 0;
    for (let k = 0; k < width; k++) sum += (values[i * width + k] - values[k]) ** 2;
    drifts[i] = kind === "drift" ? values[i] : width === 1 ? Math.abs(values[i] - values[0]) : Math.sqrt(sum);
  }
  const largest = sizes.reduce((most, x) => (Math.abs(x) > most ? Math.abs(x) : most), 0);
  const history = drifts.map((x) => (kind === "drift" ? x : largest > 0 ? x / largest : 0));
  let at = 0;
  for (let i = 0; i < time.length; i++) if (drifts[i] > drifts[at]) at = i;
  const finding = { quantity, unit, conserved, drift: drifts[at], relative: history[at], time: time[at], reason };
  return { finding, history };
}

function quantityOf(
  kind: FindingKind,
  times: number,
  column: (name: string) => Float64Array,
  direction: number[],
): { values: Float64Array; width: number; sizes: Float64Array } {
  const kinetic = (): Float64Array => {
    const turning = column("energy_rotational");
    return column("energy_translational").map((x, i) => x + turning[i]);
  };
  if (kind === "kinetic" || kind === "energy" || kind === "work") {
    const moving = kinetic();
    if (kind === "kinetic") return { values: moving, width: 1, sizes: moving };
    if (kind === "energy") {
      const values = column("energy_total");
      return { values, width: 1, sizes: values.map((x, i) => Math.max(Math.abs(moving[i]), Math.abs(x - moving[i]))) };
    }
    const work = column("work");
    const values = work.map((x, i) => x - work[0] - (moving[i] - moving[0]));
    return { values, width: 1, sizes: work.map((x, i) => Math.max(Math.abs(moving[i]), Math.abs(x))) };
  }
  if (kind === "drift") {
    const each = column("attitude_drift");
    const bodies = each.length / times;
    const values = new Float64Array(times).map((_, i) => Math.max(...each.subarray(i * bodies, (i + 1) * bodies)));
    return { values, width: 1, sizes: values };
  }
  const isLinear = kind === "momentum" || kind === "across";
  const each = column(isLinear ? "linear_momentum" : "angular_momentum");
  if (kind === "origin") addOrbital(each, column("position"), column("linear_momentum"));
  const bodies = each.length / times / 3;
  const values = new Float64Array(3 * times);
  const sizes = new Float64Array(times);
  for (let i = 0; i < times; i++)
    for (let b = 0; b < bodies; b++) {
      const [x, y, z] = vectorAt(each, i * bodies + b);
      values[3 * i] += x;
      values[3 * i + 1] += y;
      values[3 * i + 2] += z;
      sizes[i] += Math.sqrt(x * x + y * y + z * z);
    }
  if (kind !== "across" && kind !== "along") return { values, width: 3, sizes };
  const [u, v, w] = direction;
  const along = sizes.map((_, i) => values[3 * i] * u + values[3 * i + 1] * v + values[3 * i + 2] * w);
  if (kind === "along") return { values: along, width: 1, sizes };
  return { values: values.map((x, i) => x - along[Math.floor(i / 3)] * direction[i % 3]), width: 3, sizes };
}

/** Add x × P to each L. */
function addOrbital(spin: Float64Array, position: Float64Array, momentum: Float64Array): void {
  for (let i = 0; i < spin.length; i += 3) {
    const [x, y, z] = vectorAt(position, i / 3);
    const [a, b, c] = vectorAt(momentum, i / 3);
    spin[i] += y * c - z * b;
    spin[i + 1] += z * a - x * c;
    spin[i + 2] += x * b - y * a;
  }
}
