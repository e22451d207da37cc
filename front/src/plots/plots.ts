// The column of plots beside the views.

import { colorsOf, readable } from "../colors.ts";
import { create, setText } from "../controls/dom.ts";
import type { MotionRecord } from "../motion/record.ts";
import type { Playback } from "../motion/playback.ts";
import type { Choices } from "../options.ts";
import { PlotChooser, PhasePickers } from "./chooser.ts";
import { PlotToolbar } from "./toolbar.ts";
import { hiddenId, phaseContents, stripContents, type Look, type PanelContents, type PhaseContents } from "./panel-contents.ts";
import { firstPanels, panelWords, phaseOf, stripsOf, whyNot, type Strip } from "./panel-list.ts";
import { timeFormatter, unitOfTime } from "../controls/format.ts";
import type { Shared } from "./frame.ts";
import { powerFor, unitWith } from "./number-format.ts";
import type { PlotActions } from "./gestures.ts";
import { Panel, axisWidth, type LegendActions } from "./panel.ts";
import { PhasePanel } from "./phase-panel.ts";
import { PlotSelection } from "./plot-choices.ts";
import { hasBands, bandsOf, spreadNote, spreadStyle } from "./spread.ts";
import { TimeRange } from "./time-range.ts";

/** Minimum interval between updates of the displayed numbers, in ms, so that they can be read. */
const WRITE_EVERY = 1000 / 15;
const GUTTER = 44;
const FIRST_WIDTH = 320;

/** A motion that starts later than this many times its duration has its time axis relative to its start. */
const MAX_START = 50;

/** Bands of more numbers than this are computed after the page has been drawn. */
const MAX_AT_ONCE = 20_000;

interface Shown {
  figure: HTMLElement;
  moveTo(t: number): void;
  write(t: number): void;
  resize(): void;
  redraw(): void;
  destroy(): void;
}

