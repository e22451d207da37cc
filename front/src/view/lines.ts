// Lines several pixels wide (WebGL's own are one pixel wide), in full color up to a point and faint beyond.

import {
  Color,
  Float32BufferAttribute,
  InstancedBufferGeometry,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  Mesh,
  ShaderMaterial,
  Vector2,
} from "three";
import { boldnessIn } from "./arrows.ts";

// One quadrilateral per segment, expanded on the screen to the width of the line.
const VERTEX = `
attribute vec3 start;
attribute vec3 end;
uniform vec2 pixels;
uniform float width;
uniform float until;
varying float along;
void main() {
  vec4 a = projectionMatrix * modelViewMatrix * vec4(start, 1.0);
  vec4 b = projectionMatrix * modelViewMatrix * vec4(end, 1.0);
  bool behind = a.w < 1e-3 || b.w < 1e-3;
  vec2 way = (b.xy / b.w - a.xy / a.w) * pixels;
  float far = length(way);
  way = far > 1e-6 ? way / far : vec2(1.0, 0.0);
  vec4 here = position.x < 0.5 ? a : b;
  vec2 aside = vec2(-way.y, way.x) * position.y + way * (position.x - 0.5) * 0.6;
  here.xy += aside * width / pixels * here.w;
  // The future part lies slightly behind the past one, so that a closed path stays in full color.
  here.z += float(gl_InstanceID) > until ? 1e-4 * here.w : 0.0;
  gl_Position = behind ? vec4(2.0, 2.0, 2.0, 1.0) : here;
  along = float(gl_InstanceID) + position.x;
}`;
const FRAGMENT = `
uniform vec3 color;
uniform vec3 faint;
uniform float until;
varying float along;
void main() {
  gl_FragColor = vec4(along <= until ? color : faint, 1.0);
  #include <colorspace_fragment>
}`;

/**
 * How far the future part fades into the background.  Colors are mixed linearly, so a dark background needs more fading
 * to look equally faint.
 */
const fadeFor = (paper: Color): number => (paper.g < 0.5 ? 0.88 : 0.62);

export class WideLine extends Mesh<InstancedBufferGeometry, ShaderMaterial> {
  private readonly buffer: InstancedInterleavedBuffer;

  /** Through all points or, if `isSeparate`, from each with an even index to the next. */
  constructor(points: Float32Array, color: string, paper: string, width: number, isSeparate = false) {
    const geometry = new InstancedBufferGeometry();
    const stride = isSeparate ? 6 : 3;
    const buffer = new InstancedInterleavedBuffer(points, stride, 1);
    geometry.setAttribute("position", new Float32BufferAttribute([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0], 3));
    geometry.setAttribute("start", new InterleavedBufferAttribute(buffer, 3, 0));
    geometry.setAttribute("end", new InterleavedBufferAttribute(buffer, 3, 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.instanceCount = Math.max(0, isSeparate ? points.length / 6 : points.length / 3 - 1);
    const full = new Color(color);
    const background = new Color(paper);
    const uniforms = {
      color: { value: full },
      faint: { value: full.clone().lerp(background, fadeFor(background)) },
      until: { value: Infinity },
      width: { value: width },
      pixels: { value: new Vector2(1, 1) },
    };
    super(geometry, new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms }));
    this.buffer = buffer;
    this.frustumCulled = false;
  }

  /** Full color up to this index; 3.5 is halfway between the fourth and the fifth point. */
  set until(place: number) {
    this.material.uniforms.until.value = place;
  }

  setPixels(width: number, height: number): void {
    this.material.uniforms.pixels.value.set(width, height).divideScalar(boldnessIn(height));
  }

  /** Replace the points by the same number of others. */
  move(points: Float32Array): void {
    (this.buffer.array as Float32Array).set(points);
    this.buffer.needsUpdate = true;
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
