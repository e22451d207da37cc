// What the views show, and at what scale.  Bodies range from 1e-10 m to 1e3 m, and some travel far: lengths in the views
// are in a unit of about the size of a body.

import { quaternionAt, vectorAt, type MotionRecord } from "../motion/record.ts";
import { dot, length, minus, plus, scaled, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { ThirdFrame } from "./stage.ts";

/** A body that travels farther than this, relative to its size, is followed. */
const FAR = 8;
/** Bodies smaller than this fraction of the frame are drawn larger; the more bodies, the smaller the fraction. */
const smallest = (bodies: number): number => 1 / Math.min(25, Math.max(8, 6 * Math.cbrt(bodies)));
/** Where the stage says how wide the view is, bodies that are drawn larger fill this fraction of it. */
const FRAMED = 0.7;
/** Where a view of a body on a pivot looks: fraction of the way from the pivot to the center of mass. */
export const PIVOT_TO_CENTER = 0.6;
/** Half the width of the view of one body, relative to its reach; the longest arrow is 1.75. */
const MARGIN = 2.05;
/** Radius of the ball that represents a particle, in units; its arrows are those of a body of size 1. */
const PARTICLE = 0.3;
/** The unit if there are only particles, relative to half the extent of their paths. */
const PARTICLE_UNIT = 1 / 5;
/** Distance between members that would overlap, relative to their size. */
const APART = 2.4;
/** Initial direction of the camera: azimuth from x to y, and elevation, in rad. */
export const INITIAL_VIEW = { azimuth: -0.96, elevation: 0.38 };
/** Maximum number of outputs used to compute extents. */
const MAX_OUTPUTS = 400;

export interface Framing {
  /** Meters per unit of the views. */
  unit: number;
  /** Magnification of the bodies, for both camera modes. */
  larger: { whole: number; following: number };
  /** Half the width of the view, in units. */
  radius: { whole: number; following: number };
  /** Center of the view of the whole motion, in m. */
  middle: Vec3;
  /** How far above the body's center its own view looks, in units: as the stage's camera does, if the body stays. */
  above: number;
  /** Whether the body travels so far that the camera should follow it. */
  isFar: boolean;
  /** Whether a ground is drawn: only if something moves or is attached to a pivot. */
  hasGround: boolean;
  /** Height of the ground, in m. */
  ground: number;
  /** Displacement of each member, in m, if they would overlap; null if they are drawn at their true positions. */
  displacements: Vec3[] | null;
  /** The same seen from the stage's third frame: a point of it, and half the width around it; null without one. */
  turning: { middle: Vec3; radius: number } | null;
}

/** The framing by the motion, changed by what the stage says. */
export function frameMotion(record: MotionRecord, watched: number): Framing {
  const framing = frameByMotion(record, watched);
  const { camera, floor, frame } = record.stage;
  const middle = camera?.target && camera.target !== "body" ? minus(camera.target, record.origin) : framing.middle;
  const whole = camera?.radius ? camera.radius / framing.unit : framing.radius.whole;
  return {
    ...framing,
    middle,
    above: framing.isStill && middle !== framing.middle ? (middle[2] - framing.middle[2]) / framing.unit : 0,
    larger: camera?.radius && framing.larger.whole > 1 ? { ...framing.larger, whole: magnified(FRAMED * whole * smallest(record.bodies)) } : framing.larger,
    radius: { ...framing.radius, whole },
    isFar: camera?.target ? camera.target === "body" : framing.isFar,
    hasGround: floor === null ? framing.hasGround : floor !== false,
    ground: typeof floor === "number" ? floor - record.origin[2] : framing.ground,
    turning: frame && turningView(record, frame, middle, camera?.radius ? whole : null, framing),
  };
}

/** The view from a rotating frame: it looks at a point of the axis. */
function turningView(record: MotionRecord, frame: ThirdFrame, middle: Vec3, radius: number | null, { unit, larger }: Framing): Framing["turning"] {
  const origin = minus(frame.origin, record.origin);
  const rate = length(frame.angularVelocity);
  const axis = rate > 0 ? scaled(1 / rate, frame.angularVelocity) : ([0, 0, 1] as Vec3);
  const onAxis = plus(origin, scaled(dot(minus(middle, origin), axis), axis));
  // A point at which the camera shall look is one of the frame.
  if (radius !== null) return { middle: Array.isArray(record.stage.camera?.target) ? middle : onAxis, radius };
  let far = 0;
  for (let row = 0; row < record.times * record.bodies; row++) {
    const away = length(minus(vectorAt(record.position, row), onAxis));
    if (away > far) far = away;
  }
  return { middle: onAxis, radius: far / unit + 1.7 * reachOf(record, 0, unit) * larger.whole };
}

function frameByMotion(record: MotionRecord, watched: number): Framing & { isStill: boolean } {
  const sizes = Array.from(record.appearanceIndex, (l) => record.appearances[l].size);
  const size = record.axis === "body" ? Math.max(...sizes) : sizes[watched];
  const extent = extents(record);
  const unit = size > 0 ? size : extent.whole > 0 ? extent.whole * PARTICLE_UNIT : 1;
  const overlap = record.axis === "member" && record.bodies > 1 && extent.apart < 2 * unit;
  const displacements = overlap ? lattice(record.bodies, APART * unit) : null;
  const reach = reachOf(record, watched, unit);
  const spread = displacements ? extent.path + length(displacements[0]) : extent.whole;
  const apart = record.bodies > 1 && !displacements ? extent.apart : 0;
  const least = smallest(record.bodies);
  // Bodies that touch a floor keep their size, or they would sink into it.
  const isTouching = record.patches.length > 0 && !displacements;
  const larger = {
    whole: displacements || record.hasPivot || isTouching ? 1 : magnified((spread * least) / unit),
    following: isTouching ? 1 : magnified((apart * least) / unit),
  };
  const pivoted = record.hasPivot && !displacements && record.bodies === 1;
  const room = displacements ? { path: 0.86, body: 1.3 } : { path: 1, body: 1.7 };
  const isStill = spread < 1e-3 * unit;
  return {
    unit,
    larger,
    radius: {
      whole: pivoted || isStill ? MARGIN * reach : room.path * (spread / unit) + room.body * reach * larger.whole,
      following: apart / unit + MARGIN * reach * larger.following,
    },
    isStill: isStill && !pivoted,
    above: 0,
    middle: pivoted ? towards(record.pivots[0].world, extent.mean) : extent.middle,
    isFar: !pivoted && !displacements && spread > FAR * (apart + unit),
    hasGround: !displacements && (record.hasPivot || extent.path > 0.02 * unit || extent.apart > 0.02 * unit),
    ground: groundOf(record, extent, unit, larger.whole, pivoted),
    displacements,
    turning: null,
  };
}

/** Small magnifications are not applied. */
const magnified = (times: number): number => (times > 1.3 ? times : 1);

/** Largest distance of a body from the start of its arrows (center of mass or pivot), in units. */
export function reachOf(record: MotionRecord, body: number, unit: number): number {
  const size = record.appearances[record.appearanceIndex[body]].size / unit || 1;
  return size + (record.hasPivot ? length(record.pivots[body].body) / unit : 0);
}

/** Drawn radius of a body, in units; its mesh is scaled by it. */
export function drawnSize(record: MotionRecord, body: number, framing: Framing): number {
  const size = record.appearances[record.appearanceIndex[body]].size;
  return size > 0 ? size / framing.unit : PARTICLE;
}

/** How the drawing differs from the true motion; "" if it does not. */
export function framingNote(framing: Framing, isFollowing: boolean): string {
  if (framing.displacements) return "members are drawn side by side; in reality they (nearly) coincide";
  const times = isFollowing ? framing.larger.following : framing.larger.whole;
  return times > 1 ? `bodies are drawn ${Number(times.toPrecision(2))} times larger` : "";
}

const towards = (pivot: Vec3, center: Vec3): Vec3 => plus(pivot, scaled(PIVOT_TO_CENTER, minus(center, pivot)));

interface Extents {
  low: Vec3;
  high: Vec3;
  middle: Vec3;
  /** Mean position of all bodies. */
  mean: Vec3;
  /** Half the diagonal of the bounding box of all positions. */
  whole: number;
  /** Largest distance of a body from its initial position. */
  path: number;
  /** Largest distance of a body from the mean position at the same time. */
  apart: number;
}

function extents(record: MotionRecord): Extents {
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  const every = Math.max(1, Math.floor(record.times / MAX_OUTPUTS));
  const means: Vec3[] = [];
  let [apart, path] = [0, 0];
  for (let k = 0; k < record.times; k += every) {
    const here = rows(record, k);
    if (here.length === 0) continue;
    const mean = scaled(1 / here.length, here.map(([, x]) => x).reduce(plus));
    means.push(mean);
    for (const [body, x] of here) {
      for (let i = 0; i < 3; i++) {
        low[i] = Math.min(low[i], x[i]);
        high[i] = Math.max(high[i], x[i]);
      }
      apart = Math.max(apart, length(minus(x, mean)));
      const moved = length(minus(x, vectorAt(record.position, body)));
      if (moved > path) path = moved;
    }
  }
  const none: Vec3 = [0, 0, 0];
  if (means.length === 0) return { low: none, high: none, middle: none, mean: none, whole: 0, path: 0, apart: 0 };
  const middle = scaled(0.5, plus(low, high));
  const mean = scaled(1 / means.length, means.reduce(plus));
  return { low, high, middle, mean, whole: length(minus(high, low)) / 2, path, apart };
}

function rows(record: MotionRecord, k: number): [number, Vec3][] {
  const found: [number, Vec3][] = [];
  for (let body = 0; body < record.bodies; body++) {
    const x = vectorAt(record.position, k * record.bodies + body);
    if (x.every(Number.isFinite)) found.push([body, x]);
  }
  return found;
}

/** Height of the ground: below everything; a top stands on it. */
function groundOf(record: MotionRecord, extent: Extents, unit: number, larger: number, pivoted: boolean): number {
  if (!pivoted) return extent.low[2] - 1.3 * unit * larger;
  const appearance = record.appearances[record.appearanceIndex[0]];
  const every = Math.max(1, Math.floor(record.times / MAX_OUTPUTS));
  let lowest = record.pivots[0].world[2];
  for (let k = 0; k < record.times; k += every) {
    const [q, x] = [quaternionAt(record.quaternion, k), vectorAt(record.position, k)];
    for (let v = 0; v < appearance.vertices.length; v += 3 * Math.ceil(appearance.vertices.length / 600)) {
      const z = x[2] + toWorld(q, [appearance.vertices[v], appearance.vertices[v + 1], appearance.vertices[v + 2]])[2];
      if (z < lowest) lowest = z;
    }
  }
  const below = record.pivots[0].world[2] - lowest;
  return below < 0.02 * unit ? record.pivots[0].world[2] : lowest - 0.15 * unit;
}

/** Positions in rows and columns, facing the initial camera, so that no member hides another. */
export function lattice(count: number, step: number): Vec3[] {
  const columns = Math.ceil(Math.sqrt(1.4 * count));
  const half = { across: (columns - 1) / 2, up: (Math.ceil(count / columns) - 1) / 2 };
  const [s, c] = [Math.sin(INITIAL_VIEW.azimuth), Math.cos(INITIAL_VIEW.azimuth)];
  return Array.from({ length: count }, (_, i): Vec3 => {
    const across = ((i % columns) - half.across) * step;
    return [-s * across, c * across, (half.up - Math.floor(i / columns)) * step];
  });
}