export class Plots {
  /** What the user has chosen; `encodePlotChoices(plots.selection.now)` is its text in a link. */
  readonly selection = new PlotSelection();
  private readonly toolbar: PlotToolbar;
  private readonly chooser = new PlotChooser(this.selection);
  private readonly column = create("div", { class: "plots-column" });
  private readonly note = create("p", { class: "plot-note plots-empty", hidden: true });
  private readonly shared: Shared;
  private panels = new Map<string, { shown: Shown; show(contents: PanelContents | PhaseContents): void }>();
  private record: MotionRecord | null = null;
  private pinned: MotionRecord | null = null;
  /** The panels that the motion shows at first. */
  private first: string[] = [];
  private t = 0;
  private lastWrite = -Infinity;
  private pendingWrite: ReturnType<typeof setTimeout> | null = null;
  private pendingBands: ReturnType<typeof setTimeout> | null = null;
  private wasPlaying = false;
  /** The panels that can be seen. */
  private readonly seen = new Set<Element>();
  private readonly watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.seen.add(target);
      else this.seen.delete(target);
    }
  });

  constructor(
    private readonly root: HTMLElement,
    private readonly playback: Playback,
    private readonly choices: Choices,
  ) {
    this.shared = {
      name: "",
      time: new Float64Array(1),
      axisTime: new Float64Array(1),
      timeUnit: 1,
      timeOrigin: 0,
      events: [],
      timeRange: new TimeRange(),
      dark: choices.now.dark,
      width: FIRST_WIDTH,
      gutter: GUTTER,
    };
    this.toolbar = new PlotToolbar(this.actions, this.chooser, this.selection);
    root.classList.add("plots");
    root.append(this.toolbar.element, this.note, this.column);
    this.applyTheme();
    choices.onChange((changed) => {
      if (changed.dark !== undefined) {
        this.applyTheme();
        this.redraw();
        this.toolbar.showColors(this.record, this.shared.dark);
      }
      if (changed.watched !== undefined) this.refresh();
    });
    this.selection.onChange(() => this.refresh());
    new ResizeObserver(() => this.resize()).observe(this.column);
  }

  /**
   * Show a motion, and the curves of the pinned one faintly.  A similar motion replaces numbers only; if another follows
   * in a moment (`isBrief`), only in the panels that can be seen.
   */
  show(record: MotionRecord, pinned: MotionRecord | null = null, isBrief = false): void {
    const isOther = this.record !== null && this.record.name !== record.name;
    // While parameters change, the panels stay.
    if (this.record === null || isOther || this.record.run !== record.run) this.first = firstPanels(record, 0);
    this.record = record;
    this.pinned = pinned;
    // Another model comes with panels of its own.
    if (isOther && (this.selection.now.panels !== null || this.selection.now.hidden.length > 0)) this.selection.set({ panels: null, hidden: [] });
    else this.refresh(isBrief);
  }

  /** Show the same motion with other choices. */
  private refresh(isBrief = false): void {
    const { record, shared } = this;
    if (record === null) return;
    const watched = Math.min(this.choices.now.watched, record.bodies - 1);
    this.setTimes(record, watched);
    const asked = this.selection.now.panels ?? this.first;
    const reasons = asked.map((id) => whyNot(record, watched, id));
    const ids = asked.filter((_, i) => reasons[i] === "");
    const contents = this.contentsOf(record, watched, ids);
    const over = contents.filter((one): one is PanelContents => !("x" in one));
    shared.gutter = Math.ceil(Math.max(GUTTER, ...over.map(axisWidth)));
    shared.width = this.column.clientWidth || FIRST_WIDTH;
    this.explain(asked, reasons, spreadNote(record, spreadStyle(record, this.selection.now.spread), watched));
    this.chooser.show(record, watched, asked);
    this.toolbar.showColors(record, shared.dark);
    this.placePanels(contents);
    for (const one of contents) {
      const panel = this.panels.get(one.key)!;
      if (!isBrief || this.seen.has(panel.shown.figure)) panel.show(one);
    }
    this.t = this.playback.t;
    this.moveTo();
    this.write();
  }

  private setTimes(record: MotionRecord, watched: number): void {
    const { shared } = this;
    const [first, last] = [record.time[0], record.time[record.times - 1]];
    const { length, unit } = unitOfTime(last - first);
    const power = powerFor((last - first) / length);
    shared.name = record.name || "motion";
    shared.time = record.time;
    shared.timeUnit = length * 10 ** power;
    shared.timeOrigin = Math.abs(first) > MAX_START * (last - first) ? first : 0;
    shared.axisTime = record.time.map((t) => (t - shared.timeOrigin) / shared.timeUnit);
    shared.timeRange.setLimits(first, last);
    const mine = record.events.filter((one) => record.axis === null || one.body === watched);
    shared.events = mine.map((one) => one.time);
    const formatTime = timeFormatter(first, last);
    const timeUnit = [
      shared.timeUnit === 1 ? "" : `time in ${unitWith(power, unit)}`,
      shared.timeOrigin === 0 ? "" : `relative to ${formatTime(shared.timeOrigin)}`,
    ];
    this.toolbar.show(formatTime, timeUnit.filter(Boolean).join(", "), [...new Set(mine.map((one) => one.name))]);
    this.toolbar.setZoomed(!shared.timeRange.isWhole);
  }

  private contentsOf(record: MotionRecord, watched: number, ids: string[]): (PanelContents | PhaseContents)[] {
    const { degrees, hidden, spread } = this.selection.now;
    const look: Look = { degrees, hidden: new Set(hidden), spread: spreadStyle(record, spread), pinned: this.pinned };
    const waiting: Strip[] = [];
    const strip = (one: Strip): PanelContents => {
      const isLate = look.spread === "bands" && record.bodies * record.times > MAX_AT_ONCE && !hasBands(one.family);
      if (isLate && one.family.isPerBody) waiting.push(one);
      return stripContents(one, record, watched, isLate ? { ...look, spread: "none" } : look);
    };
    const contents = ids.flatMap((id): (PanelContents | PhaseContents)[] => (phaseOf(id) === null ? stripsOf(record, watched, id).map(strip) : [phaseContents(id, record, watched, look)]));
    if (this.pendingBands !== null) clearTimeout(this.pendingBands);
    this.pendingBands = null;
    if (waiting.length > 0) this.pendingBands = setTimeout(() => this.computeBands(record, waiting[0]));
    return contents;
  }

  /** One strip after the other, so that the page stays responsive. */
  private computeBands(record: MotionRecord, strip: Strip): void {
    bandsOf(record, strip.family);
    if (this.record === record) this.refresh();
  }

  /** Say which panels are missing and why, and what is drawn behind the curves. */
  private explain(asked: string[], reasons: string[], spread: string): void {
    const missing = asked.flatMap((id, i) => (reasons[i] === "" ? [] : [`${panelWords(this.record!, id)} (${reasons[i]})`]));
    const isEmpty = asked.length === 0;
    const isChosen = this.selection.now.panels !== null;
    const empty = isChosen ? "No panel is chosen: see “Plots”." : "Nothing changes in this motion, so there is nothing to plot.";
    const notes = [isEmpty ? empty : "", missing.length > 0 ? `Not shown: ${missing.join(", ")}.` : "", spread, this.pinned === null ? "" : "Dotted: the pinned run."];
    setText(this.note, notes.filter(Boolean).join(" "));
    this.note.hidden = this.note.textContent === "";
  }

  private placePanels(contents: (PanelContents | PhaseContents)[]): void {
    const before = this.panels;
    this.panels = new Map();
    for (const one of contents) {
      const panel = before.get(one.key) ?? this.makePanel(one);
      if (!before.delete(one.key)) this.watcher.observe(panel.shown.figure);
      this.panels.set(one.key, panel);
    }
    for (const { shown } of before.values()) {
      this.watcher.unobserve(shown.figure);
      this.seen.delete(shown.figure);
      shown.destroy();
    }
    for (const [place, { shown }] of [...this.panels.values()].entries()) {
      // Panels already in place are not moved, which would reset the scroll position.
      if (this.column.children[place] !== shown.figure) this.column.insertBefore(shown.figure, this.column.children[place] ?? null);
    }
  }

  private makePanel(contents: PanelContents | PhaseContents): { shown: Shown; show(contents: PanelContents | PhaseContents): void } {
    if (!("x" in contents)) {
      const panel = new Panel(contents, this.shared, this.actions, this.legendActions);
      return { shown: panel, show: (one) => panel.show(one as PanelContents) };
    }
    const pickers = new PhasePickers((id) => this.replacePanel(contents.key, id));
    const panel = new PhasePanel(contents, this.shared, this.actions, (t) => this.seek(t), pickers.element);
    return {
      shown: panel,
      show: (one) => {
        pickers.show(this.record!, one.key);
        panel.show(one as PhaseContents);
      },
    };
  }

  private replacePanel(before: string, after: string): void {
    const now = this.selection.now.panels ?? this.first;
    const panels = now.map((id) => (id === before ? after : id));
    this.selection.set({ panels: panels.filter((id, i) => panels.indexOf(id) === i) });
    // The panel is another one: the keyboard's focus stays with its lists.
    const place = this.selection.now.panels!.indexOf(after);
    if (place >= 0) this.panels.get(after)?.shown.figure.querySelector("select")?.focus();
  }

  /** Called before every frame. */
  cursor(t: number): void {
    if (t === this.t) return;
    this.t = t;
    if (this.shared.timeRange.follow(t)) this.redraw();
    this.moveTo();
    // The play bar shows the time too: update both in the same frame.
    this.toolbar.write(t);
    const wait = this.lastWrite + WRITE_EVERY - performance.now();
    if (wait <= 0) this.write();
    else if (this.pendingWrite === null) this.pendingWrite = setTimeout(() => this.write(), wait);
  }

  private seek(t: number): void {
    this.playback.seek(t);
    this.cursor(this.playback.t);
  }

  private readonly actions: PlotActions = {
    begin: () => {
      this.wasPlaying = this.playback.playing;
      if (this.wasPlaying) this.playback.pause();
    },
    seek: (share) => this.seek(this.shared.timeRange.at(share)),
    end: () => {
      if (this.wasPlaying) this.playback.play();
    },
    zoom: (factor, share) => this.changeRange(() => this.shared.timeRange.zoom(factor, share)),
    pan: (share) => this.changeRange(() => this.shared.timeRange.pan(share)),
    reset: () => this.changeRange(() => this.shared.timeRange.reset()),
  };

  private readonly legendActions: LegendActions = {
    toggle: (panel, curve) => {
      const id = `${panel}/${curve}`;
      const { hidden } = this.selection.now;
      this.selection.set({ hidden: hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id] });
    },
    single: (panel, curve) => {
      const strips = this.record === null ? [] : stripsOf(this.record, this.choices.now.watched, panel);
      const strip = strips.find(({ family, places }) => places.some((place) => family.quantities[place].id === curve));
      if (strip === undefined) return;
      const { hidden } = this.selection.now;
      const mine = strip.places.map((place) => hiddenId(panel, strip.family.quantities[place]));
      const others = mine.filter((id) => id !== `${panel}/${curve}`);
      const isSingle = others.every((id) => hidden.includes(id));
      const rest = hidden.filter((id) => !mine.includes(id));
      this.selection.set({ hidden: isSingle ? rest : [...rest, ...others] });
    },
  };

  private changeRange(change: () => void): void {
    change();
    this.redraw();
    this.moveTo();
  }

  private moveTo(): void {
    for (const { shown } of this.panels.values()) shown.moveTo(this.t);
  }

  private write(): void {
    if (this.pendingWrite !== null) clearTimeout(this.pendingWrite);
    this.pendingWrite = null;
    this.lastWrite = performance.now();
    this.toolbar.write(this.t);
    for (const { shown } of this.panels.values()) shown.write(this.t);
  }

  private redraw(): void {
    this.toolbar.setZoomed(!this.shared.timeRange.isWhole);
    for (const { shown } of this.panels.values()) shown.redraw();
  }

  private resize(): void {
    const width = this.column.clientWidth;
    if (width === 0 || width === this.shared.width) return;
    this.shared.width = width;
    for (const { shown } of this.panels.values()) shown.resize();
    this.moveTo();
  }

  private applyTheme(): void {
    this.shared.dark = this.choices.now.dark;
    const colors = colorsOf(this.shared.dark);
    for (const name of ["ink", "muted", "grid", "paper", "panel"] as const) {
      this.root.style.setProperty(`--plot-${name}`, name === "muted" ? readable(colors.muted, colors) : colors[name]);
    }
  }
}
