// The whole page: one motion, one playback clock, one set of options, and the components that display them.

import { Audit } from "./controls/audit.ts";
import type { PageState } from "./controls/requests.ts";
import { create, requireElement } from "./controls/dom.ts";
import { aliasingWarning, maxAngularSpeed, samplingWarning, slowMotionSpeed } from "./controls/aliasing.ts";
import { Header } from "./controls/header.ts";
import { listenToKeys } from "./controls/keyboard.ts";
import { Panes } from "./controls/panes.ts";
import { Notes } from "./controls/notes.ts";
import { Notices } from "./controls/notices.ts";
import { PlayBar } from "./controls/playbar.ts";
import { Switches } from "./controls/switches.ts";
import { ThemeSwitch } from "./controls/theme.ts";
import { Selection } from "./controls/selection.ts";
import { naturalSpeed, Playback } from "./motion/playback.ts";
import type { MotionRecord } from "./motion/record.ts";
import { Choices, switchesOf } from "./options.ts";
import { Plots } from "./plots/plots.ts";
import type { PageOptions } from "./transport/protocol.ts";
import type { GrabActions, Knobs } from "./view/grabber.ts";
import { isSameStage } from "./view/stage.ts";
import { canCompare } from "./view/ghost.ts";
import { Views } from "./view/views.ts";

/** Slow motion is at least this many times slower than the natural speed. */
const SLOWDOWN = 5;

/** Minimum time between two drawings of the plots while a knob is dragged, in ms. */
const PLOT_EVERY_MS = 100;

export interface LabActions {
  /** Show another scenario of the model. */
  selectRun(run: string): void;
  toggleGallery(): void;
  knobs: Knobs & { readonly values: Record<string, number> };
}

export class App {
  readonly playback = new Playback();
  readonly choices = new Choices();
  readonly notices = new Notices(requireElement("notices"));
  readonly header: Header;
  /** The live server; null in a file. */
  lab: LabActions | null = null;
  record: MotionRecord | null = null;
  /** A motion to compare with; null if none is pinned. */
  pinned: MotionRecord | null = null;
  private readonly columns = [create("div", { class: "column" }), create("div", { class: "column" })];
  private readonly audit = new Audit();
  private readonly notes = new Notes(this.playback);
  private readonly selection: Selection;
  private readonly switches: Switches;
  private readonly playBar: PlayBar;
  private readonly views: Views | null;
  readonly plots: Plots | null;
  private rate = 0;
  private frame: number | null = null;
  /** Whether a knob is being dragged: only what moves is updated. */
  isDragging = false;
  private isFollowing = false;
  /** Called when the motion of the parameters that were set is shown. */
  private readonly settled: (() => void)[] = [];
  private plotted = 0;

  constructor(options: PageOptions) {
    const theme = new ThemeSwitch(this.choices);
    this.selection = new Selection(this.choices, (run) => this.lab?.selectRun(run));
    this.header = new Header(requireElement("head"), options.version, this.selection.element, () => this.lab?.toggleGallery());
    this.header.name(options.title);
    this.playBar = new PlayBar(requireElement("play-bar"), this.playback, () => this.slowDown());
    this.switches = new Switches(this.header.switches.panel, this.choices, theme.element);
    requireElement("cards").append(...this.columns);
    this.prependCards(this.audit.element, this.notes.element);
    const effects = new URLSearchParams(location.search).get("fx") ?? "";
    this.views = this.reportErrors("the views", () => new Views(requireElement("views"), this.choices, effects));
    this.plots = this.reportErrors("the plots", () => new Plots(requireElement("plots"), this.playback, this.choices));
    const panes = this.views && new Panes(this.views);
    if (this.views) this.views.grabActions = this.grabActions();
    listenToKeys(this.playback, panes?.keys ?? {});
    this.playback.onChange(() => this.wake());
    this.playback.onChange(() => {
      if (!this.isFollowing) this.warn();
    });
    this.choices.onChange((changed) => {
      if ("watched" in changed && this.record !== null) this.watch(this.record);
    });
  }

  /** Add a pair of cards above the existing ones. */
  prependCards(left: HTMLElement, right: HTMLElement): void {
    this.columns[0].prepend(left);
    this.columns[1].prepend(right);
  }

  state(state: PageState): void {
    document.body.dataset["state"] = state;
    if (state === "running" || state === "loading") return;
    for (const resolve of this.settled.splice(0)) resolve();
  }

  /** Set parameters; resolves when their motion is shown, with everything, or was refused. */
  setValues(values: Record<string, number>): Promise<void> {
    const knobs = this.lab?.knobs;
    if (!knobs) return Promise.reject(new Error("this page has no parameters"));
    return new Promise((resolve) => {
      this.settled.push(resolve);
      knobs.setValues(values, true);
    });
  }

  /** Another model was chosen: dim the current drawing until the new motion arrives. */
  expect(model: string): void {
    document.body.classList.toggle("other", this.record !== null && this.record.name !== model);
  }

