// The top of the page: whose it is, what is shown, and the panels that open from there.

import type { Model } from "../transport/protocol.ts";
import { button, made, say } from "./dom.ts";
import { formula, sentence } from "./format.ts";
import { icon } from "./icons.ts";
import { keyboardHelp } from "./keyboard.ts";
import { Popover } from "./popover.ts";

export class Header {
  readonly switches = new Popover("Show", "switches");
  private readonly about = new Popover("What is this?", "about");
  private readonly title = made("h1");
  private readonly explained = made("div");
  private readonly menu: HTMLButtonElement;

  constructor(
    root: HTMLElement,
    version: string,
    watching: HTMLElement,
    toggleGallery: () => void,
  ) {
    const menu = { class: "tool menu", hidden: true, is: { "aria-controls": "gallery" } };
    this.menu = button("Gallery", menu, toggleGallery, icon("menu"));
    this.about.panel.append(this.explained, keyboardHelp());
    if (version !== "") this.about.panel.append(made("p", { class: "quiet", text: `Polhode ${version}` }));
    root.append(
      this.menu,
      made("span", { class: "brand", text: "Polhode" }),
      this.title,
      watching,
      made("div", { class: "openers" }, this.about.element, this.switches.element),
    );
  }

  name(title: string): void {
    say(this.title, title);
    document.title = title === "" ? "Polhode" : `${title} · Polhode`;
  }

  explain(model: Model): void {
    const paragraphs = model.explanation.split(/\n\s*\n/).map((text) => made("p", { text: formula(text.replace(/\s+/g, " ")) }));
    const source = model.source === "" ? [] : [made("p", { class: "quiet", text: `Source: ${model.source}` })];
    this.explained.replaceChildren(...paragraphs, ...source);
  }

  /** For a motion that belongs to no model. */
  describe(sentences: string[]): void {
    const told = sentences.filter((text) => text !== "");
    this.explained.replaceChildren(...told.map((text) => made("p", { text: sentence(text) })));
  }

  galleryIs(open: boolean): void {
    this.menu.hidden = false;
    this.menu.setAttribute("aria-expanded", String(open));
  }
}
