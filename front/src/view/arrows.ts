// Arrows whose thickness on the screen does not depend on the distance of the camera.  The part hidden by a body is
// drawn faintly through it.

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
/** The head of a short arrow: this fraction of its length, but not less than a number of pixels. */
const HEAD_FRACTION = 0.55;
const MIN_HEAD = 5;

const UP = new Vector3(0, 1, 0);
// Both have length 1 along y, starting at the origin.
const shaftShape = new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
const headShape = new ConeGeometry(1, 1, 20).translate(0, 0.5, 0);

/** Factor by which lines are bolder in a large pane, such as on a projector. */
export const boldnessIn = (height: number): number => Math.min(1.8, Math.max(1, height / 400));

/** Lengths of head and shaft of an arrow of the given length, in pixels. */
export function proportions(pixels: number): { head: number; shaft: number; thickness: number } {
  const head = Math.max(MIN_HEAD, Math.min(HEAD.length, HEAD_FRACTION * pixels));
  return { head, shaft: Math.max(0, pixels - head), thickness: head / HEAD.length };
}

export class Arrow extends Group {
  private readonly shafts: Mesh[];
  private readonly heads: Mesh[];
  private readonly solid: MeshLambertMaterial;
  private readonly through: MeshBasicMaterial;
  private readonly direction = new Vector3();
  /** In units. */
  private size = 0;

  constructor(color: string, private readonly boldness = 1) {
    super();
    this.solid = new MeshLambertMaterial({ color, emissive: color, emissiveIntensity: 0.42 });
    // Blended, but drawn with the opaque objects: after the body, and before the arrows that hide it.
    this.through = new MeshBasicMaterial({
      color,
      opacity: 0.32,
      blending: CustomBlending,
      // Keep the canvas opaque.
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

  /** Draw from a point along a vector, in units; a zero vector is hidden. */
  point(from: Vec3, vector: Vec3): void {
    this.size = Math.hypot(...vector);
    this.visible = this.size > 1e-4 && Number.isFinite(this.size);
    if (!this.visible) return;
    this.position.set(...from);
    this.direction.set(...vector).divideScalar(this.size);
    this.quaternion.copy(new Quaternion().setFromUnitVectors(UP, this.direction));
  }

  /** Whether the part hidden by a body is drawn. */
  showThrough(yes: boolean): void {
    this.through.visible = yes;
  }

  /** Position of the tip, for the label. */
  tip(into: Vector3): Vector3 {
    return into.copy(this.position).addScaledVector(this.direction, this.size);
  }

  /** Adapt thickness and head to the camera; `height` of the view in pixels. */
  fit(camera: PerspectiveCamera, height: number): void {
    if (this.visible) this.fitAt(camera, this.tip(new Vector3()), height);
  }

  /** The same for an arrow within a group, whose tip is at this place of the view. */
  fitAt(camera: PerspectiveCamera, tip: Vector3, height: number): void {
    const pixel = pixelAt(camera, tip, height) * boldnessIn(height);
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

/** Size of a pixel at a point, in units. */
export function pixelAt(camera: PerspectiveCamera, place: Vector3, height: number): number {
  const depth = -seen.copy(place).applyMatrix4(camera.matrixWorldInverse).z;
  return (2 * Math.max(depth, camera.near) * Math.tan((camera.fov * Math.PI) / 360)) / height;
}
