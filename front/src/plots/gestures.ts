// What mouse, pen and fingers do on a plot: dragging moves the instant, the wheel with Ctrl and two fingers zoom in time.
// All places are shares of the plot's width, 0 to 1.

export interface Acts {
  begin(): void;
  seek(share: number): void;
  end(): void;
  zoom(factor: number, share: number): void;
  pan(share: number): void;
  whole(): void;
}

/** A finger that has moved less may be about to scroll the page. */
const SLIP = 6;

export function listen(area: HTMLElement, acts: Acts): void {
  const fingers = new Map<number, { x: number; startX: number }>();
  let dragging = false;
  let pinched = false;

  function share(x: number): number {
    const { left, width } = area.getBoundingClientRect();
    return width > 0 ? (x - left) / width : 0;
  }
  function drag(x: number): void {
    if (!dragging) acts.begin();
    dragging = true;
    acts.seek(share(x));
  }
  function release(): void {
    if (dragging) acts.end();
    dragging = false;
  }
  function spread(): { width: number; middle: number } {
    const [a, b] = [...fingers.values()];
    return { width: Math.max(Math.abs(a.x - b.x), 20), middle: share((a.x + b.x) / 2) };
  }

  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    area.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, startX: event.clientX });
    if (fingers.size > 1) {
      pinched = true;
      release();
    } else {
      pinched = false;
      if (event.pointerType !== "touch") drag(event.clientX);
    }
  });
  area.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (finger === undefined) return;
    if (fingers.size === 2) {
      const before = spread();
      finger.x = event.clientX;
      const now = spread();
      acts.zoom(before.width / now.width, now.middle);
      acts.pan(before.middle - now.middle);
      return;
    }
    finger.x = event.clientX;
    if (pinched) return;
    if (dragging || Math.abs(finger.x - finger.startX) > SLIP) drag(finger.x);
  });
  area.addEventListener("pointerup", (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (!dragging && !pinched) drag(event.clientX);
    release();
  });
  area.addEventListener("pointercancel", (event) => {
    fingers.delete(event.pointerId);
    release();
  });
  area.addEventListener("dblclick", () => acts.whole());
  // The wheel alone scrolls the column of plots.
  area.addEventListener(
    "wheel",
    (event) => {
      const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (event.ctrlKey || event.metaKey) acts.zoom(Math.exp(pixels(event, event.deltaY) / 300), share(event.clientX));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        acts.pan(pixels(event, across) / Math.max(area.clientWidth, 1));
      } else return;
      event.preventDefault();
    },
    { passive: false },
  );
}

/** A wheel may count in lines. */
const pixels = (event: WheelEvent, delta: number): number => (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1) * delta;
