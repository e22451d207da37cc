// How a motion is shown at first, as data of its record; src/polhode/web/stage.py and props.py write it.

import type { Quat, Vec3 } from "../motion/vectors.ts";
import type { Switch } from "../options.ts";

/** What all props have.  Lengths in m, in the axes of what it is attached to. */
export interface PropBase {
  label: string;
  /** The world; the body, relative to its center of mass; or the third frame, relative to its origin. */
  attached: "world" | "body" | "frame";
  /** The body of a system to which it is attached; null for the one watched. */
  body: number | null;
  /** One of Colors; "" for that of its kind. */
  color: string;
  /** Shown between these times, in s. */
  since: number | null;
  until: number | null;
}

/** The props by kind. */
export interface PropKinds {
  rod: { start: Vec3; end: Vec3; radius: number; endRadius: number | null };
  ball: { center: Vec3; radius: number };
  box: { sides: Vec3; center: Vec3; quaternion: Quat };
  polygon: { points: Vec3[]; faded: boolean };
  path: { points: Vec3[]; dashed: boolean };
  arrow: { start: Vec3; vector: Vec3 };
  text: { at: Vec3 };
  platform: { radius: number; center: Vec3; normal: Vec3; rate: number; thickness: number; spokes: number };
  globe: { radius: number; center: Vec3; axis: Vec3; rate: number };
  vertical: { center: Vec3 };
  target: { direction: Vec3 };
  axis: { direction: Vec3; through: Vec3 | null; length: number | null };
  axle: { start: Vec3; end: Vec3; radius: number };
  stand: { pivot: Vec3; height: number; radius: number };
  shaft: { point: Vec3; direction: Vec3; length: number; radius: number; bearings: boolean };
  bonds: { points: Vec3[]; pairs: [number, number][]; radius: number; radii: number[]; colors: string[] };
  cloud: { points: Vec3[]; times: number[]; pixels: number };
  cones: { axis: Vec3 };
}

export type PropKind = keyof PropKinds;
export type PropData<K extends PropKind = PropKind> = { [P in K]: PropBase & { kind: P } & PropKinds[P] }[K];

export interface StageCamera {
  azimuthDeg: number;
  elevationDeg: number;
  zoom: number;
  /** "body" to follow it, a point of the space view in m, or null for the middle of the motion. */
  target: "body" | Vec3 | null;
  /** Half the width of the space view, in m, or null. */
  radius: number | null;
  /** What is upward in the space view. */
  up: Vec3;
}

/** A uniformly rotating frame, along the world's axes at t = 0. */
export interface ThirdFrame {
  name: string;
  angularVelocity: Vec3;
  origin: Vec3;
  first: boolean;
}

export interface Grab {
  what: "attitude" | "angular_velocity" | "force";
  knob: string;
  component: number | "tilt";
  force: string;
  scale: number;
}

export interface Stage {
  camera: StageCamera | null;
  switches: Switch[];
  off: Switch[];
  panels: string[];
  props: PropData[];
  /** Whether there is a floor, or its height in m; null to decide by the motion. */
  floor: boolean | number | null;
  frame: ThirdFrame | null;
  grabs: Grab[];
  shows: string;
  /** The point of the body whose path can be drawn, in m from the center of mass; null for the farthest. */
  point: Vec3 | null;
  /** Whether the body is transparent. */
  seeThrough: boolean;
  still: string;
}

/** Whether two motions begin alike: what the user has changed since then is kept from one to the other. */
export const isSameStage = (a: Stage, b: Stage): boolean => {
  const begin = ({ camera, switches, off, panels, frame }: Stage): string => JSON.stringify([camera, switches, off, panels, frame?.name]);
  return begin(a) === begin(b);
};

export const EMPTY_STAGE: Stage = {
  camera: null,
  switches: [],
  off: [],
  panels: [],
  props: [],
  floor: null,
  frame: null,
  grabs: [],
  shows: "",
  point: null,
  seeThrough: false,
  still: "",
};
