// Plane figures, paths and texts.

import { BufferGeometry, DoubleSide, Float32BufferAttribute, Group, Mesh, MeshBasicMaterial, Object3D } from "three";
import { length, lerp, minus, plus, scaled, type Vec3 } from "../../motion/vectors.ts";
import { fan } from "../contacts.ts";
import type { ViewContext } from "../context.ts";
import { WideLine } from "../lines.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";

/** In pixels. */
const WIDTH = 1.8;
/** Dashes of a line, relative to its length. */
const DASHES = 48;
const FILL = 0.2;

export function polygon(prop: PropData<"polygon">, context: ViewContext): Parts {
  const color = colorOf(prop, context, "axis3");
  const anchor = middleOf(prop.points);
  const corners = inUnits(prop.points, anchor, context);
  const outline = line([...corners, corners[0]], color, context, prop.faded);
  const object = new Group().add(outline);
  if (!prop.faded) {
    const face = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(fan(corners).flat(), 3));
    const material = new MeshBasicMaterial({ color, transparent: true, opacity: FILL, side: DoubleSide, depthWrite: false });
    object.add(new Mesh(face, material));
  }
  const [first] = corners;
  return { object, anchor, label: { at: first }, fit: (_, width, height) => outline.setPixels(width, height) };
}

export function path(prop: PropData<"path">, context: ViewContext): Parts {
  const anchor = prop.points[0];
  const points = inUnits(prop.points, anchor, context);
  const object = line(points, colorOf(prop, context, "path"), context, prop.dashed);
  const last = points[points.length - 1];
  return { object, anchor, label: { at: last, from: points[points.length - 2] }, fit: (_, width, height) => object.setPixels(width, height) };
}

export function text(prop: PropData<"text">): Parts {
  // The label is all there is.
  return { object: new Object3D(), anchor: prop.at, label: { at: [0, 0, 0], from: [0, 0, -1] } };
}

/** A line through points in units of the view. */
export function line(points: Vec3[], color: string, { colors }: ViewContext, isDashed: boolean): WideLine {
  const drawn = isDashed ? dashes(points) : points;
  return new WideLine(Float32Array.from(drawn.flat()), color, colors.paper, WIDTH, isDashed);
}

/** Ends of dashes along a line, in pairs. */
export function dashes(points: Vec3[], count = DASHES): Vec3[] {
  const lengths = points.slice(1).map((point, i) => length(minus(point, points[i])));
  const period = lengths.reduce((a, b) => a + b, 0) / count;
  const found: Vec3[] = [];
  let done = 0;
  lengths.forEach((size, i) => {
    for (let k = Math.floor(done / period); k * period < done + size; k++) {
      const [from, to] = [Math.max(0, k * period - done), Math.min(size, (k + 0.6) * period - done)];
      if (to > from) found.push(lerp(points[i], points[i + 1], from / size), lerp(points[i], points[i + 1], to / size));
    }
    done += size;
  });
  return found;
}

const middleOf = (points: Vec3[]): Vec3 => scaled(1 / points.length, points.reduce(plus));

const inUnits = (points: Vec3[], anchor: Vec3, { framing }: ViewContext): Vec3[] =>
  points.map((point) => scaled(1 / framing.unit, minus(point, anchor)));
