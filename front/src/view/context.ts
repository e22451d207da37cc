// What the views show, and where it is at a given time in each of the two frames.

import type { Colors } from "../colors.ts";
import { poseAt, type Pose } from "../motion/pose.ts";
import type { MotionRecord } from "../motion/record.ts";
import { minus, plus, scaled, toBody, toWorld, type Quat, type Vec3 } from "../motion/vectors.ts";
import { drawnSize, reachOf, type Framing } from "./framing.ts";
import type { HeldScales } from "./grabber.ts";
import type { Effects } from "./pattern.ts";
import type { ThirdFrame } from "./stage.ts";
import { frameAttitude } from "./turning.ts";

/** The inertial frame, or the frame of the watched body. */
export type Frame = "space" | "body";

/** A motion that was pinned, and its parameters in words. */
export interface Pinned {
  record: MotionRecord;
  words: string;
}

export interface ViewContext {
  record: MotionRecord;
  watched: number;
  framing: Framing;
  colors: Colors;
  effects: Effects;
  /** A motion to compare with, and what it is; null if none is pinned. */
  pinned?: Pinned | null;
  /** Scales that are kept while something is dragged. */
  held?: HeldScales | null;
}

export interface Instant {
  t: number;
  pose: Pose;
  /** Poses of all bodies or members, if there are several. */
  all: Pose[];
  /** Whether there is a body to draw: not after a member has failed. */
  isPresent: boolean;
  /** The point at the origin of the space view, in m. */
  focus: Vec3;
  /** Drawn size of the watched body, and its largest distance from the start of its arrows, in units. */
  size: number;
  reach: number;
  /** Magnification of the bodies. */
  larger: number;
  /** The rotating frame from which the space view is seen; null for the inertial one. */
  turning: ThirdFrame | null;
}

export function instantAt(context: ViewContext, t: number, isFollowing: boolean, isTurning = false): Instant {
  const { record, watched, framing } = context;
  const all = record.bodies > 1 ? Array.from({ length: record.bodies }, (_, body) => poseAt(record, body, t)) : [];
  const pose = all[watched] ?? poseAt(record, watched, t);
  const larger = isFollowing ? framing.larger.following : framing.larger.whole;
  const isPresent = [...pose.position, ...pose.quaternion].every(Number.isFinite);
  const target = isPresent ? pose.anchor : framing.middle;
  return {
    t,
    pose,
    all,
    isPresent,
    focus: isFollowing ? plus(target, framing.displacements?.[watched] ?? [0, 0, 0]) : isTurning ? carried(context, t) : framing.middle,
    turning: isTurning ? record.stage.frame : null,
    size: drawnSize(record, watched, framing) * larger,
    reach: reachOf(record, watched, framing.unit) * larger,
    larger,
  };
}

/** The middle of the view from the stage's third frame, which carries it along. */
function carried({ record, framing }: ViewContext, t: number): Vec3 {
  const { frame } = record.stage;
  if (!frame || !framing.turning) return framing.middle;
  const center = minus(frame.origin, record.origin);
  return plus(center, toWorld(frameAttitude(frame, t), minus(framing.turning.middle, center)));
}

/** Center of mass, start of the arrows, and attitude of the watched body in the view of a frame. */
export interface FramePose {
  position: Vec3;
  anchor: Vec3;
  attitude: Quat;
  /** Transform a vector from world axes to the axes of the view. */
  along(v: Vec3): Vec3;
}

export function poseInFrame(frame: Frame, context: ViewContext, instant: Instant): FramePose {
  const { record, framing, watched } = context;
  const { pose } = instant;
  const arm: Vec3 = record.hasPivot ? scaled(1 / framing.unit, record.pivots[watched].body) : [0, 0, 0];
  if (frame === "body") {
    return { position: [0, 0, 0], anchor: arm, attitude: [1, 0, 0, 0], along: (v) => toBody(pose.quaternion, v) };
  }
  const position = toView(framing, instant.focus, pose.position, watched);
  return { position, anchor: plus(position, toWorld(pose.quaternion, arm)), attitude: pose.quaternion, along: (v) => v };
}

/** Transform a position in m to the space view. */
export function toView(framing: Framing, focus: Vec3, x: Vec3, body: number): Vec3 {
  const displaced = framing.displacements ? plus(x, framing.displacements[body]) : x;
  return scaled(1 / framing.unit, minus(displaced, focus));
}
