// What can be dragged in the views, and the parameters that follow.

import { Vector3, type PerspectiveCamera } from "three";
import { readable } from "../colors.ts";
import { length, plus, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { instantAt, poseInFrame, type Frame, type ViewContext } from "./context.ts";
import type { Framing } from "./framing.ts";
import { startDrag, trackOf, withinRange, type SightLine, type StartGeometry } from "./grab.ts";
import type { Handle } from "./handles.ts";
import { arrowStart, type Quantity } from "./quantities.ts";
import type { Grab } from "./stage.ts";

/** The parameters of a live page. */
export interface Knobs {
  /** Value and range of a parameter; null if there is none of this name. */
  find(name: string): { value: number; low: number; high: number } | null;
  /** Move it, as its slider does; `isFinal` when it is released. */
  set(name: string, value: number, isFinal: boolean): void;
}

export interface GrabActions {
  /** Null in a file, whose motion cannot change. */
  knobs(): Knobs | null;
  /** A drag begins: stop at the start of the motion, which it changes. */
  begin(): void;
  end(): void;
}

/** Scales of a motion that stay the same while something is dragged, or it would not follow the pointer. */
export interface HeldScales {
  framing: Framing;
  /** Lengths of arrows per SI unit, by name. */
  perUnit: Map<string, number>;
}

/** A scene as it is drawn in one of the views. */
export interface DrawnScene {
  context: ViewContext;
  frame: Frame;
  options: Options;
  quantities: Quantity[];
}

/** A shorter arrow, in units, is not drawn. */
const SHORTEST = 1e-4;
const COLORS = { attitude: "ink", angular_velocity: "omega", force: "force" } as const;

interface Session {
  knob: string;
  value: number;
  held: HeldScales;
  move(sight: SightLine): number | null;
}

export class Grabber {
  actions: GrabActions | null = null;
  private session: Session | null = null;

  get held(): HeldScales | null {
    return this.session?.held ?? null;
  }

  /** What can be dragged in a motion: its parameters must exist, and the watched body be the only one. */
  grabs(context: ViewContext): Grab[] {
    const knobs = this.actions?.knobs() ?? null;
    const { record } = context;
    if (!knobs || record.bodies !== 1) return [];
    return record.stage.grabs.filter(({ knob }) => knobs.find(knob) !== null);
  }

  /** Rings in a pane, at the tips of what can be dragged. */
  handles(scene: DrawnScene, t: number, camera: PerspectiveCamera, pane: { width: number; height: number }): Handle[] {
    const { colors } = scene.context;
    const grabs = this.grabs(scene.context);
    if (grabs.length === 0) return [];
    const geometry = geometryAt(scene, t);
    return grabs.flatMap((grab) => {
      const track = scene.frame === "body" && grab.what === "attitude" ? null : trackOf(grab, geometry);
      if (!track) return [];
      const place = new Vector3(...(track.kind === "line" ? track.through : track.point)).project(camera);
      const [x, y] = [((place.x + 1) * pane.width) / 2, ((1 - place.y) * pane.height) / 2];
      return [{ key: keyOf(grab), x, y, color: readable(colors[COLORS[grab.what]], colors), words: wordsFor(grab) }];
    });
  }

  /** Drag something; `sightAt` gives the line of sight through a point of the screen. */
  start(scene: DrawnScene, grab: Grab, event: PointerEvent, sightAt: (event: PointerEvent) => SightLine): void {
    const knobs = this.actions?.knobs();
    const knob = knobs?.find(grab.knob);
    if (!knobs || !knob || this.session) return;
    this.actions!.begin();
    const track = trackOf(grab, geometryAt(scene, scene.context.record.time[0]));
    if (!track) return this.actions!.end();
    const session: Session = {
      knob: grab.knob,
      value: knob.value,
      held: { framing: scene.context.framing, perUnit: new Map(scene.quantities.map(({ name, perUnit }) => [name, perUnit])) },
      move: startDrag(grab, track, sightAt(event), knob.value),
    };
    this.session = session;
    const pointer = event.pointerId;
    const follow = (moved: PointerEvent): void => {
      const value = moved.pointerId === pointer ? session.move(sightAt(moved)) : null;
      const next = value === null ? session.value : withinRange(value, knob.low, knob.high);
      if (next === session.value) return;
      session.value = next;
      knobs.set(session.knob, next, false);
    };
    const finish = (ended: PointerEvent): void => {
      if (ended.pointerId !== pointer) return;
      window.removeEventListener("pointermove", follow);
      for (const end of ENDS) window.removeEventListener(end, finish);
      this.session = null;
      document.body.classList.remove("grabbing");
      if (session.value !== knob.value) knobs.set(session.knob, session.value, true);
      this.actions!.end();
    };
    window.addEventListener("pointermove", follow);
    for (const end of ENDS) window.addEventListener(end, finish);
    document.body.classList.add("grabbing");
  }
}

const ENDS = ["pointerup", "pointercancel"] as const;

export const keyOf = (grab: Grab): string => `${grab.what} ${grab.knob}`;

export const wordsFor = (grab: Grab): string =>
  `Drag to change ${grab.knob.replaceAll("_", " ")}: it sets how the motion starts, so the time goes back to the start.`;


/** Body axes, anchor and arrows at a time, in the view of a frame. */
function geometryAt({ context, frame, options, quantities }: DrawnScene, t: number): StartGeometry {
  const instant = instantAt(context, t, options.follow);
  const pose = poseInFrame(frame, context, instant);
  const axis = (k: number): Vec3 => toWorld(pose.attitude, [+(k === 0), +(k === 1), +(k === 2)]);
  return {
    anchor: pose.anchor,
    reach: instant.reach,
    axes: [axis(0), axis(1), axis(2)],
    up: pose.along([0, 0, 1]),
    arrow: (name) => {
      const quantity = quantities.find((one) => one.name === name && options[one.isShown]);
      if (!quantity) return null;
      const { from, vector } = arrowStart(quantity, frame, context, instant, pose);
      return length(vector) > SHORTEST ? { from, tip: plus(from, vector), perUnit: quantity.perUnit * instant.reach } : null;
    },
  };
}
