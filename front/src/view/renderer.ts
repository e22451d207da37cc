// Two panes side by side over one canvas, drawn by one renderer, each in its part of it; drawn anew only when asked.

import { Color, PCFShadowMap, WebGLRenderer, type PerspectiveCamera, type Scene } from "three";
import type { Effects } from "./pattern.ts";
import type { Frame } from "./context.ts";

const NO_WEBGL = "This browser offers no WebGL, so the views stay empty; plots and controls work.";
const LOST = "The graphics card has let go of the views; they come back as soon as it returns.";
const SEAM = 2;
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

export class Stage {
  readonly panes: Pane[];
  readonly why: string = "";
  private readonly canvas = document.createElement("canvas");
  private readonly renderer: WebGLRenderer | null;
  private isAsked = false;
  private drawn = 0;
  private size = "";

  /** `frame` draws both panes by `render`; it is called at most once a frame of the screen. */
  constructor(
    private readonly root: HTMLElement,
    private readonly effects: Effects,
    private readonly frame: () => void,
  ) {
    root.classList.add("views");
    root.dataset.drawn = "0";
    this.canvas.className = "view-canvas";
    this.canvas.setAttribute("aria-hidden", "true");
    this.panes = (["space", "body"] as const).map(paneOf);
    root.replaceChildren(this.canvas, ...this.panes.map(({ element }) => element));
    this.renderer = rendererOn(this.canvas, effects);
    if (!this.renderer) this.why = NO_WEBGL;
    this.notice(this.why);
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.notice(LOST);
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.notice("");
      this.ask();
    });
    new ResizeObserver(() => {
      // Whichever way leaves each pane more room.
      root.classList.toggle("stacked", root.clientWidth < root.clientHeight);
      this.ask();
    }).observe(root);
  }

  /** Something has changed: draw with the next frame of the screen. */
  ask(): void {
    if (this.isAsked || !this.renderer) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      if (!this.fit()) return;
      this.frame();
      this.drawn += 1;
      this.root.dataset.drawn = String(this.drawn);
    });
  }

  render(pane: Pane, scene: Scene, camera: PerspectiveCamera, paper: string): void {
    if (!this.renderer || pane.width < 1 || pane.height < 1) return;
    const { offsetLeft: left, offsetTop: top } = pane.element;
    const bottom = this.root.clientHeight - top - pane.height;
    this.renderer.setViewport(left, bottom, pane.width, pane.height);
    // A little more is wiped to the right and below: a width of 355.5 pixels would leave a dark seam.
    this.renderer.setScissor(left, bottom - SEAM, pane.width + SEAM, pane.height + SEAM);
    this.renderer.setScissorTest(true);
    this.renderer.setClearColor(new Color(paper), 1);
    this.renderer.render(scene, camera);
  }

  /** Follow the size of the page; false while there is no room to draw in. */
  private fit(): boolean {
    const [width, height] = [this.root.clientWidth, this.root.clientHeight];
    if (width < 1 || height < 1) return false;
    const ratio = this.effects === "low" ? 1 : Math.min(2, window.devicePixelRatio || 1);
    const size = [width, height, ratio].join();
    if (size !== this.size) {
      this.size = size;
      this.renderer!.setPixelRatio(ratio);
      this.renderer!.setSize(width, height, false);
    }
    for (const pane of this.panes) {
      pane.width = pane.element.clientWidth;
      pane.height = pane.element.clientHeight;
    }
    return true;
  }

  private notice(sentence: string): void {
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
  // So that the camera is within reach of the keyboard, too.
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
    // Asked for here, because three.js complains on the console where there is none.
    const context = canvas.getContext("webgl2", { antialias, alpha: false, stencil: false });
    if (!context) return null;
    const renderer = new WebGLRenderer({ canvas, context, antialias, alpha: false });
    renderer.shadowMap.enabled = effects === "high";
    renderer.shadowMap.type = PCFShadowMap;
    return renderer;
  } catch {
    return null;
  }
}
