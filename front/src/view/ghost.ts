// The closed form, as a ghost of the body: where both agree it hides in the body.

import { MeshLambertMaterial } from "three";
import { attitudeBetween, placeOf } from "../motion/pose.ts";
import { quaternionAt, vectorAt, type MotionRecord } from "../motion/record.ts";
import { conjugate, minus, mixed, product, scaled, toBody, type Quat, type Vec3 } from "../motion/vectors.ts";
import { Body, type Shell } from "./body.ts";
import { inPicture, type Frame, type Instant, type Subject } from "./subject.ts";

/** A little smaller than the body, so that the two do not flicker where they agree. */
const WITHIN = 0.994;

export class Ghost {
  readonly body: Body;

  constructor(private readonly subject: Subject, private readonly frame: Frame, shell: Shell) {
    const { closedForm } = subject.colours;
    const skin = { color: closedForm, emissive: closedForm, emissiveIntensity: 0.25, transparent: true, opacity: 0.34 };
    this.body = new Body(shell, new MeshLambertMaterial({ ...skin, depthWrite: false }), closedForm, 0.95);
    this.body.renderOrder = 1;
    this.body.visible = false;
  }

  update(isOn: boolean, instant: Instant): void {
    const { record, framing, watched } = this.subject;
    this.body.visible = isOn && record.ghost !== null && instant.isThere;
    if (!this.body.visible) return;
    const there = ghostAt(record, watched, instant.t);
    const size = instant.size * WITHIN;
    if (this.frame === "space") {
      this.body.put(inPicture(framing, instant.focus, there.position, watched), there.quaternion, size);
      return;
    }
    const { pose } = instant;
    const away = toBody(pose.quaternion, scaled(1 / framing.unit, minus(there.position, pose.position)));
    this.body.put(away, product(conjugate(pose.quaternion), there.quaternion), size);
  }
}

/** The closed form between two outputs, turned as the computed motion is. */
export function ghostAt(record: MotionRecord, body: number, t: number): { position: Vec3; quaternion: Quat } {
  const ghost = record.ghost!;
  const { before, share } = placeOf(record.time, t);
  const a = before * record.bodies + body;
  const b = record.times > 1 ? a + record.bodies : a;
  const seconds = record.times > 1 ? record.time[before + 1] - record.time[before] : 0;
  const [from, to] = [quaternionAt(ghost.quaternion, a), quaternionAt(ghost.quaternion, b)];
  const rates: [Vec3, Vec3] = [vectorAt(record.angularVelocity, a), vectorAt(record.angularVelocity, b)];
  return {
    position: mixed(vectorAt(ghost.position, a), vectorAt(ghost.position, b), share),
    quaternion: share === 1 ? to : attitudeBetween(from, to, ...rates, seconds, share),
  };
}
