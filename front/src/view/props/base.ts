// What the functions that draw props share.

import type { Object3D, PerspectiveCamera, Vector3 } from "three";
import type { Vec3 } from "../../motion/vectors.ts";
import type { Frame, FramePose, Instant, ViewContext } from "../context.ts";
import type { PropData, PropKind } from "../stage.ts";

export interface PropLabel {
  text: string;
  color: string;
  /** In the view. */
  at: Vector3;
  from: Vector3;
}

/** What the function of a kind draws. */
export interface Parts {
  /** In units of the view, relative to `anchor` along the axes of what the prop is attached to. */
  object: Object3D;
  /** Where its origin is, in m, in the axes of what it is attached to; by default the origin. */
  anchor?: Vec3;
  /** Whether it starts where the body's arrows do, along world axes, in both frames; in units of the body's reach. */
  follows?: boolean;
  /** Where its label is, and a point from which it points away, in units relative to the anchor. */
  label?: { at: Vec3; from?: Vec3 };
  /** Labels that move by themselves, in the view. */
  labels?(): PropLabel[];
  /** Changes that depend on the time; called after it was placed. */
  update?(instant: Instant, pose: FramePose): void;
  /** Adapt what has a size in pixels. */
  fit?(camera: PerspectiveCamera, width: number, height: number): void;
  /** What is not found by traversing the object. */
  dispose?(): void;
}

/** Draws one kind of prop; returns null where it is not shown, such as a floor in the body's frame. */
export type Build<K extends PropKind> = (prop: PropData<K>, context: ViewContext, frame: Frame) => Parts | null;

/** The color of a prop: its own, or that of its kind. */
export function colorOf(data: PropData, { colors }: ViewContext, usual: keyof ViewContext["colors"] = "muted"): string {
  return data.color.startsWith("#") ? data.color : (colors[(data.color || usual) as keyof typeof colors] ?? colors[usual]);
}
