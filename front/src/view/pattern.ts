// The pattern that makes spin visible: octants of the principal axes in two tones, like a beach ball, and a dot that
// breaks the symmetry.

import { Color, Matrix3, MeshLambertMaterial, MeshStandardMaterial, Ray, Vector3, type Material } from "three";
import type { Appearance } from "../motion/record.ts";
import { conjugate, toWorld, type Vec3 } from "../motion/vectors.ts";

export type Effects = "low" | "high";

export interface Tones {
  one: string;
  other: string;
  dot: string;
}

const VERTEX_HEAD = `#include <common>
uniform mat3 toOctants;
uniform vec3 lift;
varying vec3 spot;
varying vec3 drawn;`;
const VERTEX_BODY = `#include <begin_vertex>
drawn = position;
spot = toOctants * position + lift;`;
const FRAGMENT_HEAD = `#include <common>
uniform vec3 one;
uniform vec3 other;
uniform vec3 dotTone;
uniform vec3 dotAt;
uniform float dotSize;
uniform vec3 dotSide;
varying vec3 spot;
varying vec3 drawn;`;
const OCTANTS = `
  vec3 side = clamp(spot / max(fwidth(spot), vec3(1e-5)), -1.0, 1.0);
  float part = 0.5 + 0.5 * side.x * side.y * side.z;`;
const DOT = `
  float far = length(drawn - dotAt);
  float edge = fwidth(far);
  float inside = (1.0 - smoothstep(dotSize - edge, dotSize + edge, far)) * step(-1e-3, dot(spot, dotSide));`;
const SINGLE_COLOR = `#include <color_fragment>${OCTANTS}${DOT}
  diffuseColor.rgb = mix(mix(one, other, part), dotTone, inside);`;
const INSTANCE_COLOR = `#include <color_fragment>${OCTANTS}
  diffuseColor.rgb = mix(diffuseColor.rgb, mix(diffuseColor.rgb, vec3(1.0), 0.6), part);`;

/** Material of a body; with `null` tones each instance has its own color. */
export function patternMaterial(appearance: Appearance, tones: Tones | null, effects: Effects): Material {
  const material =
    effects === "low" ? new MeshLambertMaterial() : new MeshStandardMaterial({ roughness: 0.62, metalness: 0.02 });
  if (appearance.kind === "particle") {
    if (tones) material.color.set(tones.one);
    return material;
  }
  const uniforms = {
    ...placePattern(appearance),
    one: { value: new Color(tones?.one) },
    other: { value: new Color(tones?.other) },
    dotTone: { value: new Color(tones?.dot) },
  };
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", VERTEX_HEAD)
      .replace("#include <begin_vertex>", VERTEX_BODY);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", FRAGMENT_HEAD)
      .replace("#include <color_fragment>", tones ? SINGLE_COLOR : INSTANCE_COLOR);
  };
  material.userData.uniforms = uniforms;
  material.customProgramCacheKey = () => `polhode octants ${tones ? "one" : "many"}`;
  return material;
}

/** The pattern on another body of the same kind; the material stays. */
export function movePattern(material: Material, appearance: Appearance): void {
  const { uniforms } = material.userData as { uniforms?: Record<string, { value: unknown }> };
  if (uniforms === undefined) return;
  for (const [name, { value }] of Object.entries(placePattern(appearance))) uniforms[name].value = value;
}

function placePattern(appearance: Appearance) {
  const { toOctants, lift } = octantTransform(appearance);
  const dot = dotPosition(appearance, toOctants);
  return {
    toOctants: { value: toOctants },
    lift: { value: lift },
    dotAt: { value: dot.at },
    dotSize: { value: dot.size },
    dotSide: { value: dot.side },
  };
}

/**
 * Transformation from the drawn body (of size 1) to principal axes, in units of its half widths.  A flat body lies
 * between two octants and is lifted into one of them.
 */
function octantTransform(appearance: Appearance): { toOctants: Matrix3; lift: Vector3 } {
  const columns = [0, 1, 2].map((i): Vec3 => toWorld(conjugate(appearance.axes), [+(i === 0), +(i === 1), +(i === 2)]));
  const widths: Vec3 = [0, 0, 0];
  for (let v = 0; v < appearance.vertices.length; v += 3) {
    for (let i = 0; i < 3; i++) {
      const along = columns.reduce((sum, column, k) => sum + column[i] * appearance.vertices[v + k], 0);
      widths[i] = Math.max(widths[i], Math.abs(along) / appearance.size);
    }
  }
  const least = 1e-3 * Math.max(...widths);
  const [x, y, z] = columns;
  const rows = [0, 1, 2].map((i) => [x[i], y[i], z[i]].map((c) => c / Math.max(widths[i], least)));
  const toOctants = new Matrix3();
  toOctants.set(...(rows.flat() as Parameters<Matrix3["set"]>));
  const [a, b, c] = widths.map((width) => (width <= least ? 1 : 0));
  return { toOctants, lift: new Vector3(a, b, c) };
}

/** Position of the dot: on the broadest side, in an octant of the first tone, where a ray from the center exits. */
function dotPosition(appearance: Appearance, toOctants: Matrix3): { at: Vector3; size: number; side: Vector3 } {
  const fromOctants = toOctants.clone().invert();
  const unit = (i: number): Vector3 => new Vector3(+(i === 0), +(i === 1), +(i === 2));
  // Half widths along the principal axes, the smallest first.
  const widths = [0, 1, 2].map((i) => ({ i, half: unit(i).applyMatrix3(fromOctants).length() }));
  widths.sort((p, q) => p.half - q.half);
  const side = unit(widths[0].i);
  const way = side.clone().addScaledVector(unit(widths[1].i), 0.5).addScaledVector(unit(widths[2].i), -0.5);
  // A point on a flat body, which no ray exits.
  const flat = way.clone().sub(side).applyMatrix3(fromOctants);
  const ray = new Ray(new Vector3(), way.applyMatrix3(fromOctants).normalize());
  const corner = (v: number): Vector3 => new Vector3().fromArray(appearance.vertices, 3 * v).divideScalar(appearance.size);
  const [at, hit] = [new Vector3(), new Vector3()];
  for (let f = 0; f < appearance.faces.length; f += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => corner(appearance.faces[f + i]));
    if (ray.intersectTriangle(a, b, c, false, hit) && hit.length() > at.length()) at.copy(hit);
  }
  if (at.length() === 0) at.copy(flat);
  return { at, side, size: Math.min(0.09, Math.max(0.03, 0.25 * widths[1].half)) };
}
