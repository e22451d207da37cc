// Paths of arrow tips, in full color up to the current time and faint beyond.  The paths of points are fixed in space;
// those of omega, L and the axes, which have no position, move with the body.

import { Group } from "three";
import { locateTime } from "../motion/pose.ts";
import { plus, toBody, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { trajectoryOf, type Trajectory } from "./trajectory.ts";
import { WideLine } from "./lines.ts";
import { quantitiesOf } from "./quantities.ts";
import { toView, type Frame, type Instant, type FramePose, type ViewContext } from "./context.ts";

/** In pixels. */
const WIDTH = 2.2;

interface Trail {
  line: WideLine;
  isOn(options: Options): boolean;
  /** Positions in m of a path that is fixed in space; null for one that moves with the body. */
  path: Vec3[] | null;
}

export class Trails extends Group {
  private readonly trajectory: Trajectory;
  private readonly trails: Trail[] = [];
  private point: Trail | null = null;
  private at = "";

  constructor(private readonly context: ViewContext, private readonly frame: Frame) {
    super();
    this.trajectory = trajectoryOf(context.record, context.watched);
    if (this.trajectory.poses.length < 2) return;
    this.addVectors();
    const center = this.trajectory.poses.map(({ position }) => position);
    if (frame === "space") this.trails.push(this.fixedTrail(center, context.colors.path, "trailCenter"));
    for (const { line } of this.trails) this.add(line);
  }

  update(options: Options, instant: Instant, framePose: FramePose): void {
    if (this.trajectory.poses.length < 2) return;
    this.updatePoint(options);
    const { before, share } = locateTime(this.trajectory.times, instant.t);
    const until = before + share;
    const focus = instant.focus.join();
    for (const { line, isOn, path } of this.all()) {
      line.visible = isOn(options);
      if (!line.visible) continue;
      line.until = until;
      if (path === null) {
        line.position.set(...framePose.anchor);
        line.scale.setScalar(instant.reach);
      } else if (line.userData.focus !== focus) {
        line.move(this.toView(path, instant.focus));
        line.userData.focus = focus;
      }
    }
  }

  setPixels(width: number, height: number): void {
    for (const { line } of this.all()) line.setPixels(width, height);
  }

  dispose(): void {
    for (const { line } of this.all()) line.dispose();
  }

  private all(): Trail[] {
    return this.point ? [...this.trails, this.point] : this.trails;
  }

  private addVectors(): void {
    const { record, watched, colors } = this.context;
    const { times, poses } = this.trajectory;
    for (const quantity of quantitiesOf(record, watched, colors)) {
      const { trail } = quantity;
      if (trail === null || (this.frame === "body" && quantity.isFixed)) continue;
      const tips = poses.map((pose, k) => {
        if (this.frame === "space") return quantity.at(pose, times[k]);
        return quantity.inBody ? quantity.inBody(pose) : toBody(pose.quaternion, quantity.at(pose, times[k]));
      });
      const line = new WideLine(flat(tips), quantity.color, colors.paper, WIDTH);
      // Poinsot's construction draws the path of omega itself, at its own scale.
      const isOn = (options: Options): boolean => options[trail] && !(trail === "trailOmega" && options.poinsot);
      this.trails.push({ line, isOn, path: null });
    }
  }

  private fixedTrail(path: Vec3[], color: string, trail: "trailCenter" | "trailPoint"): Trail {
    const line = new WideLine(new Float32Array(3 * path.length), color, this.context.colors.paper, WIDTH);
    return { line, isOn: (options) => options[trail], path };
  }

  /** The path of the point chosen by the user, rebuilt when it changes. */
  private updatePoint(options: Options): void {
    const at = options.point.join();
    if (this.frame === "body" || !options.trailPoint || this.at === at) return;
    this.at = at;
    if (this.point) {
      this.remove(this.point.line);
      this.point.line.dispose();
    }
    const path = this.trajectory.poses.map((p) => plus(p.position, toWorld(p.quaternion, options.point)));
    this.point = this.fixedTrail(path, this.context.colors.ink, "trailPoint");
    this.add(this.point.line);
  }

  private toView(path: Vec3[], focus: Vec3): Float32Array {
    const { framing, watched } = this.context;
    return flat(path.map((x) => toView(framing, focus, x, watched)));
  }
}

const flat = (points: Vec3[]): Float32Array => Float32Array.from(points.flat());
