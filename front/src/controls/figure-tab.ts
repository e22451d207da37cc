// The model's own figure in place of the views: "View | Figure".  The server draws it when asked.

import type { App } from "../app.ts";
import { button, create, setText } from "./dom.ts";
import type { LinkPart } from "./page-link.ts";

const MAX_KEPT = 12;

export class FigureTab {
  private readonly image = create("img", { attributes: { alt: "Figure of the model" } });
  private readonly words = create("p", { class: "quiet", attributes: { role: "status" } });
  private readonly panel = create("section", { class: "figure", hidden: true, attributes: { "aria-label": "Figure" } }, this.image, this.words);
  private readonly bar = create("div", { class: "tabs", hidden: true, attributes: { role: "group", "aria-label": "View or figure" } });
  private readonly buttons: HTMLButtonElement[];
  /** Figures by model and values. */
  private readonly kept = new Map<string, string>();
  private wanted = "";

  constructor(
    area: HTMLElement,
    header: HTMLElement,
    private readonly app: App,
  ) {
    this.buttons = (["View", "Figure"] as const).map((words, k) => button(words, { attributes: { "aria-pressed": String(k === 0) } }, () => this.open(k === 1)));
    this.bar.append(...this.buttons);
    area.append(this.panel);
    header.lastElementChild!.before(this.bar);
    // Small letters can be read at full size.
    this.image.addEventListener("click", () => this.image.classList.toggle("large"));
  }

  /** Another motion is shown, or the values have changed. */
  show(): void {
    const shown = this.app.lab?.server?.shown() ?? null;
    this.bar.hidden = shown === null || !shown.model.hasFigure;
    if (this.bar.hidden && !this.panel.hidden) this.open(false);
    if (!this.panel.hidden) void this.draw();
  }

  get linkPart(): LinkPart {
    return {
      key: "tab",
      write: () => (this.panel.hidden ? "" : "figure"),
      read: (text) => {
        if (text !== "figure") return `The URL opens the tab "${text}", which does not exist; the view is shown.`;
        if (this.bar.hidden) return "The URL opens the figure, which this page does not have; the view is shown.";
        this.open(true);
        return "";
      },
    };
  }

  private open(yes: boolean): void {
    this.panel.hidden = !yes;
    this.buttons.forEach((one, k) => one.setAttribute("aria-pressed", String((k === 1) === yes)));
    document.body.dataset["tab"] = yes ? "figure" : "view";
    this.app.link.touch();
    if (yes) void this.draw();
  }

  private async draw(): Promise<void> {
    const shown = this.app.lab?.server?.shown() ?? null;
    if (shown === null) return;
    const key = JSON.stringify([shown.model.name, shown.values]);
    if (this.wanted === key) return;
    this.wanted = key;
    this.panel.setAttribute("aria-busy", "true");
    setText(this.words, this.kept.has(key) ? "" : "Drawing the figure …");
    try {
      const picture = this.kept.get(key) ?? (await this.fetch(key, shown.model.name, shown.values));
      // A newer one may have been asked for meanwhile.
      if (this.wanted !== key) return;
      this.image.src = picture;
      this.image.alt = `Figure of ${shown.model.title}`;
      setText(this.words, "");
    } catch (error) {
      if (this.wanted !== key) return;
      this.wanted = "";
      this.image.removeAttribute("src");
      setText(this.words, `The figure could not be drawn: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.panel.removeAttribute("aria-busy");
  }

  private async fetch(key: string, model: string, values: Record<string, number>): Promise<string> {
    const { mime = "image/svg+xml", data = "" } = await this.app.lab!.server!.take({ type: "figure", model, values, run: "" });
    const picture = `data:${mime};base64,${data}`;
    this.kept.set(key, picture);
    // The oldest is forgotten first.
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
    return picture;
  }
}
