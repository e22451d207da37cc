// What panels of curves over time and phase plots have in common: heading, legend, note, the button for CSV, the area.

import { button, create, setAttribute, setText } from "../controls/dom.ts";
import { icon } from "../controls/icons.ts";
import { csvText, downloadText, type CsvColumn } from "./csv.ts";
import type { TimeRange } from "./time-range.ts";

/** Font size of the page in pixels, which is larger on a large screen. */
export function rem(): number {
  // Asking makes the browser compute the styles of the page.
  return (fontSize ||= parseFloat(getComputedStyle(document.documentElement).fontSize) || 16);
}
let fontSize = 0;
if (typeof window !== "undefined") window.addEventListener("resize", () => (fontSize = 0));
export const font = (): string => `${Math.round(0.8125 * rem())}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;

/** What all panels share: times, events, and the theme. */
export interface Shared {
  /** Name of the motion, for files. */
  name: string;
  time: Float64Array;
  /** The times in units of the time axis. */
  axisTime: Float64Array;
  /** Unit of the time axis, in s: a day, or a power of ten of a second. */
  timeUnit: number;
  /** Origin of the time axis, in s. */
  timeOrigin: number;
  events: number[];
  timeRange: TimeRange;
  dark: boolean;
  width: number;
  /** Width of the y axes, the same in all panels so that the time axes are aligned. */
  gutter: number;
}

/** A time in units of the time axis. */
export const toAxis = (shared: Shared, t: number): number => (t - shared.timeOrigin) / shared.timeUnit;

export class Frame {
  readonly figure: HTMLElement;
  readonly heading = create("h3");
  readonly legend = create("ul", { class: "plot-legend" });
  readonly area = create("div", { class: "plot-area", attributes: { role: "img" } });
  private readonly note = create("p", { class: "plot-note" });
  private readonly save: HTMLButtonElement;
  private csv: (() => CsvColumn[]) | null = null;
  private fileName = "";

  constructor() {
    this.save = button("Download as CSV", { class: "plot-save" }, () => this.download(), icon("save"));
    const caption = create("figcaption", {}, this.heading, this.save, this.legend, this.note);
    this.figure = create("figure", { class: "plot" }, caption, this.area);
  }

  describe(words: string, note: string, fileName: string, csv: () => CsvColumn[]): void {
    setText(this.note, note);
    this.note.hidden = note === "";
    this.csv = csv;
    this.fileName = `${fileName.replace(/[^\w.-]+/g, "-")}.csv`;
    for (const name of ["title", "aria-label"]) setAttribute(this.save, name, `Download as CSV: ${words}`);
  }

  private download(): void {
    if (this.csv !== null) downloadText(this.fileName, csvText(this.csv()));
  }
}
