// The two views of a motion: in the inertial frame, and in the frame of the watched body.

import { PerspectiveCamera, Raycaster, Vector2 } from "three";
import { colorsOf, readable, type Colors } from "../colors.ts";
import type { MotionRecord } from "../motion/record.ts";
import { length, plus, scaled, type Vec3 } from "../motion/vectors.ts";
import { setText } from "../controls/dom.ts";
import type { Choices } from "../options.ts";
import { frameMotion, framingNote, PIVOT_TO_CENTER, type Framing } from "./framing.ts";
import { closedFormNote } from "./closed-form.ts";
import { ColorScale } from "./color-scale.ts";
import { canCompare } from "./ghost.ts";
import { Labels, type Box } from "./labels.ts";
import { anglesOf, HALF_VIEW, Orbit, type CameraState } from "./orbit.ts";
import { CameraGestures } from "./camera-gestures.ts";
import { Grabber, wordsFor, type DrawnScene, type GrabActions } from "./grabber.ts";
import { keyOf, type SightLine } from "./grab.ts";
import { Handles } from "./handles.ts";
import type { Quality } from "./quality.ts";
import type { Grab } from "./stage.ts";
import type { Effects } from "./pattern.ts";
import { isSameStructure, shareAppearances } from "./reuse.ts";
import { FrameScene } from "./scene.ts";
import { PaneRenderer, type Pane } from "./renderer.ts";
import { instantAt, poseInFrame, type Frame, type Instant, type Pinned, type ViewContext } from "./context.ts";
import { Triad } from "./triad.ts";
import { asPlaced, raiseCamera, turnCamera } from "./turning.ts";
import { FrameChoice } from "./frame-choice.ts";

interface View {
  pane: Pane;
  camera: PerspectiveCamera;
  labels: Labels;
  triad: Triad;
  handles: Handles;
  orbit: Orbit;
  frameScene: FrameScene | null;
}

/** Directions from which the views can be seen, in degrees. */
export const PRESETS = {
  front: { azimuthDeg: -90, elevationDeg: 0 },
  side: { azimuthDeg: 0, elevationDeg: 0 },
  top: { azimuthDeg: -90, elevationDeg: 90 },
  isometric: { azimuthDeg: -45, elevationDeg: 35.264 },
};
export type Preset = keyof typeof PRESETS | "L" | "start";

/** The cameras of both views; `body` if that of the body frame moves on its own. */
export interface PageCamera extends CameraState {
  body?: CameraState;
}

export class Views {
  private readonly renderer: PaneRenderer;
  private readonly views: View[];
  private readonly grabber = new Grabber();
  private readonly scale = new ColorScale();
  private pinned: Pinned | null = null;
  private readonly effects: Effects;
  /** What lies over the views, and must not be covered by labels. */
  overlay: HTMLElement | null = null;
  /** Called when the cameras are linked or separated. */
  onLinked: (yes: boolean) => void = () => undefined;
  private readonly frameChoice: FrameChoice;
  private context: ViewContext | null = null;
  private t = 0;
  private isPlaying = false;
  /** Whether the scenes have not been drawn yet. */
  private isNew = false;

  /** `effects` is "low" or "high" to force them; otherwise they adapt to the machine. */
  constructor(
    readonly root: HTMLElement,
    private readonly choices: Choices,
    effects: string,
  ) {
    this.effects = effects === "low" ? "low" : "high";
    this.renderer = new PaneRenderer(root, this.effects, effects !== "low" && effects !== "high", (quality) => this.frame(quality));
    const orbit = new Orbit(() => this.renderer.requestDraw());
    this.views = this.renderer.panes.map((pane) => ({
      pane,
      camera: new PerspectiveCamera((2 * HALF_VIEW * 180) / Math.PI),
      labels: new Labels(pane.element),
      triad: new Triad(pane.element, pane.frame === "space" ? ["x", "y", "z"] : ["1", "2", "3"]),
      handles: new Handles(pane.element, (key, event) => this.grab(pane, key, event)),
      orbit,
      frameScene: null,
    }));
    this.views[0].pane.element.append(this.scale.element);
    this.frameChoice = new FrameChoice(this.views[0].pane, choices);
    for (const view of this.views) {
      new CameraGestures(view.pane.element, {
        orbit: () => view.orbit,
        press: (event, x, y) => this.press(view, event, x, y),
        hover: (x, y) => this.hover(view, x, y),
        click: (x, y) => this.click(view, x, y),
      });
    }
    choices.onChange((changed) => {
      if (this.context && ("watched" in changed || "dark" in changed)) this.build(this.context.record);
      this.renderer.requestDraw();
    });
  }

