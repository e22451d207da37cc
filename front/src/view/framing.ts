// What the views look at, and how large things are drawn.  Bodies are 1e-10 m to 1e3 m large, and some go far: the
// views measure in a unit of their own, about the size of a body.

import { quaternionAt, vectorAt, type MotionRecord } from "../motion/record.ts";
import { length, minus, plus, scaled, toWorld, type Vec3 } from "../motion/vectors.ts";

/** A body that goes farther than this, in its size, is followed. */
const FAR = 8;
/** Bodies smaller than this part of what is framed are drawn larger, so that they are seen at all; the more, the smaller. */
const smallest = (bodies: number): number => 1 / Math.min(25, Math.max(8, 6 * Math.cbrt(bodies)));
/** Of a body on a pivot: how far from the pivot towards its centre of mass a view looks. */
export const TOWARDS = 0.6;
/** Half of what a view of one body shows, in its reach; the longest arrow is 1.75. */
const ROOM = 2.05;
/** Radius of the ball that stands for a particle, in units; its arrows are as long as those of a body of size 1. */
const PARTICLE = 0.3;
/** The unit where there are only particles, in half of the whole that they go through. */
const PARTICLE_UNIT = 1 / 5;
/** From one member to the next, in its size, where members would lie in each other. */
const APART = 2.4;
/** From where the camera looks at first: along the ground from x to y, and above the ground, in rad. */
export const FIRST_LOOK = { azimuth: -0.96, elevation: 0.38 };
/** At most so many instants and bodies are asked where they are. */
const MOST_INSTANTS = 400;

export interface Framing {
  /** Metres in a unit of the views. */
  unit: number;
  /** What is drawn of a body is its size times this; in the two ways to look. */
  larger: { whole: number; following: number };
  /** Half of what is shown, in units. */
  radius: { whole: number; following: number };
  /** Where the view of the whole looks, in m. */
  middle: Vec3;
  /** Whether the body goes so far that the camera had better go with it. */
  isFar: boolean;
  /** Whether anything moves at all, or is held: only then is there a ground to tell it by. */
  hasGround: boolean;
  /** Height of the ground, in m. */
  ground: number;
  /** Where each member is set, in m, where all would lie in each other; null where they are drawn where they are. */
  places: Vec3[] | null;
}

export function framed(record: MotionRecord, watched: number): Framing {
  const sizes = Array.from(record.lookOf, (l) => record.looks[l].size);
  const size = record.axis === "body" ? Math.max(...sizes) : sizes[watched];
  const cloud = extents(record);
  const unit = size > 0 ? size : cloud.whole > 0 ? cloud.whole * PARTICLE_UNIT : 1;
  const isHeap = record.axis === "member" && record.bodies > 1 && cloud.apart < 2 * unit;
  const places = isHeap ? lattice(record.bodies, APART * unit) : null;
  const reach = reachOf(record, watched, unit);
  const spread = places ? cloud.path + length(places[0]) : cloud.whole;
  const apart = record.bodies > 1 && !places ? cloud.apart : 0;
  const least = smallest(record.bodies);
  const larger = {
    whole: places || record.isHeld ? 1 : magnified((spread * least) / unit),
    following: magnified((apart * least) / unit),
  };
  const pivoted = record.isHeld && !places && record.bodies === 1;
  const room = places ? { path: 0.86, body: 1.3 } : { path: 1, body: 1.7 };
  const isStill = spread < 1e-3 * unit;
  return {
    unit,
    larger,
    radius: {
      whole: pivoted || isStill ? ROOM * reach : room.path * (spread / unit) + room.body * reach * larger.whole,
      following: apart / unit + ROOM * reach * larger.following,
    },
    middle: pivoted ? towards(record.pivots[0].world, cloud.mean) : cloud.middle,
    isFar: !pivoted && !places && spread > FAR * (apart + unit),
    hasGround: !places && (record.isHeld || cloud.path > 0.02 * unit || cloud.apart > 0.02 * unit),
    ground: groundOf(record, cloud, unit, larger.whole, pivoted),
    places,
  };
}

/** A little smaller than one would like is drawn as it is. */
const magnified = (times: number): number => (times > 1.3 ? times : 1);

/** How far a body reaches from where its arrows begin, in units: its centre of mass, or its pivot. */
export function reachOf(record: MotionRecord, body: number, unit: number): number {
  const size = record.looks[record.lookOf[body]].size / unit || 1;
  return size + (record.isHeld ? length(record.pivots[body].body) / unit : 0);
}

/** The radius at which a body is drawn, in units; its mesh is scaled by it. */
export function drawnSize(record: MotionRecord, body: number, framing: Framing): number {
  const size = record.looks[record.lookOf[body]].size;
  return size > 0 ? size / framing.unit : PARTICLE;
}

/** What the picture does that the motion does not; "" where it does nothing of the kind. */
export function remarkOf(framing: Framing, isFollowing: boolean): string {
  if (framing.places) return "members are set apart; in truth they lie on each other, or nearly";
  const times = isFollowing ? framing.larger.following : framing.larger.whole;
  return times > 1 ? `bodies are drawn ${Number(times.toPrecision(2))} times larger` : "";
}

const towards = (pivot: Vec3, centre: Vec3): Vec3 => plus(pivot, scaled(TOWARDS, minus(centre, pivot)));

interface Cloud {
  low: Vec3;
  high: Vec3;
  middle: Vec3;
  /** Of all places of all bodies. */
  mean: Vec3;
  /** Half the diagonal of the box round all places of all bodies. */
  whole: number;
  /** The farthest that any is from its own place at first. */
  path: number;
  /** The farthest that any is from the middle of all at one instant. */
  apart: number;
}

function extents(record: MotionRecord): Cloud {
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  const every = Math.max(1, Math.floor(record.times / MOST_INSTANTS));
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

/** Below everything; a top stands on it. */
function groundOf(record: MotionRecord, cloud: Cloud, unit: number, larger: number, pivoted: boolean): number {
  if (!pivoted) return cloud.low[2] - 1.3 * unit * larger;
  const look = record.looks[record.lookOf[0]];
  const every = Math.max(1, Math.floor(record.times / MOST_INSTANTS));
  let lowest = record.pivots[0].world[2];
  for (let k = 0; k < record.times; k += every) {
    const [q, x] = [quaternionAt(record.quaternion, k), vectorAt(record.position, k)];
    for (let v = 0; v < look.vertices.length; v += 3 * Math.ceil(look.vertices.length / 600)) {
      const z = x[2] + toWorld(q, [look.vertices[v], look.vertices[v + 1], look.vertices[v + 2]])[2];
      if (z < lowest) lowest = z;
    }
  }
  const below = record.pivots[0].world[2] - lowest;
  return below < 0.02 * unit ? record.pivots[0].world[2] : lowest - 0.15 * unit;
}

/** Places in rows and columns, upright and across the first look, so that none hides another. */
export function lattice(count: number, step: number): Vec3[] {
  const columns = Math.ceil(Math.sqrt(1.4 * count));
  const half = { across: (columns - 1) / 2, up: (Math.ceil(count / columns) - 1) / 2 };
  const [s, c] = [Math.sin(FIRST_LOOK.azimuth), Math.cos(FIRST_LOOK.azimuth)];
  return Array.from({ length: count }, (_, i): Vec3 => {
    const across = ((i % columns) - half.across) * step;
    return [-s * across, c * across, (half.up - Math.floor(i / columns)) * step];
  });
}
