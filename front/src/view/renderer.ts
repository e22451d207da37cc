// Two panes on one canvas, drawn by one WebGL renderer; redrawn only on request.

import { Color, PCFShadowMap, WebGLRenderer, type PerspectiveCamera, type Scene } from "three";
import type { Effects } from "./pattern.ts";
import type { Frame } from "./context.ts";
import { AdaptiveQuality, qualitiesFor, type Quality } from "./quality.ts";

const NO_WEBGL = "This browser does not support WebGL, so the views are empty; plots and controls still work.";
const CONTEXT_LOST = "The WebGL context was lost; the views will be restored when it returns.";
const SEAM = 2;
/** What has not moved for this time, in ms, is drawn at its best. */
const STILL_MS = 220;
/** A frame slower than this, in ms, is felt while a knob is dragged. */
const SLOW_MS = 40;
const NAMES: Record<Frame, string> = { space: "Space frame", body: "Body frame" };

export interface Pane {
  frame: Frame;
  element: HTMLElement;
  caption: HTMLElement;
  remark: HTMLElement;
  notice: HTMLElement;
  width: number;
  height: number;
}

export class PaneRenderer {
  readonly panes: Pane[];
  readonly unavailable: string = "";
  private readonly canvas = document.createElement("canvas");
  private readonly renderer: WebGLRenderer | null;
  private isDrawRequested = false;
  private drawn = 0;
  private isBusy = false;
  /** Mean time between two drawings while busy, in ms. */
  private busyFrame = 0;
  private isCoarse = false;
  private readonly kept = new WeakSet<object>();
  private size = "";
  /** Of a picture that is being taken. */
  private forcedRatio: number | null = null;
  /** Qualities from the best to the coarsest; one if the address demands it. */
  private readonly qualities: Quality[];
  private readonly adaptive: AdaptiveQuality;
  private lastFrame = 0;
  private isStill = false;
  private stillTimer: ReturnType<typeof setTimeout> | undefined;

