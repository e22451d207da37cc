// Solid things made of round bars, balls and blocks: rods, axles, balls, blocks, atoms with their bonds.

import { BoxGeometry, CylinderGeometry, Group, Mesh, MeshLambertMaterial, MeshStandardMaterial, SphereGeometry, Vector3, type BufferGeometry } from "three";
import { minus, scaled, type Vec3 } from "../../motion/vectors.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";

const UP = new Vector3(0, 1, 0);
/** The tapered end of an axle that stands on a pivot, relative to its radius. */
const TIP = 3;

/** A mesh that is lit like the bodies, and casts and receives shadows where they do. */
export function solid(geometry: BufferGeometry, color: string, { effects }: ViewContext): Mesh {
  const isHigh = effects === "high";
  const material = isHigh ? new MeshStandardMaterial({ color, roughness: 0.5, metalness: 0.1 }) : new MeshLambertMaterial({ color });
  const mesh = new Mesh(geometry, material);
  mesh.castShadow = mesh.receiveShadow = isHigh;
  return mesh;
}

/** A round bar from one point to another, with the radius at each; 0 for a point. */
export function bar(from: Vec3, to: Vec3, radii: [number, number], color: string, context: ViewContext): Mesh {
  const along = new Vector3(...minus(to, from));
  const length = along.length();
  const mesh = solid(new CylinderGeometry(radii[1], radii[0], length, 32).translate(0, length / 2, 0), color, context);
  mesh.quaternion.setFromUnitVectors(UP, along.divideScalar(length || 1));
  mesh.position.set(...from);
  return mesh;
}

export function rod(prop: PropData<"rod">, context: ViewContext): Parts {
  const [radius, along] = inUnits(prop, context);
  const end = prop.endRadius === null ? radius : prop.endRadius / context.framing.unit;
  return { object: bar([0, 0, 0], along, [radius, end], colorOf(prop, context), context), anchor: prop.start, label: { at: along } };
}

/** An axle tapers to a point at its start, where it stands on a pivot. */
export function axle(prop: PropData<"axle">, context: ViewContext): Parts {
  const [radius, along] = inUnits(prop, context);
  const tip = scaled(Math.min(0.3, (TIP * radius) / Math.hypot(...along)), along);
  const color = colorOf(prop, context);
  const object = new Group().add(bar([0, 0, 0], tip, [0, radius], color, context), bar(tip, along, [radius, radius], color, context));
  return { object, anchor: prop.start, label: { at: along } };
}

export function ball(prop: PropData<"ball">, context: ViewContext): Parts {
  const radius = prop.radius / context.framing.unit;
  const object = solid(new SphereGeometry(radius, 40, 28), colorOf(prop, context), context);
  return { object, anchor: prop.center, label: { at: [0, 0, radius] } };
}

export function box(prop: PropData<"box">, context: ViewContext): Parts {
  const [x, y, z] = scaled(1 / context.framing.unit, prop.sides);
  const object = solid(new BoxGeometry(x, y, z), colorOf(prop, context), context);
  const [w, i, j, k] = prop.quaternion;
  object.quaternion.set(i, j, k, w);
  return { object, anchor: prop.center, label: { at: [0, 0, z / 2] } };
}

export function bonds(prop: PropData<"bonds">, context: ViewContext): Parts {
  const { unit } = context.framing;
  const points = prop.points.map((point) => scaled(1 / unit, point));
  const radius = prop.radius / unit;
  const object = new Group();
  for (const [i, j] of prop.pairs) object.add(bar(points[i], points[j], [radius, radius], colorOf(prop, context), context));
  points.forEach((point, i) => {
    const color = colorOf({ ...prop, color: prop.colors[i] ?? prop.color }, context);
    const atom = solid(new SphereGeometry((prop.radii[i] ?? 2 * prop.radius) / unit, 32, 22), color, context);
    atom.position.set(...point);
    object.add(atom);
  });
  return { object, label: { at: points[0] } };
}

function inUnits({ start, end, radius }: PropData<"rod" | "axle">, { framing }: ViewContext): [number, Vec3] {
  return [radius / framing.unit, scaled(1 / framing.unit, minus(end, start))];
}
