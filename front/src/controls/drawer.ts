// The gallery drawer: beside the views on wide screens, over them on narrow ones.

import type { Header } from "./header.ts";

const WIDE = "(min-width: 1101px)";

export class Drawer {
  private readonly wide = matchMedia(WIDE);
  private isReady = false;
  private isOpen = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly header: Header,
  ) {
    this.wide.addEventListener("change", () => this.open(this.wide.matches));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.wide.matches) this.open(false);
    });
  }

  /** The gallery has been loaded. */
  ready(): void {
    this.isReady = true;
    this.open(this.wide.matches);
  }

  toggle(): void {
    this.open(!this.isOpen);
    if (this.isOpen && !this.wide.matches) this.root.querySelector("input")?.focus();
  }

  /** A model was chosen: close the drawer if it covers the views. */
  onChosen(): void {
    if (!this.wide.matches) this.open(false);
  }

  private open(yes: boolean): void {
    if (!this.isReady) return;
    this.isOpen = yes;
    this.root.hidden = !yes;
    document.body.dataset["gallery"] = yes ? "open" : "closed";
    this.header.setGalleryOpen(yes);
  }
}
