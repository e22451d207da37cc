// What holds a body: the stand of a gyroscope, and a shaft in two bearings.

import { Color, Group } from "three";
import { scaled, type Vec3 } from "../../motion/vectors.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";
import { bar } from "./solids.ts";

/** Outline of the stand: radius relative to the column's or, for the base, to the height; and height above the floor. */
const BASE = 0.34;
const PROFILE: [base: boolean, radius: number, height: number][] = [
  [true, 1, 0],
  [true, 1, 0.05],
  [true, 0.86, 0.085],
  [false, 1.7, 0.16],
  [false, 1.15, 0.3],
  [false, 0.9, 0.86],
];
/** The cup, and the point in which it ends, relative to the radius of the column. */
const CUP = { radius: 1.35, below: 2.4, rim: 1.5 };

/** Of a bearing, relative to the radius of the shaft. */
const HOUSING = { radius: 2.4, half: 1.3 };
const FLANGE = { radius: 3.8, half: 0.4 };
/** Distance of the bearings from the middle, relative to half the length. */
const APART = 0.82;

export function stand(prop: PropData<"stand">, context: ViewContext): Parts {
  const [radius, height] = [prop.radius / context.framing.unit, prop.height / context.framing.unit];
  const color = colorOf(prop, context);
  const base = Math.min(BASE * height, 9 * radius);
  const outline = PROFILE.map(([isBase, r, h]): [number, number] => [r * (isBase ? base : radius), (h - 1) * height]);
  outline.push([CUP.radius * radius, -CUP.below * radius], [CUP.radius * radius, -CUP.rim * radius], [0, 0]);
  return { object: turned(outline, color, context), anchor: prop.pivot, label: { at: [base, 0, -height] } };
}

export function shaft(prop: PropData<"shaft">, context: ViewContext): Parts {
  const { unit } = context.framing;
  const [radius, half] = [prop.radius / unit, prop.length / 2 / unit];
  const along = scaled(1 / Math.hypot(...prop.direction), prop.direction);
  const color = colorOf(prop, context);
  const object = new Group().add(bar(scaled(-half, along), scaled(half, along), [radius, radius], color, context));
  const dark = `#${new Color(color).multiplyScalar(0.45).getHexString()}`;
  const ring = (at: number, size: { radius: number; half: number }): void => {
    const [from, to] = [-1, 1].map((side): Vec3 => scaled(at + side * size.half * radius, along));
    object.add(bar(from, to, [size.radius * radius, size.radius * radius], dark, context));
  };
  for (const side of prop.bearings ? [-1, 1] : []) {
    ring(side * APART * half, HOUSING);
    ring(side * (APART * half + HOUSING.half * radius), FLANGE);
  }
  return { object, anchor: prop.point, label: { at: scaled(half, along) } };
}

/** A turned piece: frusta about z through the points of an outline (radius, height). */
function turned(outline: [number, number][], color: string, context: ViewContext): Group {
  const object = new Group();
  outline.slice(1).forEach(([radius, high], i) => {
    const [before, low] = outline[i];
    object.add(bar([0, 0, low], [0, 0, high], [before, radius], color, context));
  });
  return object;
}
