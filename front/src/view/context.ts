// What the views show, and where it is at an instant, in each of the two frames.

import type { Colours } from "../colors.ts";
import { poseAt, type Pose } from "../motion/pose.ts";
import type { MotionRecord } from "../motion/record.ts";
import { minus, plus, scaled, toBody, toWorld, type Quat, type Vec3 } from "../motion/vectors.ts";
import { drawnSize, reachOf, type Framing } from "./framing.ts";
import type { Effects } from "./pattern.ts";

/** The frame in which the world stands still, or the one in which the watched body does. */
export type Frame = "space" | "body";

export interface Subject {
  record: MotionRecord;
  watched: number;
  framing: Framing;
  colours: Colours;
  effects: Effects;
}

export interface Instant {
  t: number;
  pose: Pose;
  /** Of every body or member, where there are several. */
  all: Pose[];
  /** Whether there is a body to draw: a member that has failed has none. */
  isThere: boolean;
  /** In m: what is at the origin of the space frame's picture. */
  focus: Vec3;
  /** Of the watched body, in units: its drawn size, and how far it reaches from where its arrows begin. */
  size: number;
  reach: number;
  /** How much larger than true bodies are drawn. */
  larger: number;
}

export function instantAt(subject: Subject, t: number, isFollowing: boolean): Instant {
  const { record, watched, framing } = subject;
  const all = record.bodies > 1 ? Array.from({ length: record.bodies }, (_, body) => poseAt(record, body, t)) : [];
  const pose = all[watched] ?? poseAt(record, watched, t);
  const larger = isFollowing ? framing.larger.following : framing.larger.whole;
  const isThere = [...pose.position, ...pose.quaternion].every(Number.isFinite);
  const followed = isThere ? pose.anchor : framing.middle;
  return {
    t,
    pose,
    all,
    isThere,
    focus: isFollowing ? plus(followed, framing.places?.[watched] ?? [0, 0, 0]) : framing.middle,
    size: drawnSize(record, watched, framing) * larger,
    reach: reachOf(record, watched, framing.unit) * larger,
    larger,
  };
}

/** Where the watched body's centre of mass, its arrows' beginning and its attitude are in a frame's picture. */
export interface Stand {
  place: Vec3;
  anchor: Vec3;
  turn: Quat;
  /** A vector along world axes, along the axes of this picture. */
  along(v: Vec3): Vec3;
}

export function standIn(frame: Frame, subject: Subject, instant: Instant): Stand {
  const { record, framing, watched } = subject;
  const { pose } = instant;
  const arm: Vec3 = record.isHeld ? scaled(1 / framing.unit, record.pivots[watched].body) : [0, 0, 0];
  if (frame === "body") {
    return { place: [0, 0, 0], anchor: arm, turn: [1, 0, 0, 0], along: (v) => toBody(pose.quaternion, v) };
  }
  const place = inPicture(framing, instant.focus, pose.position, watched);
  return { place, anchor: plus(place, toWorld(pose.quaternion, arm)), turn: pose.quaternion, along: (v) => v };
}

/** A place of a body in m, in the space frame's picture. */
export function inPicture(framing: Framing, focus: Vec3, x: Vec3, body: number): Vec3 {
  const set = framing.places ? plus(x, framing.places[body]) : x;
  return scaled(1 / framing.unit, minus(set, focus));
}
