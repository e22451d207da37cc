// A panel that opens below its button; Escape, a click elsewhere or the button closes it.

import { uniqueId, create } from "./dom.ts";
import { icon } from "./icons.ts";

export class Popover {
  readonly element: HTMLElement;
  readonly panel: HTMLElement;
  private readonly opener: HTMLButtonElement;

  /** `image` is the name of an icon that takes the place of the words. */
  constructor(words: string, kind: string, image?: string) {
    const id = uniqueId("panel");
    this.opener = create(
      "button",
      { class: image ? "tool" : "opener", attributes: { type: "button", "aria-expanded": "false", "aria-controls": id } },
      ...(image ? [icon(image)] : [create("span", { text: words }), icon("down")]),
    );
    if (image) {
      this.opener.setAttribute("aria-label", words);
      this.opener.title = words;
    }
    this.panel = create("div", { class: `panel ${kind}`, id, hidden: true, attributes: { role: "group", "aria-label": words } });
    this.element = create("div", { class: "popover" }, this.opener, this.panel);
    this.opener.addEventListener("click", () => this.open(this.panel.hidden !== false));
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.panel.hidden) return;
      this.open(false);
      this.opener.focus();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.contains(event.target as Node)) this.open(false);
    });
  }

  open(yes: boolean): void {
    this.panel.hidden = !yes;
    this.opener.setAttribute("aria-expanded", String(yes));
  }
}
