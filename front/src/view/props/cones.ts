// The cones of a free symmetric body: omega moves on one in the body and on another in space; they touch along omega and
// roll on each other without slipping.

import { BufferAttribute, BufferGeometry, ConeGeometry, DoubleSide, Group, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, Vector3 } from "three";
import { poseAt } from "../../motion/pose.ts";
import { dot, length, scaled, toBody, type Vec3 } from "../../motion/vectors.ts";
import type { Instant, ViewContext } from "../context.ts";
import { reachOf } from "../framing.ts";
import { WideLine } from "../lines.ts";
import { MAX_LENGTH } from "../quantities.ts";
import type { PropData } from "../stage.ts";
import type { Parts, PropLabel } from "./base.ts";

/** Length of the side of both cones, relative to the reach of the body: that of the arrow of omega. */
const SIDE = MAX_LENGTH.omega;
const RULINGS = 16;
const RIM = 96;
const UP = new Vector3(0, 0, 1);

/** Half angle of the cone about an axis on which a vector lies, and the axis to its side; at most a right angle. */
export function coneOf(axis: Vec3, vector: Vec3): { axis: Vec3; half: number } {
  const along = dot(axis, vector) / length(axis) / length(vector);
  const toward = scaled((along < 0 ? -1 : 1) / length(axis), axis);
  return { axis: toward, half: Math.acos(Math.min(1, Math.abs(along))) };
}

export function cones(prop: PropData<"cones">, context: ViewContext): Parts | null {
  const { record, watched, framing, colors } = context;
  const first = poseAt(record, watched, record.time[0]);
  if (!record.isFree || !(length(first.angularVelocity) > 0)) return null;
  const side = SIDE * reachOf(record, watched, framing.unit);
  const lines: WideLine[] = [];
  const build = (axis: Vec3, omega: Vec3, color: string): { group: Group; half: number; axis: Vector3 } => {
    const found = coneOf(axis, omega);
    const group = new Group().add(...surface(found.half, side, color, context.effects === "high"));
    const rim = new WideLine(circle(found.half, side), color, colors.paper, 1.7);
    lines.push(rim);
    group.add(rim);
    group.quaternion.setFromUnitVectors(UP, new Vector3(...found.axis));
    return { group, half: found.half, axis: new Vector3(...found.axis) };
  };
  const body = build(prop.axis, toBody(first.quaternion, first.angularVelocity), colors.axis3);
  const space = build(first.angularMomentum, first.angularVelocity, colors.L);
  const fixed = new Group().add(space.group);
  const object = new Group().add(body.group, fixed);
  let now = first.angularVelocity;
  return {
    object,
    update({ pose }: Instant): void {
      now = pose.angularVelocity;
      const [w, x, y, z] = pose.quaternion;
      // Of what turns with the body, this part does not.
      fixed.quaternion.set(-x, -y, -z, w);
    },
    fit(_, width, height): void {
      for (const line of lines) line.setPixels(width, height);
    },
    labels(): PropLabel[] {
      object.updateWorldMatrix(true, true);
      const omega = new Vector3(...now).normalize();
      const inBody = omega.clone().applyQuaternion(fixed.quaternion);
      return [
        { text: "body cone", color: colors.axis3, ...opposite(body, inBody, side, object) },
        { text: "space cone", color: colors.L, ...opposite(space, omega, side, fixed) },
      ];
    },
  };
}

/** The point of the rim that is farthest from omega, and the middle of the rim. */
function opposite(cone: { half: number; axis: Vector3 }, omega: Vector3, side: number, within: Group): { at: Vector3; from: Vector3 } {
  const middle = cone.axis.clone().multiplyScalar(side * Math.cos(cone.half));
  const away = omega.clone().addScaledVector(cone.axis, -omega.dot(cone.axis)).normalize();
  const at = middle.clone().addScaledVector(away, -side * Math.sin(cone.half));
  return { at: at.applyMatrix4(within.matrixWorld), from: middle.applyMatrix4(within.matrixWorld) };
}

/** The transparent side of a cone about z with its tip at the origin, and some of its straight lines. */
function surface(half: number, side: number, color: string, isHigh: boolean): (Mesh | LineSegments)[] {
  const [radius, height] = [side * Math.sin(half), side * Math.cos(half)];
  const shape = new ConeGeometry(radius, height, RIM, 1, true).translate(0, -height / 2, 0).rotateX(-Math.PI / 2);
  const skin = { color, transparent: true, opacity: isHigh ? 0.24 : 0.2, depthWrite: false, side: DoubleSide };
  const ends: number[] = [];
  for (let k = 0; k < RULINGS; k++) {
    const angle = (2 * Math.PI * k) / RULINGS;
    ends.push(0, 0, 0, radius * Math.cos(angle), radius * Math.sin(angle), height);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(ends), 3));
  const thin = new LineBasicMaterial({ color, transparent: true, opacity: 0.4, depthWrite: false });
  return [new Mesh(shape, new MeshLambertMaterial(skin)), new LineSegments(geometry, thin)];
}

function circle(half: number, side: number): Float32Array {
  const [radius, height] = [side * Math.sin(half), side * Math.cos(half)];
  return Float32Array.from(
    Array.from({ length: RIM + 1 }, (_, k) => [radius * Math.cos((2 * Math.PI * k) / RIM), radius * Math.sin((2 * Math.PI * k) / RIM), height]).flat(),
  );
}
