// One panel: heading, current values, and curves with a line at the current time.

import uPlot from "uplot";
import { colorsOf, readable, type Colors } from "../colors.ts";
import { create, setAttribute, setText } from "../controls/dom.ts";
import { locateTime } from "../motion/pose.ts";
import { clipped, cssColor, fillBetween, strokeLine } from "./background.ts";
import { font, Frame, rem, toAxis, type Shared } from "./frame.ts";
import type { PanelContents, Curve } from "./panel-contents.ts";
import { fixed, formatDrift, powerOfTen, tick, unitWith } from "./number-format.ts";
import { listen, type PlotActions } from "./gestures.ts";
import { eventMarks, roundingLine, roundingLabel, zeroLine } from "./annotations.ts";
import { ticksWithin } from "./ranges.ts";

const RIGHT_PADDING = 16;

/** Strips of a panel with several are lower than a panel of its own. */
const height = (contents: PanelContents): number => Math.round((contents.isLow ? 6.25 : 8.25) * rem());
const letterWidth = (): number => 0.475 * rem();

/** Other members with a color of their own stand out more than those without. */
const ALPHA = { member: 0.18, colored: 0.7, pinned: 0.55, outer: 0.13, inner: 0.2, median: 0.8 };

/** Half the width of a gap, in pixels. */
const MIN_GAP = 2;

export interface LegendActions {
  /** Hide a curve, or show it again. */
  toggle(panel: string, curve: string): void;
  /** Show only this curve, or all again. */
  single(panel: string, curve: string): void;
}

export class Panel {
  private readonly frame = new Frame();
  readonly figure = this.frame.figure;
  private readonly unit = create("span");
  private readonly words = document.createTextNode("");
  private readonly line = create("div", { class: "plot-now" });
  private values: HTMLElement[] = [];
  private buttons: HTMLButtonElement[] = [];
  private plot: uPlot | null = null;
  private style = "";

  constructor(
    private contents: PanelContents,
    private readonly shared: Shared,
    private readonly actions: PlotActions,
    private readonly legendActions: LegendActions,
  ) {
    this.frame.heading.append(this.words, " ", this.unit);
  }

  show(contents: PanelContents): void {
    this.contents = contents;
    if (this.words.data !== contents.heading) this.words.data = contents.heading;
    setText(this.unit, unitWith(contents.power, contents.unit));
    this.frame.describe(contents.heading, contents.note, `${this.shared.name}-${contents.key}`, contents.csv);
    this.frame.area.hidden = contents.curves.length === 0;
    // If the curves have the same style only the data are replaced, otherwise the plot is rebuilt.
    const style = [contents.curves.map((one) => one.id), this.shared.gutter, this.shared.time.length > 1, height(contents), contents.isLogarithmic].join();
    if (this.plot !== null && style === this.style) this.plot.setData(this.data());
    else {
      this.plot?.destroy();
      this.frame.legend.replaceChildren(...this.entries());
      this.plot = new uPlot(this.options(), this.data(), this.frame.area);
      this.plot.over.append(this.line);
      listen(this.plot.over, this.actions);
    }
    this.style = style;
    this.updateLegend();
  }

  /** Move the line to the current time; called before every frame. */
  moveTo(t: number): void {
    const share = this.shared.timeRange.shareOf(t);
    // Reading it from the document would force a layout in every frame.
    const width = this.plot === null ? 0 : this.plot.bbox.width / devicePixelRatio;
    // A single output is drawn as a dot instead.
    this.line.hidden = !(share >= 0 && share <= 1) || this.shared.time.length < 2;
    this.line.style.transform = `translateX(${share * width}px)`;
  }

  /** Write the values at time t. */
  write(t: number): void {
    const { before, share } = locateTime(this.shared.time, t);
    const texts = this.contents.curves.flatMap((curve, i) => {
      const text = this.text(valueAt(curve, before, share));
      setText(this.values[i], text);
      return curve.isHidden ? [] : [`${curve.spoken} ${text}`];
    });
    const unit = unitWith(this.contents.power, this.contents.unit);
    const heading = `${this.contents.heading} over time${unit === "" ? "" : `, in ${unit}`}`;
    setAttribute(this.frame.area, "aria-label", `${heading}. Current values: ${texts.join(", ")}`);
  }

