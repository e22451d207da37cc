// The closed-form solution, drawn as a transparent body with thin axes, which coincide with the body where both agree.

import { MeshLambertMaterial } from "three";
import { placementAt } from "../motion/pose.ts";
import { short, withUnit } from "../controls/format.ts";
import { conjugate, length, minus, plus, product, scaled, toBody, toWorld, type Quat, type Vec3 } from "../motion/vectors.ts";
import { Arrow } from "./arrows.ts";
import { Body, type Shell } from "./body.ts";
import { MAX_LENGTH } from "./quantities.ts";
import { toView, type Frame, type Instant, type ViewContext } from "./context.ts";

/** Slightly smaller than the body, so that the two do not flicker where they agree. */
const SHRINK = 0.994;
/** Thinner than the body's own axes, which hide them where they agree. */
const THIN = 0.6;
const AXES: Vec3[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

export class ClosedFormOverlay {
  readonly body: Body;
  readonly axes: Arrow[];

  constructor(private readonly context: ViewContext, private readonly frame: Frame, shell: Shell) {
    const { closedForm } = context.colors;
    const skin = { color: closedForm, emissive: closedForm, emissiveIntensity: 0.25, transparent: true, opacity: 0.45 };
    this.body = new Body(shell, new MeshLambertMaterial({ ...skin, depthWrite: false }), closedForm, 0.95);
    this.body.renderOrder = 1;
    this.body.visible = false;
    const isParticle = context.record.appearances[context.record.appearanceIndex[context.watched]].kind === "particle";
    this.axes = AXES.slice(0, isParticle ? 0 : 3).map(() => new Arrow(closedForm, THIN));
  }

  update(isOn: boolean, instant: Instant): void {
    const { record, framing, watched } = this.context;
    this.body.visible = isOn && record.closedForm !== null && instant.isPresent;
    for (const axis of this.axes) axis.visible = this.body.visible;
    if (!this.body.visible) return;
    const exact = placementAt(record, record.closedForm!, watched, instant.t);
    const size = instant.size * SHRINK;
    if (this.frame === "space") {
      this.setPose(toView(framing, instant.focus, exact.position, watched), exact.quaternion, size, instant);
      return;
    }
    const { pose } = instant;
    const away = toBody(pose.quaternion, scaled(1 / framing.unit, minus(exact.position, pose.position)));
    this.setPose(away, product(conjugate(pose.quaternion), exact.quaternion), size, instant);
  }

  private setPose(position: Vec3, attitude: Quat, size: number, instant: Instant): void {
    const pivot = this.context.record.pivots[this.context.watched];
    const arm: Vec3 = pivot ? scaled(1 / this.context.framing.unit, pivot.body) : [0, 0, 0];
    this.body.setPose(position, attitude, size);
    this.axes.forEach((axis, i) =>
      axis.point(plus(position, toWorld(attitude, arm)), toWorld(attitude, scaled(MAX_LENGTH.axis * instant.reach, AXES[i]))),
    );
  }

  dispose(): void {
    this.body.dispose();
    for (const axis of this.axes) axis.dispose();
  }
}

/** Resolution of 32-bit numbers, in rad and relative to the size of the body. */
const RESOLUTION = 1e-6;

/** The difference between the closed form and the computed motion, in words. */
export function closedFormNote({ record, watched }: ViewContext, instant: Instant): string {
  if (record.closedForm === null || !instant.isPresent) return "";
  const exact = placementAt(record, record.closedForm!, watched, instant.t);
  const [, x, y, z] = product(conjugate(instant.pose.quaternion), exact.quaternion);
  const angle = 2 * Math.asin(Math.min(1, Math.hypot(x, y, z)));
  const far = length(minus(exact.position, instant.pose.position));
  const size = record.appearances[record.appearanceIndex[watched]].size || 1;
  const found = [
    angle > RESOLUTION ? `${short(angle, 2)} rad` : "",
    far > RESOLUTION * size ? withUnit(short(far, 2), "m") : "",
  ].filter(Boolean);
  const off = found.length > 0 ? `off by ${found.join(" and ")}` : "agrees with the motion to rounding";
  return `closed form: ${off}`;
}
