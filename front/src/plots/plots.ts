// The column of plots beside the views.

import { coloursOf, readable } from "../colors.ts";
import type { MotionRecord } from "../motion/record.ts";
import type { Playback } from "../motion/playback.ts";
import type { Choices } from "../options.ts";
import { Bar } from "./toolbar.ts";
import { contentsOf } from "./panel-contents.ts";
import { clock, unitOfTime } from "../controls/format.ts";
import { powerFor, unitWith } from "./number-format.ts";
import type { Acts } from "./gestures.ts";
import { Panel, roomFor, type Shared } from "./panel.ts";
import { Stretch } from "./time-range.ts";

/** Numbers that change more often cannot be read. */
const WRITE_EVERY = 1000 / 15;
const GUTTER = 44;
const FIRST_WIDTH = 320;

/** A motion that begins so many times its own length after zero is counted from its start. */
const LATE = 50;

export class Plots {
  private readonly bar: Bar;
  private readonly column = document.createElement("div");
  private readonly nothing = document.createElement("p");
  private readonly shared: Shared;
  private panels = new Map<string, Panel>();
  private record: MotionRecord | null = null;
  private t = 0;
  private written = -Infinity;
  private later: ReturnType<typeof setTimeout> | null = null;
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
      crossings: [],
      stretch: new Stretch(),
      dark: choices.now.dark,
      width: FIRST_WIDTH,
      gutter: GUTTER,
    };
    this.bar = new Bar(this.acts);
    this.column.className = "plots-column";
    root.classList.add("plots");
    this.nothing.className = "plot-note plots-nothing";
    this.nothing.textContent = "Nothing changes in this motion: there is nothing to plot.";
    this.nothing.hidden = true;
    root.append(this.bar.element, this.nothing, this.column);
    this.colour();
    choices.onChange((changed) => {
      if (changed.dark !== undefined) {
        this.colour();
        this.redraw();
      }
      if (changed.watched !== undefined && this.record !== null) this.show(this.record);
    });
    new ResizeObserver(() => this.resize()).observe(this.column);
  }

  show(record: MotionRecord): void {
    const { shared } = this;
    const watched = Math.min(this.choices.now.watched, record.bodies - 1);
    const contents = contentsOf(record, watched);
    const [first, last] = [record.time[0], record.time[record.times - 1]];
    this.record = record;
    this.nothing.hidden = contents.length > 0;
    shared.time = record.time;
    const { length, unit } = unitOfTime(last - first);
    const power = powerFor((last - first) / length);
    shared.timeUnit = length * 10 ** power;
    shared.timeOrigin = Math.abs(first) > LATE * (last - first) ? first : 0;
    shared.stretch.take(first, last);
    const mine = record.crossings.filter((one) => record.axis === null || one.body === record.members[watched]);
    shared.crossings = mine.map((one) => one.time);
    shared.gutter = Math.ceil(Math.max(GUTTER, ...contents.map(roomFor)));
    shared.width = this.column.clientWidth || FIRST_WIDTH;
    const said = clock(first, last);
    const counted = [
      shared.timeUnit === 1 ? "" : `time in ${unitWith(power, unit)}`,
      shared.timeOrigin === 0 ? "" : `counted from ${said(shared.timeOrigin)}`,
    ];
    this.bar.show(said, counted.filter(Boolean).join(", "), [...new Set(mine.map((one) => one.name))]);

    const before = this.panels;
    this.panels = new Map();
    for (const one of contents) {
      const panel = before.get(one.key) ?? new Panel(one, shared, this.acts);
      before.delete(one.key);
      this.panels.set(one.key, panel);
    }
    for (const left of before.values()) left.destroy();
    for (const [place, panel] of [...this.panels.values()].entries()) {
      // Panels that stay where they are are not moved: the column would lose its place.
      if (this.column.children[place] !== panel.figure) this.column.insertBefore(panel.figure, this.column.children[place] ?? null);
    }
    for (const one of contents) this.panels.get(one.key)!.show(one);
    this.t = this.playback.t;
    this.moved();
    this.write();
  }

  /** Called before every frame. */
  cursor(t: number): void {
    if (t === this.t) return;
    this.t = t;
    if (this.shared.stretch.follow(t)) this.redraw();
    this.moved();
    // The instant stands in the play bar too: both are written in the same frame.
    this.bar.write(t);
    const wait = this.written + WRITE_EVERY - performance.now();
    if (wait <= 0) this.write();
    else if (this.later === null) this.later = setTimeout(() => this.write(), wait);
  }

  private readonly acts: Acts = {
    begin: () => {
      this.wasPlaying = this.playback.playing;
      if (this.wasPlaying) this.playback.pause();
    },
    seek: (share) => {
      this.playback.seek(this.shared.stretch.at(share));
      this.cursor(this.playback.t);
    },
    end: () => {
      if (this.wasPlaying) this.playback.play();
    },
    zoom: (factor, share) => this.zoomed(() => this.shared.stretch.zoom(factor, share)),
    pan: (share) => this.zoomed(() => this.shared.stretch.pan(share)),
    whole: () => this.zoomed(() => this.shared.stretch.whole()),
  };

  private zoomed(change: () => void): void {
    change();
    this.redraw();
    this.moved();
  }

  private moved(): void {
    const share = this.shared.stretch.shareOf(this.t);
    for (const panel of this.panels.values()) panel.moveLine(share);
  }

  private write(): void {
    if (this.later !== null) clearTimeout(this.later);
    this.later = null;
    this.written = performance.now();
    this.bar.write(this.t);
    for (const panel of this.panels.values()) panel.write(this.t);
  }

  private redraw(): void {
    this.bar.allows(!this.shared.stretch.isWhole);
    for (const panel of this.panels.values()) panel.redraw();
  }

  private resize(): void {
    const width = this.column.clientWidth;
    if (width === 0 || width === this.shared.width) return;
    this.shared.width = width;
    for (const panel of this.panels.values()) panel.resize();
    this.moved();
  }

  private colour(): void {
    this.shared.dark = this.choices.now.dark;
    const colours = coloursOf(this.shared.dark);
    for (const name of ["ink", "muted", "grid", "paper", "panel"] as const) {
      this.root.style.setProperty(`--plot-${name}`, name === "muted" ? readable(colours.muted, colours) : colours[name]);
    }
  }
}
