// Every quantity of a record that can be plotted, by its id: "position_x", "angular_velocity_body_2", "theta_rate".

import { unitText } from "../controls/format.ts";
import type { MotionRecord } from "../motion/record.ts";
import table from "./quantities.json";
import { anglesOverTime, angleAboutVertical, EULER, YAW_PITCH_ROLL, type Convention } from "./euler-angles.ts";

export interface Quantity {
  id: string;
  /** "ω" and its index, "1". */
  name: string;
  index: string;
  /** For screen readers: "omega 1". */
  spoken: string;
  /** In lists: "ω 1". */
  label: string;
  /** A key of Colors. */
  color: string;
}

/** The curves of the quantities of a family. */
export interface Columns {
  values: Float64Array[];
  /** Outputs after which no line is drawn to the next one, for each quantity. */
  breaks?: (ReadonlySet<number> | undefined)[];
}

/** Quantities that are computed together. */
export interface Family {
  heading: string;
  unit: string;
  /** Whether the unit may be degrees, or degrees per second. */
  isAngle: boolean;
  quantities: Quantity[];
  /** The arrays of the record that they are computed from. */
  sources: Float64Array[];
  /** Whether each body or member has its own. */
  isPerBody: boolean;
  columns(body: number): Columns;
}

/** A row of Polhode's table of quantities: quantities.json, written from src/polhode/quantities/table.py. */
export interface Row {
  heading: string;
  unit: string;
  symbol: string;
  components: { id: string; index: string }[];
}
const ROWS: Record<string, Row> = table.quantities;
/** What a screen reader says for a symbol. */
const SPOKEN: Record<string, string> = { ω: "omega", α: "alpha", τ: "torque" };
const AXES = ["axis1", "axis2", "axis3"];
/** For quantities without a color of their own; all have a counterpart in the dark theme. */
export const FALLBACK_COLORS = ["axis3", "axis1", "axis2", "omega", "L", "torque", "path", "muted"];
const ENERGIES = new Set(["translational", "rotational", "kinetic", "potential", "total"]);

/** All families of a record, by name. */
export function familiesOf(record: MotionRecord): Map<string, Family> {
  let found = families.get(record);
  if (found === undefined) families.set(record, (found = makeFamilies(record)));
  return found;
}
const families = new WeakMap<MotionRecord, Map<string, Family>>();

/** The family of a quantity, and its place there; null if the record has no such quantity. */
export function findQuantity(record: MotionRecord, id: string): { family: Family; place: number } | null {
  for (const family of familiesOf(record).values()) {
    const place = family.quantities.findIndex((one) => one.id === id);
    if (place >= 0) return { family, place };
  }
  return null;
}

