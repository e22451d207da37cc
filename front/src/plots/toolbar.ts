// The line above the plots: the instant, the events that are marked, and zooming in time.

import { clock } from "../controls/format.ts";
import type { Acts } from "./gestures.ts";

const CLOSER = 0.5;

export class Bar {
  readonly element = document.createElement("div");
  private readonly now = document.createElement("output");
  private readonly counted = document.createElement("span");
  private readonly marks = document.createElement("span");
  private readonly whole: HTMLButtonElement;
  private readonly out: HTMLButtonElement;
  private said = clock(0, 0);

  constructor(acts: Acts) {
    this.element.className = "plots-bar";
    this.counted.className = "plots-counted";
    this.marks.className = "plots-marks";
    this.now.setAttribute("aria-label", "instant of the plots");
    this.now.setAttribute("aria-live", "off");
    const closer = button("+", "Zoom in on the time of the plots (Ctrl and wheel, or two fingers)", () => acts.zoom(CLOSER, 0.5));
    this.out = button("−", "Zoom out of the time of the plots", () => acts.zoom(1 / CLOSER, 0.5));
    this.whole = button("whole", "Show the whole time in the plots (double click)", () => acts.whole());
    const buttons = document.createElement("span");
    buttons.className = "plots-zoom";
    buttons.append(this.whole, this.out, closer);
    this.element.append(this.now, this.counted, this.marks, buttons);
    this.allows(false);
  }

  /** `counted`: how the axes across count the time, where they do not in plain seconds. */
  show(said: (t: number) => string, counted: string, events: string[]): void {
    this.said = said;
    this.counted.textContent = counted;
    this.counted.hidden = counted === "";
    this.marks.textContent = events.join(", ").replaceAll("_", " ");
    this.marks.hidden = events.length === 0;
    this.marks.title = `Dashed lines: ${this.marks.textContent}`;
  }

  write(t: number): void {
    this.now.textContent = `t = ${this.said(t)}`;
  }

  /** Whether there is more time than is shown. */
  allows(zoomingOut: boolean): void {
    this.whole.hidden = !zoomingOut;
    this.out.disabled = !zoomingOut;
  }
}

function button(text: string, name: string, act: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.title = name;
  made.setAttribute("aria-label", name);
  made.addEventListener("click", act);
  return made;
}
