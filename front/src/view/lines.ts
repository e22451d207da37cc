// Lines several pixels wide (WebGL's own are one pixel wide), in full color up to a point and faint beyond.

import { BufferGeometry, Color, DynamicDrawUsage, InterleavedBuffer, InterleavedBufferAttribute, Mesh, ShaderMaterial, Vector2 } from "three";
import { boldnessIn } from "./arrows.ts";

// Four corners per segment, expanded on the screen to the width of the line.  They are not instances of one quadrilateral:
// without a graphics card every instance costs as much as a mesh.
const VERTEX = `
attribute vec3 start;
attribute vec3 end;
uniform vec2 pixels;
uniform float width;
uniform float until;
varying float along;
void main() {
  int corner = gl_VertexID % 4;
  float far = corner == 1 || corner == 2 ? 1.0 : 0.0;
  float side = corner < 2 ? -1.0 : 1.0;
  float segment = float(gl_VertexID / 4);
  vec4 a = projectionMatrix * modelViewMatrix * vec4(start, 1.0);
  vec4 b = projectionMatrix * modelViewMatrix * vec4(end, 1.0);
  bool behind = a.w < 1e-3 || b.w < 1e-3;
  vec2 way = (b.xy / b.w - a.xy / a.w) * pixels;
  float size = length(way);
  way = size > 1e-6 ? way / size : vec2(1.0, 0.0);
  vec4 here = far < 0.5 ? a : b;
  vec2 aside = vec2(-way.y, way.x) * side + way * (far - 0.5) * 0.6;
  here.xy += aside * width / pixels * here.w;
  // The future part lies slightly behind the past one, so that a closed path stays in full color.
  here.z += segment > until ? 1e-4 * here.w : 0.0;
  gl_Position = behind ? vec4(2.0, 2.0, 2.0, 1.0) : here;
  along = segment + far;
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

/** Numbers per segment: start and end at each of its four corners. */
const PER_SEGMENT = 24;

export class WideLine extends Mesh<BufferGeometry, ShaderMaterial> {
  private buffer: InterleavedBuffer;

  /** Through all points or, if `isSeparate`, from each with an even index to the next. */
  constructor(points: Float32Array, color: string, paper: string, width: number, private readonly isSeparate = false) {
    const full = new Color(color);
    const background = new Color(paper);
    const uniforms = {
      color: { value: full },
      faint: { value: full.clone().lerp(background, fadeFor(background)) },
      until: { value: Infinity },
      width: { value: width },
      pixels: { value: new Vector2(1, 1) },
    };
    super(new BufferGeometry(), new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms }));
    this.buffer = this.reserve(0);
    this.frustumCulled = false;
    this.move(points);
  }

  /** Full color up to this index; 3.5 is halfway between the fourth and the fifth point. */
  set until(place: number) {
    this.material.uniforms.until.value = place;
  }

  setPixels(width: number, height: number): void {
    this.material.uniforms.pixels.value.set(width, height).divideScalar(boldnessIn(height));
  }

  /** Replace the points; the buffer is kept where it has room for them. */
  move(points: Float32Array): void {
    const segments = Math.max(0, this.isSeparate ? points.length / 6 : points.length / 3 - 1);
    const stride = this.isSeparate ? 6 : 3;
    if (PER_SEGMENT * segments > this.buffer.array.length) this.buffer = this.reserve(segments);
    const numbers = this.buffer.array as Float32Array;
    for (let k = 0; k < segments; k++) {
      for (let i = 0; i < 6; i++) {
        const at = PER_SEGMENT * k + i;
        numbers[at] = numbers[at + 6] = numbers[at + 12] = numbers[at + 18] = points[stride * k + i];
      }
    }
    this.buffer.needsUpdate = true;
    this.geometry.setDrawRange(0, 6 * segments);
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }

  private reserve(segments: number): InterleavedBuffer {
    this.geometry.dispose();
    this.geometry = new BufferGeometry();
    const buffer = new InterleavedBuffer(new Float32Array(PER_SEGMENT * segments), 6).setUsage(DynamicDrawUsage);
    this.geometry.setAttribute("start", new InterleavedBufferAttribute(buffer, 3, 0));
    this.geometry.setAttribute("end", new InterleavedBufferAttribute(buffer, 3, 3));
    this.geometry.setIndex(Array.from({ length: segments }, (_, k) => [0, 1, 2, 0, 2, 3].map((corner) => 4 * k + corner)).flat());
    return buffer;
  }
}
