// The camera of both views: drag to rotate, wheel or pinch to zoom, double-click to reset.

import type { PerspectiveCamera } from "three";
import { INITIAL_VIEW } from "./framing.ts";
import type { StageCamera } from "./stage.ts";

const START = { ...INITIAL_VIEW, zoom: 1 };
const MAX_ELEVATION = Math.PI / 2 - 0.02;
const ZOOMS = { least: 0.1, most: 40 };
/** Half the field of view of the camera, in rad. */
export const HALF_VIEW = (14 * Math.PI) / 180;
/** A press that moves less than this, in pixels, is a click. */
const CLICK = 5;
/** Rotation in rad, and zoom factor, per key press. */
const KEY_TURN = Math.PI / 24;
const KEY_ZOOM = 1.15;

export class Orbit {
  /** Where `reset` returns to. */
  start = START;
  azimuth = START.azimuth;
  elevation = START.elevation;
  zoom = START.zoom;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private moved = 0;

  /** `changed` is called whenever the camera moves. */
  constructor(private readonly changed: () => void) {}

  /** Handle the events of a pane; `clicked` receives the position in the pane, in pixels. */
  listen(pane: HTMLElement, clicked: (x: number, y: number) => void): void {
    pane.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pane.setPointerCapture(event.pointerId);
      if (this.pointers.size === 0) this.moved = 0;
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    pane.addEventListener("pointermove", (event) => this.drag(event, pane.clientHeight));
    for (const end of ["pointerup", "pointercancel"] as const) {
      pane.addEventListener(end, (event) => {
        const wasDown = this.pointers.delete(event.pointerId);
        if (end === "pointerup" && wasDown && this.pointers.size === 0 && this.moved < CLICK) {
          const box = pane.getBoundingClientRect();
          clicked(event.clientX - box.left, event.clientY - box.top);
        }
      });
    }
    pane.addEventListener("keydown", (event) => {
      // In a pane that was only clicked the keys control the playback.
      if (!pane.matches(":focus-visible") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.handleKey(event.key)) event.preventDefault();
    });
    pane.addEventListener("dblclick", () => this.reset());
    pane.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 16 : 1;
        this.zoomBy(Math.exp(-event.deltaY * lines * 0.0015));
      },
      { passive: false },
    );
  }

  /** Start somewhere else; null for the usual place. */
  startAt(camera: StageCamera | null): void {
    const radians = Math.PI / 180;
    this.start = camera === null ? START : { azimuth: camera.azimuthDeg * radians, elevation: camera.elevationDeg * radians, zoom: camera.zoom };
    this.reset();
  }

  reset(): void {
    Object.assign(this, this.start);
    this.changed();
  }

  rotate(azimuth: number, elevation: number): void {
    this.azimuth += azimuth;
    this.elevation = Math.min(MAX_ELEVATION, Math.max(-MAX_ELEVATION, this.elevation + elevation));
    this.changed();
  }

  zoomBy(factor: number): void {
    this.zoom = Math.min(ZOOMS.most, Math.max(ZOOMS.least, this.zoom * factor));
    this.changed();
  }

  /** Returns whether the key was handled. */
  private handleKey(key: string): boolean {
    const rotate = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
    if (rotate) this.rotate(rotate[0] * KEY_TURN, rotate[1] * KEY_TURN);
    else if (key === "+" || key === "=") this.zoomBy(KEY_ZOOM);
    else if (key === "-") this.zoomBy(1 / KEY_ZOOM);
    else if (key === "0") this.reset();
    else return false;
    return true;
  }

  /** Place the camera so that a ball of this radius about a point fills the view. */
  aim(camera: PerspectiveCamera, at: [number, number, number], radius: number, aspect: number): void {
    const distance = radius / Math.tan(HALF_VIEW) / Math.min(1, aspect) / this.zoom;
    const flat = Math.cos(this.elevation);
    const way = [flat * Math.cos(this.azimuth), flat * Math.sin(this.azimuth), Math.sin(this.elevation)];
    camera.position.set(at[0] + distance * way[0], at[1] + distance * way[1], at[2] + distance * way[2]);
    camera.up.set(0, 0, 1);
    camera.lookAt(...at);
    camera.aspect = aspect;
    camera.near = distance * 0.02;
    camera.far = distance + 40 * radius;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }

  private drag(event: PointerEvent, height: number): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    this.moved += Math.abs(dx) + Math.abs(dy);
    const gap = this.gap();
    this.pointers.set(event.pointerId, now);
    if (this.pointers.size === 2 && gap > 0) this.zoomBy(this.gap() / gap);
    // Two fingers rotate as well, each by half: on a phone one finger scrolls the page.
    const share = Math.PI / height / this.pointers.size;
    if (this.moved >= CLICK) this.rotate(-dx * share, dy * share);
  }

  /** Distance between two fingers. */
  private gap(): number {
    const [a, b] = [...this.pointers.values()];
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }
}
