// The point that holds a body: a cone whose tip it is, a pole down to the ground, and a thin arm to the centre of mass,
// which is no part of the body.

import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshLambertMaterial, Vector3 } from "three";
import type { Vec3 } from "../motion/vectors.ts";
import type { Frame, Instant, Stand, Subject } from "./context.ts";

/** In the body's reach. */
const CONE = 0.16;
const ARM = 0.012;
/** An arm shorter than this is not drawn. */
const LEAST_ARM = 0.05;

export class Pivot extends Group {
  private readonly matter: MeshLambertMaterial;
  private readonly cone: Mesh;
  private readonly pole: Mesh;
  private readonly arm: Mesh;

  constructor(subject: Subject, private readonly frame: Frame) {
    super();
    this.matter = new MeshLambertMaterial({ color: subject.colours.muted });
    // Of length 1 downwards from the origin; three.js makes them along y.
    this.cone = new Mesh(new ConeGeometry(1, 1, 32).translate(0, -0.5, 0).rotateX(Math.PI / 2), this.matter);
    this.pole = new Mesh(new CylinderGeometry(1, 1, 1, 16).translate(0, -0.5, 0).rotateX(Math.PI / 2), this.matter);
    this.arm = new Mesh(new CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), this.matter);
    this.add(this.arm);
    if (frame === "space") this.add(this.cone, this.pole);
  }

  /** `ground` is its height in the picture, or null where there is none. */
  update(instant: Instant, stand: Stand, ground: number | null): void {
    this.visible = instant.isThere;
    if (!this.visible) return;
    this.position.set(...stand.anchor);
    this.putArm(stand.anchor, stand.place, instant.reach);
    if (this.frame === "body") return;
    const size = CONE * instant.reach;
    const high = ground === null ? size : stand.anchor[2] - ground;
    const tall = Math.min(size, Math.max(high, 0.4 * size));
    this.cone.scale.set(0.45 * size, 0.45 * size, tall);
    this.pole.visible = high > size;
    this.pole.scale.set(0.12 * size, 0.12 * size, Math.max(1e-3, high - 0.9 * size));
    this.pole.position.z = -0.9 * size;
  }

  dispose(): void {
    for (const part of [this.cone, this.pole, this.arm]) part.geometry.dispose();
    this.matter.dispose();
  }

  private putArm(from: Vec3, to: Vec3, reach: number): void {
    const way = new Vector3(...to).sub(new Vector3(...from));
    const long = way.length();
    this.arm.visible = long > LEAST_ARM * reach;
    if (!this.arm.visible) return;
    this.arm.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), way.normalize());
    this.arm.scale.set(ARM * reach, long, ARM * reach);
  }
}
