// Mouse, pen and touch gestures on a plot: dragging changes the current time; Ctrl + wheel and pinching zoom in time.
// All positions are fractions of the width of the plot, 0 to 1.

export interface PlotActions {
  begin(): void;
  seek(share: number): void;
  end(): void;
  zoom(factor: number, share: number): void;
  pan(share: number): void;
  reset(): void;
}

/** A pointer that has moved less, in pixels, may be about to scroll the page. */
const DRAG_THRESHOLD = 6;

export function listen(area: HTMLElement, actions: PlotActions): void {
  const pointers = new Map<number, { x: number; startX: number }>();
  let dragging = false;
  let pinched = false;

  function share(x: number): number {
    const { left, width } = area.getBoundingClientRect();
    return width > 0 ? (x - left) / width : 0;
  }
  function drag(x: number): void {
    if (!dragging) actions.begin();
    dragging = true;
    actions.seek(share(x));
  }
  function release(): void {
    if (dragging) actions.end();
    dragging = false;
  }
  function spread(): { width: number; middle: number } {
    const [a, b] = [...pointers.values()];
    return { width: Math.max(Math.abs(a.x - b.x), 20), middle: share((a.x + b.x) / 2) };
  }

  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    area.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, startX: event.clientX });
    if (pointers.size > 1) {
      pinched = true;
      release();
    } else {
      pinched = false;
      if (event.pointerType !== "touch") drag(event.clientX);
    }
  });
  area.addEventListener("pointermove", (event) => {
    const pointer = pointers.get(event.pointerId);
    if (pointer === undefined) return;
    if (pointers.size === 2) {
      const before = spread();
      pointer.x = event.clientX;
      const now = spread();
      actions.zoom(before.width / now.width, now.middle);
      actions.pan(before.middle - now.middle);
      return;
    }
    pointer.x = event.clientX;
    if (pinched) return;
    if (dragging || Math.abs(pointer.x - pointer.startX) > DRAG_THRESHOLD) drag(pointer.x);
  });
  area.addEventListener("pointerup", (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (!dragging && !pinched) drag(event.clientX);
    release();
  });
  area.addEventListener("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    release();
  });
  area.addEventListener("dblclick", () => actions.reset());
  // The wheel alone scrolls the column of plots.
  area.addEventListener(
    "wheel",
    (event) => {
      const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (event.ctrlKey || event.metaKey) actions.zoom(Math.exp(pixels(event, event.deltaY) / 300), share(event.clientX));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        actions.pan(pixels(event, across) / Math.max(area.clientWidth, 1));
      } else return;
      event.preventDefault();
    },
    { passive: false },
  );
}

/** The wheel may report lines instead of pixels. */
const pixels = (event: WheelEvent, delta: number): number => (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1) * delta;
