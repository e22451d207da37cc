// The progress bar of a run, shown after a short delay, with a cancel button.

import { button, create, setText } from "./dom.ts";
import { capitalize, short } from "./format.ts";

const DELAY = 300;
/** Numbers such as 3e+03. */
const POWERS = /\d[\d.]*e[+-]\d+/g;

export class ProgressBar {
  readonly element: HTMLElement;
  private readonly bar = create("progress", { attributes: { max: "1", "aria-label": "Progress of the simulation" } });
  private readonly words = create("span", { class: "words" });
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(cancel: () => void) {
    const row = create("div", { class: "row" }, this.words, button("Cancel", { class: "small" }, cancel));
    this.element = create("div", { class: "progress", hidden: true }, row, this.bar);
  }

  start(): void {
    this.stop();
    setText(this.words, "Simulating …");
    this.bar.removeAttribute("value");
    this.timer = setTimeout(() => (this.element.hidden = false), DELAY);
  }

  at(done: number, words: string): void {
    if (done > 0 && done <= 1) this.bar.value = done;
    else this.bar.removeAttribute("value");
    setText(this.words, words === "" ? "Simulating …" : capitalize(words.replace(POWERS, (x) => short(Number(x), 3))));
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.element.hidden = true;
  }
}
