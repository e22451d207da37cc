// Paths of arrow tips, in full color up to the current time and faint beyond.  The paths of points are fixed in space;
// those of omega, L and the axes, which have no position, move with the body.

import { Group } from "three";
import { locateTime } from "../motion/pose.ts";
import { minus, plus, scaled, toBody, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import type { ThirdFrame } from "./stage.ts";
import { trajectoryOf, type Trajectory } from "./trajectory.ts";
import { WideLine } from "./lines.ts";
import { quantitiesOf, type Quantity } from "./quantities.ts";
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
  private trajectory: Trajectory = { times: new Float64Array(0), poses: [] };
  /** By name of the quantity; lines are kept when another motion is loaded. */
  private readonly trails = new Map<string, Trail>();
  private at = "";

  constructor(private readonly context: ViewContext, private readonly frame: Frame) {
    super();
    this.reload();
  }

  /** The motion of the context is another one. */
  reload(): void {
    const { record, watched, colors } = this.context;
    this.trajectory = trajectoryOf(record, watched);
    this.at = "";
    const known = new Set<string>();
    if (this.trajectory.poses.length > 1) {
      for (const quantity of quantitiesOf(record, watched, colors, this.context.held)) if (this.addVector(quantity)) known.add(quantity.name);
      if (this.frame === "space") {
        this.addFixed("center", this.trajectory.poses.map(({ position }) => position), colors.path, "trailCenter");
        known.add("center").add("point");
      }
    }
    for (const [name, { line }] of this.trails) {
      if (known.has(name)) continue;
      this.remove(line);
      line.dispose();
      this.trails.delete(name);
    }
  }

  update(options: Options, instant: Instant, framePose: FramePose): void {
    if (this.trajectory.poses.length < 2) return;
    this.updatePoint(options);
    const { before, share } = locateTime(this.trajectory.times, instant.t);
    const until = before + share;
    const turning = this.frame === "space" ? instant.turning : null;
    const focus = `${instant.focus.join()} ${turning?.name ?? ""}`;
    const turn = frameAttitude(turning, instant.t);
    for (const { line, isOn, path, tips } of this.trails.values()) {
      line.visible = isOn(options);
      if (!line.visible) continue;
      line.until = until;
      line.quaternion.copy(quaternionOf(turn));
      if (path === null) {
        line.position.set(...framePose.anchor);
        line.scale.setScalar(instant.reach);
        if (tips && line.userData.turning !== turning) {
          line.userData.turning = turning;
          line.move(flat(tips(turning)));
        }
      } else {
        this.placePath(line, path, instant, focus);
      }
    }
  }

  setPixels(width: number, height: number): void {
    for (const { line } of this.trails.values()) line.setPixels(width, height);
  }

  dispose(): void {
    for (const { line } of this.trails.values()) line.dispose();
  }

  private lineOf(name: string, color: string): WideLine {
    const known = this.trails.get(name)?.line;
    if (known) return known;
    const line = new WideLine(new Float32Array(0), color, this.context.colors.paper, WIDTH);
    this.add(line);
    return line;
  }

  /** The path of a vector's tip; returns whether it has one. */
  private addVector(quantity: Quantity): boolean {
    const { times, poses } = this.trajectory;
    const { trail } = quantity;
    if (trail === null || (this.frame === "body" && quantity.isFixed)) return false;
    const tips = (turning: ThirdFrame | null): Vec3[] =>
      poses.map((pose, k) => {
        if (this.frame === "space") return toBody(frameAttitude(turning, times[k]), quantity.at(relativeTo(turning, pose), times[k]));
        return quantity.inBody ? quantity.inBody(pose) : toBody(pose.quaternion, quantity.at(pose, times[k]));
      });
    // Poinsot's construction draws the path of omega itself, at its own scale.
    const isOn = (options: Options): boolean => options[trail] && !(trail === "trailOmega" && options.poinsot);
    const line = this.lineOf(quantity.name, quantity.color);
    // Drawn when it is next shown.
    line.userData.turning = undefined;
    this.trails.set(quantity.name, { line, isOn, tips, path: null });
    return true;
  }

  private addFixed(name: string, path: Vec3[], color: string, trail: "trailCenter" | "trailPoint"): void {
    const line = this.lineOf(name, color);
    line.userData.focus = "";
    this.trails.set(name, { line, isOn: (options) => options[trail], path });
  }

  /** The path of the point chosen by the user, which may change. */
  private updatePoint(options: Options): void {
    const at = options.point.join();
    if (this.frame === "body" || !options.trailPoint || this.at === at) return;
    this.at = at;
    const path = this.trajectory.poses.map((p) => plus(p.position, toWorld(p.quaternion, options.point)));
    this.addFixed("point", path, this.context.colors.ink, "trailPoint");
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

function flat(points: Vec3[]): Float32Array {
  const numbers = new Float32Array(3 * points.length);
  points.forEach((point, k) => numbers.set(point, 3 * k));
  return numbers;
}
