// Motions with closed forms, for tests, and records made of them.

import { decodeRecord, type MotionRecord } from "../src/motion/record.ts";
import { fromRotationVector, product, toWorld, type Quat, type Vec3 } from "../src/motion/vectors.ts";

export interface Known {
  quaternion(t: number): Quat;
  /** World axes. */
  angularVelocity(t: number): Vec3;
}

/** A tilted symmetric top: its axis precesses about z while it spins. */
export function symmetricTop(tilt: number, precession: number, spin: number): Known {
  const tilted = fromRotationVector([tilt, 0, 0]);
  const about = (angle: number): Quat => fromRotationVector([0, 0, angle]);
  const quaternion = (t: number): Quat => product(product(about(precession * t), tilted), about(spin * t));
  return {
    quaternion,
    angularVelocity(t: number): Vec3 {
      const axis = toWorld(quaternion(t), [0, 0, 1]);
      return [spin * axis[0], spin * axis[1], spin * axis[2] + precession];
    },
  };
}

/** Angle between two attitudes, in rad. */
export function angleBetween(p: Quat, q: Quat): number {
  const [w, ...v] = product([p[0], -p[1], -p[2], -p[3]], q);
  return 2 * Math.atan2(Math.hypot(...v), Math.abs(w));
}

/** A record of one body at these times, encoded as record_encoding.py does and decoded. */
export function recordOf(time: number[], known: Known, more: Partial<MotionRecord> = {}): MotionRecord {
  const arrays: Record<string, number[][]> = {
    position: time.map((t) => [t, 2 * t, -t]),
    velocity: time.map(() => [1, 2, -1]),
    quaternion: time.map((t) => known.quaternion(t)),
    angular_velocity: time.map((t) => known.angularVelocity(t)),
    angular_momentum: time.map(() => [0, 0, 1]),
  };
  const entries: Record<string, unknown> = {};
  const numbers: number[] = [];
  const addArray = (name: string, shape: number[], values: number[], type = "float64"): void => {
    entries[name] = { type, shape, offset: 8 * numbers.length, scale: 1 };
    numbers.push(...values);
  };
  addArray("time", [time.length], time);
  for (const [name, rows] of Object.entries(arrays)) addArray(name, [time.length, 1, rows[0].length], rows.flat());
  addArray("moments", [1, 3], [1, 1, 1]);
  addArray("axes", [1, 4], [1, 0, 0, 0]);
  addArray("appearance_index", [1], [0], "uint32");
  const meta = {
    ...{ id: 0, name: "", title: "", axis: null, runs: [], run: "", origin: [0, 0, 0], members: [0] },
    ...{ hasPivot: false, unknownForces: [] },
    ...{ computed: "", notes: [], findings: [], events: [] },
    ...{ isFree: true, poinsotUnavailable: "", closedFormUnavailable: "", appearances: [], forces: [], energies: [], drifts: [], hasClosedForm: false },
  };
  return { ...decodeRecord(encode({ meta, arrays: entries }, numbers)), ...more };
}

function encode(header: unknown, numbers: number[]): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(start + 8 * numbers.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(new Uint8Array(Float64Array.from(numbers).buffer), start);
  return bytes.buffer;
}
