// Arrows and lines along directions.

import { ConeGeometry, Group, Mesh, MeshBasicMaterial, Vector3 } from "three";
import { length, minus, plus, scaled, type Vec3 } from "../../motion/vectors.ts";
import { Arrow, boldnessIn, pixelAt } from "../arrows.ts";
import type { ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";
import { line } from "./figures.ts";

const UP = new Vector3(0, 1, 0);
/** Relative to the reach of the body. */
const TARGET_LENGTH = 1.85;
const AXIS_HALF = 1.9;
/** In pixels. */
const HEAD = { radius: 4.5, length: 13 };

export function arrow(prop: PropData<"arrow">, context: ViewContext): Parts {
  const object = new Arrow(colorOf(prop, context, "ink"));
  const vector = scaled(1 / context.framing.unit, prop.vector);
  object.point([0, 0, 0], vector);
  const fit: Parts["fit"] = (camera, _, height) => {
    object.updateWorldMatrix(true, false);
    object.fitAt(camera, object.parent!.localToWorld(new Vector3(...vector)), height);
  };
  return { object, anchor: prop.start, label: { at: vector }, fit };
}

export function target(prop: PropData<"target">, context: ViewContext): Parts {
  return dashedArrow(colorOf(prop, context, "muted"), context, () => prop.direction);
}

export function vertical(prop: PropData<"vertical">, context: ViewContext): Parts {
  const color = colorOf(prop, context, "muted");
  return dashedArrow(color, context, (position) => minus(prop.center, plus(position, context.record.origin)));
}

/** From the body, along a direction that may depend on its position. */
function dashedArrow(color: string, context: ViewContext, direction: (position: Vec3) => Vec3): Parts {
  const shaft = line([[0, 0, 0], [0, TARGET_LENGTH, 0]], color, context, true);
  const head = new Mesh(new ConeGeometry(1, 1, 16).translate(0, -0.5, 0), new MeshBasicMaterial({ color }));
  head.position.y = TARGET_LENGTH;
  const object = new Group().add(shaft, head);
  const tip: Vec3 = [0, 0, 0];
  return {
    object,
    follows: true,
    label: { at: tip },
    update: ({ pose }) => {
      const along = direction(pose.position);
      const size = length(along);
      object.visible = size > 0;
      if (size === 0) return;
      object.quaternion.setFromUnitVectors(UP, new Vector3(...scaled(1 / size, along)));
      scaled(TARGET_LENGTH / size, along).forEach((x, i) => (tip[i] = x));
    },
    fit: (camera, width, height) => {
      shaft.setPixels(width, height);
      object.updateWorldMatrix(true, true);
      const place = head.getWorldPosition(new Vector3());
      const pixel = (pixelAt(camera, place, height) * boldnessIn(height)) / object.getWorldScale(new Vector3()).x;
      head.scale.set(HEAD.radius * pixel, HEAD.length * pixel, HEAD.radius * pixel);
    },
  };
}

export function axis(prop: PropData<"axis">, context: ViewContext): Parts {
  const unit = scaled(1 / length(prop.direction), prop.direction);
  const { framing } = context;
  const half = prop.length !== null ? prop.length / 2 / framing.unit : prop.through === null ? AXIS_HALF : 0.8 * framing.radius.whole;
  const [low, high] = [scaled(-half, unit), scaled(half, unit)];
  const object = line([low, high], colorOf(prop, context), context, true);
  const place = prop.through === null ? { follows: true } : { anchor: prop.through };
  return { object, ...place, label: { at: high }, fit: (_, width, height) => object.setPixels(width, height) };
}
