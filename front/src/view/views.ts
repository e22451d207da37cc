// The two views of a motion: the frame in which the world stands still, and the one in which the watched body does.

import { PerspectiveCamera, Raycaster, Vector2 } from "three";
import { coloursOf, readable, type Colours } from "../colors.ts";
import type { MotionRecord } from "../motion/record.ts";
import { scaled, type Vec3 } from "../motion/vectors.ts";
import type { Choices } from "../options.ts";
import { framed, remarkOf, TOWARDS, type Framing } from "./framing.ts";
import { ghostWords } from "./closed-form.ts";
import { Labels, type Place } from "./labels.ts";
import { HALF_VIEW, Orbit } from "./orbit.ts";
import type { Effects } from "./pattern.ts";
import { World } from "./scene.ts";
import { Stage, type Pane } from "./renderer.ts";
import { instantAt, type Instant, type Subject } from "./context.ts";
import { Triad } from "./triad.ts";

interface View {
  pane: Pane;
  camera: PerspectiveCamera;
  labels: Labels;
  triad: Triad;
  world: World | null;
}

export class Views {
  private readonly stage: Stage;
  private readonly orbit: Orbit;
  private readonly views: View[];
  private subject: Subject | null = null;
  private t = 0;

  constructor(root: HTMLElement, private readonly choices: Choices, private readonly effects: Effects) {
    this.stage = new Stage(root, effects, () => this.frame());
    this.orbit = new Orbit(() => this.stage.ask());
    this.views = this.stage.panes.map((pane) => ({
      pane,
      camera: new PerspectiveCamera((2 * HALF_VIEW * 180) / Math.PI),
      labels: new Labels(pane.element),
      triad: new Triad(pane.element, pane.frame === "space" ? ["x", "y", "z"] : ["1", "2", "3"]),
      world: null,
    }));
    for (const view of this.views) this.orbit.listen(view.pane.element, (x, y) => this.click(view, x, y));
    choices.onChange((changed) => {
      if (this.subject && ("watched" in changed || "dark" in changed)) this.build(this.subject.record);
      this.stage.ask();
    });
  }

  /** "", or why nothing can be drawn. */
  get why(): string {
    return this.stage.why;
  }

  /** What the picture does that the motion does not: "bodies are drawn 12 times larger", or "". */
  get remark(): string {
    if (!this.subject) return "";
    const coarse = this.views[0].world?.crowd?.isCoarse ? "bodies are drawn with fewer faces than they have" : "";
    return [remarkOf(this.subject.framing, this.choices.now.follow), coarse].filter(Boolean).join("; ");
  }

  show(record: MotionRecord, keepCamera: boolean): void {
    if (this.choices.now.watched >= record.bodies) this.choices.set({ watched: 0 });
    this.build(record);
    if (keepCamera) return;
    this.t = record.time[0];
    this.orbit.reset();
    const { isFar } = this.subject!.framing;
    if (this.choices.now.follow !== isFar) this.choices.set({ follow: isFar });
  }

  draw(t: number): void {
    this.t = t;
    this.stage.ask();
  }

  resetCamera(): void {
    this.orbit.reset();
  }

  private build(record: MotionRecord): void {
    const { watched, dark } = this.choices.now;
    const at = Math.min(watched, record.bodies - 1);
    const framing = framed(record, at);
    const subject: Subject = { record, watched: at, framing, colours: coloursOf(dark), effects: this.effects };
    this.subject = subject;
    if (this.why !== "") return;
    for (const view of this.views) {
      view.world?.dispose();
      view.world = new World(subject, view.pane.frame);
    }
    this.stage.ask();
  }

  private frame(): void {
    if (!this.subject) return;
    const { now } = this.choices;
    const instant = instantAt(this.subject, this.t, now.follow);
    const radii = radiiOf(this.subject.framing, instant, now.follow, now.poinsot);
    for (const view of this.views) this.render(view, instant, radii[view.pane.frame]);
    this.tell(instant);
  }

  private render(view: View, instant: Instant, radius: number): void {
    const { pane, camera, world } = view;
    const { colours } = this.subject!;
    if (!world || pane.height < 1) return;
    const stand = world.update(this.choices.now, instant, this.choices.now.follow, radius);
    const at: Vec3 = pane.frame === "body" ? scaled(1 - TOWARDS, stand.anchor) : [0, 0, 0];
    this.orbit.aim(camera, at, radius, pane.width / pane.height);
    world.fit(camera, pane.width, pane.height, radius);
    this.stage.render(pane, world.scene, camera, colours.paper);
    view.labels.show(world.wishes(camera, pane, instant), pane, [pane.caption, pane.remark, view.triad.element].map(boxOf));
    view.triad.show(camera, triadColours(pane, colours));
  }

  private tell(instant: Instant): void {
    const [space, body] = this.views;
    const ghost = this.choices.now.ghost ? ghostWords(this.subject!, instant) : "";
    const words = [space.world?.ground?.words() ?? "", this.remark, ghost];
    setText(space.pane.remark, words.filter(Boolean).join(" · "));
    const hasDots = this.subject!.record.axis === "member" && this.choices.now.omega;
    const dots = hasDots ? "dots: ω of all members, each in its body" : "";
    setText(body.pane.remark, instant.isThere ? dots : "this member has failed; there is nothing to draw");
  }

  private click(view: View, x: number, y: number): void {
    if (view.pane.frame !== "space" || !view.world) return;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / view.pane.width - 1, 1 - (2 * y) / view.pane.height), view.camera);
    const body = view.world.under(ray);
    if (body !== null) this.choices.set({ watched: body });
  }
}

/** Half of what each view shows, in units; the same where the space frame needs little more, so that they compare. */
function radiiOf(framing: Framing, instant: Instant, isFollowing: boolean, isPoinsot: boolean) {
  const own = (isPoinsot ? 2.15 : 2.05) * instant.reach;
  const space = Math.max(own, isFollowing ? framing.radius.following : framing.radius.whole);
  return { space, body: space < 1.5 * own ? space : own };
}

function triadColours(pane: Pane, colours: Colours): [string, string, string] {
  const { muted, axis1, axis2, axis3 } = colours;
  const [x, y, z] = pane.frame === "space" ? [muted, muted, muted] : [axis1, axis2, axis3];
  return [readable(x, colours), readable(y, colours), readable(z, colours)];
}

/** Where a part of a pane is, in its pixels. */
function boxOf(part: HTMLElement): Place {
  const { offsetLeft, offsetTop, offsetWidth: width, offsetHeight: height } = part;
  return { x: offsetLeft + width / 2, y: offsetTop + height / 2, width, height };
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
