// Play, pause, step, scrub, speed.

import { naturalSpeed, type Playback } from "../motion/playback.ts";
import type { MotionRecord } from "../motion/record.ts";
import { button, made, say } from "./dom.ts";
import { clock } from "./format.ts";
import { icon } from "./icons.ts";
import { isSame, speedsAround } from "./speeds.ts";

const SLOW = "slow";
const MOST_TICKS = 1000;

export class PlayBar {
  private readonly scrub = made("input", { is: { type: "range", step: "any", "aria-label": "Time", "data-time": "" } });
  private readonly ticks = made("div", { class: "ticks", is: { "aria-hidden": "true" } });
  private readonly now = made("span", { class: "now" });
  private readonly whole = made("span", { class: "quiet" });
  private readonly speed = made("select", { is: { "aria-label": "Speed" }, title: "Seconds of motion in a second" });
  private readonly playing: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private said = clock(0, 0);
  private wasPlaying: boolean | null = null;
  private speedShown = Number.NaN;
  private natural = 1;

  constructor(
    root: HTMLElement,
    private readonly playback: Playback,
    slowMotion: () => void,
    resetCamera: () => void,
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
      this.offer(playback.speed);
    });
    root.append(
      made("div", { class: "scrub" }, this.ticks, this.scrub),
      made(
        "div",
        { class: "tools" },
        end("To the start", "start", () => playback.seek(playback.first)),
        pressed("Step back", "back", () => playback.step(-1)),
        this.playing,
        pressed("Step forward", "forward", () => playback.step(1)),
        end("To the end", "end", () => playback.seek(playback.last)),
        made("span", { class: "readout" }, this.now, this.whole),
        made("span", { class: "grow" }),
        made("label", { class: "speed" }, made("span", { text: "Speed" }), this.speed),
        this.loop,
        pressed("Reset camera", "camera", resetCamera),
      ),
    );
    this.scrub.min = this.scrub.max = "0";
    this.follow();
    playback.onChange(() => this.follow());
  }

  show(record: MotionRecord): void {
    const { first, last } = this.playback;
    this.said = clock(first, last);
    this.scrub.min = String(first);
    this.scrub.max = String(last);
    this.natural = naturalSpeed(last - first);
    this.speedShown = Number.NaN;
    this.whole.textContent = ` / ${this.said(last)}`;
    this.ticks.replaceChildren(...record.crossings.slice(0, MOST_TICKS).map(({ name, time }) => this.tick(name, time)));
    this.follow();
  }

  private tick(name: string, time: number): HTMLElement {
    const { first, last } = this.playback;
    const mark = made("span", { title: `${name}, ${this.said(time)}` });
    mark.style.setProperty("--at", String(last > first ? (time - first) / (last - first) : 0));
    return mark;
  }

  private follow(): void {
    const { t, first, last, playing, speed } = this.playback;
    const words = this.said(t);
    this.scrub.value = String(t);
    this.scrub.setAttribute("aria-valuetext", words);
    this.scrub.style.setProperty("--share", String(last > first ? (t - first) / (last - first) : 0));
    say(this.now, words);
    if (playing !== this.wasPlaying) this.name(playing);
    if (speed !== this.speedShown) this.offer(speed);
  }

  private name(playing: boolean): void {
    const words = playing ? "Pause" : "Play";
    this.wasPlaying = playing;
    this.playing.setAttribute("aria-label", words);
    this.playing.title = `${words} (space)`;
    this.playing.replaceChildren(icon(playing ? "pause" : "play"));
  }

  private offer(speed: number): void {
    this.speedShown = speed;
    const offered = speedsAround(this.natural, speed);
    this.speed.replaceChildren(
      ...offered.map(({ value, words }) => made("option", { text: words, is: { value: String(value) } })),
      made("option", { text: "Slow motion", is: { value: SLOW } }),
    );
    this.speed.value = String(offered.find(({ value }) => isSame(value, speed))?.value ?? "");
  }
}
