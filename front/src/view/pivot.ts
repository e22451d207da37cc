// The pivot: a cone with its tip at the fixed point, a pole down to the ground, and a thin arm to the center of mass.

import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshLambertMaterial, Vector3 } from "three";
import type { Vec3 } from "../motion/vectors.ts";
import type { Frame, Instant, FramePose, ViewContext } from "./context.ts";
import type { Stage } from "./stage.ts";

/** Relative to the reach of the body. */
const CONE = 0.16;
const ARM = 0.012;
/** An arm shorter than this is not drawn. */
const MIN_ARM = 0.05;

/** Whether a stage brings a stand of its own. */
export const hasStand = (stage: Stage): boolean => stage.props.some(({ kind }) => kind === "stand");

export class Pivot extends Group {
  private readonly material: MeshLambertMaterial;
  private readonly cone: Mesh;
  private readonly pole: Mesh;
  private readonly arm: Mesh;

  constructor(context: ViewContext, private readonly frame: Frame) {
    super();
    this.material = new MeshLambertMaterial({ color: context.colors.muted });
    // Length 1, downward from the origin; three.js creates them along y.
    this.cone = new Mesh(new ConeGeometry(1, 1, 32).translate(0, -0.5, 0).rotateX(Math.PI / 2), this.material);
    this.pole = new Mesh(new CylinderGeometry(1, 1, 1, 16).translate(0, -0.5, 0).rotateX(Math.PI / 2), this.material);
    this.arm = new Mesh(new CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), this.material);
    this.add(this.arm);
    if (frame === "space") this.add(this.cone, this.pole);
  }

  /** `ground` is its height in the view, or null. */
  update(instant: Instant, framePose: FramePose, ground: number | null): void {
    this.visible = instant.isPresent;
    if (!this.visible) return;
    this.position.set(...framePose.anchor);
    this.updateArm(framePose.anchor, framePose.position, instant.reach);
    if (this.frame === "body") return;
    const size = CONE * instant.reach;
    const high = ground === null ? size : framePose.anchor[2] - ground;
    const tall = Math.min(size, Math.max(high, 0.4 * size));
    this.cone.scale.set(0.45 * size, 0.45 * size, tall);
    this.pole.visible = high > size;
    this.pole.scale.set(0.12 * size, 0.12 * size, Math.max(1e-3, high - 0.9 * size));
    this.pole.position.z = -0.9 * size;
  }

  dispose(): void {
    for (const part of [this.cone, this.pole, this.arm]) part.geometry.dispose();
    this.material.dispose();
  }

  private updateArm(from: Vec3, to: Vec3, reach: number): void {
    const direction = new Vector3(...to).sub(new Vector3(...from));
    const length = direction.length();
    this.arm.visible = length > MIN_ARM * reach;
    if (!this.arm.visible) return;
    this.arm.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), direction.normalize());
    this.arm.scale.set(ARM * reach, length, ARM * reach);
  }
}
