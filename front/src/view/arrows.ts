// Arrows: a shaft and a head that keep their thickness on the screen, however near the camera is.  The part that a body
// hides shines through faintly, so that no arrow is lost inside one.

import {
  ConeGeometry,
  CustomBlending,
  CylinderGeometry,
  GreaterDepth,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  OneFactor,
  Quaternion,
  Vector3,
  ZeroFactor,
  type PerspectiveCamera,
} from "three";
import type { Vec3 } from "../motion/vectors.ts";

/** In pixels. */
const SHAFT = 1.7;
const HEAD = { radius: 5.2, length: 15 };
/** Of a short arrow the head is this part, and at least so many pixels. */
const HEAD_SHARE = 0.55;
const LEAST_HEAD = 5;

const UP = new Vector3(0, 1, 0);
// Both are of length 1 along y and begin at the origin.
const shaftShape = new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
const headShape = new ConeGeometry(1, 1, 20).translate(0, 0.5, 0);

/** Lines are drawn so much bolder in a large pane, such as on a projector. */
export const boldnessIn = (height: number): number => Math.min(1.8, Math.max(1, height / 400));

/** How long head and shaft are on the screen, of an arrow so many pixels long. */
export function proportions(pixels: number): { head: number; shaft: number; thickness: number } {
  const head = Math.max(LEAST_HEAD, Math.min(HEAD.length, HEAD_SHARE * pixels));
  return { head, shaft: Math.max(0, pixels - head), thickness: head / HEAD.length };
}

export class Arrow extends Group {
  private readonly shafts: Mesh[];
  private readonly heads: Mesh[];
  private readonly solid: MeshLambertMaterial;
  private readonly through: MeshBasicMaterial;
  private readonly way = new Vector3();
  /** In units. */
  private size = 0;

  constructor(colour: string, private readonly boldness = 1) {
    super();
    this.solid = new MeshLambertMaterial({ color: colour, emissive: colour, emissiveIntensity: 0.42 });
    // Blended, yet among what is opaque: after the body, which it shines through, and before the arrows, which hide it.
    this.through = new MeshBasicMaterial({
      color: colour,
      opacity: 0.32,
      blending: CustomBlending,
      // The canvas itself stays opaque.
      blendSrcAlpha: ZeroFactor,
      blendDstAlpha: OneFactor,
      depthFunc: GreaterDepth,
      depthWrite: false,
    });
    this.shafts = [new Mesh(shaftShape, this.through), new Mesh(shaftShape, this.solid)];
    this.heads = [new Mesh(headShape, this.through), new Mesh(headShape, this.solid)];
    this.add(...this.shafts, ...this.heads);
    for (const parts of [this.shafts, this.heads]) parts.forEach((part, i) => (part.renderOrder = 1 + i));
  }

  /** From a place along a vector, in units; what has no length is not drawn. */
  point(from: Vec3, vector: Vec3): void {
    this.size = Math.hypot(...vector);
    this.visible = this.size > 1e-4 && Number.isFinite(this.size);
    if (!this.visible) return;
    this.position.set(...from);
    this.way.set(...vector).divideScalar(this.size);
    this.quaternion.copy(new Quaternion().setFromUnitVectors(UP, this.way));
  }

  /** Where the label goes. */
  tip(into: Vector3): Vector3 {
    return into.copy(this.position).addScaledVector(this.way, this.size);
  }

  /** Thickness and head for this camera; `height` of the view in pixels. */
  fit(camera: PerspectiveCamera, height: number): void {
    if (!this.visible) return;
    const pixel = pixelAt(camera, this.tip(new Vector3()), height) * boldnessIn(height);
    const { head, shaft, thickness } = proportions(this.size / pixel);
    const [wide, narrow] = [HEAD.radius * thickness * this.boldness * pixel, SHAFT * thickness * this.boldness * pixel];
    for (const part of this.shafts) part.scale.set(narrow, Math.max(shaft * pixel, 1e-6), narrow);
    for (const part of this.heads) {
      part.scale.set(wide, head * pixel, wide);
      part.position.y = shaft * pixel;
    }
  }

  dispose(): void {
    this.solid.dispose();
    this.through.dispose();
  }
}

const seen = new Vector3();

/** How large a pixel is at a place, in units. */
export function pixelAt(camera: PerspectiveCamera, place: Vector3, height: number): number {
  const depth = -seen.copy(place).applyMatrix4(camera.matrixWorldInverse).z;
  return (2 * Math.max(depth, camera.near) * Math.tan((camera.fov * Math.PI) / 360)) / height;
}
