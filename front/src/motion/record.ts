// A motion as sent by the server or stored in a file: a JSON header followed by arrays, written by
// src/polhode/web/record_encoding.py.

import type { Row } from "../plots/quantities.ts";
import { EMPTY_STAGE, type Stage } from "../view/stage.ts";
import type { Quat, Vec3 } from "./vectors.ts";

/** What is drawn for a body. */
export interface Appearance {
  kind: "mesh" | "shape" | "ellipsoid" | "inertia ellipsoid" | "likeness" | "particle";
  /** Description of what is drawn, shown on the page. */
  sentence: string;
  /** Relative to the center of mass, body axes, in m; for a particle a ball of radius 1, to be scaled. */
  vertices: Float64Array;
  faces: Uint32Array;
  /** Largest distance from the center of mass, in m; 0 for a particle. */
  size: number;
  /** Principal axes to body axes, of the first body with this appearance. */
  axes: Quat;
}

/** State of each body at each output: arrays of shape (times, bodies, 3 or 4). */
export interface StateArrays {
  /** Relative to `origin`, in m. */
  position: Float64Array;
  /** m/s */
  velocity: Float64Array;
  /** w, x, y, z, body to world; NaN after a member has failed. */
  quaternion: Float64Array;
  /** World axes, rad/s. */
  angularVelocity: Float64Array;
}

/** The fixed point of a body: relative to `origin`, and in the body. */
export interface PivotPoint {
  world: Vec3;
  body: Vec3;
}

export interface Series {
  name: string;
  unit: string;
  /** (times, columns): one column per body or member, or a single one for all. */
  values: Float64Array;
  columns: number;
}

/** A quantity that is sent as it is: a row of Polhode's table, or one of the user's own. */
export interface SentQuantity extends Row {
  name: string;
  /** (times, bodies, components), or (times, components) if it belongs to all bodies together. */
  values: Float64Array;
  isPerBody: boolean;
}

export interface Vectors {
  name: string;
  unit: string;
  /** Point of application relative to the center of mass, body axes; null for the center of mass itself. */
  point: Vec3 | null;
  /** (times, bodies, 3) */
  values: Float64Array;
}

export interface AuditFinding {
  quantity: string;
  unit: string;
  conserved: boolean;
  drift: number;
  relative: number;
  time: number;
  reason: string;
}

export interface EventMarker {
  name: string;
  time: number;
  /** Index in the record. */
  body: number;
}

/** A part of a floor, wall or slope: a convex polygon, and pairs of points, the ends of the lines of its grid. */
export interface ContactPatch {
  name: string;
  /** Relative to `origin`, in m. */
  corners: Vec3[];
  lines: Vec3[];
  /** Side of a square of the grid, in m. */
  cell: number;
}

/** Points of contact at impacts, in order of time. */
export interface Impacts {
  time: Float64Array;
  /** Index of the body or member in the record. */
  body: Uint32Array;
  /** (points, 3), relative to `origin`, in m. */
  point: Float64Array;
  /** (points, 3), on the body, in N s. */
  impulse: Float64Array;
}

/** The header.  It names the arrays, which are decoded into MotionRecord. */
export interface Meta {
  /** Id of the request that this answers; 0 if there was none. */
  id: number;
  /** Name of the model, the scenario or the file. */
  name: string;
  title: string;
  /** "body" of a system, "member" of an ensemble, or null for one body. */
  axis: "body" | "member" | null;
  /** For a model with several scenarios: their names, and the name of this one. */
  runs: string[];
  run: string;
  /** Positions are relative to this point, in m. */
  origin: Vec3;
  /** Whether the bodies are attached to a pivot. */
  hasPivot: boolean;
  /** Forces that acted but are unknown, because a file cannot store them. */
  unknownForces: string[];
  /** Whether there are too many bodies to send the forces on each. */
  forcesOmitted: boolean;
  /** Indices of the bodies or members in this record. */
  members: number[];
  /** How the motion was computed, as a sentence. */
  computed: string;
  /** Sentences about what was omitted or simplified: downsampling, rounding, members that failed. */
  notes: string[];
  findings: AuditFinding[];
  events: EventMarker[];
  /** Whether no torque acts (L is constant), as Poinsot's construction requires. */
  isFree: boolean;
  /** Why Poinsot's construction, or the closed form, is unavailable; "" if it is available. */
  poinsotUnavailable: string;
  closedFormUnavailable: string;
  /** Names of floors, walls, slopes, and of the contact between bodies. */
  contacts: string[];
  patches: ContactPatch[];
  /** Of a swept parameter: its name, its unit, and its value for each member in this record. */
  colors?: { knob: string; unit: string; values: number[] };
  /** How it is shown at first. */
  stage: Stage;
}

