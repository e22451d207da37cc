// The spring between two bodies: thin, and drawn only where there is no doubt which two it joins.

import { Group, Vector3 } from "three";
import type { MotionRecord } from "../motion/record.ts";
import { drawnSize } from "./framing.ts";
import { WideLine } from "./lines.ts";
import { inPicture, type Instant, type Subject } from "./context.ts";

const COILS = 11;
const POINTS_A_COIL = 24;
/** Of the smaller of the two bodies. */
const WIDE = 0.36;
const UP = new Vector3(0, 1, 0);

/** A record names its forces but not their pairs: of two bodies the pair is known. */
export const hasSpring = (record: MotionRecord): boolean =>
  record.axis === "body" && record.bodies === 2 && record.forces.some(({ name }) => name.includes("spring"));

export class Spring extends Group {
  private readonly line: WideLine;

  constructor(private readonly subject: Subject) {
    super();
    this.line = new WideLine(coil(), subject.colours.muted, subject.colours.paper, 1.5);
    this.add(this.line);
  }

  update(instant: Instant): void {
    const { record, framing } = this.subject;
    const [a, b] = instant.all.map((pose, body) => new Vector3(...inPicture(framing, instant.focus, pose.position, body)));
    const way = b.sub(a);
    const long = way.length();
    this.visible = long > 0 && Number.isFinite(long);
    if (!this.visible) return;
    const wide = WIDE * instant.larger * Math.min(drawnSize(record, 0, framing), drawnSize(record, 1, framing));
    this.position.copy(a);
    this.quaternion.setFromUnitVectors(UP, way.divideScalar(long));
    this.scale.set(wide, long, wide);
  }

  setPixels(width: number, height: number): void {
    this.line.setPixels(width, height);
  }

  dispose(): void {
    this.line.dispose();
  }
}

/** Of length and radius 1 along y, straight at its ends. */
function coil(): Float32Array {
  const points = [0, 0, 0];
  const count = COILS * POINTS_A_COIL;
  for (let k = 0; k <= count; k++) {
    const angle = (2 * Math.PI * k) / POINTS_A_COIL;
    points.push(Math.cos(angle), 0.15 + (0.7 * k) / count, Math.sin(angle));
  }
  return Float32Array.from([...points, 0, 1, 0]);
}
