// The gallery opens and shuts: beside the views where there is room, over them where there is not.

import type { Header } from "./header.ts";

const ROOMY = "(min-width: 1101px)";

export class Drawer {
  private readonly roomy = matchMedia(ROOMY);
  private isReady = false;
  private isOpen = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly header: Header,
  ) {
    this.roomy.addEventListener("change", () => this.open(this.roomy.matches));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.roomy.matches) this.open(false);
    });
  }

  /** There are models to choose from. */
  ready(): void {
    this.isReady = true;
    this.open(this.roomy.matches);
  }

  toggle(): void {
    this.open(!this.isOpen);
    if (this.isOpen && !this.roomy.matches) this.root.querySelector("input")?.focus();
  }

  /** A model was chosen: where the gallery lies over the views, it goes away. */
  chosen(): void {
    if (!this.roomy.matches) this.open(false);
  }

  private open(yes: boolean): void {
    if (!this.isReady) return;
    this.isOpen = yes;
    this.root.hidden = !yes;
    document.body.dataset["gallery"] = yes ? "open" : "shut";
    this.header.galleryIs(yes);
  }
}
