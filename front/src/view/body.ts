// A body: a mesh with its pattern, and its sharp edges as thin lines.

import {
  BufferAttribute,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  type Material,
} from "three";
import type { Appearance } from "../motion/record.ts";
import type { Quat, Vec3 } from "../motion/vectors.ts";
import { splitAtCreases } from "./creases.ts";

export interface Shell {
  faces: BufferGeometry;
  edges: BufferGeometry | null;
}

/** Faces and edges of a body, scaled to size 1. */
export function buildShell(appearance: Pick<Appearance, "vertices" | "faces" | "size">): Shell {
  const mesh = splitAtCreases(appearance.vertices, appearance.faces, appearance.size > 0 ? 1 / appearance.size : 1);
  const faces = new BufferGeometry();
  faces.setAttribute("position", new BufferAttribute(mesh.positions, 3));
  faces.setAttribute("normal", new BufferAttribute(mesh.normals, 3));
  if (mesh.edges.length === 0) return { faces, edges: null };
  const edges = new BufferGeometry();
  edges.setAttribute("position", new BufferAttribute(mesh.edges, 3));
  return { faces, edges };
}

export function disposeShell({ faces, edges }: Shell): void {
  faces.dispose();
  edges?.dispose();
}

export class Body extends Group {
  readonly mesh: Mesh;
  private readonly lines: LineSegments;

  constructor(shell: Shell, material: Material, edgeColor: string, edgeOpacity = 0.45) {
    super();
    // Pushed back a little, so that edges and paths on the surface are not hidden by it.
    material.polygonOffset = true;
    material.polygonOffsetFactor = 1;
    material.polygonOffsetUnits = 1;
    this.mesh = new Mesh(shell.faces, material);
    this.add(this.mesh);
    const lineMaterial = new LineBasicMaterial({ color: edgeColor, transparent: true, opacity: edgeOpacity });
    this.lines = new LineSegments(undefined, lineMaterial);
    this.add(this.lines);
    this.setShell(shell);
  }

  /** Change its faces and edges; the materials stay. */
  setShell(shell: Shell): void {
    this.mesh.geometry = shell.faces;
    this.lines.visible = shell.edges !== null;
    if (shell.edges) this.lines.geometry = shell.edges;
  }

  setPose(position: Vec3, attitude: Quat, size: number): void {
    this.visible = position.every(Number.isFinite) && attitude.every(Number.isFinite);
    if (!this.visible) return;
    this.position.set(...position);
    this.quaternion.set(attitude[1], attitude[2], attitude[3], attitude[0]);
    this.scale.setScalar(size);
  }

  /** The shell is shared; whoever created it disposes of it. */
  dispose(): void {
    (this.mesh.material as Material).dispose();
    (this.lines.material as Material).dispose();
  }
}
