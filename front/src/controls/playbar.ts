// Play, pause, step, scrub, speed.

import { naturalSpeed, type Playback } from "../motion/playback.ts";
import type { MotionRecord } from "../motion/record.ts";
import { button, create, setAttribute, setText } from "./dom.ts";
import { timeFormatter } from "./format.ts";
import { icon } from "./icons.ts";
import { isSame, speedsAround } from "./speeds.ts";

const SLOW = "slow";
const MAX_TICKS = 1000;

export class PlayBar {
  private readonly scrub = create("input", { attributes: { type: "range", step: "any", "aria-label": "Time", "data-time": "" } });
  private readonly ticks = create("div", { class: "ticks", attributes: { "aria-hidden": "true" } });
  private readonly now = create("span", { class: "now" });
  private readonly whole = create("span", { class: "quiet" });
  private readonly speed = create("select", { attributes: { "aria-label": "Speed" }, title: "Seconds of motion per second" });
  private readonly playing: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private formatTime = timeFormatter(0, 0);
  private wasPlaying: boolean | null = null;
  private speedShown = Number.NaN;
  private natural = 1;

  constructor(
    root: HTMLElement,
    private readonly playback: Playback,
    slowMotion: () => void,
  ) {
    const pressed = (words: string, name: string, act: () => void): HTMLButtonElement =>
      button(words, { class: "tool" }, act, icon(name));
    const end = (words: string, name: string, act: () => void): HTMLButtonElement =>
      button(words, { class: "tool ends" }, act, icon(name));
    this.playing = button("Play", { class: "tool main" }, () => playback.toggle(), icon("play"));
    this.loop = pressed("Loop", "loop", () => {
      playback.repeats = !playback.repeats;
      this.loop.setAttribute("aria-pressed", String(playback.repeats));
    });
    this.loop.setAttribute("aria-pressed", String(playback.repeats));
    this.scrub.addEventListener("input", () => {
      const t = Number(this.scrub.value);
      if (playback.playing) playback.pause();
      playback.seek(t);
    });
    this.speed.addEventListener("change", () => {
      if (this.speed.value === SLOW) slowMotion();
      else playback.setSpeed(Number(this.speed.value));
      this.offerSpeeds(playback.speed);
    });
    root.append(
      create("div", { class: "scrub" }, this.ticks, this.scrub),
      create(
        "div",
        { class: "tools" },
        end("Go to start", "start", () => playback.seek(playback.first)),
        pressed("Step back", "back", () => playback.step(-1)),
        this.playing,
        pressed("Step forward", "forward", () => playback.step(1)),
        end("Go to end", "end", () => playback.seek(playback.last)),
        create("span", { class: "readout" }, this.now, this.whole),
        create("span", { class: "grow" }),
        create("label", { class: "speed" }, create("span", { text: "Speed" }), this.speed),
        this.loop,
      ),
    );
    this.scrub.min = this.scrub.max = "0";
    this.update();
    playback.onChange(() => this.update());
  }

  show(record: MotionRecord): void {
    const { first, last } = this.playback;
    this.formatTime = timeFormatter(first, last);
    setAttribute(this.scrub, "min", String(first));
    setAttribute(this.scrub, "max", String(last));
    const natural = naturalSpeed(last - first);
    if (natural !== this.natural) this.speedShown = Number.NaN;
    this.natural = natural;
    setText(this.whole, ` / ${this.formatTime(last)}`);
    // As wide as its longest text, so that the bar does not wrap, and the views do not shrink, while it plays.
    this.now.style.minWidth = `${Math.max(this.formatTime(first).length, this.formatTime(last).length)}ch`;
    if (this.ticks.childElementCount + record.events.length > 0)
      this.ticks.replaceChildren(...record.events.slice(0, MAX_TICKS).map(({ name, time }) => this.tick(name, time)));
    this.update();
  }

  private tick(name: string, time: number): HTMLElement {
    const { first, last } = this.playback;
    const mark = create("span", { title: `${name}, ${this.formatTime(time)}` });
    mark.style.setProperty("--at", String(last > first ? (time - first) / (last - first) : 0));
    return mark;
  }

  private update(): void {
    const { t, first, last, playing, speed } = this.playback;
    const words = this.formatTime(t);
    this.scrub.value = String(t);
    setAttribute(this.scrub, "aria-valuetext", words);
    this.scrub.style.setProperty("--share", String(last > first ? (t - first) / (last - first) : 0));
    setText(this.now, words);
    if (playing !== this.wasPlaying) this.name(playing);
    if (speed !== this.speedShown) this.offerSpeeds(speed);
  }

  private name(playing: boolean): void {
    const words = playing ? "Pause" : "Play";
    this.wasPlaying = playing;
    this.playing.setAttribute("aria-label", words);
    this.playing.title = `${words} (space)`;
    this.playing.replaceChildren(icon(playing ? "pause" : "play"));
  }

  private offerSpeeds(speed: number): void {
    this.speedShown = speed;
    const offered = speedsAround(this.natural, speed);
    this.speed.replaceChildren(
      ...offered.map(({ value, words }) => create("option", { text: words, attributes: { value: String(value) } })),
      create("option", { text: "Slow motion", attributes: { value: SLOW } }),
    );
    this.speed.value = String(offered.find(({ value }) => isSame(value, speed))?.value ?? "");
  }
}
