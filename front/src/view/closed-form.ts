// The closed form, as a ghost of the body with thin axes: where both agree it hides in the body and its axes.

import { MeshLambertMaterial } from "three";
import { stanceAt } from "../motion/pose.ts";
import { short, withUnit } from "../controls/format.ts";
import { conjugate, length, minus, plus, product, scaled, toBody, toWorld, type Quat, type Vec3 } from "../motion/vectors.ts";
import { Arrow } from "./arrows.ts";
import { Body, type Shell } from "./body.ts";
import { LONGEST } from "./quantities.ts";
import { inPicture, type Frame, type Instant, type Subject } from "./context.ts";

/** A little smaller than the body, so that the two do not flicker where they agree. */
const WITHIN = 0.994;
/** Thinner than the body's own axes, in which they hide. */
const THIN = 0.6;
const AXES: Vec3[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

export class Ghost {
  readonly body: Body;
  readonly axes: Arrow[];

  constructor(private readonly subject: Subject, private readonly frame: Frame, shell: Shell) {
    const { closedForm } = subject.colours;
    const skin = { color: closedForm, emissive: closedForm, emissiveIntensity: 0.25, transparent: true, opacity: 0.45 };
    this.body = new Body(shell, new MeshLambertMaterial({ ...skin, depthWrite: false }), closedForm, 0.95);
    this.body.renderOrder = 1;
    this.body.visible = false;
    const isParticle = subject.record.looks[subject.record.lookOf[subject.watched]].kind === "particle";
    this.axes = AXES.slice(0, isParticle ? 0 : 3).map(() => new Arrow(closedForm, THIN));
  }

  update(isOn: boolean, instant: Instant): void {
    const { record, framing, watched } = this.subject;
    this.body.visible = isOn && record.ghost !== null && instant.isThere;
    for (const axis of this.axes) axis.visible = this.body.visible;
    if (!this.body.visible) return;
    const there = stanceAt(record, record.ghost!, watched, instant.t);
    const size = instant.size * WITHIN;
    if (this.frame === "space") {
      this.put(inPicture(framing, instant.focus, there.position, watched), there.quaternion, size, instant);
      return;
    }
    const { pose } = instant;
    const away = toBody(pose.quaternion, scaled(1 / framing.unit, minus(there.position, pose.position)));
    this.put(away, product(conjugate(pose.quaternion), there.quaternion), size, instant);
  }

  private put(place: Vec3, turn: Quat, size: number, instant: Instant): void {
    const pivot = this.subject.record.pivots[this.subject.watched];
    const arm: Vec3 = pivot ? scaled(1 / this.subject.framing.unit, pivot.body) : [0, 0, 0];
    this.body.put(place, turn, size);
    this.axes.forEach((axis, i) =>
      axis.point(plus(place, toWorld(turn, arm)), toWorld(turn, scaled(LONGEST.axis * instant.reach, AXES[i]))),
    );
  }

  dispose(): void {
    this.body.dispose();
    for (const axis of this.axes) axis.dispose();
  }
}

/** The page has numbers of 32 bits: below this, in rad and in the body's size, it cannot tell two attitudes apart. */
const SAME = 1e-6;

/** How far the closed form is from the computed motion, in words. */
export function ghostWords({ record, watched }: Subject, instant: Instant): string {
  if (record.ghost === null || !instant.isThere) return "";
  const there = stanceAt(record, record.ghost!, watched, instant.t);
  const [, x, y, z] = product(conjugate(instant.pose.quaternion), there.quaternion);
  const angle = 2 * Math.asin(Math.min(1, Math.hypot(x, y, z)));
  const far = length(minus(there.position, instant.pose.position));
  const size = record.looks[record.lookOf[watched]].size || 1;
  const found = [
    angle > SAME ? `${short(angle, 2)} rad` : "",
    far > SAME * size ? withUnit(short(far, 2), "m") : "",
  ].filter(Boolean);
  const off = found.length > 0 ? `off by ${found.join(" and ")}` : "not to be told from the body here";
  return `ghost: closed form, ${off}`;
}
