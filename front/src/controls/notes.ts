// What the page should say about what it shows: what stands for something else, was left out, or happened when.

import type { Playback } from "../motion/playback.ts";
import type { MotionRecord } from "../motion/record.ts";
import { button, made } from "./dom.ts";
import { clock, sentence } from "./format.ts";

const MOST_EVENTS = 200;

export class Notes {
  readonly element: HTMLElement;
  private readonly list = made("ul", { class: "notes" });
  private readonly events = made("div", { class: "events" });

  constructor(private readonly playback: Playback) {
    const head = made("div", { class: "head" }, made("h2", { text: "Notes" }));
    this.element = made("section", { class: "card remarks", is: { "aria-label": "Notes" } }, head, this.list, this.events);
  }

  /** `remarks`: what the page itself has to add. */
  show(record: MotionRecord, watched: number, remarks: string[]): void {
    const look = record.looks[record.lookOf[watched]]?.sentence ?? "";
    const sentences = [look, ...remarks, ...record.notes].filter((text) => text !== "");
    this.list.replaceChildren(...Array.from(new Set(sentences), (text) => made("li", { text: sentence(text) })));
    this.showEvents(record);
  }

  private showEvents(record: MotionRecord): void {
    const said = clock(record.time[0], record.time[record.times - 1]);
    const rows = record.crossings.slice(0, MOST_EVENTS).map(({ name, time }) =>
      button(`${name}, ${said(time)}`, { class: "chip" }, () => {
        this.playback.pause();
        this.playback.seek(time);
      }),
    );
    const left = record.crossings.length - rows.length;
    this.events.replaceChildren();
    if (rows.length === 0) return;
    this.events.append(made("h3", { text: "Events" }), made("div", { class: "chips" }, ...rows));
    const more = `and ${left} more, which are marked on the time bar`;
    if (left > 0) this.events.append(made("p", { class: "quiet", text: more }));
  }
}
