// The tips of omega of all members of an ensemble, each in its own body axes, as dots around the watched member.

import { BufferAttribute, BufferGeometry, Points, PointsMaterial } from "three";
import { quantitiesOf, type Quantity } from "./quantities.ts";
import type { Instant, FramePose, ViewContext } from "./context.ts";

const PIXELS = 3.5;

export class OmegaCloud extends Points<BufferGeometry, PointsMaterial> {
  private omega: Quantity | undefined;

  constructor(private readonly context: ViewContext) {
    const { record, colors } = context;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * record.bodies), 3));
    super(geometry, new PointsMaterial({ color: colors.path, size: PIXELS, sizeAttenuation: false }));
    this.frustumCulled = false;
    this.reload();
  }

  /** The motion of the context is another one, with as many members. */
  reload(): void {
    const { record, watched, colors } = this.context;
    this.omega = quantitiesOf(record, watched, colors).find(({ name }) => name === "omega");
  }

  update(isOn: boolean, instant: Instant, framePose: FramePose): void {
    this.visible = isOn && this.omega !== undefined && instant.all.length > 1;
    if (!this.visible) return;
    const positions = this.geometry.attributes.position as BufferAttribute;
    let count = 0;
    for (const pose of instant.all) {
      const tip = this.omega!.inBody!(pose);
      if (tip.every(Number.isFinite)) positions.setXYZ(count++, ...tip);
    }
    positions.needsUpdate = true;
    this.geometry.setDrawRange(0, count);
    this.position.set(...framePose.anchor);
    this.scale.setScalar(instant.reach);
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
