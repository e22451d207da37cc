// A planet with its graticule.  One too large for the view, as seen from a low orbit, is drawn as a background: smaller
// and nearer by the same factor, which looks the same, and behind everything.

import { BufferGeometry, Color, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, SphereGeometry, Vector3 } from "three";
import { scaled, type Vec3 } from "../../motion/vectors.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";

const FORWARD = new Vector3(0, 0, 1);
/** Distance between lines of the graticule, and between their points, which are corners of the surface, in degrees. */
const GRATICULE = 15;
const STEP = GRATICULE / 8;
/** The horizon of a background lies at this fraction of what the camera sees. */
const BACKGROUND = 0.8;

export function globe(prop: PropData<"globe">, context: ViewContext): Parts {
  const { colors, framing } = context;
  const tone = new Color(colorOf(prop, context, "axis3"));
  // Colors are mixed linearly: toward a dark background it takes more to look equally faint.
  const paper = new Color(colors.paper);
  const ball = new SphereGeometry(1, 360 / STEP, 180 / STEP).rotateX(Math.PI / 2);
  // Pushed back a little, so that the lines on it are not hidden by it.
  const offset = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
  const surface = new Mesh(ball, new MeshLambertMaterial({ color: tone.clone().lerp(paper, paper.g < 0.5 ? 0.82 : 0.55), ...offset }));
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
      // Of a ball all that is seen is nearer than its horizon.
      const horizon = Math.sqrt(Math.max(camera.position.distanceToSquared(center) - radius ** 2, 1e-6 * radius ** 2));
      const scale = Math.min(1, (BACKGROUND * camera.far) / horizon);
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
    return [Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a), Math.sin(b)];
  };
  for (let fixed = -180; fixed < 180; fixed += GRATICULE) {
    for (let other = -90; other < 90; other += STEP) found.push(point(fixed, other), point(fixed, other + STEP));
    if (Math.abs(fixed) < 90)
      for (let other = -180; other < 180; other += STEP) found.push(point(other, fixed), point(other + STEP, fixed));
  }
  return found;
}
