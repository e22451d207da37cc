// Two panes on one canvas, drawn by one WebGL renderer; redrawn only on request.

import { Color, PCFShadowMap, WebGLRenderer, type PerspectiveCamera, type Scene } from "three";
import type { Effects } from "./pattern.ts";
import type { Frame } from "./context.ts";

const NO_WEBGL = "This browser does not support WebGL, so the views are empty; plots and controls still work.";
const CONTEXT_LOST = "The WebGL context was lost; the views will be restored when it returns.";
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

export class PaneRenderer {
  readonly panes: Pane[];
  readonly unavailable: string = "";
  private readonly canvas = document.createElement("canvas");
  private readonly renderer: WebGLRenderer | null;
  private isDrawRequested = false;
  private drawn = 0;
  private size = "";
  /** Of a picture that is being taken. */
  private forcedRatio: number | null = null;

  /** `frame` draws both panes by calling `render`, at most once per animation frame. */
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
    new ResizeObserver(() => {
      // Whichever orientation leaves more room for each pane.
      root.classList.toggle("stacked", root.clientWidth < root.clientHeight);
      this.requestDraw();
    }).observe(root);
  }

  /** Draw in the next animation frame. */
  requestDraw(): void {
    if (this.isDrawRequested || !this.renderer) return;
    this.isDrawRequested = true;
    requestAnimationFrame(() => {
      this.isDrawRequested = false;
      if (!this.fit()) return;
      this.frame();
      this.drawn += 1;
      this.root.dataset.drawn = String(this.drawn);
    });
  }

  /** Draw at once with so many pixels per pixel of the page, for a picture; false if nothing can be drawn. */
  capture(ratio: number, use: (canvas: HTMLCanvasElement) => void): boolean {
    if (!this.renderer) return false;
    this.forcedRatio = ratio;
    const isDrawn = this.fit();
    // The browser clears the canvas when the script ends.
    if (isDrawn) {
      this.frame();
      use(this.canvas);
    }
    this.forcedRatio = null;
    this.requestDraw();
    return isDrawn;
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
    const ratio = this.forcedRatio ?? (this.effects === "low" ? 1 : Math.min(2, window.devicePixelRatio || 1));
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
    renderer.shadowMap.type = PCFShadowMap;
    return renderer;
  } catch {
    return null;
  }
}
