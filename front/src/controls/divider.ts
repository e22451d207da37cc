// A line between two parts of the page that can be dragged, or moved by the arrow keys; a double click or Enter puts it back.

import { create } from "./dom.ts";
import { recall, remember } from "./layout-memory.ts";

export interface DividerOptions {
  /** Accessible name. */
  words: string;
  /** Custom property of the container that holds the size, and name under which it is remembered. */
  property: string;
  /** Value of the property for a share. */
  valueOf(share: number): string;
  /** What is divided. */
  container: HTMLElement;
  /** Whether the line is vertical now: the parts are side by side. */
  isVertical(): boolean;
  /** Whether the share is that of the second part. */
  ofSecond: boolean;
  least: number;
  most: number;
  /** Current share, measured. */
  measure(): number;
}

const STEP = 0.02;
const KEYS: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

export class Divider {
  readonly element: HTMLElement;

  constructor(private readonly options: DividerOptions) {
    const attributes = { role: "separator", tabindex: "0", "aria-label": options.words, "aria-valuemin": percent(options.least), "aria-valuemax": percent(options.most) };
    this.element = create("div", { class: `divider ${options.property.slice(2)}`, title: `${options.words}: drag; double-click to reset`, attributes });
    const known = recall(options.property);
    if (typeof known === "number") this.set(known);
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    this.element.addEventListener("pointermove", (event) => {
      if (this.element.hasPointerCapture(event.pointerId)) this.drag(event);
    });
    this.element.addEventListener("dblclick", () => this.reset());
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.describe()).observe(options.container);
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    event.stopPropagation();
  }

  private drag(event: PointerEvent): void {
    const box = this.options.container.getBoundingClientRect();
    const share = this.options.isVertical() ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height;
    this.set(this.options.ofSecond ? 1 - share : share);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { least, most, ofSecond, measure } = this.options;
    const way = KEYS[event.key];
    if (way !== undefined) this.set(measure() + (ofSecond ? -way : way) * STEP);
    else if (event.key === "Home" || event.key === "End") this.set((event.key === "Home") === ofSecond ? most : least);
    else if (event.key === "Enter") this.reset();
    else return;
    event.preventDefault();
  }

  private set(share: number): void {
    const { container, property, least, most, valueOf } = this.options;
    const kept = Number(Math.min(most, Math.max(least, share)).toFixed(4));
    container.style.setProperty(property, valueOf(kept));
    remember(property, kept);
    this.describe();
  }

  private reset(): void {
    this.options.container.style.removeProperty(this.options.property);
    remember(this.options.property, undefined);
    this.describe();
  }

  private describe(): void {
    this.element.setAttribute("aria-orientation", this.options.isVertical() ? "vertical" : "horizontal");
    const share = this.options.measure();
    if (Number.isFinite(share)) this.element.setAttribute("aria-valuenow", percent(share));
  }
}

const percent = (share: number): string => String(Math.round(100 * share));
