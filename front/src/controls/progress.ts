// A bar for a run that takes longer than a moment, with a way to call it off.

import { button, made, say } from "./dom.ts";
import { capital, short } from "./format.ts";

const MOMENT = 300;
/** 3e+03, as a machine writes it. */
const POWERS = /\d[\d.]*e[+-]\d+/g;

export class ProgressBar {
  readonly element: HTMLElement;
  private readonly bar = made("progress", { is: { max: "1", "aria-label": "Progress of the simulation" } });
  private readonly words = made("span", { class: "words" });
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(cancel: () => void) {
    const row = made("div", { class: "row" }, this.words, button("Cancel", { class: "small" }, cancel));
    this.element = made("div", { class: "progress", hidden: true }, row, this.bar);
  }

  start(): void {
    this.stop();
    say(this.words, "Simulating …");
    this.bar.removeAttribute("value");
    this.timer = setTimeout(() => (this.element.hidden = false), MOMENT);
  }

  at(done: number, words: string): void {
    if (done > 0 && done <= 1) this.bar.value = done;
    else this.bar.removeAttribute("value");
    say(this.words, words === "" ? "Simulating …" : capital(words.replace(POWERS, (x) => short(Number(x), 3))));
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.element.hidden = true;
  }
}
