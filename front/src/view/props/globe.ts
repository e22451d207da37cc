// A planet with its graticule.  One too large for the view, as seen from a low orbit, is drawn as a background: smaller
// and nearer by the same factor, which looks the same, and behind everything.

import { BufferGeometry, Color, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, SphereGeometry, Vector3 } from "three";
import { scaled, type Vec3 } from "../../motion/vectors.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";

const FORWARD = new Vector3(0, 0, 1);
/** Fine enough for the horizon of a low orbit. */
const SEGMENTS = { around: 256, along: 128 };
/** Distance between lines of the graticule, in degrees. */
const GRATICULE = 15;
/** Lines lie this much above the surface. */
const ABOVE = 1.0008;
/** The far side of a background lies at this fraction of what the camera sees. */
const BACKGROUND = 0.8;

export function globe(prop: PropData<"globe">, context: ViewContext): Parts {
  const { colors, framing } = context;
  const tone = new Color(colorOf(prop, context, "axis3"));
  const ball = new SphereGeometry(1, SEGMENTS.around, SEGMENTS.along).rotateX(Math.PI / 2);
  const surface = new Mesh(ball, new MeshLambertMaterial({ color: tone.clone().lerp(new Color(colors.paper), 0.55) }));
  const grid = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(graticule().flat(), 3));
  const lines = new LineSegments(grid, new LineBasicMaterial({ color: tone, transparent: true, opacity: 0.55 }));
  const turning = new Group().add(surface, lines);
  const object = new Group().add(turning);
  const radius = prop.radius / framing.unit;
  const tilt = object.quaternion.clone().setFromUnitVectors(FORWARD, new Vector3(...prop.axis).normalize());
  for (const part of [surface, lines]) part.frustumCulled = false;
  let isBackground = false;
  // After it, everything else is in front.
  lines.onAfterRender = (renderer) => {
    if (isBackground) renderer.clearDepth();
  };
  return {
    object,
    anchor: prop.center,
    label: { at: scaled(radius, prop.axis) },
    update: ({ t }) => turning.quaternion.copy(tilt).multiply(turning.quaternion.clone().setFromAxisAngle(FORWARD, prop.rate * t)),
    fit: (camera) => {
      const center = object.parent!.position;
      const far = camera.position.distanceTo(center) + radius;
      const scale = Math.min(1, (BACKGROUND * camera.far) / far);
      isBackground = scale < 1;
      surface.renderOrder = isBackground ? -20 : 0;
      lines.renderOrder = isBackground ? -19 : 0;
      // Transparent objects come after opaque ones, but a background comes first.
      lines.material.transparent = !isBackground;
      object.position.copy(camera.position).sub(center).multiplyScalar(1 - scale);
      object.scale.setScalar(radius * scale);
    },
  };
}

/** Ends of the segments of meridians and parallels on the unit ball. */
function graticule(): Vec3[] {
  const found: Vec3[] = [];
  const point = (longitude: number, latitude: number): Vec3 => {
    const [a, b] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
    return [ABOVE * Math.cos(b) * Math.cos(a), ABOVE * Math.cos(b) * Math.sin(a), ABOVE * Math.sin(b)];
  };
  const step = GRATICULE / 8;
  for (let fixed = -180; fixed < 180; fixed += GRATICULE) {
    for (let other = -90; other < 90; other += step) found.push(point(fixed, other), point(fixed, other + step));
    if (Math.abs(fixed) < 90)
      for (let other = -180; other < 180; other += step) found.push(point(other, fixed), point(other + step, fixed));
  }
  return found;
}
