// What can be dragged in the views, and the parameters that follow.

import { Vector3, type PerspectiveCamera } from "three";
import { readable } from "../colors.ts";
import { length, plus, toWorld, type Vec3 } from "../motion/vectors.ts";
import type { Options } from "../options.ts";
import { instantAt, poseInFrame, type Frame, type ViewContext } from "./context.ts";
import type { Framing } from "./framing.ts";
import { groupGrabs, keyOf, startDrag, trackOf, withinRange, type SightLine, type StartGeometry } from "./grab.ts";
import type { Handle } from "./handles.ts";
import { arrowStart, type Quantity } from "./quantities.ts";
import type { Grab } from "./stage.ts";

/** The parameters of a live page. */
export interface Knobs {
  /** Value and range of a parameter; null if there is none of this name. */
  find(name: string): { value: number; low: number; high: number } | null;
  /** Move some, as their sliders do; `isFinal` when they are released. */
  setValues(values: Record<string, number>, isFinal: boolean): void;
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


export class Grabber {
  actions: GrabActions | null = null;
  private session: HeldScales | null = null;

  get held(): HeldScales | null {
    return this.session;
  }

  /** What can be dragged in a motion, by groups: the parameters must exist, and the watched body be the only one. */
  groups(context: ViewContext): Grab[][] {
    const knobs = this.actions?.knobs() ?? null;
    const { record } = context;
    if (!knobs || record.bodies !== 1) return [];
    return groupGrabs(record.stage.grabs.filter(({ knob }) => knobs.find(knob) !== null));
  }

  /** Rings in a pane, at the tips of what can be dragged. */
  handles(scene: DrawnScene, t: number, camera: PerspectiveCamera, pane: { width: number; height: number }): Handle[] {
    const { colors } = scene.context;
    const groups = this.groups(scene.context);
    if (groups.length === 0) return [];
    const geometry = geometryAt(scene, t);
    return groups.flatMap((grabs) => {
      const { what } = grabs[0];
      const track = scene.frame === "body" && what === "attitude" ? null : trackOf(grabs, geometry);
      if (!track) return [];
      const place = new Vector3(...(track.kind === "span" ? track.through : track.point)).project(camera);
      const [x, y] = [((place.x + 1) * pane.width) / 2, ((1 - place.y) * pane.height) / 2];
      return [{ key: keyOf(grabs[0]), x, y, color: readable(colors[COLORS[what]], colors), words: wordsFor(grabs) }];
    });
  }

  /** Drag a group; `sightAt` gives the line of sight through a point of the screen. */
  start(scene: DrawnScene, grabs: Grab[], event: PointerEvent, sightAt: (event: PointerEvent) => SightLine): void {
    const { actions } = this;
    const knobs = actions?.knobs();
    if (!actions || !knobs || this.session) return;
    const found = grabs.map(({ knob }) => knobs.find(knob)!);
    actions.begin();
    const track = trackOf(grabs, geometryAt(scene, scene.context.record.time[0]));
    if (!track) return actions.end();
    const scales = new Map(scene.quantities.map(({ name, perUnit }) => [name, perUnit]));
    this.session = { framing: scene.context.framing, perUnit: scales };
    const move = startDrag(grabs, track, sightAt(event), found.map(({ value }) => value));
    let values = found.map(({ value }) => value);
    const set = (isFinal: boolean): void => knobs.setValues(Object.fromEntries(grabs.map(({ knob }, k) => [knob, values[k]])), isFinal);
    const follow = (moved: PointerEvent): void => {
      if (moved.pointerId !== event.pointerId) return;
      const next = move(sightAt(moved)).map((value, k) => withinRange(value, found[k].low, found[k].high));
      if (next.every((value, k) => value === values[k])) return;
      values = next;
      set(false);
    };
    const finish = (ended: PointerEvent): void => {
      if (ended.pointerId !== event.pointerId) return;
      window.removeEventListener("pointermove", follow);
      for (const end of ENDS) window.removeEventListener(end, finish);
      this.session = null;
      document.body.classList.remove("grabbing");
      if (values.some((value, k) => value !== found[k].value)) set(true);
      actions.end();
    };
    window.addEventListener("pointermove", follow);
    for (const end of ENDS) window.addEventListener(end, finish);
    document.body.classList.add("grabbing");
  }
}

const ENDS = ["pointerup", "pointercancel"] as const;

export const wordsFor = (grabs: Grab[]): string => {
  const names = grabs.map(({ knob }) => knob.replaceAll("_", " ")).join(" and ");
  return `Drag to change ${names}: how the motion starts, so the time goes back to its start.`;
};

/** Body axes, anchor and arrows at a time, in the view of a frame. */
function geometryAt({ context, frame, options, quantities }: DrawnScene, t: number): StartGeometry {
  const instant = instantAt(context, t, options.follow, options.turning);
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
