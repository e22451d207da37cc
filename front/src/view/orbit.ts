// The one camera of both views: dragging turns it, wheel or pinch brings it nearer, a double click resets it.

import type { PerspectiveCamera } from "three";
import { FIRST_LOOK } from "./framing.ts";

const START = { ...FIRST_LOOK, zoom: 1 };
const STEEPEST = Math.PI / 2 - 0.02;
const ZOOMS = { least: 0.1, most: 40 };
/** Of the camera: half the angle of its view, in rad. */
export const HALF_VIEW = (14 * Math.PI) / 180;
/** A press that moves less than this, in pixels, is a click. */
const CLICK = 5;
/** What a key does: a turn in rad, a zoom. */
const KEY_TURN = Math.PI / 24;
const KEY_ZOOM = 1.15;

export class Orbit {
  azimuth = START.azimuth;
  elevation = START.elevation;
  zoom = START.zoom;
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private moved = 0;

  /** `changed` is called whenever the camera is elsewhere. */
  constructor(private readonly changed: () => void) {}

  /** Listen to a pane; `clicked` gets the place in the pane, in pixels. */
  listen(pane: HTMLElement, clicked: (x: number, y: number) => void): void {
    pane.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pane.setPointerCapture(event.pointerId);
      if (this.fingers.size === 0) this.moved = 0;
      this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    pane.addEventListener("pointermove", (event) => this.drag(event, pane.clientHeight));
    for (const end of ["pointerup", "pointercancel"] as const) {
      pane.addEventListener(end, (event) => {
        const wasDown = this.fingers.delete(event.pointerId);
        if (end === "pointerup" && wasDown && this.fingers.size === 0 && this.moved < CLICK) {
          const box = pane.getBoundingClientRect();
          clicked(event.clientX - box.left, event.clientY - box.top);
        }
      });
    }
    pane.addEventListener("keydown", (event) => {
      // A pane that was only clicked leaves the keys to the playback.
      if (!pane.matches(":focus-visible") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.obey(event.key)) event.preventDefault();
    });
    pane.addEventListener("dblclick", () => this.reset());
    pane.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 16 : 1;
        this.bring(Math.exp(-event.deltaY * lines * 0.0015));
      },
      { passive: false },
    );
  }

  reset(): void {
    Object.assign(this, START);
    this.changed();
  }

  turn(azimuth: number, elevation: number): void {
    this.azimuth += azimuth;
    this.elevation = Math.min(STEEPEST, Math.max(-STEEPEST, this.elevation + elevation));
    this.changed();
  }

  bring(nearer: number): void {
    this.zoom = Math.min(ZOOMS.most, Math.max(ZOOMS.least, this.zoom * nearer));
    this.changed();
  }

  /** Whether a key means something to the camera. */
  private obey(key: string): boolean {
    const turn = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
    if (turn) this.turn(turn[0] * KEY_TURN, turn[1] * KEY_TURN);
    else if (key === "+" || key === "=") this.bring(KEY_ZOOM);
    else if (key === "-") this.bring(1 / KEY_ZOOM);
    else if (key === "0") this.reset();
    else return false;
    return true;
  }

  /** Put a camera so that a ball of this radius about a place fills the view. */
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
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    this.moved += Math.abs(dx) + Math.abs(dy);
    const gap = this.gap();
    this.fingers.set(event.pointerId, now);
    if (this.fingers.size === 2 && gap > 0) this.bring(this.gap() / gap);
    // Two fingers turn as well, each by half: on a phone one finger up or down moves the page.
    const share = Math.PI / height / this.fingers.size;
    if (this.moved >= CLICK) this.turn(-dx * share, dy * share);
  }

  /** Between two fingers. */
  private gap(): number {
    const [a, b] = [...this.fingers.values()];
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }
}
