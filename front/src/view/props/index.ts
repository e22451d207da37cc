// The props of a stage: things beside the body, each drawn by the function of its kind.

import { Group, Vector3, type Material, type Mesh, type Object3D, type PerspectiveCamera, type Quaternion } from "three";
import { conjugate, minus, plus, scaled, type Quat, type Vec3 } from "../../motion/vectors.ts";
import { toView, type Frame, type FramePose, type Instant, type ViewContext } from "../context.ts";
import type { PropData, PropKind } from "../stage.ts";
import { colorOf, type Build, type Parts, type PropLabel } from "./base.ts";
import { KINDS } from "./kinds.ts";
import { frameAttitude } from "../turning.ts";

export interface Prop {
  readonly kind: PropKind;
  readonly object: Object3D;
  update(instant: Instant, pose: FramePose): void;
  fit?(camera: PerspectiveCamera, width: number, height: number): void;
  labels?(): PropLabel[];
  dispose(): void;
}

/** The props of the context's record in one of the frames. */
export function buildProps(context: ViewContext, frame: Frame): Prop[] {
  return context.record.stage.props.flatMap((data) => {
    const build = KINDS[data.kind] as Build<PropKind> | undefined;
    // What stands in the world would whirl about in the body's frame.
    const isBuilt = frame === "space" || data.attached === "body" || isFollowing(data);
    const parts = isBuilt ? (build?.(data, context, frame) ?? null) : null;
    return parts === null ? [] : [new PlacedProp(data, parts, context, frame)];
  });
}

/** What the props of a context are built from: props built from the same can be kept.  Cones roll as the motion does. */
export function propsKey({ record, framing }: ViewContext): string | null {
  const { props } = record.stage;
  if (props.some(({ kind }) => kind === "cones")) return null;
  return JSON.stringify([props, framing.unit, props.some(({ kind }) => kind === "axis") && framing.radius.whole]);
}

/** Directions are drawn from the body, in both frames. */
const isFollowing = (data: PropData): boolean =>
  data.kind === "target" || data.kind === "vertical" || (data.kind === "axis" && data.through === null);

class PlacedProp implements Prop {
  readonly kind: PropKind;
  readonly object = new Group();

  constructor(
    private readonly data: PropData,
    private readonly parts: Parts,
    private readonly context: ViewContext,
    private readonly frame: Frame,
  ) {
    this.kind = data.kind;
    this.object.name = `prop:${data.kind}`;
    this.object.add(parts.object);
  }

  update(instant: Instant, pose: FramePose): void {
    const { since, until } = this.data;
    this.object.visible = (since === null || instant.t >= since) && (until === null || instant.t <= until) && this.place(instant, pose);
    if (this.object.visible) this.parts.update?.(instant, pose);
  }

  fit(camera: PerspectiveCamera, width: number, height: number): void {
    if (this.object.visible) this.parts.fit?.(camera, width, height);
  }

  labels(): PropLabel[] {
    const { label } = this.parts;
    if (this.parts.labels && this.object.visible) return this.parts.labels();
    if (!label || this.data.label === "" || !this.object.visible) return [];
    const inView = (at: Vec3): Vector3 => new Vector3(...at).multiply(this.object.scale).applyQuaternion(this.object.quaternion).add(this.object.position);
    return [{ text: this.data.label, color: colorOf(this.data, this.context), at: inView(label.at), from: inView(label.from ?? [0, 0, 0]) }];
  }

  dispose(): void {
    this.object.traverse((part) => {
      if (!("geometry" in part)) return;
      const { geometry, material } = part as Mesh;
      geometry.dispose();
      (Array.isArray(material) ? material : [material]).forEach((one: Material) => one.dispose());
    });
    this.parts.dispose?.();
  }

  /** Returns whether there is something to be attached to. */
  private place(instant: Instant, pose: FramePose): boolean {
    const { context, data, object } = this;
    const { record, framing } = context;
    const anchor = this.parts.anchor ?? [0, 0, 0];
    if (this.parts.follows) {
      turn(object, this.frame === "body" ? conjugate(instant.pose.quaternion) : [1, 0, 0, 0]);
      object.position.set(...pose.anchor);
      object.scale.setScalar(instant.reach);
      return instant.isPresent;
    }
    if (data.attached === "body") {
      const body = data.body ?? context.watched;
      const isWatched = body === context.watched;
      if (this.frame === "body" && !isWatched) return false;
      const its = isWatched ? { position: pose.position, attitude: pose.attitude } : bodyInView(context, instant, body);
      // Bodies may be drawn larger than they are; what belongs to them is, too.
      const offset = scaled(instant.larger / framing.unit, anchor);
      turn(object, its.attitude);
      object.position.set(...offset).applyQuaternion(object.quaternion).add(new Vector3(...its.position));
      object.scale.setScalar(instant.larger);
      return instant.isPresent && its.position.every(Number.isFinite);
    }
    const attitude: Quat = data.attached === "frame" ? frameAttitude(record.stage.frame, instant.t) : [1, 0, 0, 0];
    const origin = data.attached === "frame" ? (record.stage.frame?.origin ?? [0, 0, 0]) : ([0, 0, 0] as Vec3);
    turn(object, attitude);
    const turned = new Vector3(...anchor).applyQuaternion(object.quaternion);
    const world = plus(origin, turned.toArray() as Vec3);
    object.position.set(...scaled(1 / framing.unit, minus(minus(world, record.origin), instant.focus)));
    return true;
  }
}

function bodyInView(context: ViewContext, instant: Instant, body: number): { position: Vec3; attitude: Quat } {
  const pose = instant.all[body] ?? instant.pose;
  return { position: toView(context.framing, instant.focus, pose.position, body), attitude: pose.quaternion };
}

const turn = (object: Object3D, q: Quat): Quaternion => object.quaternion.set(q[1], q[2], q[3], q[0]);
