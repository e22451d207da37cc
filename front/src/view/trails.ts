// Paths of tips: up to the instant in full colour, the rest faint.  A point of the body, or its centre, leaves its path
// where it went.  omega, L and the axes have a direction and a length but no place, so their paths go with the body.

import { Group } from "three";
import { placeOf } from "../motion/pose.ts";
import { plus, toBody, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { courseOf, type Course } from "./trajectory.ts";
import { WideLine } from "./lines.ts";
import { quantitiesOf } from "./quantities.ts";
import { inPicture, type Frame, type Instant, type Stand, type Subject } from "./context.ts";

/** In pixels. */
const WIDTH = 2.2;

interface Trail {
  line: WideLine;
  isOn(options: Options): boolean;
  /** Places in m, of a path that stays where it is; null for one that goes with the body. */
  path: Vec3[] | null;
}

export class Trails extends Group {
  private readonly course: Course;
  private readonly trails: Trail[] = [];
  private point: Trail | null = null;
  private at = "";

  constructor(private readonly subject: Subject, private readonly frame: Frame) {
    super();
    this.course = courseOf(subject.record, subject.watched);
    if (this.course.poses.length < 2) return;
    this.addVectors();
    const centre = this.course.poses.map(({ position }) => position);
    if (frame === "space") this.trails.push(this.placed(centre, subject.colours.path, "trailCentre"));
    for (const { line } of this.trails) this.add(line);
  }

  update(options: Options, instant: Instant, stand: Stand): void {
    if (this.course.poses.length < 2) return;
    this.followPoint(options);
    const { before, share } = placeOf(this.course.times, instant.t);
    const until = before + share;
    const focus = instant.focus.join();
    for (const { line, isOn, path } of this.all()) {
      line.visible = isOn(options);
      if (!line.visible) continue;
      line.until = until;
      if (path === null) {
        line.position.set(...stand.anchor);
        line.scale.setScalar(instant.reach);
      } else if (line.userData.focus !== focus) {
        line.move(this.inPicture(path, instant.focus));
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
    const { record, watched, colours } = this.subject;
    const { times, poses } = this.course;
    for (const quantity of quantitiesOf(record, watched, colours)) {
      const { trail } = quantity;
      if (trail === null || (this.frame === "body" && quantity.isFixed)) continue;
      const tips = poses.map((pose, k) => {
        if (this.frame === "space") return quantity.at(pose, times[k]);
        return quantity.inBody ? quantity.inBody(pose) : toBody(pose.quaternion, quantity.at(pose, times[k]));
      });
      const line = new WideLine(flat(tips), quantity.colour, colours.paper, WIDTH);
      // Poinsot's construction draws the path of omega itself, to its own scale.
      const isOn = (options: Options): boolean => options[trail] && !(trail === "trailOmega" && options.poinsot);
      this.trails.push({ line, isOn, path: null });
    }
  }

  private placed(path: Vec3[], colour: string, trail: "trailCentre" | "trailPoint"): Trail {
    const line = new WideLine(new Float32Array(3 * path.length), colour, this.subject.colours.paper, WIDTH);
    return { line, isOn: (options) => options[trail], path };
  }

  /** The path of a point that a person chooses, drawn anew when it is another. */
  private followPoint(options: Options): void {
    const at = options.point.join();
    if (this.frame === "body" || !options.trailPoint || this.at === at) return;
    this.at = at;
    if (this.point) {
      this.remove(this.point.line);
      this.point.line.dispose();
    }
    const path = this.course.poses.map((p) => plus(p.position, toWorld(p.quaternion, options.point)));
    this.point = this.placed(path, this.subject.colours.ink, "trailPoint");
    this.add(this.point.line);
  }

  private inPicture(path: Vec3[], focus: Vec3): Float32Array {
    const { framing, watched } = this.subject;
    return flat(path.map((x) => inPicture(framing, focus, x, watched)));
  }
}

const flat = (points: Vec3[]): Float32Array => Float32Array.from(points.flat());
