// The tips of omega of all members of an ensemble, each in its own body's axes, as dots round the watched one.

import { BufferAttribute, BufferGeometry, Points, PointsMaterial } from "three";
import { quantitiesOf, type Quantity } from "./quantities.ts";
import type { Instant, Stand, Subject } from "./context.ts";

const PIXELS = 3.5;

export class Cloud extends Points<BufferGeometry, PointsMaterial> {
  private readonly omega: Quantity | undefined;

  constructor(subject: Subject) {
    const { record, watched, colours } = subject;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * record.bodies), 3));
    super(geometry, new PointsMaterial({ color: colours.path, size: PIXELS, sizeAttenuation: false }));
    this.frustumCulled = false;
    this.omega = quantitiesOf(record, watched, colours).find(({ name }) => name === "omega");
  }

  update(isOn: boolean, instant: Instant, stand: Stand): void {
    this.visible = isOn && this.omega !== undefined && instant.all.length > 1;
    if (!this.visible) return;
    const places = this.geometry.attributes.position as BufferAttribute;
    let count = 0;
    for (const pose of instant.all) {
      const tip = this.omega!.inBody!(pose);
      if (tip.every(Number.isFinite)) places.setXYZ(count++, ...tip);
    }
    places.needsUpdate = true;
    this.geometry.setDrawRange(0, count);
    this.position.set(...stand.anchor);
    this.scale.setScalar(instant.reach);
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