  /** `frame` draws both panes by calling `render`, at most once per animation frame; false while there is no motion. */
  constructor(
    private readonly root: HTMLElement,
    effects: Effects,
    isAdaptive: boolean,
    private readonly frame: (quality: Quality) => boolean,
  ) {
    const all: Quality[] = effects === "low" ? [{ ratio: 1, shadows: false }] : qualitiesFor(window.devicePixelRatio || 1);
    this.qualities = isAdaptive ? all : all.slice(0, 1);
    this.adaptive = new AdaptiveQuality(this.qualities.length);
    root.classList.add("views");
    root.dataset.drawn = "0";
    this.canvas.className = "view-canvas";
    this.canvas.setAttribute("aria-hidden", "true");
    this.panes = (["space", "body"] as const).map(paneOf);
    root.replaceChildren(this.canvas, ...this.panes.map(({ element }) => element));
    this.renderer = rendererOn(this.canvas, effects);
    if (!this.renderer) this.unavailable = NO_WEBGL;
    this.showNotice(this.unavailable);
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.showNotice(CONTEXT_LOST);
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.showNotice("");
      this.requestDraw();
    });
    const resized = new ResizeObserver(() => {
      // Whichever orientation leaves more room for each pane.
      root.classList.toggle("stacked", root.clientWidth < root.clientHeight);
      this.requestDraw();
    });
    for (const element of [root, ...this.panes.map((pane) => pane.element)]) resized.observe(element);
  }

  /** Draw in the next animation frame; `isPlaying` if frame follows frame, so that their times tell how fast it is. */
  requestDraw(isPlaying = false): void {
    this.isStill = false;
    if (this.isDrawRequested || !this.renderer) return;
    this.isDrawRequested = true;
    requestAnimationFrame((now) => {
      if (!this.isDrawRequested) return;
      if (isPlaying) this.adaptive.judge(now - this.lastFrame, now);
      this.lastFrame = now;
      this.draw();
    });
  }

  /** Draw at once with so many pixels per pixel of the page, for a picture; false if nothing can be drawn. */
  capture(ratio: number, use: (canvas: HTMLCanvasElement) => void): boolean {
    if (!this.renderer) return false;
    this.forcedRatio = ratio;
    const isDrawn = this.fit();
    // The browser clears the canvas when the script ends.
    if (isDrawn) {
      this.frame(this.qualities[0]);
      use(this.canvas);
    }
    this.forcedRatio = null;
    this.requestDraw();
    return isDrawn;
  }

  /** Draw at once, within an animation frame; a drawing that was requested is this one. */
  drawNow(): void {
    const now = performance.now();
    // Averaged over about four frames; after a slow one the quality stays coarse, since every change of size takes time.
    if (this.isBusy) this.busyFrame += (Math.min(now - this.lastFrame, 4 * SLOW_MS) - this.busyFrame) / 4;
    this.isCoarse ||= this.busyFrame > SLOW_MS;
    this.lastFrame = now;
    this.isStill = false;
    this.draw();
  }

  /** While busy, frames that are slow are drawn at the coarsest quality at once. */
  setBusy(isBusy: boolean): void {
    if (isBusy === this.isBusy) return;
    this.isBusy = isBusy;
    if (isBusy) return;
    this.isCoarse &&= this.busyFrame > SLOW_MS / 2;
    this.requestDraw();
  }

  /** Whether drawing cannot keep up with a knob that is dragged. */
  get isSlow(): boolean {
    return this.isBusy && this.isCoarse;
  }

  private get level(): number {
    if (this.isSlow) return this.qualities.length - 1;
    return this.isStill ? 0 : this.adaptive.level;
  }

  private get quality(): Quality {
    return this.qualities[this.level];
  }

  private draw(): void {
    this.isDrawRequested = false;
    if (!this.renderer || !this.fit()) return;
    if (!this.frame(this.quality)) return;
    this.keepPrograms();
    this.drawn += 1;
    this.root.dataset.drawn = String(this.drawn);
    this.root.dataset.level = String(this.level);
    // The next frame begins when this one has been handed over.
    if (this.drawn === 1) requestAnimationFrame(() => performance.mark("polhode-first-drawing"));
    clearTimeout(this.stillTimer);
    if (this.isStill || this.isBusy || this.level === 0) return;
    this.stillTimer = setTimeout(() => {
      if (this.isDrawRequested) return;
      this.isStill = true;
      this.draw();
    }, STILL_MS);
  }

  /** three.js deletes a shader program with the last material that uses it; the next motion needs it again. */
  private keepPrograms(): void {
    for (const program of this.renderer?.info.programs ?? []) {
      if (this.kept.has(program)) continue;
      this.kept.add(program);
      program.usedTimes += 1;
    }
  }

  /** Let all shaders of what is seen be compiled side by side, before the first of them is waited for. */
  compile(scene: Scene, camera: PerspectiveCamera): void {
    scene.traverseVisible((part) => {
      if ("material" in part) this.renderer?.compile(part, camera, scene);
    });
  }

  render(pane: Pane, scene: Scene, camera: PerspectiveCamera, paper: string): void {
    if (!this.renderer || pane.width < 1 || pane.height < 1) return;
    const { offsetLeft: left, offsetTop: top } = pane.element;
    const bottom = this.root.clientHeight - top - pane.height;
    this.renderer.setViewport(left, bottom, pane.width, pane.height);
    // Clear slightly more to the right and below: a width of 355.5 pixels would leave a dark seam.
    this.renderer.setScissor(left, bottom - SEAM, pane.width + SEAM, pane.height + SEAM);
    this.renderer.setScissorTest(true);
    this.renderer.setClearColor(new Color(paper), 1);
    this.renderer.render(scene, camera);
  }

  /** Adapt to the size of the page; returns false while there is no room to draw. */
  private fit(): boolean {
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    if (width < 1 || height < 1) return false;
    const ratio = this.forcedRatio ?? this.quality.ratio;
    const size = [width, height, ratio].join();
    if (size !== this.size) {
      this.size = size;
      this.renderer!.setDrawingBufferSize(width, height, ratio);
    }
    for (const pane of this.panes) {
      pane.width = pane.element.clientWidth;
      pane.height = pane.element.clientHeight;
    }
    return true;
  }

  private showNotice(sentence: string): void {
    this.root.classList.toggle("empty", sentence !== "");
    for (const { notice } of this.panes) {
      notice.textContent = sentence;
      notice.hidden = sentence === "";
    }
  }
}

function paneOf(frame: Frame): Pane {
  const element = document.createElement("div");
  element.className = `view-pane view-${frame}`;
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", NAMES[frame]);
  // Lets the keyboard control the camera.
  element.tabIndex = 0;
  const caption = part("view-caption", NAMES[frame]);
  const remark = part("view-remark", "");
  const notice = part("view-notice", "");
  element.append(caption, remark, notice);
  return { frame, element, caption, remark, notice, width: 0, height: 0 };
}

function part(name: string, text: string): HTMLElement {
  const element = document.createElement("div");
  element.className = name;
  element.textContent = text;
  return element;
}

function rendererOn(canvas: HTMLCanvasElement, effects: Effects): WebGLRenderer | null {
  const antialias = effects === "high";
  try {
    // Requested here, because three.js logs an error if there is none.
    const context = canvas.getContext("webgl2", { antialias, alpha: false, stencil: false });
    if (!context) return null;
    const renderer = new WebGLRenderer({ canvas, context, antialias, alpha: false });
    renderer.shadowMap.enabled = effects === "high";
    // Asking waits for the compiler after every shader, several times; the browser reports a program that failed anyway.
    renderer.debug.checkShaderErrors = false;
    renderer.shadowMap.type = PCFShadowMap;
    return renderer;
  } catch {
    return null;
  }
}