  /** Why nothing can be drawn; "" if it can. */
  get unavailable(): string {
    return this.renderer.unavailable;
  }

  /** How the drawing differs from the true motion, such as "bodies are drawn 12 times larger"; or "". */
  get remark(): string {
    if (!this.context) return "";
    const coarse = this.views[0].frameScene?.instances?.isDecimated ? "bodies are drawn with fewer faces than they have" : "";
    return [framingNote(this.context.framing, this.choices.now.follow), coarse].filter(Boolean).join("; ");
  }

  show(record: MotionRecord, keepCamera: boolean): void {
    if (this.choices.now.watched >= record.bodies) this.choices.set({ watched: 0 });
    if (this.context !== null) shareAppearances(record, this.context.record);
    this.build(record);
    if (keepCamera) return;
    this.t = record.time[0];
    for (const { orbit } of this.views) orbit.startAt(record.stage.camera);
    const follow = this.followsAtFirst;
    if (this.choices.now.follow !== follow) this.choices.set({ follow });
  }

  /** Whether the camera follows the body until the user decides. */
  get followsAtFirst(): boolean {
    if (!this.context) return false;
    const { framing, record } = this.context;
    return record.stage.switches.includes("follow") || (framing.isFar && !record.stage.off.includes("follow"));
  }

  get cameraHome(): CameraState {
    return this.views[0].orbit.home;
  }

  /** `isPlaying` if frame follows frame. */
  draw(t: number, isPlaying: boolean): void {
    this.t = t;
    this.isPlaying = isPlaying;
    this.renderer.requestDraw(isPlaying);
  }

  /** Draw at once instead of in the next animation frame, which this one is. */
  drawNow(t: number): void {
    this.t = t;
    this.renderer.drawNow();
  }

  /** While a knob is dragged, drawing fast is worth more than drawing finely. */
  setBusy(isBusy: boolean): void {
    this.renderer.setBusy(isBusy);
  }

  /** Whether drawing cannot keep up with a knob that is dragged. */
  get isSlow(): boolean {
    return this.renderer.isSlow;
  }

  /** Draw time t at once with so many pixels per pixel of the page, for a picture; false if nothing can be drawn. */
  capture(t: number, ratio: number, use: (canvas: HTMLCanvasElement) => void): boolean {
    this.t = t;
    return this.context !== null && this.renderer.capture(ratio, use);
  }

  resetCamera(): void {
    for (const { orbit } of this.views) orbit.reset();
  }

  /** Look from a standard direction at the whole, or along the angular momentum. */
  applyPreset(preset: Preset): void {
    if (preset === "start") return this.resetCamera();
    for (const view of this.isLinked ? this.views.slice(0, 1) : this.views) {
      const direction = preset === "L" ? this.momentumIn(view) : PRESETS[preset];
      if (direction) view.orbit.set({ ...direction, pan: [0, 0, 0] });
    }
  }

  /** Whether both views share one camera. */
  get isLinked(): boolean {
    return this.views[0].orbit === this.views[1].orbit;
  }

  setLinked(yes: boolean): void {
    if (yes === this.isLinked) return;
    const [space, body] = this.views;
    body.orbit = yes ? space.orbit : new Orbit(() => this.renderer.requestDraw());
    body.orbit.home = space.orbit.home;
    body.orbit.set(space.orbit.state);
    this.onLinked(yes);
  }

  /** Where the cameras are, for a link. */
  cameraState(): PageCamera {
    const [space, body] = this.views;
    return this.isLinked ? { ...space.orbit.state } : { ...space.orbit.state, body: { ...body.orbit.state } };
  }

  setCamera(state: Partial<PageCamera>): void {
    const { body, ...space } = state;
    this.setLinked(body === undefined);
    this.views[0].orbit.set(space);
    if (body) this.views[1].orbit.set(body);
  }

  /** Let the parameters of a live page be dragged in the views. */
  set grabActions(actions: GrabActions) {
    this.grabber.actions = actions;
  }

  /** Show a motion to compare with as a ghost; null for none. */
  pin(pinned: Pinned | null): void {
    this.pinned = pinned;
    if (this.context) this.build(this.context.record);
  }

