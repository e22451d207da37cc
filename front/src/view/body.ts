// A body as a mesh with its pattern, and its sharp edges as thin lines.

import {
  BufferAttribute,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  type Material,
} from "three";
import type { Look } from "../motion/record.ts";
import type { Quat, Vec3 } from "../motion/vectors.ts";
import { creased } from "./creases.ts";

export interface Shell {
  faces: BufferGeometry;
  edges: BufferGeometry | null;
}

/** Of size 1, whatever the body's is. */
export function shellOf(look: Pick<Look, "vertices" | "faces" | "size">): Shell {
  const skin = creased(look.vertices, look.faces, look.size > 0 ? 1 / look.size : 1);
  const faces = new BufferGeometry();
  faces.setAttribute("position", new BufferAttribute(skin.positions, 3));
  faces.setAttribute("normal", new BufferAttribute(skin.normals, 3));
  if (skin.edges.length === 0) return { faces, edges: null };
  const edges = new BufferGeometry();
  edges.setAttribute("position", new BufferAttribute(skin.edges, 3));
  return { faces, edges };
}

export class Body extends Group {
  readonly mesh: Mesh;
  private readonly lines: LineSegments | null;

  constructor(shell: Shell, material: Material, edgeColour: string, edgeOpacity = 0.45) {
    super();
    // Pushed back a little, so that edges and paths on the surface are not torn by it.
    material.polygonOffset = true;
    material.polygonOffsetFactor = 1;
    material.polygonOffsetUnits = 1;
    this.mesh = new Mesh(shell.faces, material);
    this.add(this.mesh);
    const look = new LineBasicMaterial({ color: edgeColour, transparent: true, opacity: edgeOpacity });
    this.lines = shell.edges && new LineSegments(shell.edges, look);
    if (this.lines) this.add(this.lines);
  }

  put(place: Vec3, turn: Quat, size: number): void {
    this.visible = place.every(Number.isFinite) && turn.every(Number.isFinite);
    if (!this.visible) return;
    this.position.set(...place);
    this.quaternion.set(turn[1], turn[2], turn[3], turn[0]);
    this.scale.setScalar(size);
  }

  /** The shell is not this body's alone; who made it disposes of it. */
  dispose(): void {
    (this.mesh.material as Material).dispose();
    (this.lines?.material as Material | undefined)?.dispose();
  }
}
