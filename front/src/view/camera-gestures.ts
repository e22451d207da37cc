// How pointers, wheel and keys move the camera of a pane.

import type { Orbit } from "./orbit.ts";
import { setText } from "../controls/dom.ts";

/** A press that moves less than this, in pixels, is a click. */
const CLICK = 5;
/** Rotation in degrees, zoom factor, and displacement in half heights, per key press. */
const KEY_TURN = 7.5;
const KEY_ZOOM = 1.15;
const KEY_PAN = 0.08;
const HINT_MS = 1600;

/** Whether the page is inside a frame of another one, such as a notebook. */
export const isFramed = (): boolean => window.self !== window.top;

/** Whether a turn of the wheel zooms; in a frame it otherwise scrolls what is around it. */
export function wheelZooms(event: Pick<WheelEvent, "ctrlKey" | "metaKey">, framed: boolean, isFocused: boolean): boolean {
  return !framed || isFocused || event.ctrlKey || event.metaKey;
}

export interface PaneHandlers {
  /** The camera of the pane. */
  orbit(): Orbit;
  /** A press at a place of the pane, in pixels; returns whether something else than the camera is dragged. */
  press(event: PointerEvent, x: number, y: number): boolean;
  hover(x: number, y: number): void;
  click(x: number, y: number): void;
}

interface Pointer {
  x: number;
  y: number;
  pans: boolean;
}

export class CameraGestures {
  private readonly pointers = new Map<number, Pointer>();
  private moved = 0;
  private readonly hint = document.createElement("div");
  private hiding: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly pane: HTMLElement,
    private readonly handlers: PaneHandlers,
  ) {
    this.hint.className = "view-hint";
    this.hint.setAttribute("role", "status");
    pane.append(this.hint);
    pane.addEventListener("pointerdown", (event) => this.press(event));
    pane.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"] as const) pane.addEventListener(end, (event) => this.release(event));
    pane.addEventListener("pointerleave", () => handlers.hover(Number.NaN, Number.NaN));
    // The right button moves the view.
    pane.addEventListener("contextmenu", (event) => event.preventDefault());
    pane.addEventListener("keydown", (event) => this.key(event));
    pane.addEventListener("dblclick", () => handlers.orbit().reset());
    pane.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  private press(event: PointerEvent): void {
    const [x, y] = this.placeOf(event);
    if (event.button === 0 && !event.shiftKey && this.pointers.size === 0 && this.handlers.press(event, x, y)) return;
    if (event.button > 2) return;
    this.pane.setPointerCapture(event.pointerId);
    if (this.pointers.size === 0) this.moved = 0;
    // The middle button would scroll the page.
    if (event.button === 1) event.preventDefault();
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, pans: event.button !== 0 || event.shiftKey });
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      if (this.pointers.size === 0 && event.pointerType === "mouse") this.handlers.hover(...this.placeOf(event));
      return;
    }
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    this.moved += Math.abs(dx) + Math.abs(dy);
    const gap = this.gap();
    this.pointers.set(event.pointerId, { ...before, x: event.clientX, y: event.clientY });
    if (this.moved < CLICK) return;
    const orbit = this.handlers.orbit();
    const { clientWidth: width, clientHeight: height } = this.pane;
    const fingers = this.pointers.size;
    if (fingers === 2 && gap > 0) orbit.zoomBy(this.gap() / gap, ...this.fromCenter(...this.middle()), width / height);
    // Each of two fingers moves the view by half.
    if (fingers > 1 || before.pans) orbit.pan((2 * dx) / height / fingers, (-2 * dy) / height / fingers, width / height);
    else orbit.rotate((-dx * 180) / height, (dy * 180) / height);
  }

  private release(event: PointerEvent): void {
    const wasDown = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    const isClick = event.type === "pointerup" && wasDown && !wasDown.pans && this.pointers.size === 0 && this.moved < CLICK;
    if (isClick) this.handlers.click(...this.placeOf(event));
  }

  private wheel(event: WheelEvent): void {
    const isFocused = document.hasFocus() && this.pane.contains(document.activeElement);
    if (!wheelZooms(event, isFramed(), isFocused)) {
      this.tell(`Click the view, or hold ${navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl"}, to zoom with the wheel`);
      return;
    }
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
    const { clientWidth: width, clientHeight: height } = this.pane;
    // A pinch on a touch pad arrives as a small turn with Ctrl.
    const rate = event.ctrlKey && Math.abs(pixels) < 20 ? 0.01 : 0.0015;
    this.handlers.orbit().zoomBy(Math.exp(-pixels * rate), ...this.fromCenter(...this.placeOf(event)), width / height);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") this.pane.blur();
    // In a pane that was only clicked the keys control the playback.
    if (!this.pane.matches(":focus-visible") || event.ctrlKey || event.metaKey || event.altKey) return;
    const orbit = this.handlers.orbit();
    const way = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (way && event.shiftKey) orbit.pan(way[0] * KEY_PAN, -way[1] * KEY_PAN, this.pane.clientWidth / this.pane.clientHeight);
    else if (way) orbit.rotate(way[0] * KEY_TURN, way[1] * KEY_TURN);
    else if (event.key === "+" || event.key === "=") orbit.zoomBy(KEY_ZOOM);
    else if (event.key === "-") orbit.zoomBy(1 / KEY_ZOOM);
    else return;
    event.preventDefault();
  }

  /** Say something briefly. */
  private tell(words: string): void {
    setText(this.hint, words);
    this.hint.classList.add("shown");
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => this.hint.classList.remove("shown"), HINT_MS);
  }

  /** Place of an event in the pane, in pixels. */
  private placeOf(event: MouseEvent): [number, number] {
    const box = this.pane.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** To the right of, and above, the center of the pane, in half heights. */
  private fromCenter(x: number, y: number): [number, number] {
    const { clientWidth: width, clientHeight: height } = this.pane;
    return [(2 * x - width) / height, 1 - (2 * y) / height];
  }

  /** Distance between two fingers. */
  private gap(): number {
    const [a, b] = [...this.pointers.values()];
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }

  /** Middle between two fingers, in the pane. */
  private middle(): [number, number] {
    const [a, b] = [...this.pointers.values()];
    const box = this.pane.getBoundingClientRect();
    return [(a.x + b.x) / 2 - box.left, (a.y + b.y) / 2 - box.top];
  }
}