  private build(record: MotionRecord): void {
    const { watched, dark } = this.choices.now;
    this.scale.show(record, dark);
    const at = Math.min(watched, record.bodies - 1);
    const { held } = this.grabber;
    const framing = held?.framing ?? frameMotion(record, at);
    const context: ViewContext = { record, watched: at, framing, colors: colorsOf(dark), effects: this.effects, pinned: this.pinned, held };
    const before = this.context;
    if (before !== null && this.unavailable === "" && isSameStructure(before, context)) {
      // The scenes hold this context.
      Object.assign(before, context);
      for (const { frameScene } of this.views) frameScene?.reload();
      this.renderer.requestDraw();
      return;
    }
    this.context = context;
    if (this.unavailable !== "") return;
    for (const view of this.views) {
      view.frameScene?.dispose();
      view.frameScene = new FrameScene(context, view.pane.frame);
    }
    this.isNew = true;
    this.frameChoice.show(record.stage);
    document.body.dataset["props"] = (this.views[0].frameScene?.props ?? []).map(({ kind }) => kind).join();
    this.renderer.requestDraw();
  }

  private frame(quality: Quality): boolean {
    if (!this.context) return false;
    const { now } = this.choices;
    const instant = instantAt(this.context, this.t, now.follow, now.turning);
    const radii = radiiOf(this.context.framing, instant, now.follow, now.poinsot, this.context.record.stage.camera?.radius != null);
    for (const { frameScene } of this.views) {
      frameScene?.showShadows(quality.shadows);
      frameScene?.showThrough(!this.renderer.isSlow);
    }
    if (this.isNew) this.compile(instant, radii);
    for (const view of this.views) {
      this.render(view, instant, radii[view.pane.frame]);
    }
    this.updateRemarks(instant);
    return true;
  }

  /** Begin to compile the shaders of both views before one is drawn. */
  private compile(instant: Instant, radii: Record<Frame, number>): void {
    this.isNew = false;
    for (const { pane, camera, frameScene } of this.views) {
      if (!frameScene || pane.height < 1) continue;
      frameScene.update(this.choices.now, instant, this.choices.now.follow, radii[pane.frame]);
      this.renderer.compile(frameScene.scene, camera);
    }
  }

  private render(view: View, instant: Instant, radius: number): void {
    const { pane, camera, frameScene } = view;
    const { colors } = this.context!;
    if (!frameScene || pane.height < 1) return;
    const framePose = frameScene.update(this.choices.now, instant, this.choices.now.follow, radius);
    const at: Vec3 = pane.frame === "body" ? plus(scaled(1 - PIVOT_TO_CENTER, framePose.anchor), [0, 0, this.context!.framing.above]) : [0, 0, 0];
    view.orbit.aim(camera, at, radius, pane.width / pane.height);
    if (pane.frame === "space") raiseCamera(camera, this.context!.record.stage.camera?.up);
    view.triad.show(camera, triadColors(pane, colors));
    if (pane.frame === "space") turnCamera(camera, instant.turning, instant.t);
    frameScene.fit(camera, pane.width, pane.height, radius);
    this.renderer.render(pane, frameScene.scene, camera, colors.paper);
    view.labels.show(frameScene.labelRequests(camera, pane, instant), pane, this.covered(view));
    view.handles.show(this.isPlaying ? [] : this.grabber.handles(this.drawn(view)!, instant.t, camera, pane));
  }

  /** Parts of a pane where no label may be. */
  private covered({ pane, triad }: View): Box[] {
    const scale = pane.frame === "space" && !this.scale.element.hidden ? [this.scale.element] : [];
    const boxes = [pane.caption, pane.remark, triad.element, ...scale].map(boxOf);
    if (!this.overlay) return boxes;
    const { x, y, ...size } = boxOf(this.overlay);
    const { offsetLeft: left, offsetTop: top } = pane.element;
    return [...boxes, { x: x - left, y: y - top, ...size }];
  }

  private updateRemarks(instant: Instant): void {
    const [space, body] = this.views;
    const closedForm = this.choices.now.closedForm ? closedFormNote(this.context!, instant) : "";
    const { ground, contacts } = space.frameScene ?? {};
    const ghost = this.pinned && canCompare(this.context!.record) ? `ghost: ${this.pinned.words}` : "";
    const remarks = [ground?.description() || (contacts?.description() ?? ""), this.remark, closedForm, ghost];
    setText(space.pane.remark, remarks.filter(Boolean).join(" · "));
    const hasDots = this.context!.record.axis === "member" && this.choices.now.omega;
    const dots = hasDots ? "dots: ω of all members, in body axes" : "";
    setText(body.pane.remark, instant.isPresent ? dots : "this member has ended or failed; there is nothing to draw");
  }

