// The panel in which panels, units and the drawing of ensembles are chosen.

import { button, create } from "../controls/dom.ts";
import { Popover } from "../controls/popover.ts";
import type { MotionRecord } from "../motion/record.ts";
import { panelsOf, panelWords, phaseOf, whyNot } from "./panel-list.ts";
import { quantityGroups } from "./panel-contents.ts";
import type { PlotSelection, Spread } from "./plot-choices.ts";
import { findQuantity } from "./quantities.ts";

/** A first phase plot: the path from above if the body moves, otherwise the polhode from the side of axis 3. */
const FIRST_PHASES = [
  { panel: "position", x: "position_x", y: "position_y" },
  { panel: "angular_velocity", x: "angular_velocity_body_1", y: "angular_velocity_body_2" },
];

const SPREADS: [Spread, string][] = [
  ["auto", "as suits the ensemble"],
  ["bands", "bands (quantiles)"],
  ["members", "curves of members"],
  ["none", "the watched one only"],
];

export class PlotChooser {
  readonly popover = new Popover("Plots", "plots-chooser");
  private readonly panels = create("fieldset");
  private readonly spread = create("select");
  private readonly spreadLabel: HTMLElement;
  private readonly reset: HTMLButtonElement;
  private listed = "";
  private update: () => void = () => undefined;
  private addPhase: () => void = () => undefined;

  constructor(private readonly selection: PlotSelection) {
    this.spread.append(...SPREADS.map(([value, words]) => create("option", { text: words, attributes: { value } })));
    this.spread.addEventListener("change", () => selection.set({ spread: this.spread.value as Spread }));
    this.spreadLabel = create("label", { class: "plots-row" }, "Members", this.spread);
    this.reset = button("Panels as at first", { class: "small" }, () => selection.set({ panels: null, hidden: [] }));
    const add = button("Add an x–y plot", { class: "small" }, () => this.addPhase());
    this.popover.panel.append(this.panels, this.spreadLabel, create("div", { class: "plots-row" }, add, this.reset));
    this.popover.element.addEventListener("click", () => {
      if (!this.popover.panel.hidden) this.update();
    });
  }

  /** `shown` are the panels that are displayed. */
  show(record: MotionRecord, watched: number, shown: readonly string[]): void {
    this.update = () => this.list(record, watched, shown);
    this.addPhase = () => {
      const { x, y } = FIRST_PHASES.find(({ panel }) => whyNot(record, watched, panel) === "") ?? FIRST_PHASES[1];
      this.add(shown, `phase:${x}:${y}`);
    };
    this.spread.value = this.selection.now.spread;
    this.spreadLabel.hidden = record.axis !== "member" || record.bodies < 2;
    this.reset.disabled = this.selection.now.panels === null && this.selection.now.hidden.length === 0;
    // Lists are made when they can be seen: motions may come many times a second.
    if (!this.popover.panel.hidden) this.update();
  }

  private list(record: MotionRecord, watched: number, shown: readonly string[]): void {
    const listed = panelsOf(record);
    const ids = [...listed, ...shown.filter((id) => !listed.includes(id))];
    const reasons = ids.map((id) => whyNot(record, watched, id));
    const described = JSON.stringify([ids, reasons, shown]);
    if (described === this.listed) return;
    this.listed = described;
    const focused = this.panels.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["panel"] : undefined;
    const rows = ids.map((id, i) => this.row(id, wordsOf(record, id), reasons[i], shown));
    this.panels.replaceChildren(create("legend", { text: "Panels" }), ...rows);
    // The list was rebuilt below the keyboard's focus.
    if (focused !== undefined) [...this.panels.querySelectorAll("input")].find((box) => box.dataset["panel"] === focused)?.focus();
  }

  private row(id: string, words: string, reason: string, shown: readonly string[]): HTMLElement {
    const box = create("input", { attributes: { type: "checkbox", "data-panel": id } });
    box.checked = shown.includes(id);
    box.disabled = reason !== "" && !box.checked;
    box.addEventListener("change", () => {
      if (box.checked) this.add(shown, id);
      else this.selection.set({ panels: shown.filter((one) => one !== id) });
    });
    const why = reason === "" ? null : create("span", { class: "plots-why", text: reason });
    return create("div", { class: "switch" }, create("label", {}, box, create("span", {}, words, why === null ? null : " ", why)));
  }

  private add(shown: readonly string[], id: string): void {
    if (!shown.includes(id)) this.selection.set({ panels: [...shown, id] });
  }
}

function wordsOf(record: MotionRecord, id: string): string {
  const phase = phaseOf(id);
  if (phase === null) return panelWords(record, id);
  const [x, y] = [phase.x, phase.y].map((one) => {
    const found = findQuantity(record, one);
    return found === null ? one : found.family.quantities[found.place].label;
  });
  return `${y} over ${x}`;
}

/** The two lists of quantities of a phase plot. */
export class PhasePickers {
  readonly element: HTMLElement;
  private readonly lists = [create("select", { attributes: { "aria-label": "Vertical axis" } }), create("select", { attributes: { "aria-label": "Horizontal axis" } })];
  private listed = "";

  constructor(private readonly onChange: (id: string) => void) {
    const [y, x] = this.lists;
    this.element = create("span", { class: "plot-pickers" }, y, "over", x);
    for (const list of this.lists) list.addEventListener("change", () => this.onChange(`phase:${x.value}:${y.value}`));
  }

  show(record: MotionRecord, id: string): void {
    const groups = quantityGroups(record);
    const described = JSON.stringify(groups.map((one) => one.quantities.map((quantity) => quantity.id)));
    const phase = phaseOf(id)!;
    for (const [i, list] of this.lists.entries()) {
      if (described !== this.listed) {
        list.replaceChildren(
          ...groups.map(({ heading, quantities }) => {
            const options = quantities.map((one) => create("option", { text: one.label, attributes: { value: one.id } }));
            return create("optgroup", { attributes: { label: heading } }, ...options);
          }),
        );
      }
      list.value = i === 0 ? phase.y : phase.x;
    }
    this.listed = described;
  }
}
