// The two views of a motion: in the inertial frame, and in the frame of the watched body.

import { PerspectiveCamera, Raycaster, Vector2 } from "three";
import { colorsOf, readable, type Colors } from "../colors.ts";
import type { MotionRecord } from "../motion/record.ts";
import { scaled, type Vec3 } from "../motion/vectors.ts";
import { setText } from "../controls/dom.ts";
import type { CameraState } from "../controls/page-link.ts";
import type { Choices } from "../options.ts";
import { frameMotion, framingNote, PIVOT_TO_CENTER, type Framing } from "./framing.ts";
import { closedFormNote } from "./closed-form.ts";
import { Labels, type Box } from "./labels.ts";
import { HALF_VIEW, Orbit } from "./orbit.ts";
import type { Effects } from "./pattern.ts";
import { FrameScene } from "./scene.ts";
import { PaneRenderer, type Pane } from "./renderer.ts";
import { instantAt, type Instant, type ViewContext } from "./context.ts";
import { Triad } from "./triad.ts";

interface View {
  pane: Pane;
  camera: PerspectiveCamera;
  labels: Labels;
  triad: Triad;
  frameScene: FrameScene | null;
}

export class Views {
  private readonly renderer: PaneRenderer;
  private readonly orbit: Orbit;
  private readonly views: View[];
  private context: ViewContext | null = null;
  private t = 0;

  constructor(root: HTMLElement, private readonly choices: Choices, private readonly effects: Effects) {
    this.renderer = new PaneRenderer(root, effects, () => this.frame());
    this.orbit = new Orbit(() => this.renderer.requestDraw());
    this.views = this.renderer.panes.map((pane) => ({
      pane,
      camera: new PerspectiveCamera((2 * HALF_VIEW * 180) / Math.PI),
      labels: new Labels(pane.element),
      triad: new Triad(pane.element, pane.frame === "space" ? ["x", "y", "z"] : ["1", "2", "3"]),
      frameScene: null,
    }));
    for (const view of this.views) this.orbit.listen(view.pane.element, (x, y) => this.click(view, x, y));
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
    this.build(record);
    if (keepCamera) return;
    this.t = record.time[0];
    this.orbit.reset();
    const { isFar } = this.context!.framing;
    if (this.choices.now.follow !== isFar) this.choices.set({ follow: isFar });
  }

  draw(t: number): void {
    this.t = t;
    this.renderer.requestDraw();
  }

  /** Draw time t at once with so many pixels per pixel of the page, for a picture; false if nothing can be drawn. */
  capture(t: number, ratio: number, use: (canvas: HTMLCanvasElement) => void): boolean {
    this.t = t;
    return this.context !== null && this.renderer.capture(ratio, use);
  }

  cameraState(): CameraState {
    const { azimuth, elevation, zoom } = this.orbit;
    return { azimuthDeg: (azimuth * 180) / Math.PI, elevationDeg: (elevation * 180) / Math.PI, zoom, pan: [0, 0, 0] };
  }

  setCameraState({ azimuthDeg, elevationDeg, zoom }: CameraState): void {
    Object.assign(this.orbit, { azimuth: (azimuthDeg * Math.PI) / 180, elevation: (elevationDeg * Math.PI) / 180, zoom });
    this.renderer.requestDraw();
  }

  resetCamera(): void {
    this.orbit.reset();
  }

  private build(record: MotionRecord): void {
    const { watched, dark } = this.choices.now;
    const at = Math.min(watched, record.bodies - 1);
    const framing = frameMotion(record, at);
    const context: ViewContext = { record, watched: at, framing, colors: colorsOf(dark), effects: this.effects };
    this.context = context;
    if (this.unavailable !== "") return;
    for (const view of this.views) {
      view.frameScene?.dispose();
      view.frameScene = new FrameScene(context, view.pane.frame);
    }
    document.body.dataset["props"] = (this.views[0].frameScene?.props ?? []).map(({ kind }) => kind).join();
    this.renderer.requestDraw();
  }

  private frame(): void {
    if (!this.context) return;
    const { now } = this.choices;
    const instant = instantAt(this.context, this.t, now.follow);
    const radii = radiiOf(this.context.framing, instant, now.follow, now.poinsot);
    for (const view of this.views) this.render(view, instant, radii[view.pane.frame]);
    this.updateRemarks(instant);
  }

  private render(view: View, instant: Instant, radius: number): void {
    const { pane, camera, frameScene } = view;
    const { colors } = this.context!;
    if (!frameScene || pane.height < 1) return;
    const framePose = frameScene.update(this.choices.now, instant, this.choices.now.follow, radius);
    const at: Vec3 = pane.frame === "body" ? scaled(1 - PIVOT_TO_CENTER, framePose.anchor) : [0, 0, 0];
    this.orbit.aim(camera, at, radius, pane.width / pane.height);
    frameScene.fit(camera, pane.width, pane.height, radius);
    this.renderer.render(pane, frameScene.scene, camera, colors.paper);
    view.labels.show(frameScene.labelRequests(camera, pane, instant), pane, [pane.caption, pane.remark, view.triad.element].map(boxOf));
    view.triad.show(camera, triadColors(pane, colors));
  }

  private updateRemarks(instant: Instant): void {
    const [space, body] = this.views;
    const closedForm = this.choices.now.closedForm ? closedFormNote(this.context!, instant) : "";
    const { ground, contacts } = space.frameScene ?? {};
    const remarks = [ground?.description() || (contacts?.description() ?? ""), this.remark, closedForm];
    setText(space.pane.remark, remarks.filter(Boolean).join(" · "));
    const hasDots = this.context!.record.axis === "member" && this.choices.now.omega;
    const dots = hasDots ? "dots: ω of all members, in body axes" : "";
    setText(body.pane.remark, instant.isPresent ? dots : "this member has failed; there is nothing to draw");
  }

  private click(view: View, x: number, y: number): void {
    if (view.pane.frame !== "space" || !view.frameScene) return;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / view.pane.width - 1, 1 - (2 * y) / view.pane.height), view.camera);
    const body = view.frameScene.bodyUnder(ray);
    if (body !== null) this.choices.set({ watched: body });
  }
}

/** Half the width of each view, in units; equal if the space view needs little more, for comparison. */
function radiiOf(framing: Framing, instant: Instant, isFollowing: boolean, isPoinsot: boolean) {
  const own = (isPoinsot ? 2.15 : 2.05) * instant.reach;
  const space = Math.max(own, isFollowing ? framing.radius.following : framing.radius.whole);
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
