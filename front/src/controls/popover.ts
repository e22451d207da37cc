// A panel that opens below its button, and closes by Escape, by a press elsewhere, or by the button.

import { freshId, made } from "./dom.ts";
import { icon } from "./icons.ts";

export class Popover {
  readonly element: HTMLElement;
  readonly panel: HTMLElement;
  private readonly opener: HTMLButtonElement;

  constructor(words: string, kind: string) {
    const id = freshId("panel");
    this.opener = made(
      "button",
      { class: "opener", is: { type: "button", "aria-expanded": "false", "aria-controls": id } },
      made("span", { text: words }),
      icon("down"),
    );
    this.panel = made("div", { class: `panel ${kind}`, id, hidden: true, is: { role: "group", "aria-label": words } });
    this.element = made("div", { class: "popover" }, this.opener, this.panel);
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
