// The pinned motion beside the one that is shown: a transparent body, and the faint paths of its center and of omega.

import { Group, MeshLambertMaterial } from "three";
import { placementAt } from "../motion/pose.ts";
import type { MotionRecord } from "../motion/record.ts";
import { conjugate, minus, plus, product, scaled, toBody, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { Body, buildShell, disposeShell, type Shell } from "./body.ts";
import { toView, type Frame, type FramePose, type Instant, type ViewContext } from "./context.ts";
import { WideLine } from "./lines.ts";
import { quantitiesOf } from "./quantities.ts";
import { trajectoryOf } from "./trajectory.ts";

/** Slightly smaller than the body, so that the two do not flicker where they agree. */
const SHRINK = 0.997;
const WIDTH = 1.8;

/** Whether a motion can be compared with another: both of one body. */
export const canCompare = (record: MotionRecord): boolean => record.bodies === 1;

export class Ghost extends Group {
  private readonly shell: Shell;
  private readonly body: Body;
  /** In m, and in rad/s. */
  private readonly center: WideLine | null;
  private readonly omega: WideLine;

  constructor(
    private readonly context: ViewContext,
    private readonly pinned: MotionRecord,
    private readonly frame: Frame,
  ) {
    super();
    const { muted, ink, omega, path, paper } = context.colors;
    this.shell = buildShell(pinned.appearances[pinned.appearanceIndex[0]]);
    const skin = new MeshLambertMaterial({ color: muted, transparent: true, opacity: 0.28, depthWrite: false });
    this.body = new Body(this.shell, skin, ink, 0.4);
    this.body.renderOrder = 1;
    const { poses } = trajectoryOf(pinned, 0);
    const inBody = frame === "body";
    this.omega = faint(poses.map((pose) => (inBody ? pose.angularVelocityBody : pose.angularVelocity)), omega, paper);
    this.center = inBody ? null : faint(poses.map((pose) => pose.position), path, paper);
    this.add(this.body, this.omega);
    if (this.center) this.add(this.center);
  }

  update(options: Options, instant: Instant, framePose: FramePose): void {
    const { context, pinned } = this;
    const { record, framing, watched } = context;
    this.visible = instant.isPresent && canCompare(record);
    if (!this.visible) return;
    const shift = minus(pinned.origin, record.origin);
    const there = placementAt(pinned, pinned, 0, instant.t);
    const position = plus(there.position, shift);
    const size = (pinned.appearances[pinned.appearanceIndex[0]].size / framing.unit || instant.size) * instant.larger * SHRINK;
    if (this.frame === "space") this.body.setPose(toView(framing, instant.focus, position, watched), there.quaternion, size);
    else {
      const { quaternion, position: own } = instant.pose;
      const away = toBody(quaternion, scaled(1 / framing.unit, minus(position, own)));
      this.body.setPose(away, product(conjugate(quaternion), there.quaternion), size);
    }
    // After its end there is no body, only its paths.
    this.body.visible &&= instant.t <= pinned.time[pinned.times - 1];
    const scale = quantitiesOf(record, watched, context.colors, context.held).find(({ name }) => name === "omega")?.perUnit ?? 0;
    this.omega.visible = options.trailOmega && !options.poinsot && scale > 0;
    this.omega.scale.setScalar(scale * instant.reach);
    this.omega.position.set(...framePose.anchor);
    if (!this.center) return;
    this.center.visible = options.trailCenter;
    this.center.scale.setScalar(1 / framing.unit);
    this.center.position.set(...scaled(1 / framing.unit, minus(shift, instant.focus)));
  }

  setPixels(width: number, height: number): void {
    this.omega.setPixels(width, height);
    this.center?.setPixels(width, height);
  }

  dispose(): void {
    disposeShell(this.shell);
    this.body.dispose();
    this.omega.dispose();
    this.center?.dispose();
  }
}

/** A path whose color is that of the future of others. */
function faint(points: Vec3[], color: string, paper: string): WideLine {
  const line = new WideLine(Float32Array.from(points.flat()), color, paper, WIDTH);
  line.until = -1;
  return line;
}
