// A motion as the server or the file brings it: a header in JSON, then arrays.  src/polhode/web/record_encoding.py writes it.

import type { Quat, Vec3 } from "./vectors.ts";

/** What is drawn for a body. */
export interface Look {
  kind: "mesh" | "shape" | "ellipsoid" | "inertia ellipsoid" | "particle";
  /** What is drawn, in words; shown on the page. */
  sentence: string;
  /** About the centre of mass, along body axes, in m; of a particle a ball of radius 1, to be scaled. */
  vertices: Float64Array;
  faces: Uint32Array;
  /** How far it reaches from the centre of mass, in m; 0 for a particle. */
  size: number;
  /** Principal axes to body axes, of the first body that has this look. */
  axes: Quat;
}

/** Where a body is, how fast, and how it is turned, at each output: (times, bodies, 3 or 4). */
export interface Track {
  /** From `origin`, in m. */
  position: Float64Array;
  /** m/s */
  velocity: Float64Array;
  /** w, x, y, z, body to world; NaN where a member has failed. */
  quaternion: Float64Array;
  /** World axes, rad/s. */
  angularVelocity: Float64Array;
}

/** A point of the body that is held still: where it is, from `origin`, and in the body. */
export interface Held {
  world: Vec3;
  body: Vec3;
}

export interface Series {
  name: string;
  unit: string;
  /** (times, columns): one column for each body or member, or one for all. */
  values: Float64Array;
  columns: number;
}

export interface Vectors {
  name: string;
  unit: string;
  /** The point of the body at which it acts, from the centre of mass, along body axes; null for the centre itself. */
  point: Vec3 | null;
  /** (times, bodies, 3) */
  values: Float64Array;
}

export interface Finding {
  quantity: string;
  unit: string;
  conserved: boolean;
  departure: number;
  relative: number;
  time: number;
  reason: string;
}

export interface Crossing {
  name: string;
  time: number;
  body: number;
}

/** What the header says.  Arrays are named there and unpacked into MotionRecord. */
export interface Meta {
  /** Which question this answers; 0 if none was asked. */
  id: number;
  /** Of the model, the scenario or the file. */
  name: string;
  title: string;
  /** "body" of a system, "member" of an ensemble, or null for one body. */
  axis: "body" | "member" | null;
  /** Of a model that runs several scenarios: their names, and which of them this is. */
  runs: string[];
  run: string;
  /** Positions are measured from here, in m. */
  origin: Vec3;
  /** Whether a pivot holds the bodies. */
  isHeld: boolean;
  /** Forces that acted but are not known: a file could not hold them. */
  unknownForces: string[];
  /** There are too many bodies to send the forces of each. */
  isCrowd: boolean;
  /** Numbers of the bodies or members that are here, out of `countOf`. */
  members: number[];
  countOf: number;
  timesOf: number;
  method: string;
  /** How it was computed, in a sentence. */
  computed: string;
  /** Sentences about what was left out or stands for something else: thinned, rounded, members that failed. */
  notes: string[];
  findings: Finding[];
  crossings: Crossing[];
  /** Whether nothing turns the bodies (L stays): only then do Poinsot's plane and herpolhode mean something. */
  isFree: boolean;
  /** Why there is no Poinsot construction, or no ghost; "" if there is. */
  whyNoPoinsot: string;
  whyNoGhost: string;
}

export interface MotionRecord extends Meta, Track {
  /** Output times, in s. */
  time: Float64Array;
  times: number;
  bodies: number;
  looks: Look[];
  /** Which look each body has. */
  lookOf: Uint32Array;
  /** Of each body: principal moments in kg m2 (0, 0, 0 for a particle), and principal axes to body axes. */
  moments: Float64Array;
  axes: Float64Array;
  /** Of each body, or empty where none is held. */
  pivots: Held[];
  /** (times, bodies, 3), about the centre of mass (about the pivot, if one holds it), world axes, kg m2/s. */
  angularMomentum: Float64Array;
  /** (times, bodies, 3): the whole torque about the centre of mass (about the pivot, if one holds it), N m; or null. */
  torque: Float64Array | null;
  /** Each force by itself, the pivot's reaction too; empty where there is none or there are too many bodies. */
  forces: Vectors[];
  energies: Series[];
  /** What should stay, and by how much it did not, relative to its size: one column each. */
  departures: Series[];
  /** The closed form at the same times; null if there is none. */
  ghost: (Track & { sentence: string }) | null;
}

interface Entry {
  type: "float32" | "float64" | "uint32";
  shape: number[];
  offset: number;
  /** What 32-bit numbers are multiplied with. */
  scale: number;
}

/** Layout: length of the header (uint32, little-endian), the header, padding to 8 bytes, then the arrays. */
export function unpacked(buffer: ArrayBuffer): MotionRecord {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as {
    meta: Record<string, unknown>;
    arrays: Record<string, Entry>;
  };
  const start = Math.ceil((4 + length) / 8) * 8;

  function whole(name: string): Uint32Array {
    const entry = header.arrays[name];
    return new Uint32Array(buffer, start + entry.offset, count(entry));
  }
  function real(name: string): Float64Array {
    const entry = header.arrays[name];
    if (entry.type === "float64") return new Float64Array(buffer, start + entry.offset, count(entry));
    return Float64Array.from(new Float32Array(buffer, start + entry.offset, count(entry)), (x) => x * entry.scale);
  }
  const columns = (name: string): number => header.arrays[name].shape[1] ?? 1;
  const meta = header.meta as unknown as Meta & {
    looks: (Omit<Look, "vertices" | "faces"> & { vertices: string; faces: string })[];
    forces: { name: string; unit: string; point: Vec3 | null; array: string }[];
    energies: { name: string; unit: string; array: string }[];
    departures: { name: string; unit: string; array: string }[];
    ghost: { sentence: string } | null;
  };
  const series = (one: { name: string; unit: string; array: string }): Series => ({
    name: one.name,
    unit: one.unit,
    values: real(one.array),
    columns: columns(one.array),
  });
  const track = (which: "" | "ghost_"): Track => ({
    position: real(`${which}position`),
    velocity: real(`${which}velocity`),
    quaternion: real(`${which}quaternion`),
    angularVelocity: real(`${which}angular_velocity`),
  });
  const time = real("time");
  return {
    ...meta,
    // JSON knows no NaN or infinity: the header has null for them.
    findings: meta.findings.map((one) => ({ ...one, departure: one.departure ?? NaN, relative: one.relative ?? NaN })),
    time,
    times: time.length,
    bodies: header.arrays["position"].shape[1],
    looks: meta.looks.map((look) => ({ ...look, vertices: real(look.vertices), faces: whole(look.faces) })),
    lookOf: whole("look_of"),
    moments: real("moments"),
    axes: real("axes"),
    pivots: meta.isHeld ? held(real("pivot_world"), real("pivot_body")) : [],
    ...track(""),
    angularMomentum: real("angular_momentum"),
    torque: "torque" in header.arrays ? real("torque") : null,
    forces: meta.forces.map(({ name, unit, point, array }) => ({ name, unit, point, values: real(array) })),
    energies: meta.energies.map(series),
    departures: meta.departures.map(series),
    ghost: meta.ghost && { ...track("ghost_"), sentence: meta.ghost.sentence },
  };
}

const count = (entry: Entry): number => entry.shape.reduce((a, b) => a * b, 1);

const held = (world: Float64Array, body: Float64Array): Held[] =>
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
