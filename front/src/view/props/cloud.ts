// A cloud of small round dots, such as observations; those of times to come are faint.

import { BufferAttribute, BufferGeometry, Color, Points, PointsMaterial } from "three";
import { minus, scaled } from "../../motion/vectors.ts";
import type { Instant, ViewContext } from "../context.ts";
import type { PropData } from "../stage.ts";
import { colorOf, type Parts } from "./base.ts";

/** How far the dots of times to come fade into the background. */
const FADED = 0.62;

export function cloud(prop: PropData<"cloud">, context: ViewContext): Parts {
  const color = colorOf(prop, context, "ink");
  const places = prop.points.map((point) => scaled(1 / context.framing.unit, minus(point, prop.points[0])));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(places.flat()), 3));
  const tones = new BufferAttribute(new Float32Array(3 * places.length), 3);
  geometry.setAttribute("color", tones);
  const material = new PointsMaterial({ size: prop.pixels, sizeAttenuation: false, vertexColors: true });
  const object = new Points(geometry, round(material));
  object.frustumCulled = false;
  const [full, faint] = [new Color(color), new Color(color).lerp(new Color(context.colors.paper), FADED)];
  let shown = "";
  const update = ({ t }: Instant): void => {
    const isPast = places.map((_, i) => !(prop.times[i] > t));
    if (isPast.join() === shown) return;
    shown = isPast.join();
    isPast.forEach((past, i) => (past ? full : faint).toArray(tones.array as Float32Array, 3 * i));
    tones.needsUpdate = true;
  };
  return { object, update, anchor: prop.points[0], label: { at: places[places.length - 1], from: places[0] } };
}

/** Points are squares; only their inscribed circle is drawn. */
function round(material: PointsMaterial): PointsMaterial {
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace(
      "#include <clipping_planes_fragment>",
      "if (distance(gl_PointCoord, vec2(0.5)) > 0.5) discard;",
    );
  };
  return material;
}
