// The spring between two bodies, drawn only for systems of two.

import { Group, Vector3 } from "three";
import type { MotionRecord } from "../motion/record.ts";
import { drawnSize } from "./framing.ts";
import { WideLine } from "./lines.ts";
import { toView, type Instant, type ViewContext } from "./context.ts";

const COILS = 11;
const POINTS_PER_COIL = 24;
/** Relative to the size of the smaller body. */
const WIDTH = 0.36;
const UP = new Vector3(0, 1, 0);

/** A record does not contain the pairs of its forces; with two bodies there is only one. */
export const hasSpring = (record: MotionRecord): boolean =>
  record.axis === "body" && record.bodies === 2 && record.forces.some(({ name }) => name.includes("spring"));

export class Spring extends Group {
  private readonly line: WideLine;

  constructor(private readonly context: ViewContext) {
    super();
    this.line = new WideLine(coil(), context.colors.muted, context.colors.paper, 1.5);
    this.add(this.line);
  }

  update(instant: Instant): void {
    const { record, framing } = this.context;
    const [a, b] = instant.all.map((pose, body) => new Vector3(...toView(framing, instant.focus, pose.position, body)));
    const direction = b.sub(a);
    const length = direction.length();
    this.visible = length > 0 && Number.isFinite(length);
    if (!this.visible) return;
    const width = WIDTH * instant.larger * Math.min(drawnSize(record, 0, framing), drawnSize(record, 1, framing));
    this.position.copy(a);
    this.quaternion.setFromUnitVectors(UP, direction.divideScalar(length));
    this.scale.set(width, length, width);
  }

  setPixels(width: number, height: number): void {
    this.line.setPixels(width, height);
  }

  dispose(): void {
    this.line.dispose();
  }
}

/** A coil of length and radius 1 along y, with straight ends. */
function coil(): Float32Array {
  const points = [0, 0, 0];
  const count = COILS * POINTS_PER_COIL;
  for (let k = 0; k <= count; k++) {
    const angle = (2 * Math.PI * k) / POINTS_PER_COIL;
    points.push(Math.cos(angle), 0.15 + (0.7 * k) / count, Math.sin(angle));
  }
  return Float32Array.from([...points, 0, 1, 0]);
}
