// The room of the views: camera presets, one pane or both, full screen, and the lines between the parts of the page.

import type { Preset, Views } from "../view/views.ts";
import { isFramed } from "../view/camera-gestures.ts";
import { button, create, requireElement } from "./dom.ts";
import { Divider } from "./divider.ts";
import { icon } from "./icons.ts";
import { recall, remember } from "./layout-memory.ts";
import { Popover } from "./popover.ts";

/** Presets in the order of their keys: 0, 1, 2, ... */
const PRESETS: [Preset, string][] = [
  ["start", "Start view"],
  ["front", "Front"],
  ["side", "Side"],
  ["top", "Top"],
  ["isometric", "Isometric"],
  ["L", "Along L"],
];
const PANES = { both: "Both views", space: "Space frame only", body: "Body frame only" };
type Shown = keyof typeof PANES;

export class Panes {
  private readonly buttons = new Map<Shown, HTMLButtonElement>();
  private readonly full: HTMLButtonElement;

  constructor(private readonly views: Views) {
    document.body.classList.toggle("framed", isFramed());
    const group = create("div", { class: "pane-choice", attributes: { role: "group", "aria-label": "Views shown" } });
    for (const [shown, words] of Object.entries(PANES) as [Shown, string][]) {
      const one = button(words, { class: "tool" }, () => this.show(shown), icon(shown));
      this.buttons.set(shown, one);
      group.append(one);
    }
    this.full = button("Full screen", { class: "tool" }, () => this.toggleFull(), icon("expand"));
    const bar = create("div", { class: "view-bar" }, this.cameraMenu(), group, this.full);
    views.root.after(bar);
    views.overlay = bar;
    document.addEventListener("fullscreenchange", () => this.setFull(document.fullscreenElement !== null));
    document.addEventListener("keydown", (event) => {
      // Where the browser has no full screen for the page it fills its frame, and Escape ends that.
      if (event.key === "Escape" && this.isFull && !event.defaultPrevented && !document.fullscreenElement) this.setFull(false);
    });
    this.addDividers();
    const known = recall("shown");
    this.show(typeof known === "string" && known in PANES ? (known as Shown) : "both");
  }

  /** What keys do, beside those of the playback. */
  readonly keys: Record<string, () => void> = {
    ...Object.fromEntries(PRESETS.map(([preset], k) => [String(k), () => this.views.applyPreset(preset)])),
    v: () => this.showNext(),
    f: () => this.toggleFull(),
  };

  private get shown(): Shown {
    return this.views.root.dataset["panes"] as Shown;
  }

  private get isFull(): boolean {
    return document.body.dataset["full"] === "true";
  }

  show(shown: Shown): void {
    this.views.root.dataset["panes"] = shown;
    for (const [name, one] of this.buttons) one.setAttribute("aria-pressed", String(name === shown));
    remember("shown", shown);
  }

  private showNext(): void {
    const all = Object.keys(PANES) as Shown[];
    this.show(all[(all.indexOf(this.shown) + 1) % all.length]);
  }

  private toggleFull(): void {
    const yes = !this.isFull;
    if (!yes && document.fullscreenElement) void document.exitFullscreen();
    else if (yes && document.fullscreenEnabled) {
      // A browser may still refuse, for example without a click: then the views fill the page.
      document.documentElement.requestFullscreen().catch(() => this.setFull(true));
      return;
    }
    this.setFull(yes);
  }

  private setFull(yes: boolean): void {
    document.body.dataset["full"] = String(yes);
    const words = yes ? "Leave full screen" : "Full screen";
    this.full.setAttribute("aria-label", words);
    this.full.title = `${words} (f)`;
    this.full.setAttribute("aria-pressed", String(yes));
    this.full.replaceChildren(icon(yes ? "shrink" : "expand"));
  }

  private cameraMenu(): HTMLElement {
    const menu = new Popover("Camera", "cameras", "eye");
    for (const [k, [preset, words]] of PRESETS.entries()) {
      const choice = create("button", { attributes: { type: "button" } }, create("span", { text: words }), create("kbd", { text: String(k) }));
      choice.addEventListener("click", () => {
        this.views.applyPreset(preset);
        menu.open(false);
      });
      menu.panel.append(choice);
    }
    const linked = create("input", { attributes: { type: "checkbox" } });
    linked.checked = true;
    linked.addEventListener("change", () => this.views.setLinked(linked.checked));
    this.views.onLinked = (yes) => (linked.checked = yes);
    menu.panel.append(create("label", {}, linked, "Both views turn together"));
    return menu.element;
  }

  private addDividers(): void {
    const [{ root }, main, plots, cards] = [this.views, ...["main", "plots", "cards"].map(requireElement)];
    const isStacked = (): boolean => root.classList.contains("stacked");
    const space = root.querySelector<HTMLElement>(".view-space")!;
    const split = new Divider({
      ...{ words: "Size of the views", property: "--split", container: root, ofSecond: false, least: 0.15, most: 0.85 },
      valueOf: String,
      isVertical: () => !isStacked(),
      measure: () => (isStacked() ? space.offsetHeight / root.clientHeight : space.offsetWidth / root.clientWidth),
    });
    const plotsLine = new Divider({
      ...{ words: "Width of the plots", property: "--plots-width", container: document.body, ofSecond: true, least: 0.15, most: 0.65 },
      valueOf: (share) => `${100 * share}vw`,
      isVertical: () => true,
      measure: () => plots.offsetWidth / document.body.clientWidth,
    });
    const cardsLine = new Divider({
      ...{ words: "Height of the parameters", property: "--cards-height", container: main, ofSecond: true, least: 0.06, most: 0.7 },
      valueOf: (share) => `minmax(0, ${100 * share}%)`,
      isVertical: () => false,
      measure: () => cards.offsetHeight / main.clientHeight,
    });
    root.append(split.element);
    plots.before(plotsLine.element);
    main.append(cardsLine.element);
  }
}
