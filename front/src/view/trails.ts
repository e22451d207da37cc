// Paths of arrow tips, in full color up to the current time and faint beyond.  The paths of points are fixed in space;
// those of omega, L and the axes, which have no position, move with the body.

import { Group } from "three";
import { locateTime } from "../motion/pose.ts";
import { minus, plus, scaled, toBody, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import type { ThirdFrame } from "./stage.ts";
import { trajectoryOf, type Trajectory } from "./trajectory.ts";
import { WideLine } from "./lines.ts";
import { quantitiesOf } from "./quantities.ts";
import { frameAttitude, pathInFrame, quaternionOf, relativeTo } from "./turning.ts";
import { toView, type Frame, type Instant, type FramePose, type ViewContext } from "./context.ts";

/** In pixels. */
const WIDTH = 2.2;

interface Trail {
  line: WideLine;
  isOn(options: Options): boolean;
  /** Positions in m of a path that is fixed in space; null for one that moves with the body. */
  path: Vec3[] | null;
  /** The tips of one that moves with the body, as a rotating frame sees them; null for the inertial frame. */
  tips?(turning: ThirdFrame | null): Vec3[];
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
    const focus = `${instant.focus.join()} ${instant.turning?.name ?? ""}`;
    const turn = frameAttitude(this.frame === "space" ? instant.turning : null, instant.t);
    for (const { line, isOn, path, tips } of this.all()) {
      line.visible = isOn(options);
      if (!line.visible) continue;
      line.until = until;
      line.quaternion.copy(quaternionOf(turn));
      if (path === null) {
        line.position.set(...framePose.anchor);
        line.scale.setScalar(instant.reach);
        if (tips && this.frame === "space" && line.userData.turning !== instant.turning) {
          line.userData.turning = instant.turning;
          line.move(flat(tips(instant.turning)));
        }
      } else {
        this.placePath(line, path, instant, focus);
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
      const tips = (turning: ThirdFrame | null): Vec3[] =>
        poses.map((pose, k) => {
          if (this.frame === "space") return toBody(frameAttitude(turning, times[k]), quantity.at(relativeTo(turning, pose), times[k]));
          return quantity.inBody ? quantity.inBody(pose) : toBody(pose.quaternion, quantity.at(pose, times[k]));
        });
      const line = new WideLine(flat(tips(null)), quantity.color, colors.paper, WIDTH);
      // Poinsot's construction draws the path of omega itself, at its own scale.
      const isOn = (options: Options): boolean => options[trail] && !(trail === "trailOmega" && options.poinsot);
      line.userData.turning = null;
      this.trails.push({ line, isOn, path: null, tips });
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

  /** A path seen from a rotating frame turns with it, about a point of its axis. */
  private placePath(line: WideLine, path: Vec3[], { focus, turning }: Instant, key: string): void {
    const { record, framing } = this.context;
    const center = turning && minus(turning.origin, record.origin);
    line.position.set(...(center ? scaled(1 / framing.unit, minus(center, focus)) : ([0, 0, 0] as Vec3)));
    if (line.userData.focus === key) return;
    line.userData.focus = key;
    const seen = turning ? pathInFrame(path, this.trajectory.times, turning, record.origin) : path;
    line.move(this.toView(seen, center ?? focus));
  }

  private toView(path: Vec3[], focus: Vec3): Float32Array {
    const { framing, watched } = this.context;
    return flat(path.map((x) => toView(framing, focus, x, watched)));
  }
}

const flat = (points: Vec3[]): Float32Array => Float32Array.from(points.flat());
