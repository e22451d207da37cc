// The page as a whole: one motion, one clock, one set of choices, and everything that shows them.

import { Audit } from "./controls/audit.ts";
import type { PageState } from "./controls/requests.ts";
import { made, place } from "./controls/dom.ts";
import { deception, fastest, slowMotion, sparse } from "./controls/aliasing.ts";
import { Header } from "./controls/header.ts";
import { listenToKeys } from "./controls/keyboard.ts";
import { Notes } from "./controls/notes.ts";
import { Notices } from "./controls/notices.ts";
import { PlayBar } from "./controls/playbar.ts";
import { Switches } from "./controls/switches.ts";
import { ThemeSwitch } from "./controls/theme.ts";
import { Watching } from "./controls/selection.ts";
import { naturalSpeed, Playback } from "./motion/playback.ts";
import type { MotionRecord } from "./motion/record.ts";
import { Choices } from "./options.ts";
import { Plots } from "./plots/plots.ts";
import type { Door } from "./transport/protocol.ts";
import { Views } from "./view/views.ts";

/** Slow motion is at least so much slower than what suits the motion. */
const SLOWER = 5;

export interface Asked {
  /** Another scenario of the model. */
  lookAt(run: string): void;
  toggleGallery(): void;
}

export class App {
  readonly playback = new Playback();
  readonly choices = new Choices();
  readonly notices = new Notices(place("notices"));
  readonly header: Header;
  /** Whoever answers questions; a file has nobody. */
  asked: Asked | null = null;
  record: MotionRecord | null = null;
  private readonly columns = [made("div", { class: "column" }), made("div", { class: "column" })];
  private readonly audit = new Audit();
  private readonly notes = new Notes(this.playback);
  private readonly watching: Watching;
  private readonly switches: Switches;
  private readonly playBar: PlayBar;
  private readonly views: Views | null;
  private readonly plots: Plots | null;
  private rate = 0;
  private frame: number | null = null;
  private hasDrawn = false;

  constructor(door: Door) {
    const theme = new ThemeSwitch(this.choices);
    this.watching = new Watching(this.choices, (run) => this.asked?.lookAt(run));
    this.header = new Header(place("head"), door.version, this.watching.element, () => this.asked?.toggleGallery());
    this.header.name(door.title);
    this.playBar = new PlayBar(place("play-bar"), this.playback, () => this.slowDown(), () => this.views?.resetCamera());
    this.switches = new Switches(this.header.switches.panel, this.choices, theme.element);
    place("cards").append(...this.columns);
    this.putFirst(this.audit.element, this.notes.element);
    const effects = new URLSearchParams(location.search).get("fx") === "low" ? "low" : "high";
    this.views = this.tried("the views", () => new Views(place("views"), this.choices, effects));
    this.plots = this.tried("the plots", () => new Plots(place("plots"), this.playback, this.choices));
    listenToKeys(this.playback);
    this.playback.onChange(() => this.wake());
    this.playback.onChange(() => this.warn());
    this.choices.onChange((changed) => {
      if ("watched" in changed && this.record !== null) this.watch(this.record);
    });
  }

  /** A pair of cards, above those that are there. */
  putFirst(left: HTMLElement, right: HTMLElement): void {
    this.columns[0].prepend(left);
    this.columns[1].prepend(right);
  }

  state(state: PageState): void {
    document.body.dataset["state"] = state;
  }

  /** Another model was chosen: what is drawn is not of it, and steps back until its motion is here. */
  expect(model: string): void {
    document.body.classList.toggle("other", this.record !== null && this.record.name !== model);
  }

  show(record: MotionRecord): void {
    const before = this.record;
    const isSame = before !== null && before.name === record.name && before.run === record.run;
    this.record = record;
    const { watched } = this.choices.now;
    if (watched >= record.bodies || (watched !== 0 && !isSame)) this.choices.set({ watched: 0 });
    this.playback.take(record.time, isSame);
    this.playBar.show(record);
    this.audit.show(record);
    this.watching.show(record, this.asked !== null);
    this.tried("the views", () => this.views?.show(record, isSame));
    this.tried("the plots", () => this.plots?.show(record));
    this.watch(record);
    this.draw();
    document.body.dataset["run"] = String(record.id);
    document.body.dataset["model"] = record.name;
    this.expect(record.name);
  }

  /** What depends on which body is watched. */
  private watch(record: MotionRecord): void {
    const { watched } = this.choices.now;
    this.rate = fastest(record, watched);
    this.switches.show(record);
    this.notes.show(record, watched, [this.views?.remark ?? "", sparse(record, watched)]);
    this.warn();
  }

  private warn(): void {
    const sentence = deception(this.rate, this.playback.speed);
    if (sentence === "") this.notices.remove("eye");
    else this.notices.show("eye", { sentence, act: { words: "Slow motion", pressed: () => this.slowDown() } });
  }

  private slowDown(): void {
    const { first, last } = this.playback;
    const slow = naturalSpeed(last - first) / SLOWER;
    this.playback.setSpeed(this.rate > 0 ? Math.min(slow, slowMotion(this.rate)) : slow);
  }

  /** Draw with the next frame of the screen, and go on as long as it plays. */
  private wake(): void {
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
    this.tried("the views", () => this.views?.draw(t));
    this.tried("the plots", () => this.plots?.cursor(t));
    if (this.hasDrawn) return;
    this.hasDrawn = true;
    performance.mark("polhode-first-drawing");
  }

  /** What fails is said, and the rest of the page goes on. */
  private tried<T>(what: string, act: () => T): T | null {
    try {
      return act();
    } catch (error) {
      const sentence = `Drawing ${what} failed: ${String(error)}. The rest of the page still works.`;
      this.notices.show(what, { sentence, isError: true });
      return null;
    }
  }
}