function makeFamilies(record: MotionRecord): Map<string, Family> {
  const { time, times, position, velocity, quaternion, angularVelocity, angularMomentum, torque } = record;
  const found = new Map<string, Family>();
  const add: Add = (name, heading, unit, quantities, sources, columns, isPerBody = true) => {
    found.set(name, { heading, unit, isAngle: unit.startsWith("rad"), quantities, sources, isPerBody, columns: remembered(columns) });
  };
  const vector = (name: string, values: Float64Array, inBody = false, row = ROWS[name]): void => {
    const sources = inBody ? [values, quaternion] : [values];
    add(name, row.heading, row.unit, quantitiesOf(row, AXES), sources, (body) => ({ values: components(record, values, body, inBody) }));
  };
  const size = (id: string, values: Float64Array, color: string, row = ROWS[id]): void => {
    const of = [{ id, name: row.symbol, index: "", spoken: row.heading.toLowerCase(), label: row.heading, color }];
    add(id, row.heading, row.unit, of, [values], (body) => ({ values: [lengths(record, values, body)] }));
  };
  const series = (name: string, heading: string, list: MotionRecord["energies"], idOf: (name: string) => string): void => {
    if (list.length === 0) return;
    const of = list.map((one, i) => ({
      ...{ id: idOf(one.name), name: one.name, index: "", spoken: one.name, label: `${heading}: ${one.name}` },
      color: name === "energy" && ENERGIES.has(one.name) ? one.name : FALLBACK_COLORS[i % FALLBACK_COLORS.length],
    }));
    const column = (one: MotionRecord["energies"][number], body: number): Float64Array =>
      Float64Array.from({ length: times }, (_, n) => one.values[n * one.columns + (one.columns > 1 ? body : 0)]);
    const columns = (body: number): Columns => ({ values: list.map((one) => column(one, body)) });
    add(name, heading, unitText(list[0].unit), of, list.map((one) => one.values), columns, list.some((one) => one.columns > 1));
  };
  vector("angular_velocity_body", angularVelocity, true);
  vector("angular_velocity", angularVelocity);
  size("angular_speed", angularVelocity, "omega");
  attitude(record, add);
  const q = ROWS["quaternion_wxyz"];
  add("quaternion", q.heading, q.unit, quantitiesOf(q, ["omega", ...AXES]), [quaternion], (body) => ({
    values: continuousQuaternion(record, body),
  }));
  vector("position", position);
  vector("velocity", velocity);
  size("speed", velocity, "translational");
  const about = record.hasPivot ? " about the pivot" : "";
  const momentum = { ...ROWS["angular_momentum"], heading: `Angular momentum${about}` };
  vector("angular_momentum", angularMomentum, false, momentum);
  vector("angular_momentum_body", angularMomentum, true, inBodyAxes("angular_momentum_body", momentum));
  size("angular_momentum_size", angularMomentum, "L", { ...momentum, heading: `Size of the angular momentum${about}`, symbol: "|L|" });
  if (torque !== null) vector("torque", torque, false, { heading: `Torque${about}`, unit: "N m", symbol: "τ", components: componentsOf("torque", "xyz") });
  if (record.forces.length > 0) {
    const forces = record.forces.map(({ name }, i) => ({
      ...{ id: `force_${name}`, name: name.replaceAll("_", " "), index: "", spoken: name.replaceAll("_", " ") },
      ...{ label: `Force: ${name.replaceAll("_", " ")}`, color: FALLBACK_COLORS[i % FALLBACK_COLORS.length] },
    }));
    add("forces", "Forces, magnitude", "N", forces, record.forces.map((one) => one.values), (body) => ({
      values: record.forces.map((one) => lengths(record, one.values, body)),
    }));
  }
  for (const one of record.quantities)
    add(one.name, one.heading, one.unit, quantitiesOf(one, one.components.length === 3 ? AXES : FALLBACK_COLORS), [one.values], (body) => ({ values: sentColumns(record, one, body) }), one.isPerBody);
  // As the columns of motion.to_dataframe() are called.
  series("energy", "Energy", record.energies, (one) => (one === "total" ? "energy" : `${one}_energy`));
  series("drift", "Relative drift", record.drifts, (one) => `drift_${one.replaceAll(" ", "_")}`);
  add("time", "Time", "s", [{ id: "time", name: "t", index: "", spoken: "time", label: "Time", color: "muted" }], [time], () => ({
    values: [time],
  }), false);
  return found;

  /** Keeps the curves of the bodies that are drawn; quantiles need those of all members, but only once. */
  function remembered(columns: Family["columns"]): Family["columns"] {
    const known = new Map<number, Columns>();
    return (body) => {
      const one = known.get(body) ?? columns(body);
      if (known.size < MAX_KNOWN) known.set(body, one);
      return one;
    };
  }
}

const componentsOf = (name: string, ends: Iterable<string>): Row["components"] => Array.from(ends, (index) => ({ id: `${name}_${index}`, index }));
const inBodyAxes = (name: string, row: Row): Row => ({ ...row, heading: `${row.heading}, body axes`, components: componentsOf(name, "123") });

/** The curves of a row of the table. */
function quantitiesOf({ heading, symbol, components }: Row, colors: readonly string[]): Quantity[] {
  const spoken = SPOKEN[symbol] ?? symbol;
  return components.map(({ id, index }, i) => ({
    ...{ id, index, name: symbol || (index === "" ? heading : ""), spoken: `${spoken} ${index}`.trim() || heading.toLowerCase() },
    ...{ label: `${symbol || heading} ${index}`.trim(), color: colors[i % colors.length] },
  }));
}

/** The components of a quantity that the record holds as it is. */
function sentColumns({ times, bodies }: MotionRecord, one: MotionRecord["quantities"][number], body: number): Float64Array[] {
  const count = one.components.length;
  const [rows, mine] = one.isPerBody ? [bodies, body] : [1, 0];
  return one.components.map((_, k) => Float64Array.from({ length: times }, (_, n) => one.values[(n * rows + mine) * count + k]));
}

