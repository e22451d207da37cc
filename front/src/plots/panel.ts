// One panel: a heading, the values at the instant, and the curves with a line at that instant.

import uPlot from "uplot";
import { coloursOf, readable, type Colours } from "../colors.ts";
import { placeOf } from "../motion/pose.ts";
import type { Contents, Curve } from "./panel-contents.ts";
import { departure, fixed, powerOfTen, tick, unitWith } from "./number-format.ts";
import { listen, type Acts } from "./gestures.ts";
import { crossingMarks, roundingLine, roundingName, zeroLine } from "./annotations.ts";
import { ticksWithin } from "./ranges.ts";
import type { Stretch } from "./time-range.ts";

const BEYOND = 16;

/** Pixels of the page's own size of letters, which is larger on a large screen. */
const rem = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
const height = (): number => Math.round(8.25 * rem());
const font = (): string => `${Math.round(0.8125 * rem())}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
const letter = (): number => 0.475 * rem();

/** What all panels share: the motion's times, what marks them, and the page's colours. */
export interface Shared {
  time: Float64Array;
  /** What the time axis counts, in s: a day, or a power of ten of a second. */
  timeUnit: number;
  /** From where the time is counted, in s. */
  timeOrigin: number;
  crossings: number[];
  stretch: Stretch;
  dark: boolean;
  width: number;
  /** How wide the numbers left of the curves are: the same everywhere, so that times stand above each other. */
  gutter: number;
}

/** A time as the axis across counts it. */
const across = (shared: Shared, t: number): number => (t - shared.timeOrigin) / shared.timeUnit;

export class Panel {
  readonly figure = document.createElement("figure");
  private readonly heading = document.createElement("h3");
  private readonly legend = document.createElement("ul");
  private readonly area = document.createElement("div");
  private readonly note = document.createElement("p");
  private readonly line = document.createElement("div");
  private values: HTMLElement[] = [];
  private plot: uPlot | null = null;
  private form = "";

  constructor(
    private contents: Contents,
    private readonly shared: Shared,
    private readonly acts: Acts,
  ) {
    this.figure.className = "plot";
    this.legend.className = "plot-legend";
    this.area.className = "plot-area";
    this.area.setAttribute("role", "img");
    this.note.className = "plot-note";
    this.line.className = "plot-now";
    const caption = document.createElement("figcaption");
    caption.append(this.heading, this.legend, this.note);
    this.figure.append(caption, this.area);
  }

  show(contents: Contents): void {
    this.contents = contents;
    const unit = document.createElement("span");
    unit.textContent = unitWith(contents.power, contents.unit);
    this.heading.replaceChildren(contents.heading, " ", unit);
    this.note.textContent = contents.note;
    this.note.hidden = contents.note === "";
    this.area.hidden = contents.curves.length === 0;
    this.legend.replaceChildren(...this.entries());
    // Curves are replaced where the panel has the same ones; else the plot is made anew.
    const form = [this.contents.curves.map((one) => one.colour), contents.behind.length, this.shared.gutter, this.shared.time.length > 1].join();
    if (this.plot !== null && form === this.form) this.plot.setData(this.data());
    else {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(), this.data(), this.area);
      this.plot.over.append(this.line);
      listen(this.plot.over, this.acts);
    }
    this.form = form;
  }

  /** Move the line to the instant; called before every frame. */
  moveLine(share: number): void {
    // Not asked of the document: that would lay it out again in every frame.
    const width = this.plot === null ? 0 : this.plot.bbox.width / devicePixelRatio;
    // A single output is its own mark.
    this.line.hidden = !(share >= 0 && share <= 1) || this.shared.time.length < 2;
    this.line.style.transform = `translateX(${share * width}px)`;
  }

  /** Write the values at the instant. */
  write(t: number): void {
    const { before, share } = placeOf(this.shared.time, t);
    const said = this.contents.curves.map((curve, i) => {
      const text = this.text(between(curve.values, before, share));
      this.values[i].textContent = text;
      return `${curve.spoken} ${text}`;
    });
    const unit = unitWith(this.contents.power, this.contents.unit);
    this.area.setAttribute("aria-label", `${this.contents.heading} over time, in ${unit}. Now: ${said.join(", ")}`);
  }

  resize(): void {
    this.plot?.setSize({ width: this.shared.width, height: height() });
  }

  /** After a zoom, or in other colours. */
  redraw(): void {
    const { from, to } = this.shared.stretch;
    this.plot?.setScale("x", { min: across(this.shared, from), max: across(this.shared, to) });
    for (const [i, entry] of [...this.legend.children].entries()) paint(entry, this.colour(this.contents.curves[i].colour));
  }

  destroy(): void {
    this.plot?.destroy();
    this.figure.remove();
  }

  private text(value: number): string {
    return this.contents.isLogarithmic ? departure(10 ** value) : fixed(value, this.contents.decimals);
  }

  private colour(name: string): string {
    const colours = coloursOf(this.shared.dark);
    return name in colours ? colours[name as keyof Colours] : name;
  }

  private entries(): HTMLElement[] {
    this.values = this.contents.curves.map(() => document.createElement("output"));
    this.legend.classList.toggle("is-logarithmic", this.contents.isLogarithmic);
    const widest = Math.max(...this.contents.range.map((end) => this.text(end).length));
    return this.contents.curves.map((curve, i) => {
      const entry = document.createElement("li");
      this.values[i].style.minWidth = `${widest}ch`;
      entry.append(named(curve), this.values[i]);
      paint(entry, this.colour(curve.colour));
      return entry;
    });
  }

  private data(): uPlot.AlignedData {
    const { behind, curves } = this.contents;
    return [Array.from(this.shared.time, (t) => across(this.shared, t)), ...[...behind, ...curves].map((one) => withGaps(one.values))];
  }

  private options(): uPlot.Options {
    const { shared, contents } = this;
    const one = (colour: string, faint: boolean): uPlot.Series => ({
      stroke: () => this.colour(colour),
      width: faint ? 1 : 1.75,
      alpha: faint ? 0.18 : 1,
      points: {
        show: true,
        filter: (plot, series) => lonely(plot.data[series]),
        size: shared.time.length > 1 ? 3 : faint ? 4 : 8,
        fill: () => this.colour(colour),
      },
    });
    const colours = (): Colours => coloursOf(shared.dark);
    const axis = { font: font(), stroke: () => readable(colours().muted, colours()), ticks: { show: false } };
    const grid = { stroke: () => coloursOf(shared.dark).grid, width: 1 };
    return {
      width: shared.width,
      height: height(),
      padding: [10, BEYOND, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, range: () => [across(shared, shared.stretch.from), across(shared, shared.stretch.to)] },
        y: { range: () => this.contents.range },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: Math.round(1.5 * rem()),
          gap: 4,
          splits: (_, __, low, high) => ticksWithin(low, high, (shared.width - shared.gutter - BEYOND) / (2.9 * rem())),
          values: (_, splits) => splits.map((value) => tick(value, splits[1] - splits[0] || 1)),
        },
        {
          ...axis,
          grid,
          size: shared.gutter,
          gap: 5,
          splits: () => upwards(this.contents),
          values: (_, splits) => labels(this.contents.isLogarithmic, splits),
        },
      ],
      series: [{}, ...contents.behind.map((b) => one(b.colour, true)), ...contents.curves.map((c) => one(c.colour, false))],
      hooks: {
        drawAxes: [
          (plot) => {
            const colours = coloursOf(shared.dark);
            if (this.contents.isLogarithmic) roundingLine(plot, colours);
            else zeroLine(plot, colours);
            crossingMarks(plot, shared.crossings.map((t) => across(shared, t)), colours);
          },
        ],
        draw: [(plot) => this.contents.isLogarithmic && roundingName(plot, coloursOf(shared.dark), font())],
      },
    };
  }
}

/** The ticks of a panel, from bottom to top. */
function upwards(contents: Contents): number[] {
  const [low, high] = contents.range;
  return contents.isLogarithmic ? ticksWithin(low, high, 4, 1) : ticksWithin(low, high, 6);
}

const labels = (isLogarithmic: boolean, splits: number[]): string[] =>
  splits.map((value) => (isLogarithmic ? powerOfTen(Math.round(value)) : tick(value, splits[1] - splits[0] || 1)));

/** How much room the widest number of a panel's axis needs, in pixels. */
export const roomFor = (contents: Contents): number =>
  12 + letter() * Math.max(3, ...labels(contents.isLogarithmic, upwards(contents)).map((label) => label.length));

function named(curve: Curve): HTMLElement {
  const name = document.createElement("span");
  const index = document.createElement("sub");
  index.textContent = curve.index;
  name.append(curve.name, ...(curve.name === "" ? [curve.index] : [index]));
  return name;
}

const paint = (entry: Element, colour: string): void => (entry as HTMLElement).style.setProperty("--curve", colour);

/** uPlot takes null for a gap. */
const withGaps = (values: Float64Array): (number | null)[] => Array.from(values, (x) => (Number.isFinite(x) ? x : null));

/** Points without a neighbour, which no line shows: drawn as dots. */
function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  for (let i = 0; i < values.length; i++) {
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) found.push(i);
  }
  return found;
}

/** The value of the drawn line; -Infinity is the logarithm of 0. */
export function between(values: Float64Array, before: number, share: number): number {
  if (share === 0) return values[before];
  if (share === 1) return values[before + 1];
  return (1 - share) * values[before] + share * values[before + 1];
}
