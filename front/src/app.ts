// The whole page: one motion, one playback clock, one set of options, and the components that display them.

import { Audit } from "./controls/audit.ts";
import type { PageState } from "./controls/requests.ts";
import { create, requireElement } from "./controls/dom.ts";
import { aliasingWarning, maxAngularSpeed, samplingWarning, slowMotionSpeed } from "./controls/aliasing.ts";
import { Header } from "./controls/header.ts";
import { FigureTab } from "./controls/figure-tab.ts";
import { listenToKeys } from "./controls/keyboard.ts";
import { LessonPanel } from "./controls/lesson.ts";
import { Panes } from "./controls/panes.ts";
import { Notes } from "./controls/notes.ts";
import { Notices } from "./controls/notices.ts";
import { cameraPart, PageLink, panesPart, plotsPart, pointPart, switchesPart, timePart, watchPart } from "./controls/page-link.ts";
import { PlayBar } from "./controls/playbar.ts";
import { Switches } from "./controls/switches.ts";
import { Takeaway } from "./controls/takeaway.ts";
import { ThemeSwitch } from "./controls/theme.ts";
import { Selection } from "./controls/selection.ts";
import { naturalSpeed, Playback } from "./motion/playback.ts";
import type { MotionRecord } from "./motion/record.ts";
import { Choices, switchesOf, type Options } from "./options.ts";
import { Plots } from "./plots/plots.ts";
import type { Model, PageOptions, Taken, TakeRequest, TryThis } from "./transport/protocol.ts";
import type { GrabActions, Knobs } from "./view/grabber.ts";
import { EMPTY_STAGE, isSameStage } from "./view/stage.ts";
import { canCompare } from "./view/ghost.ts";
import { Views } from "./view/views.ts";

/** Slow motion is at least this many times slower than the natural speed. */
const SLOWDOWN = 5;

/** While a knob is dragged, drawing the plots takes at most this share of the time; on a slow machine they wait, in ms. */
const PLOT_SHARE = 0.1;
const SLOW_PLOTS_MS = 300;

export interface LabActions {
  /** Show another scenario of the model. */
  selectRun(run: string): void;
  toggleGallery(): void;
  /** Set parameters (defaults for the others) and the scenario; the motion is shown when it has been computed. */
  setValues?(values: Record<string, number>, run: string): void;
  /** What only a server can do. */
  server?: ServerActions;
  knobs: Knobs & { readonly values: Record<string, number> };
}

export interface ServerActions {
  /** The model, its values and the scenario that are shown; null for a motion that is viewed. */
  shown(): { model: Model; values: Record<string, number>; run: string } | null;
  /** Make something to take away. */
  take(request: TakeRequest): Promise<Taken>;
}

/** How long a short notice stays, in ms. */
const BRIEF_MS = 2500;

export class App {
  readonly playback = new Playback();
  readonly choices = new Choices();
  readonly notices = new Notices(requireElement("notices"));
  readonly header: Header;
  /** The live server; null in a file. */
  lab: LabActions | null = null;
  /** What is seen, as text in a link. */
  readonly link = new PageLink();
  readonly lesson: LessonPanel;
  record: MotionRecord | null = null;
  /** A motion to compare with; null if none is pinned. */
  pinned: MotionRecord | null = null;
  private readonly columns = [create("div", { class: "column" }), create("div", { class: "column" })];
  private readonly audit = new Audit();
  private readonly notes = new Notes(this.playback);
  private readonly selection: Selection;
  private readonly switches: Switches;
  private readonly playBar: PlayBar;
  readonly views: Views | null;
  readonly plots: Plots | null;
  private rate = 0;
  private frame: number | null = null;
  private readonly takeaway: Takeaway;
  private readonly figure: FigureTab;
  /** What a step does when its motion is shown. */
  private afterShow: (() => void) | null = null;
  /** Whether a knob is being dragged: only what moves is updated. */
  isDragging = false;
  private isFollowing = false;
  /** Called when the motion of the parameters that were set is shown. */
  private readonly settled: (() => void)[] = [];
  /** While a knob is dragged, the plots are drawn again at this time at the earliest, in ms. */
  private nextPlots = 0;

