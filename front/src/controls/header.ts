// The top of the page: the title, and the panels that open from it.

import { button, create, setText } from "./dom.ts";
import { icon } from "./icons.ts";
import { Popover } from "./popover.ts";

export class Header {
  readonly switches = new Popover("Show", "switches");
  readonly takeaway = new Popover("Take away", "takeaway");
  private readonly title = create("h1");
  private readonly menu: HTMLButtonElement;
  private readonly about: HTMLButtonElement;

  constructor(
    root: HTMLElement,
    selection: HTMLElement,
    toggleGallery: () => void,
    toggleLesson: () => void,
  ) {
    const menu = { class: "tool menu", hidden: true, attributes: { "aria-controls": "gallery" } };
    this.menu = button("Gallery", menu, toggleGallery, icon("menu"));
    this.about = button("What is this?", { class: "opener", attributes: { "aria-controls": "lesson", "aria-expanded": "false" } }, toggleLesson);
    root.append(
      this.menu,
      create("span", { class: "brand", text: "Polhode" }),
      this.title,
      selection,
      create("div", { class: "openers" }, this.about, this.switches.element, this.takeaway.element),
    );
  }

  name(title: string): void {
    setText(this.title, title);
    document.title = title === "" ? "Polhode" : `${title} · Polhode`;
  }

  setLessonOpen(open: boolean): void {
    this.about.setAttribute("aria-expanded", String(open));
  }

  setGalleryOpen(open: boolean): void {
    this.menu.hidden = false;
    this.menu.setAttribute("aria-expanded", String(open));
  }
}
