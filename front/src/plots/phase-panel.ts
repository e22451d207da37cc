// One quantity against another: the whole path faintly, the path up to the current time, and the current point.

import uPlot from "uplot";
import { colorsOf, readable, type Colors } from "../colors.ts";
import { create, setAttribute, setText } from "../controls/dom.ts";
import { locateTime } from "../motion/pose.ts";
import { clipped, cssColor, mappingOf, strokeLine } from "./background.ts";
import { font, Frame, rem, type Shared } from "./frame.ts";
import type { PlotActions } from "./gestures.ts";
import { fixed, tick, unitWith } from "./number-format.ts";
import { interpolate } from "./panel.ts";
import type { PhaseAxis, PhaseContents } from "./panel-contents.ts";
import { ticksWithin } from "./ranges.ts";

const PADDING = 16;
const AXIS_HEIGHT = 1.5;
/** A pointer that has moved less, in pixels, may be about to scroll the page. */
const DRAG_THRESHOLD = 6;

export class PhasePanel {
  private readonly frame = new Frame();
  readonly figure = this.frame.figure;
  private readonly overlay = create("canvas", { class: "plot-overlay" });
  private readonly values = [create("output"), create("output")];
  private plot: uPlot | null = null;
  private style = "";
  private t = NaN;

  constructor(
    private contents: PhaseContents,
    private readonly shared: Shared,
    private readonly actions: PlotActions,
    private readonly seekTo: (t: number) => void,
    /** The lists of quantities, y and x. */
    pickers: HTMLElement,
  ) {
    this.frame.heading.append(pickers);
    this.figure.classList.add("is-phase");
    this.frame.legend.append(...this.values.map((value) => create("li", {}, create("span"), value)));
  }

