// The column of plots beside the views.

import { colorsOf, readable } from "../colors.ts";
import type { MotionRecord } from "../motion/record.ts";
import type { Playback } from "../motion/playback.ts";
import type { Choices } from "../options.ts";
import { PlotToolbar } from "./toolbar.ts";
import { panelContents } from "./panel-contents.ts";
import { timeFormatter, unitOfTime } from "../controls/format.ts";
import { powerFor, unitWith } from "./number-format.ts";
import type { PlotActions } from "./gestures.ts";
import { Panel, axisWidth, type Shared } from "./panel.ts";
import { TimeRange } from "./time-range.ts";

/** Minimum interval between updates of the displayed numbers, in ms, so that they can be read. */
const WRITE_EVERY = 1000 / 15;
const GUTTER = 44;
const FIRST_WIDTH = 320;

/** A motion that starts later than this many times its duration has its time axis relative to its start. */
const MAX_START = 50;

export class Plots {
  private readonly toolbar: PlotToolbar;
  private readonly column = document.createElement("div");
  private readonly emptyNote = document.createElement("p");
  private readonly shared: Shared;
  private panels = new Map<string, Panel>();
  private record: MotionRecord | null = null;
  private t = 0;
  private lastWrite = -Infinity;
  private pendingWrite: ReturnType<typeof setTimeout> | null = null;
  private wasPlaying = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly playback: Playback,
    private readonly choices: Choices,
  ) {
    this.shared = {
      time: new Float64Array(1),
      timeUnit: 1,
      timeOrigin: 0,
      events: [],
      timeRange: new TimeRange(),
      dark: choices.now.dark,
      width: FIRST_WIDTH,
      gutter: GUTTER,
    };
    this.toolbar = new PlotToolbar(this.actions);
    this.column.className = "plots-column";
    root.classList.add("plots");
    this.emptyNote.className = "plot-note plots-empty";
    this.emptyNote.textContent = "Nothing changes in this motion, so there is nothing to plot.";
    this.emptyNote.hidden = true;
    root.append(this.toolbar.element, this.emptyNote, this.column);
    this.applyTheme();
    choices.onChange((changed) => {
      if (changed.dark !== undefined) {
        this.applyTheme();
        this.redraw();
      }
      if (changed.watched !== undefined && this.record !== null) this.show(this.record);
    });
    new ResizeObserver(() => this.resize()).observe(this.column);
  }

  show(record: MotionRecord): void {
    const { shared } = this;
    const watched = Math.min(this.choices.now.watched, record.bodies - 1);
    const contents = panelContents(record, watched);
    const [first, last] = [record.time[0], record.time[record.times - 1]];
    this.record = record;
    this.emptyNote.hidden = contents.length > 0;
    shared.time = record.time;
    const { length, unit } = unitOfTime(last - first);
    const power = powerFor((last - first) / length);
    shared.timeUnit = length * 10 ** power;
    shared.timeOrigin = Math.abs(first) > MAX_START * (last - first) ? first : 0;
    shared.timeRange.setLimits(first, last);
    const mine = record.events.filter((one) => record.axis === null || one.body === watched);
    shared.events = mine.map((one) => one.time);
    shared.gutter = Math.ceil(Math.max(GUTTER, ...contents.map(axisWidth)));
    shared.width = this.column.clientWidth || FIRST_WIDTH;
    const formatTime = timeFormatter(first, last);
    const timeUnit = [
      shared.timeUnit === 1 ? "" : `time in ${unitWith(power, unit)}`,
      shared.timeOrigin === 0 ? "" : `relative to ${formatTime(shared.timeOrigin)}`,
    ];
    this.toolbar.show(formatTime, timeUnit.filter(Boolean).join(", "), [...new Set(mine.map((one) => one.name))]);

    const before = this.panels;
    this.panels = new Map();
    for (const one of contents) {
      const panel = before.get(one.key) ?? new Panel(one, shared, this.actions);
      before.delete(one.key);
      this.panels.set(one.key, panel);
    }
    for (const left of before.values()) left.destroy();
    for (const [place, panel] of [...this.panels.values()].entries()) {
      // Panels already in place are not moved, which would reset the scroll position.
      if (this.column.children[place] !== panel.figure) this.column.insertBefore(panel.figure, this.column.children[place] ?? null);
    }
    for (const one of contents) this.panels.get(one.key)!.show(one);
    this.t = this.playback.t;
    this.moveLines();
    this.write();
  }

  /** Called before every frame. */
  cursor(t: number): void {
    if (t === this.t) return;
    this.t = t;
    if (this.shared.timeRange.follow(t)) this.redraw();
    this.moveLines();
    // The play bar shows the time too: update both in the same frame.
    this.toolbar.write(t);
    const wait = this.lastWrite + WRITE_EVERY - performance.now();
    if (wait <= 0) this.write();
    else if (this.pendingWrite === null) this.pendingWrite = setTimeout(() => this.write(), wait);
  }

  private readonly actions: PlotActions = {
    begin: () => {
      this.wasPlaying = this.playback.playing;
      if (this.wasPlaying) this.playback.pause();
    },
    seek: (share) => {
      this.playback.seek(this.shared.timeRange.at(share));
      this.cursor(this.playback.t);
    },
    end: () => {
      if (this.wasPlaying) this.playback.play();
    },
    zoom: (factor, share) => this.changeRange(() => this.shared.timeRange.zoom(factor, share)),
    pan: (share) => this.changeRange(() => this.shared.timeRange.pan(share)),
    reset: () => this.changeRange(() => this.shared.timeRange.reset()),
  };

  private changeRange(change: () => void): void {
    change();
    this.redraw();
    this.moveLines();
  }

  private moveLines(): void {
    const share = this.shared.timeRange.shareOf(this.t);
    for (const panel of this.panels.values()) panel.moveLine(share);
  }

  private write(): void {
    if (this.pendingWrite !== null) clearTimeout(this.pendingWrite);
    this.pendingWrite = null;
    this.lastWrite = performance.now();
    this.toolbar.write(this.t);
    for (const panel of this.panels.values()) panel.write(this.t);
  }

  private redraw(): void {
    this.toolbar.setZoomed(!this.shared.timeRange.isWhole);
    for (const panel of this.panels.values()) panel.redraw();
  }

  private resize(): void {
    const width = this.column.clientWidth;
    if (width === 0 || width === this.shared.width) return;
    this.shared.width = width;
    for (const panel of this.panels.values()) panel.resize();
    this.moveLines();
  }

  private applyTheme(): void {
    this.shared.dark = this.choices.now.dark;
    const colors = colorsOf(this.shared.dark);
    for (const name of ["ink", "muted", "grid", "paper", "panel"] as const) {
      this.root.style.setProperty(`--plot-${name}`, name === "muted" ? readable(colors.muted, colors) : colors[name]);
    }
  }
}