  /** `pageText` is the text of the page, if it is a file. */
  constructor(options: PageOptions, pageText: () => string) {
    const theme = new ThemeSwitch(this.choices);
    this.selection = new Selection(this.choices, (run) => this.lab?.selectRun(run));
    this.header = new Header(requireElement("head"), this.selection.element, () => this.lab?.toggleGallery(), () => this.lesson.toggle());
    const onOpen = (open: boolean): void => this.header.setLessonOpen(open);
    this.lesson = new LessonPanel(requireElement("lesson"), options.version, onOpen, (step) => this.tryStep(step));
    this.header.name(options.title);
    this.playBar = new PlayBar(requireElement("play-bar"), this.playback, () => this.slowDown());
    this.switches = new Switches(this.header.switches.panel, this.choices, theme.element);
    requireElement("cards").append(...this.columns);
    this.prependCards(this.audit.element, this.notes.element);
    const effects = new URLSearchParams(location.search).get("fx") ?? "";
    this.views = this.reportErrors("the views", () => new Views(requireElement("views"), this.choices, effects));
    this.plots = this.reportErrors("the plots", () => new Plots(requireElement("plots"), this.playback, this.choices));
    this.takeaway = new Takeaway(this.header.takeaway.panel, this, pageText);
    this.figure = new FigureTab(requireElement("views").parentElement!, requireElement("head"), this);
    const panes = this.views && new Panes(this.views);
    this.watchLink(panes);
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
    this.takeaway.show(!isSame);
    this.figure.show();
    this.afterShow?.();
    this.afterShow = null;
    document.body.dataset["run"] = String(record.id);
    document.body.dataset["model"] = record.name;
    this.expect(record.name);
  }

  async copyLink(): Promise<void> {
    this.link.changed();
    try {
      await navigator.clipboard.writeText(location.href);
      this.notices.show("link", { sentence: "Link copied.", duration: BRIEF_MS });
    } catch {
      this.notices.show("link", { sentence: "The browser does not allow copying; here is the link:", text: location.href });
    }
  }

  /** Move the cursors of the plots, for a picture. */
  moveCursor(t: number): void {
    this.plots?.cursor(t);
  }

  /** Do what a step says: parameters and run first; time and switches when that motion is shown. */
  private tryStep(step: TryThis): void {
    const finish = (): void => {
      this.choices.set(Object.fromEntries([...step.switches.map((name) => [name, true]), ...step.off.map((name) => [name, false])]));
      this.playback.seek(step.time ?? this.playback.first);
      if (step.play) this.playback.play();
      else this.playback.pause();
    };
    // A recording has those steps only that need no other motion.
    if (!this.lab?.setValues) return finish();
    this.playback.pause();
    this.afterShow = finish;
    this.lab.setValues(step.values, step.run);
  }

  /** The switches of the motion as it is shown at first. */
  private firstSwitches(): Options {
    const { stage } = this.record ?? { stage: EMPTY_STAGE };
    return { ...this.choices.now, ...switchesOf(stage), follow: this.views?.followsAtFirst ?? false };
  }

  private watchLink(panes: Panes | null): void {
    this.link.add(timePart(this.playback));
    if (this.views !== null) this.link.add(cameraPart(this.views));
    if (panes !== null) this.link.add(panesPart(panes));
    this.link.add(switchesPart(this.choices, () => this.firstSwitches()));
    this.link.add(pointPart(this.choices));
    this.link.add(watchPart(this.choices, () => this.record));
    if (this.plots !== null) {
      this.link.add(plotsPart(this.plots.selection));
      this.plots.selection.onChange(() => this.link.touch());
    }
    this.link.add(this.figure.linkPart);
    // While playing, the time of the last pause stays in the address.
    this.playback.onChange(() => {
      if (!this.playback.playing) this.link.touch();
    });
    this.choices.onChange(() => this.link.touch());
    // Cameras, panes and panels change by what the user does.
    for (const event of ["pointerup", "click", "keyup", "wheel"]) document.addEventListener(event, () => this.link.touch(), { passive: true });
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
    if (now >= this.nextPlots) {
      this.reportErrors("the plots", () => this.plots?.show(record, this.comparison(record), true));
      this.nextPlots = now + Math.max((performance.now() - now) / PLOT_SHARE, this.views?.isSlow ? SLOW_PLOTS_MS : 0);
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