export interface MotionRecord extends Meta, StateArrays {
  /** Output times, in s. */
  time: Float64Array;
  times: number;
  bodies: number;
  appearances: Appearance[];
  /** Index of each body's appearance. */
  appearanceIndex: Uint32Array;
  /** Per body: principal moments in kg m2 (0, 0, 0 for a particle), and principal axes to body axes. */
  moments: Float64Array;
  axes: Float64Array;
  /** One per body, or empty if there is no pivot. */
  pivots: PivotPoint[];
  /** (times, bodies, 3), about the pivot if there is one, otherwise the center of mass, world axes, kg m2/s. */
  angularMomentum: Float64Array;
  /** (times, bodies, 3): total torque about the same point, N m; or null. */
  torque: Float64Array | null;
  /** Each force separately, the pivot's reaction included; empty if there are none, or too many bodies. */
  forces: Vectors[];
  energies: Series[];
  /** What the plots have besides what they compute from the above. */
  quantities: SentQuantity[];
  /** Relative drift of each conserved quantity: one column each. */
  drifts: Series[];
  /** Null if there were none. */
  impacts: Impacts | null;
  /** The closed form at the same times, or null. */
  closedForm: StateArrays | null;
}

interface Entry {
  type: "float32" | "float64" | "uint32";
  shape: number[];
  offset: number;
  /** Factor of 32-bit numbers. */
  scale: number;
}

/** Layout: length of the header (uint32, little-endian), the header, padding to 8 bytes, then the arrays. */
export function decodeRecord(buffer: ArrayBuffer): MotionRecord {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as {
    meta: Record<string, unknown>;
    arrays: Record<string, Entry>;
  };
  const start = Math.ceil((4 + length) / 8) * 8;

  function integers(name: string): Uint32Array {
    const entry = header.arrays[name];
    return new Uint32Array(buffer, start + entry.offset, count(entry));
  }
  function reals(name: string): Float64Array {
    const entry = header.arrays[name];
    if (entry.type === "float64") return new Float64Array(buffer, start + entry.offset, count(entry));
    // Many times faster than `from` with a function.
    const values = new Float64Array(new Float32Array(buffer, start + entry.offset, count(entry)));
    for (let i = 0; i < values.length; i++) values[i] *= entry.scale;
    SINGLE.add(values);
    return values;
  }
  const columns = (name: string): number => header.arrays[name].shape[1] ?? 1;
  const meta = header.meta as unknown as Meta & {
    appearances: (Omit<Appearance, "vertices" | "faces"> & { vertices: string; faces: string })[];
    forces: { name: string; unit: string; point: Vec3 | null; array: string }[];
    energies: { name: string; unit: string; array: string }[];
    quantities?: (Omit<SentQuantity, "values"> & { array: string })[];
    drifts: { name: string; unit: string; array: string }[];
    hasClosedForm: boolean;
    hasImpacts: boolean;
  };
  const series = (one: { name: string; unit: string; array: string }): Series => ({
    name: one.name,
    unit: one.unit,
    values: reals(one.array),
    columns: columns(one.array),
  });
  const states = (which: "" | "closed_form_"): StateArrays => ({
    position: reals(`${which}position`),
    velocity: reals(`${which}velocity`),
    quaternion: reals(`${which}quaternion`),
    angularVelocity: reals(`${which}angular_velocity`),
  });
  const time = reals("time");
  return {
    ...meta,
    stage: meta.stage ?? EMPTY_STAGE,
    // JSON has neither NaN nor infinity: the header contains null instead.
    findings: meta.findings.map((one) => ({ ...one, drift: one.drift ?? NaN, relative: one.relative ?? NaN })),
    time,
    times: time.length,
    bodies: header.arrays["position"].shape[1],
    appearances: meta.appearances.map((appearance) => ({ ...appearance, vertices: reals(appearance.vertices), faces: integers(appearance.faces) })),
    appearanceIndex: integers("appearance_index"),
    moments: reals("moments"),
    axes: reals("axes"),
    pivots: meta.hasPivot ? pivotPoints(reals("pivot_world"), reals("pivot_body")) : [],
    ...states(""),
    angularMomentum: reals("angular_momentum"),
    torque: "torque" in header.arrays ? reals("torque") : null,
    forces: meta.forces.map(({ name, unit, point, array }) => ({ name, unit, point, values: reals(array) })),
    energies: meta.energies.map(series),
    quantities: (meta.quantities ?? []).map(({ array, ...row }) => ({ ...row, values: reals(array) })),
    drifts: meta.drifts.map(series),
    impacts: meta.hasImpacts
      ? { time: reals("impact_time"), body: integers("impact_body"), point: reals("impact_point"), impulse: reals("impact_impulse") }
      : null,
    closedForm: meta.hasClosedForm ? states("closed_form_") : null,
  };
}

const SINGLE = new WeakSet<Float64Array>();

/** Whether an array of a record was stored in 32 bits. */
export const isSinglePrecision = (values: Float64Array): boolean => SINGLE.has(values);

const count = (entry: Entry): number => entry.shape.reduce((a, b) => a * b, 1);

const pivotPoints = (world: Float64Array, body: Float64Array): PivotPoint[] =>
  Array.from({ length: world.length / 3 }, (_, i) => ({ world: vectorAt(world, i), body: vectorAt(body, i) }));

export const vectorAt = (values: Float64Array, row: number): Vec3 => [
  values[3 * row],
  values[3 * row + 1],
  values[3 * row + 2],
];
export const quaternionAt = (values: Float64Array, row: number): Quat => [
  values[4 * row],
  values[4 * row + 1],
  values[4 * row + 2],
  values[4 * row + 3],
];