  private click(view: View, x: number, y: number): void {
    if (view.pane.frame !== "space" || !view.frameScene) return;
    const body = view.frameScene.bodyUnder(this.ray(view, x, y));
    if (body !== null) this.choices.set({ watched: body });
  }

  private ray({ pane, camera }: View, x: number, y: number): Raycaster {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / pane.width - 1, 1 - (2 * y) / pane.height), camera);
    return ray;
  }

  /** Direction of the angular momentum in a view; null if there is none. */
  private momentumIn({ pane, orbit }: View): Partial<CameraState> | null {
    if (!this.context) return null;
    const instant = instantAt(this.context, this.t, this.choices.now.follow, this.choices.now.turning);
    const seen = poseInFrame(pane.frame, this.context, instant).along(instant.pose.angularMomentum);
    const { camera } = this.context.record.stage;
    const direction = pane.frame === "space" ? asPlaced(seen, camera?.up, instant.turning, instant.t) : seen;
    return length(direction) > 0 ? anglesOf(direction, orbit.state.azimuthDeg) : null;
  }

  private drawn({ pane, frameScene }: View): DrawnScene | null {
    if (!this.context || !frameScene) return null;
    return { context: this.context, frame: pane.frame, options: this.choices.now, quantities: frameScene.quantities };
  }

  /** What turns the body, if the pointer is on it; not while it moves, when the camera is meant. */
  private attitudeAt(view: View, x: number, y: number): Grab[] | null {
    if (this.isPlaying || view.pane.frame !== "space" || !this.context || !Number.isFinite(x)) return null;
    const found = this.grabber.groups(this.context).find(([{ what }]) => what === "attitude");
    return found && view.frameScene?.isOnBody(this.ray(view, x, y)) ? found : null;
  }

  private hover(view: View, x: number, y: number): void {
    if (this.grabber.held) return;
    const grab = this.attitudeAt(view, x, y);
    const { element } = view.pane;
    if (element.classList.contains("grabs") === (grab !== null)) return;
    element.classList.toggle("grabs", grab !== null);
    element.title = grab ? wordsFor(grab) : "";
    view.frameScene?.highlight(grab !== null);
    this.renderer.requestDraw();
  }

  private press(view: View, event: PointerEvent, x: number, y: number): boolean {
    // A finger on the body moves the camera, or scrolls the page: it has the ring.
    const grab = event.pointerType === "mouse" ? this.attitudeAt(view, x, y) : null;
    if (grab) this.grab(view.pane, keyOf(grab[0]), event);
    return grab !== null;
  }

  private grab(pane: Pane, key: string, event: PointerEvent): void {
    const view = this.views.find((one) => one.pane === pane)!;
    const scene = this.drawn(view);
    const grab = scene && this.grabber.groups(scene.context).find(([one]) => keyOf(one) === key);
    if (!grab) return;
    const sightAt = (at: PointerEvent): SightLine => {
      const box = pane.element.getBoundingClientRect();
      const { ray } = this.ray(view, at.clientX - box.left, at.clientY - box.top);
      return { origin: ray.origin.toArray(), direction: ray.direction.toArray() };
    };
    this.grabber.start(scene, grab, event, sightAt);
  }
}

/** Half the width of each view, in units; equal if the space view needs little more, for comparison. */
function radiiOf(framing: Framing, instant: Instant, isFollowing: boolean, isPoinsot: boolean, isFramed: boolean) {
  const own = (isPoinsot ? 2.15 : 2.05) * instant.reach;
  const whole = instant.turning === null ? framing.radius.whole : (framing.turning?.radius ?? framing.radius.whole);
  const space = isFollowing ? Math.max(own, framing.radius.following) : isFramed ? whole : Math.max(own, whole);
  return { space, body: space < 1.5 * own ? space : own };
}

function triadColors(pane: Pane, colors: Colors): [string, string, string] {
  const { muted, axis1, axis2, axis3 } = colors;
  const [x, y, z] = pane.frame === "space" ? [muted, muted, muted] : [axis1, axis2, axis3];
  return [readable(x, colors), readable(y, colors), readable(z, colors)];
}

/** Bounding box of an element in its pane, in pixels. */
function boxOf(part: HTMLElement): Box {
  const { offsetLeft, offsetTop, offsetWidth: width, offsetHeight: height } = part;
  return { x: offsetLeft + width / 2, y: offsetTop + height / 2, width, height };
}
