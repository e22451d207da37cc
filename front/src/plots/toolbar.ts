// The toolbar above the plots: the current time, the marked events, and zooming in time.

import { timeFormatter } from "../controls/format.ts";
import type { PlotActions } from "./gestures.ts";

const ZOOM_STEP = 0.5;

export class PlotToolbar {
  readonly element = document.createElement("div");
  private readonly time = document.createElement("output");
  private readonly timeUnit = document.createElement("span");
  private readonly events = document.createElement("span");
  private readonly reset: HTMLButtonElement;
  private readonly zoomOut: HTMLButtonElement;
  private formatTime = timeFormatter(0, 0);

  constructor(actions: PlotActions) {
    this.element.className = "plots-bar";
    this.timeUnit.className = "plots-time-unit";
    this.events.className = "plots-events";
    this.time.setAttribute("aria-label", "Time of the plots");
    this.time.setAttribute("aria-live", "off");
    const zoomIn = button("+", "Zoom in on the time axis (Ctrl + wheel, or pinch)", () => actions.zoom(ZOOM_STEP, 0.5));
    this.zoomOut = button("−", "Zoom out of the time axis", () => actions.zoom(1 / ZOOM_STEP, 0.5));
    this.reset = button("reset", "Show the whole time range (double-click)", () => actions.reset());
    const buttons = document.createElement("span");
    buttons.className = "plots-zoom";
    buttons.append(this.reset, this.zoomOut, zoomIn);
    this.element.append(this.time, this.timeUnit, this.events, buttons);
    this.setZoomed(false);
  }

  /** `timeUnit` describes the time axis if it is not in plain seconds. */
  show(formatTime: (t: number) => string, timeUnit: string, events: string[]): void {
    this.formatTime = formatTime;
    this.timeUnit.textContent = timeUnit;
    this.timeUnit.hidden = timeUnit === "";
    this.events.textContent = events.join(", ").replaceAll("_", " ");
    this.events.hidden = events.length === 0;
    this.events.title = `Dashed lines: ${this.events.textContent}`;
  }

  write(t: number): void {
    this.time.textContent = `t = ${this.formatTime(t)}`;
  }

  /** Whether only part of the time range is shown. */
  setZoomed(isZoomed: boolean): void {
    this.reset.hidden = !isZoomed;
    this.zoomOut.disabled = !isZoomed;
  }
}

function button(text: string, name: string, act: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.title = name;
  element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}
