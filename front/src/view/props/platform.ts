// A turning disk, with sectors in two tones so that one sees it turn.

import { CircleGeometry, Color, CylinderGeometry, DoubleSide, Group, Mesh, MeshLambertMaterial, Vector3 } from "three";
import type { Vec3 } from "../../motion/vectors.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";
import { line } from "./figures.ts";

const FORWARD = new Vector3(0, 0, 1);
const SEGMENTS = 96;
/** How far the two tones, and the edge, fade into the background. */
const TONES = [0.52, 0.78];
const EDGE = 0.2;
const BEHIND_ITS_EDGE = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 2 };

export function platform(prop: PropData<"platform">, context: ViewContext): Parts {
  const { colors, framing, effects } = context;
  const base = new Color(colorOf(prop, context, "bodyOther"));
  const tone = (share: number): Color => base.clone().lerp(new Color(colors.paper), share);
  const radius = prop.radius / framing.unit;
  const disk = new Group();
  const count = Math.max(2, prop.spokes);
  const angle = (2 * Math.PI) / count;
  for (let k = 0; k < count; k++) {
    const sector = new CircleGeometry(radius, Math.max(4, Math.ceil(SEGMENTS / count)), k * angle, angle);
    const face = new Mesh(sector, new MeshLambertMaterial({ color: tone(TONES[k % 2]), side: DoubleSide, ...BEHIND_ITS_EDGE }));
    face.receiveShadow = effects === "high";
    disk.add(face);
  }
  const rim = line(circle(radius), `#${tone(EDGE).getHexString()}`, context, false);
  disk.add(rim);
  if (prop.thickness > 0) {
    const high = prop.thickness / framing.unit;
    const side = new CylinderGeometry(radius, radius, high, SEGMENTS, 1, true).rotateX(Math.PI / 2).translate(0, 0, -high / 2);
    disk.add(new Mesh(side, new MeshLambertMaterial({ color: tone(0.4), side: DoubleSide })));
  }
  const object = new Group().add(disk);
  object.quaternion.setFromUnitVectors(FORWARD, new Vector3(...prop.normal).normalize());
  return {
    object,
    anchor: prop.center,
    label: { at: [0, -radius, 0] },
    update: ({ t }) => (disk.rotation.z = prop.rate * t),
    fit: (_, width, height) => rim.setPixels(width, height),
  };
}

const circle = (radius: number): Vec3[] =>
  Array.from({ length: SEGMENTS + 1 }, (_, k) => {
    const angle = (2 * Math.PI * k) / SEGMENTS;
    return [radius * Math.cos(angle), radius * Math.sin(angle), 0];
  });