  resize(): void {
    this.plot?.setSize({ width: this.shared.width, height: height(this.contents) });
  }

  /** After a zoom or a change of theme. */
  redraw(): void {
    const { from, to } = this.shared.timeRange;
    this.plot?.setScale("x", { min: toAxis(this.shared, from), max: toAxis(this.shared, to) });
    this.updateLegend();
  }

  destroy(): void {
    this.plot?.destroy();
    this.figure.remove();
  }

  private text(value: number): string {
    return this.contents.isLogarithmic ? formatDrift(10 ** value) : fixed(value, this.contents.decimals);
  }

  private color(name: string | number): string {
    return cssColor(name, this.shared.dark);
  }

  /** Buttons: a click hides and shows a curve, a double click (or Alt or Shift with a click or Enter) singles it out. */
  private entries(): HTMLElement[] {
    this.values = this.contents.curves.map(() => create("output"));
    this.buttons = this.contents.curves.map((curve, i) => {
      const entry = create("button", { attributes: { type: "button" } }, legendName(curve), this.values[i]);
      const single = (): void => this.legendActions.single(this.contents.id, curve.id);
      entry.addEventListener("click", (event) => {
        if (event.altKey || event.shiftKey) single();
        else this.legendActions.toggle(this.contents.id, curve.id);
      });
      entry.addEventListener("dblclick", single);
      entry.title = "Click: hide or show; double-click, or Alt and click or Enter: show only this one";
      // Browsers do not say in the click that a key with Alt causes.
      entry.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !(event.altKey || event.shiftKey)) return;
        event.preventDefault();
        single();
      });
      return entry;
    });
    return this.buttons.map((entry) => create("li", {}, entry));
  }

  private updateLegend(): void {
    const { curves, range, isLogarithmic } = this.contents;
    this.frame.legend.classList.toggle("is-logarithmic", isLogarithmic);
    const widest = Math.max(...range.map((end) => this.text(end).length));
    for (const [i, entry] of this.buttons.entries()) {
      setAttribute(entry, "aria-pressed", String(!curves[i].isHidden));
      entry.style.setProperty("--curve", this.color(curves[i].color));
      this.values[i].style.minWidth = `${widest}ch`;
    }
  }

  private data(): uPlot.AlignedData {
    return [this.shared.axisTime, ...this.contents.curves.map((one) => (one.isHidden ? one.values.map(() => NaN) : one.values)).map(withGaps)] as uPlot.AlignedData;
  }

  private options(): uPlot.Options {
    const { shared, contents } = this;
    const one = (curve: Curve, place: number): uPlot.Series => ({
      stroke: () => this.color(curve.color),
      width: 1.75,
      // A broken line is a gap between two outputs.
      gaps: (plot, _, first, last, gaps) => withBreaks(plot, gaps, this.contents.curves[place].breaks, first, last),
      points: {
        show: true,
        filter: (plot, series) => isolatedPoints(plot.data[series], this.contents.curves[place].breaks),
        size: shared.time.length > 1 ? 3 : 8,
        fill: () => this.color(curve.color),
      },
    });
    const colors = (): Colors => colorsOf(shared.dark);
    const axis = { font: font(), stroke: () => readable(colors().muted, colors()), ticks: { show: false } };
    const grid = { stroke: () => colorsOf(shared.dark).grid, width: 1 };
    return {
      width: shared.width,
      height: height(contents),
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
      series: [{}, ...contents.curves.map(one)],
      hooks: {
        drawAxes: [
          (plot) => {
            const colors = colorsOf(shared.dark);
            if (this.contents.isLogarithmic) roundingLine(plot, colors);
            else zeroLine(plot, colors);
            eventMarks(plot, shared.events.map((t) => toAxis(shared, t)), colors);
            this.drawBackground(plot);
          },
        ],
        draw: [(plot) => this.contents.isLogarithmic && roundingLabel(plot, colorsOf(shared.dark), font())],
      },
    };
  }

  private drawBackground(plot: uPlot): void {
    const { bands, members, pinned } = this.contents;
    if (bands.length + members.length === 0 && pinned === null) return;
    const x = this.shared.axisTime;
    clipped(plot, (context, to) => {
      for (const { color, levels: [least, low, median, high, most] } of bands) {
        fillBetween(context, to, x, least, most, this.color(color), ALPHA.outer);
        fillBetween(context, to, x, low, high, this.color(color), ALPHA.inner);
        strokeLine(context, to, x, median, undefined, { color: this.color(color), width: 1, alpha: ALPHA.median, dash: [4, 3] });
      }
      for (const { color, values, breaks } of members) {
        const alpha = typeof color === "number" ? ALPHA.colored : ALPHA.member;
        strokeLine(context, to, x, values, breaks, { color: this.color(color), width: 1, alpha });
      }
      if (pinned === null) return;
      const time = pinned.time.map((t) => toAxis(this.shared, t));
      for (const { color, values, breaks } of pinned.lines) {
        strokeLine(context, to, time, values, breaks, { color: this.color(color), width: 1.5, alpha: ALPHA.pinned, dash: [2, 3] });
      }
    });
  }
}

