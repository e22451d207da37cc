// The top of the page: the title, and the panels that open from it.

import type { Model } from "../transport/protocol.ts";
import { button, create, setText } from "./dom.ts";
import { formula, sentence } from "./format.ts";
import { icon } from "./icons.ts";
import { keyboardHelp } from "./keyboard.ts";
import { Popover } from "./popover.ts";

export class Header {
  readonly switches = new Popover("Show", "switches");
  private readonly about = new Popover("What is this?", "about");
  private readonly title = create("h1");
  private readonly explanation = create("div");
  private readonly menu: HTMLButtonElement;

  constructor(
    root: HTMLElement,
    version: string,
    selection: HTMLElement,
    toggleGallery: () => void,
  ) {
    const menu = { class: "tool menu", hidden: true, attributes: { "aria-controls": "gallery" } };
    this.menu = button("Gallery", menu, toggleGallery, icon("menu"));
    this.about.panel.append(this.explanation, keyboardHelp());
    if (version !== "") this.about.panel.append(create("p", { class: "quiet", text: `Polhode ${version}` }));
    root.append(
      this.menu,
      create("span", { class: "brand", text: "Polhode" }),
      this.title,
      selection,
      create("div", { class: "openers" }, this.about.element, this.switches.element),
    );
  }

  name(title: string): void {
    setText(this.title, title);
    document.title = title === "" ? "Polhode" : `${title} · Polhode`;
  }

  explain(model: Model): void {
    const paragraphs = model.explanation.split(/\n\s*\n/).map((text) => create("p", { text: formula(text.replace(/\s+/g, " ")) }));
    const source = model.source === "" ? [] : [create("p", { class: "quiet", text: `Source: ${model.source}` })];
    this.explanation.replaceChildren(...paragraphs, ...source);
  }

  /** For a motion that does not belong to a model. */
  describe(sentences: string[]): void {
    const paragraphs = sentences.filter((text) => text !== "");
    this.explanation.replaceChildren(...paragraphs.map((text) => create("p", { text: sentence(text) })));
  }

  setGalleryOpen(open: boolean): void {
    this.menu.hidden = false;
    this.menu.setAttribute("aria-expanded", String(open));
  }
}