/** As many as the members that are drawn as curves. */
const MAX_KNOWN = 64;

type Add = (
  name: string,
  heading: string,
  unit: string,
  quantities: Quantity[],
  sources: Float64Array[],
  columns: Family["columns"],
  isPerBody?: boolean,
) => void;

/** Angles and their rates. */
function attitude(record: MotionRecord, add: Add): void {
  const sources = [record.quaternion, record.angularVelocity];
  const plain = (id: string, name: string, color: string, words = id): Quantity => ({ id, name, index: "", spoken: words, label: name, color });
  const pair = (name: string, heading: string, convention: Convention, quantities: Quantity[]): void => {
    const rates = quantities.map((one) => ({
      ...one,
      ...{ id: `${one.id}_rate`, name: `d${one.name}/dt`, label: `Rate of ${one.name}`, spoken: `rate of ${one.spoken}` },
    }));
    add(name, heading, "rad", quantities, sources, (body) => {
      const { angles, breaks } = anglesOverTime(record, body, convention);
      return { values: angles, breaks: [breaks, undefined, breaks] };
    });
    add(`${name}_rates`, `Rates of ${heading}`, "rad/s", rates, sources, (body) => ({ values: anglesOverTime(record, body, convention).rates }));
  };
  // As in Polhode's figures of tops.
  pair("euler_angles", "Euler angles", EULER, [plain("phi", "φ", "axis3"), plain("theta", "θ", "axis1"), plain("psi", "ψ", "axis2")]);
  pair("yaw_pitch_roll", "Yaw, pitch and roll", YAW_PITCH_ROLL, [
    plain("yaw", "yaw", "axis3"),
    plain("pitch", "pitch", "axis1"),
    plain("roll", "roll", "axis2"),
  ]);
  add("angle_about_vertical", "φ + ψ", "rad", [plain("phi_psi", "φ + ψ", "axis3", "phi plus psi")], sources, (body) => ({
    values: [angleAboutVertical(record, body)],
  }));
}

/** The three components of one body, without allocations in the loop: ensembles have hundreds of thousands of rows. */
function components({ times, bodies, quaternion }: MotionRecord, values: Float64Array, body: number, inBody: boolean): Float64Array[] {
  const [first, second, third] = [0, 1, 2].map(() => new Float64Array(times));
  for (let n = 0; n < times; n++) {
    const row = n * bodies + body;
    let [x, y, z] = [values[3 * row], values[3 * row + 1], values[3 * row + 2]];
    if (inBody) {
      // q* r q, with u = -(x, y, z) of q: r + 2 w (u x r) + 2 u x (u x r)
      const [w, ux, uy, uz] = [quaternion[4 * row], -quaternion[4 * row + 1], -quaternion[4 * row + 2], -quaternion[4 * row + 3]];
      const [tx, ty, tz] = [2 * (uy * z - uz * y), 2 * (uz * x - ux * z), 2 * (ux * y - uy * x)];
      [x, y, z] = [x + w * tx + (uy * tz - uz * ty), y + w * ty + (uz * tx - ux * tz), z + w * tz + (ux * ty - uy * tx)];
    }
    first[n] = x;
    second[n] = y;
    third[n] = z;
  }
  return [first, second, third];
}

const lengths = ({ times, bodies }: MotionRecord, values: Float64Array, body: number): Float64Array =>
  Float64Array.from({ length: times }, (_, n) => {
    const at = 3 * (n * bodies + body);
    return Math.hypot(values[at], values[at + 1], values[at + 2]);
  });

/** q and -q are the same attitude: the sign is that nearest to the previous output, so that the curves do not jump. */
function continuousQuaternion({ times, bodies, quaternion }: MotionRecord, body: number): Float64Array[] {
  const found = [0, 1, 2, 3].map(() => new Float64Array(times));
  const [w, x, y, z] = found;
  let last = -1;
  for (let n = 0; n < times; n++) {
    const row = 4 * (n * bodies + body);
    const [a, b, c, d] = [quaternion[row], quaternion[row + 1], quaternion[row + 2], quaternion[row + 3]];
    const sign = last >= 0 && w[last] * a + x[last] * b + y[last] * c + z[last] * d < 0 ? -1 : 1;
    w[n] = sign * a;
    x[n] = sign * b;
    y[n] = sign * c;
    z[n] = sign * d;
    if (Number.isFinite(a)) last = n;
  }
  return found;
}