/** The ticks of a panel, from bottom to top. */
function yTicks(contents: PanelContents): number[] {
  const [low, high] = contents.range;
  return contents.isLogarithmic ? ticksWithin(low, high, 4, 1) : ticksWithin(low, high, contents.isLow ? 4 : 6);
}

const labels = (isLogarithmic: boolean, splits: number[]): string[] =>
  splits.map((value) => (isLogarithmic ? powerOfTen(Math.round(value)) : tick(value, splits[1] - splits[0] || 1)));

/** Width required by the y axis of a panel, in pixels. */
export const axisWidth = (contents: PanelContents): number =>
  12 + letterWidth() * Math.max(3, ...labels(contents.isLogarithmic, yTicks(contents)).map((label) => label.length));

function legendName(curve: Curve): HTMLElement {
  return create("span", {}, curve.name, ...(curve.name === "" ? [curve.index] : [create("sub", { text: curve.index })]));
}

/** uPlot uses null for a gap. */
const withGaps = (values: Float64Array): Float64Array | (number | null)[] =>
  values.every(Number.isFinite) ? values : Array.from(values, (x) => (Number.isFinite(x) ? x : null));

/** The gaps of a curve, in pixels, and those where its line is broken. */
function withBreaks(plot: uPlot, gaps: [number, number][], breaks: ReadonlySet<number> | undefined, first: number, last: number): [number, number][] {
  const broken = [...(breaks ?? [])].filter((n) => n >= first && n < last);
  const place = (n: number): number => plot.valToPos(plot.data[0][n], "x", true);
  const wide = broken.map((n): [number, number] => {
    // Outputs may be closer than pixels: the gap is at least as wide as the vertical line that it hides.
    const [middle, half] = [(place(n) + place(n + 1)) / 2, Math.max((place(n + 1) - place(n)) / 2, MIN_GAP * devicePixelRatio)];
    return [Math.floor(middle - half), Math.ceil(middle + half)];
  });
  return [...gaps, ...wide].sort((a, b) => a[0] - b[0]);
}

/** Indices of points without neighbors, which are drawn as dots. */
function isolatedPoints(values: ArrayLike<number | null | undefined>, breaks: ReadonlySet<number> | undefined): number[] {
  const found: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const isAlone = (values[i - 1] == null || breaks?.has(i - 1)) && (values[i + 1] == null || breaks?.has(i));
    if (values[i] != null && isAlone) found.push(i);
  }
  return found;
}

/** NaN where the line is broken. */
const valueAt = ({ values, breaks }: Curve, before: number, share: number): number =>
  share > 0 && share < 1 && breaks?.has(before) ? NaN : interpolate(values, before, share);

/** Linear interpolation; -Infinity is the logarithm of 0. */
export function interpolate(values: Float64Array, before: number, share: number): number {
  if (share === 0) return values[before];
  if (share === 1) return values[before + 1];
  return (1 - share) * values[before] + share * values[before + 1];
}