  show(contents: PhaseContents): void {
    this.contents = contents;
    const { x, y } = contents;
    this.frame.describe(`${y.label} over ${x.label}`, "", `${this.shared.name}-${y.id}-${x.id}`, contents.csv);
    for (const [i, axis] of [y, x].entries()) {
      const [name] = this.frame.legend.children[i].children;
      name.replaceChildren(axis.name, ...(axis.index === "" ? [] : axis.name === "" ? [axis.index] : [create("sub", { text: axis.index })]));
    }
    const style = [this.shared.gutter, this.gutter].join();
    if (this.plot !== null && style === this.style) this.plot.setData(this.data());
    else {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(), this.data(), this.frame.area);
      this.plot.over.before(this.overlay);
      this.listen(this.plot.over);
    }
    this.style = style;
  }

  /** Draw the path up to the current time; called before every frame. */
  moveTo(t: number): void {
    this.t = t;
    this.drawOverlay();
  }

  write(t: number): void {
    const { before, share } = locateTime(this.shared.time, t);
    const texts = [this.contents.y, this.contents.x].map((axis, i) => {
      const text = `${fixed(interpolate(axis.values, before, share), axis.decimals)} ${unitWith(axis.power, axis.unit)}`.trim();
      setText(this.values[i], text);
      return `${axis.spoken || axis.label} ${text}`;
    });
    const { x, y } = this.contents;
    setAttribute(this.frame.area, "aria-label", `${y.label} over ${x.label}. Current values: ${texts.join(", ")}`);
  }

  resize(): void {
    this.plot?.setSize({ width: this.shared.width, height: this.height });
    this.drawOverlay();
  }

  /** After a change of theme. */
  redraw(): void {
    this.plot?.redraw(false, true);
    this.drawOverlay();
  }

  destroy(): void {
    this.plot?.destroy();
    this.figure.remove();
  }

  private get height(): number {
    return Math.round(Math.min(Math.max(0.75 * this.shared.width, 14 * rem()), 20 * rem()));
  }

  private get gutter(): number {
    const widest = Math.max(...this.ticks(this.contents.y, 6).map((one) => one.length));
    return Math.max(this.shared.gutter, 12 + 0.475 * rem() * widest);
  }

  private ticks({ range: [low, high] }: PhaseAxis, most: number): string[] {
    const splits = ticksWithin(low, high, most);
    return splits.map((value) => tick(value, splits[1] - splits[0] || 1));
  }

  /** The ranges of both axes, of the same scale if they are lengths. */
  private ranges(): { x: [number, number]; y: [number, number] } {
    const { x, y, isEqual } = this.contents;
    if (!isEqual) return { x: x.range, y: y.range };
    const [width, height] = [this.shared.width - this.gutter - PADDING, this.height - AXIS_HEIGHT * rem() - PADDING];
    const scale = Math.max((x.range[1] - x.range[0]) / width, (y.range[1] - y.range[0]) / height);
    const widened = ([low, high]: [number, number], pixels: number): [number, number] => [
      (low + high - scale * pixels) / 2,
      (low + high + scale * pixels) / 2,
    ];
    return { x: widened(x.range, width), y: widened(y.range, height) };
  }

  /** uPlot draws the axes; paths that go back and forth are drawn here. */
  private data(): uPlot.AlignedData {
    return [this.contents.x.range, [null, null]];
  }

  private options(): uPlot.Options {
    const { shared } = this;
    const colors = (): Colors => colorsOf(shared.dark);
    const grid = { stroke: () => colors().grid, width: 1 };
    const axis = { font: font(), stroke: () => readable(colors().muted, colors()), ticks: { show: false }, grid };
    const values = (_: uPlot, splits: number[]): string[] => splits.map((value) => tick(value, splits[1] - splits[0] || 1));
    return {
      width: shared.width,
      height: this.height,
      padding: [PADDING, PADDING, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: { x: { time: false, range: () => this.ranges().x }, y: { range: () => this.ranges().y } },
      axes: [
        {
          ...axis,
          ...{ size: Math.round(AXIS_HEIGHT * rem()), gap: 4, values },
          splits: (_, __, low, high) => ticksWithin(low, high, (shared.width - this.gutter - PADDING) / (3.4 * rem())),
        },
        { ...axis, size: this.gutter, gap: 5, values, splits: (_, __, low, high) => ticksWithin(low, high, 6) },
      ],
      series: [{}, {}],
      hooks: { draw: [(plot) => this.drawPaths(plot)] },
    };
  }

  private drawPaths(plot: uPlot): void {
    const { x, y, breaks, members, pinned } = this.contents;
    const color = (one: string | number): string => cssColor(one, this.shared.dark);
    clipped(plot, (context, to) => {
      for (const one of members) {
        const alpha = typeof one.color === "number" ? 0.7 : 0.25;
        strokeLine(context, to, one.x, one.y, one.breaks, { color: color(one.color), width: 1, alpha });
      }
      for (const one of pinned) strokeLine(context, to, one.x, one.y, one.breaks, { color: color(one.color), width: 1.5, alpha: 0.5, dash: [3, 3] });
      strokeLine(context, to, x.values, y.values, breaks, { color: color(y.color), width: 1.25, alpha: 0.4 });
    });
    this.drawOverlay();
  }

  /** On a canvas of its own, so that axes and members are not drawn again in every frame. */
  private drawOverlay(): void {
    const { plot, overlay } = this;
    const context = overlay.getContext("2d");
    if (plot === null || context === null || Number.isNaN(this.t) || plot.scales.x.min == null) return;
    const { left, top, width, height } = plot.bbox;
    if (overlay.width !== Math.round(width) || overlay.height !== Math.round(height)) this.placeOverlay(plot);
    context.clearRect(0, 0, width, height);
    const { x, y, breaks } = this.contents;
    const whole = mappingOf(plot);
    const to = { x: (value: number) => whole.x(value) - left, y: (value: number) => whole.y(value) - top };
    const { before, share } = locateTime(this.shared.time, this.t);
    const color = cssColor(y.color, this.shared.dark);
    const last = share === 1 ? before + 1 : before;
    const now = [interpolate(x.values, before, share), interpolate(y.values, before, share)];
    const style = { color, width: 2.25 };
    strokeLine(context, to, x.values, y.values, breaks, style, last);
    if (!now.every(Number.isFinite) || (share > 0 && share < 1 && breaks?.has(before))) return;
    strokeLine(context, to, [x.values[last], now[0]], [y.values[last], now[1]], undefined, style);
    const ratio = devicePixelRatio;
    const colors = colorsOf(this.shared.dark);
    context.beginPath();
    context.arc(to.x(now[0]), to.y(now[1]), 4.5 * ratio, 0, 2 * Math.PI);
    context.fillStyle = colors.ink;
    context.strokeStyle = colors.paper;
    context.lineWidth = 2 * ratio;
    context.setLineDash([]);
    context.fill();
    context.stroke();
  }

  private placeOverlay({ bbox: { left, top, width, height } }: uPlot): void {
    [this.overlay.width, this.overlay.height] = [Math.round(width), Math.round(height)];
    for (const [name, pixels] of Object.entries({ left, top, width, height })) {
      this.overlay.style.setProperty(name, `${pixels / devicePixelRatio}px`);
    }
  }

  /** Dragging along the path changes the current time to that of the nearest output. */
  private listen(area: HTMLElement): void {
    let start: { x: number; y: number } | null = null;
    let isDragging = false;
    const drag = (event: PointerEvent): void => {
      if (!isDragging) this.actions.begin();
      isDragging = true;
      this.seekNearest(event);
    };
    const release = (): void => {
      if (isDragging) this.actions.end();
      isDragging = false;
      start = null;
    };
    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      area.setPointerCapture(event.pointerId);
      start = { x: event.clientX, y: event.clientY };
      if (event.pointerType !== "touch") drag(event);
    });
    area.addEventListener("pointermove", (event) => {
      if (start === null) return;
      if (isDragging || Math.abs(event.clientX - start.x) > DRAG_THRESHOLD) drag(event);
    });
    area.addEventListener("pointerup", (event) => {
      if (start !== null && !isDragging) drag(event);
      release();
    });
    area.addEventListener("pointercancel", release);
  }

  private seekNearest(event: PointerEvent): void {
    if (this.plot === null) return;
    const { left, top } = this.plot.over.getBoundingClientRect();
    const { bbox } = this.plot;
    const to = mappingOf(this.plot);
    const ratio = devicePixelRatio;
    const [px, py] = [(event.clientX - left) * ratio + bbox.left, (event.clientY - top) * ratio + bbox.top];
    const { x, y } = this.contents;
    let [best, least] = [-1, Infinity];
    for (let n = 0; n < x.values.length; n++) {
      const far = Math.hypot(to.x(x.values[n]) - px, to.y(y.values[n]) - py);
      if (far < least) [best, least] = [n, far];
    }
    if (best >= 0) this.seekTo(this.shared.time[best]);
  }
}