  setDragging(isDragging: boolean): void {
    this.isDragging = isDragging;
    this.views?.setBusy(isDragging);
  }

  show(record: MotionRecord): void {
    const before = this.record;
    const isSame = before !== null && before.name === record.name && before.run === record.run && before.axis === record.axis;
    this.record = record;
    if (this.isDragging && isSame && before.bodies === record.bodies) {
      this.follow(record);
      return;
    }
    this.audit.element.classList.remove("stale");
    const { watched } = this.choices.now;
    if (watched >= record.bodies || (watched !== 0 && !isSame)) this.choices.set({ watched: 0 });
    if (!isSame && !(before?.name === record.name && isSameStage(before.stage, record.stage))) this.choices.set(switchesOf(record.stage));
    this.playback.load(record.time, isSame);
    this.playBar.show(record);
    this.audit.show(record);
    this.selection.show(record, this.lab !== null);
    this.reportErrors("the views", () => this.views?.show(record, isSame));
    this.reportErrors("the plots", () => this.plots?.show(record, this.comparison(record)));
    this.watch(record);
    this.draw();
    document.body.dataset["run"] = String(record.id);
    document.body.dataset["model"] = record.name;
    this.expect(record.name);
  }

  /** A motion that is replaced in a moment: what moves is updated at once, plots a little later, texts in the end. */
  private follow(record: MotionRecord): void {
    this.isFollowing = true;
    this.playback.load(record.time, true);
    this.playBar.show(record);
    this.isFollowing = false;
    this.audit.element.classList.add("stale");
    this.reportErrors("the views", () => this.views?.show(record, true));
    const now = performance.now();
    if (now - this.plotted > PLOT_EVERY_MS) {
      this.plotted = now;
      this.reportErrors("the plots", () => this.plots?.show(record, this.comparison(record)));
    }
    if (!this.playback.playing) this.reportErrors("the views", () => this.views?.drawNow(this.playback.t));
    document.body.dataset["run"] = String(record.id);
  }

  /** Keep the motion that is shown, to compare others with it; `words` are its parameters.  Returns why it cannot be. */
  tryPin(words: string): string {
    const { record } = this;
    if (record === null) return "There is no motion yet.";
    if (!canCompare(record)) return "Only the motion of a single body can be pinned.";
    this.pinned = record;
    this.views?.pin({ record, words });
    return "";
  }

  unpin(): void {
    this.pinned = null;
    this.views?.pin(null);
    if (this.record) this.plots?.show(this.record);
  }

  private comparison(record: MotionRecord): MotionRecord | null {
    return this.pinned !== record && canCompare(record) ? this.pinned : null;
  }

  /** Update what depends on the watched body. */
  private watch(record: MotionRecord): void {
    const { watched } = this.choices.now;
    this.rate = maxAngularSpeed(record, watched);
    this.switches.show(record);
    this.notes.show(record, watched, [this.views?.remark ?? "", samplingWarning(record, watched)]);
    this.warn();
  }

  private warn(): void {
    const sentence = aliasingWarning(this.rate, this.playback.speed);
    if (sentence === "") this.notices.remove("aliasing");
    else this.notices.show("aliasing", { sentence, action: { words: "Slow motion", onClick: () => this.slowDown() } });
  }

  private slowDown(): void {
    const { first, last } = this.playback;
    const slow = naturalSpeed(last - first) / SLOWDOWN;
    this.playback.setSpeed(this.rate > 0 ? Math.min(slow, slowMotionSpeed(this.rate)) : slow);
  }

  /** What is dragged in the views is the start of the motion: the playback waits there meanwhile. */
  private grabActions(): GrabActions {
    let wasPlaying = false;
    return {
      knobs: () => this.lab?.knobs ?? null,
      begin: () => {
        wasPlaying = this.playback.playing;
        this.playback.pause();
        this.playback.seek(this.playback.first);
      },
      end: () => {
        if (wasPlaying) this.playback.play();
      },
    };
  }

  /** Draw in the next animation frame, and keep going while playing. */
  private wake(): void {
    if (this.isFollowing) return;
    this.frame ??= requestAnimationFrame((now) => {
      this.frame = null;
      this.playback.tick(now);
      this.draw();
      if (this.playback.playing) this.wake();
    });
  }

  private draw(): void {
    if (this.record === null) return;
    const { t } = this.playback;
    this.reportErrors("the views", () => this.views?.draw(t, this.playback.playing));
    this.reportErrors("the plots", () => this.plots?.cursor(t));
  }

  /** Show an error as a notice, so that the rest of the page keeps working. */
  private reportErrors<T>(what: string, act: () => T): T | null {
    try {
      return act();
    } catch (error) {
      const sentence = `Failed to draw ${what}: ${String(error)}. The rest of the page still works.`;
      this.notices.show(what, { sentence, isError: true });
      return null;
    }
  }
}
