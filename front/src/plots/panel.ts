// One panel: heading, current values, and curves with a line at the current time.

import uPlot from "uplot";
import { colorsOf, readable, type Colors } from "../colors.ts";
import { locateTime } from "../motion/pose.ts";
import type { PanelContents, Curve } from "./panel-contents.ts";
import { fixed, formatDrift, powerOfTen, tick, unitWith } from "./number-format.ts";
import { listen, type PlotActions } from "./gestures.ts";
import { eventMarks, roundingLine, roundingLabel, zeroLine } from "./annotations.ts";
import { ticksWithin } from "./ranges.ts";
import type { TimeRange } from "./time-range.ts";

const RIGHT_PADDING = 16;

/** Font size of the page in pixels, which is larger on a large screen. */
const rem = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
const height = (): number => Math.round(8.25 * rem());
const font = (): string => `${Math.round(0.8125 * rem())}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
const letterWidth = (): number => 0.475 * rem();

/** What all panels share: times, events, and the theme. */
export interface Shared {
  time: Float64Array;
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
const toAxis = (shared: Shared, t: number): number => (t - shared.timeOrigin) / shared.timeUnit;

export class Panel {
  readonly figure = document.createElement("figure");
  private readonly heading = document.createElement("h3");
  private readonly legend = document.createElement("ul");
  private readonly area = document.createElement("div");
  private readonly note = document.createElement("p");
  private readonly line = document.createElement("div");
  private values: HTMLElement[] = [];
  private plot: uPlot | null = null;
  private style = "";

  constructor(
    private contents: PanelContents,
    private readonly shared: Shared,
    private readonly actions: PlotActions,
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

  show(contents: PanelContents): void {
    this.contents = contents;
    const unit = document.createElement("span");
    unit.textContent = unitWith(contents.power, contents.unit);
    this.heading.replaceChildren(contents.heading, " ", unit);
    this.note.textContent = contents.note;
    this.note.hidden = contents.note === "";
    this.area.hidden = contents.curves.length === 0;
    this.legend.replaceChildren(...this.entries());
    // If the curves have the same style only the data are replaced, otherwise the plot is rebuilt.
    const style = [this.contents.curves.map((one) => one.color), contents.background.length, this.shared.gutter, this.shared.time.length > 1].join();
    if (this.plot !== null && style === this.style) this.plot.setData(this.data());
    else {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(), this.data(), this.area);
      this.plot.over.append(this.line);
      listen(this.plot.over, this.actions);
    }
    this.style = style;
  }

  /** Move the line to the current time; called before every frame. */
  moveLine(share: number): void {
    // Reading it from the document would force a layout in every frame.
    const width = this.plot === null ? 0 : this.plot.bbox.width / devicePixelRatio;
    // A single output is drawn as a dot instead.
    this.line.hidden = !(share >= 0 && share <= 1) || this.shared.time.length < 2;
    this.line.style.transform = `translateX(${share * width}px)`;
  }

  /** Write the values at time t. */
  write(t: number): void {
    const { before, share } = locateTime(this.shared.time, t);
    const texts = this.contents.curves.map((curve, i) => {
      const text = this.text(interpolate(curve.values, before, share));
      this.values[i].textContent = text;
      return `${curve.spoken} ${text}`;
    });
    const unit = unitWith(this.contents.power, this.contents.unit);
    const heading = `${this.contents.heading} over time${unit === "" ? "" : `, in ${unit}`}`;
    this.area.setAttribute("aria-label", `${heading}. Current values: ${texts.join(", ")}`);
  }

  resize(): void {
    this.plot?.setSize({ width: this.shared.width, height: height() });
  }

  /** After a zoom or a change of theme. */
  redraw(): void {
    const { from, to } = this.shared.timeRange;
    this.plot?.setScale("x", { min: toAxis(this.shared, from), max: toAxis(this.shared, to) });
    for (const [i, entry] of [...this.legend.children].entries()) paint(entry, this.color(this.contents.curves[i].color));
  }

  destroy(): void {
    this.plot?.destroy();
    this.figure.remove();
  }

  private text(value: number): string {
    return this.contents.isLogarithmic ? formatDrift(10 ** value) : fixed(value, this.contents.decimals);
  }

  private color(name: string): string {
    const colors = colorsOf(this.shared.dark);
    return name in colors ? colors[name as keyof Colors] : name;
  }

  private entries(): HTMLElement[] {
    this.values = this.contents.curves.map(() => document.createElement("output"));
    this.legend.classList.toggle("is-logarithmic", this.contents.isLogarithmic);
    const widest = Math.max(...this.contents.range.map((end) => this.text(end).length));
    return this.contents.curves.map((curve, i) => {
      const entry = document.createElement("li");
      this.values[i].style.minWidth = `${widest}ch`;
      entry.append(legendName(curve), this.values[i]);
      paint(entry, this.color(curve.color));
      return entry;
    });
  }

  private data(): uPlot.AlignedData {
    const { background, curves } = this.contents;
    return [Array.from(this.shared.time, (t) => toAxis(this.shared, t)), ...[...background, ...curves].map((one) => withGaps(one.values))];
  }

  private options(): uPlot.Options {
    const { shared, contents } = this;
    const one = (color: string, faint: boolean): uPlot.Series => ({
      stroke: () => this.color(color),
      width: faint ? 1 : 1.75,
      alpha: faint ? 0.18 : 1,
      points: {
        show: true,
        filter: (plot, series) => isolatedPoints(plot.data[series]),
        size: shared.time.length > 1 ? 3 : faint ? 4 : 8,
        fill: () => this.color(color),
      },
    });
    const colors = (): Colors => colorsOf(shared.dark);
    const axis = { font: font(), stroke: () => readable(colors().muted, colors()), ticks: { show: false } };
    const grid = { stroke: () => colorsOf(shared.dark).grid, width: 1 };
    return {
      width: shared.width,
      height: height(),
      padding: [10, RIGHT_PADDING, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, range: () => [toAxis(shared, shared.timeRange.from), toAxis(shared, shared.timeRange.to)] },
        y: { range: () => this.contents.range },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: Math.round(1.5 * rem()),
          gap: 4,
          splits: (_, __, low, high) => ticksWithin(low, high, (shared.width - shared.gutter - RIGHT_PADDING) / (2.9 * rem())),
          values: (_, splits) => splits.map((value) => tick(value, splits[1] - splits[0] || 1)),
        },
        {
          ...axis,
          grid,
          size: shared.gutter,
          gap: 5,
          splits: () => yTicks(this.contents),
          values: (_, splits) => labels(this.contents.isLogarithmic, splits),
        },
      ],
      series: [{}, ...contents.background.map((b) => one(b.color, true)), ...contents.curves.map((c) => one(c.color, false))],
      hooks: {
        drawAxes: [
          (plot) => {
            const colors = colorsOf(shared.dark);
            if (this.contents.isLogarithmic) roundingLine(plot, colors);
            else zeroLine(plot, colors);
            eventMarks(plot, shared.events.map((t) => toAxis(shared, t)), colors);
          },
        ],
        draw: [(plot) => this.contents.isLogarithmic && roundingLabel(plot, colorsOf(shared.dark), font())],
      },
    };
  }
}

/** The ticks of a panel, from bottom to top. */
function yTicks(contents: PanelContents): number[] {
  const [low, high] = contents.range;
  return contents.isLogarithmic ? ticksWithin(low, high, 4, 1) : ticksWithin(low, high, 6);
}

const labels = (isLogarithmic: boolean, splits: number[]): string[] =>
  splits.map((value) => (isLogarithmic ? powerOfTen(Math.round(value)) : tick(value, splits[1] - splits[0] || 1)));

/** Width required by the y axis of a panel, in pixels. */
export const axisWidth = (contents: PanelContents): number =>
  12 + letterWidth() * Math.max(3, ...labels(contents.isLogarithmic, yTicks(contents)).map((label) => label.length));

function legendName(curve: Curve): HTMLElement {
  const name = document.createElement("span");
  const index = document.createElement("sub");
  index.textContent = curve.index;
  name.append(curve.name, ...(curve.name === "" ? [curve.index] : [index]));
  return name;
}

const paint = (entry: Element, color: string): void => (entry as HTMLElement).style.setProperty("--curve", color);

/** uPlot uses null for a gap. */
const withGaps = (values: Float64Array): (number | null)[] => Array.from(values, (x) => (Number.isFinite(x) ? x : null));

/** Indices of points without neighbors, which are drawn as dots. */
function isolatedPoints(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  for (let i = 0; i < values.length; i++) {
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) found.push(i);
  }
  return found;
}

/** Linear interpolation; -Infinity is the logarithm of 0. */
export function interpolate(values: Float64Array, before: number, share: number): number {
  if (share === 0) return values[before];
  if (share === 1) return values[before + 1];
  return (1 - share) * values[before] + share * values[before + 1];
}
