// Rings on what can be dragged in a pane.

/** A ring on something that can be dragged, in pixels of the pane. */
export interface Handle {
  key: string;
  x: number;
  y: number;
  color: string;
  words: string;
}

export class Handles {
  private readonly rings = new Map<string, HTMLElement>();

  constructor(
    private readonly pane: HTMLElement,
    private readonly press: (key: string, event: PointerEvent) => void,
  ) {}

  show(handles: Handle[]): void {
    const left = new Set(this.rings.keys());
    for (const { key, x, y, color, words } of handles) {
      const ring = this.rings.get(key) ?? this.create(key);
      left.delete(key);
      ring.hidden = false;
      if (ring.title !== words) ring.title = words;
      ring.style.color = color;
      ring.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
    for (const key of left) this.rings.get(key)!.hidden = true;
  }

  private create(key: string): HTMLElement {
    const ring = document.createElement("div");
    ring.className = "view-handle";
    // The sliders do the same for the keyboard and for screen readers.
    ring.setAttribute("aria-hidden", "true");
    ring.dataset.grab = key;
    ring.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.stopPropagation();
      this.press(key, event);
    });
    // A double click resets the camera elsewhere.
    ring.addEventListener("dblclick", (event) => event.stopPropagation());
    this.pane.append(ring);
    this.rings.set(key, ring);
    return ring;
  }
}
