// Notes about what is shown: what is simplified or omitted, and when events happened.

import type { Playback } from "../motion/playback.ts";
import type { MotionRecord } from "../motion/record.ts";
import { button, create } from "./dom.ts";
import { timeFormatter, sentence } from "./format.ts";

const MOST_EVENTS = 200;

export class Notes {
  readonly element: HTMLElement;
  private readonly list = create("ul", { class: "notes" });
  private readonly events = create("div", { class: "events" });

  constructor(private readonly playback: Playback) {
    const head = create("div", { class: "head" }, create("h2", { text: "Notes" }));
    this.element = create("section", { class: "card remarks", attributes: { "aria-label": "Notes" } }, head, this.list, this.events);
  }

  /** `remarks` are added by the page itself. */
  show(record: MotionRecord, watched: number, remarks: string[]): void {
    const appearance = record.appearances[record.appearanceIndex[watched]]?.sentence ?? "";
    const sentences = [appearance, ...remarks, ...record.notes].filter((text) => text !== "");
    this.list.replaceChildren(...Array.from(new Set(sentences), (text) => create("li", { text: sentence(text) })));
    this.showEvents(record, watched);
  }

  private showEvents(record: MotionRecord, watched: number): void {
    const events = record.events.filter(({ body }) => record.axis !== "member" || body === watched);
    const formatTime = timeFormatter(record.time[0], record.time[record.times - 1]);
    const rows = events.slice(0, MOST_EVENTS).map(({ name, time }) =>
      button(`${name}, ${formatTime(time)}`, { class: "chip" }, () => {
        this.playback.pause();
        this.playback.seek(time);
      }),
    );
    const left = events.length - rows.length;
    this.events.replaceChildren();
    if (rows.length === 0) return;
    this.events.append(create("h3", { text: "Events" }), create("div", { class: "chips" }, ...rows));
    const more = `and ${left} more, marked on the time bar`;
    if (left > 0) this.events.append(create("p", { class: "quiet", text: more }));
  }
}
