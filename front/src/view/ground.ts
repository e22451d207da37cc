// A grid on the ground, which slides past a body that is followed.

import {
  Color,
  DoubleSide,
  Group,
  Mesh,
  PlaneGeometry,
  ShaderMaterial,
  ShadowMaterial,
  Vector2,
} from "three";
import { roundNumber } from "../motion/rounding.ts";
import type { Instant, ViewContext } from "./context.ts";

const VERTEX = `
varying vec2 flat2;
void main() {
  flat2 = (modelMatrix * vec4(position, 1.0)).xy;
  gl_Position = projectionMatrix * viewMatrix * modelMatrix * vec4(position, 1.0);
}`;
const FRAGMENT = `
uniform vec3 color;
uniform vec2 slid;
uniform float cell;
uniform float radius;
uniform float strength;
varying vec2 flat2;
float lines(vec2 at) {
  vec2 width = fwidth(at);
  vec2 near = abs(fract(at - 0.5) - 0.5) / max(width, vec2(1e-6));
  float fine = 1.0 - smoothstep(0.15, 0.6, max(width.x, width.y));
  return (1.0 - min(min(near.x, near.y), 1.0)) * fine;
}
void main() {
  vec2 at = (flat2 + slid) / cell;
  float line = max(0.55 * lines(at), lines(at / 5.0));
  float away = smoothstep(1.0, 0.25, length(flat2) / radius);
  gl_FragColor = vec4(color, line * away * strength);
  #include <colorspace_fragment>
}`;

/** Distance between levels of the grid while a body is followed vertically, relative to its reach. */
const LEVELS = 5;

export class Ground extends Group {
  private readonly grid: Mesh<PlaneGeometry, ShaderMaterial> | null = null;
  private readonly shadow: Mesh<PlaneGeometry, ShadowMaterial> | null = null;

  constructor(private readonly context: ViewContext) {
    super();
    const { framing, colors, effects } = context;
    if (!framing.hasGround || context.record.patches.length > 0) return;
    const uniforms = {
      color: { value: new Color(colors.muted).lerp(new Color(colors.paper), 0.45) },
      slid: { value: new Vector2() },
      cell: { value: 1 },
      radius: { value: 1 },
      strength: { value: 1 },
    };
    const material = { vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms, transparent: true, depthWrite: false };
    this.grid = new Mesh(new PlaneGeometry(2, 2), new ShaderMaterial({ ...material, side: DoubleSide }));
    this.grid.renderOrder = -1;
    this.add(this.grid);
    if (effects === "high") {
      this.shadow = new Mesh(new PlaneGeometry(2, 2), new ShadowMaterial({ opacity: 0.16, depthWrite: false }));
      this.shadow.receiveShadow = true;
      this.add(this.shadow);
    }
  }

  /** Side of a grid square, in m. */
  private get cell(): number {
    return roundNumber(0.45 * this.context.framing.unit);
  }

  /** Returns the height of the ground in the view; null if there is none. */
  update(instant: Instant, isFollowing: boolean, radius: number): number | null {
    if (!this.grid) return null;
    const { framing } = this.context;
    const extent = Math.max(3 * radius, 6 * instant.reach);
    const level = this.level(instant, isFollowing);
    const cell = isFollowing || radius < (12 * instant.reach) / instant.larger ? this.cell : roundNumber((0.12 * radius) * framing.unit);
    const { uniforms } = this.grid.material;
    for (const part of [this.grid, this.shadow]) {
      part?.scale.setScalar(extent);
      part?.position.set(0, 0, level.z);
    }
    uniforms.radius.value = extent;
    uniforms.cell.value = cell / framing.unit;
    uniforms.strength.value = level.strength;
    // Modulo whole squares, so that nothing is lost to rounding far from the origin.
    const slid = (x: number): number => (x % (5 * cell)) / framing.unit;
    uniforms.slid.value.set(slid(instant.focus[0]), slid(instant.focus[1]));
    return level.z;
  }

  showShadow(yes: boolean): void {
    if (this.shadow) this.shadow.visible = yes;
  }

  /** Side of a square as currently drawn, as text. */
  description(): string {
    return this.grid ? `grid ${formatLength(this.grid.material.uniforms.cell.value * this.context.framing.unit)}` : "";
  }

  dispose(): void {
    this.traverse((part) => {
      if (!(part instanceof Mesh)) return;
      part.geometry.dispose();
      part.material.dispose();
    });
  }

  /** The true ground; while following far above it, levels that pass by. */
  private level(instant: Instant, isFollowing: boolean): { z: number; strength: number } {
    const { framing } = this.context;
    const z = (framing.ground - instant.focus[2]) / framing.unit;
    if (!isFollowing || z > -1.2 * LEVELS * instant.reach) return { z, strength: 1 };
    const height = LEVELS * instant.reach;
    const passed = (((-z % height) + height) % height) / height;
    return { z: -(1.3 + LEVELS * passed) * instant.reach, strength: Math.min(1, 5 * passed, 5 * (1 - passed)) };
  }
}

const PREFIXES: [number, string][] = [
  [1e3, "km"],
  [1, "m"],
  [1e-2, "cm"],
  [1e-3, "mm"],
  [1e-6, "µm"],
  [1e-9, "nm"],
  [1e-12, "pm"],
];

/** A length as text, such as "5 cm". */
export function formatLength(meters: number): string {
  const [size, name] = PREFIXES.find(([least]) => meters >= 0.999 * least) ?? PREFIXES[PREFIXES.length - 1];
  return `${Number((meters / size).toPrecision(3))} ${name}`;
}

