// A round bar.

import { CylinderGeometry, Mesh, MeshLambertMaterial, Vector3 } from "three";
import { scaled, type Vec3 } from "../../motion/vectors.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";

const UP = new Vector3(0, 1, 0);

export function rod(prop: PropData<"rod" | "axle">, context: ViewContext): Parts {
  const { unit } = context.framing;
  const along = new Vector3(...prop.end).sub(new Vector3(...prop.start)).divideScalar(unit);
  const radius = prop.radius / unit;
  const bar = new Mesh(new CylinderGeometry(radius, radius, along.length(), 24), new MeshLambertMaterial({ color: colorOf(prop, context) }));
  bar.quaternion.setFromUnitVectors(UP, along.clone().normalize());
  bar.castShadow = context.effects === "high";
  const middle = scaled(0.5, [prop.start[0] + prop.end[0], prop.start[1] + prop.end[1], prop.start[2] + prop.end[2]]);
  return { object: bar, anchor: middle, label: { at: along.multiplyScalar(0.5).toArray() as Vec3 } };
}
