// Sentences that a person should see now: each has a key, so that a newer one takes the place of the older.

import { button, made } from "./dom.ts";
import { icon } from "./icons.ts";

export interface Notice {
  sentence: string;
  /** Something went wrong, rather than something to know. */
  isError?: boolean;
  /** One thing to do about it. */
  act?: { words: string; pressed: () => void };
  /** Shown for so many ms; until it is closed, if not given. */
  lasts?: number;
  /** A text to be copied by hand. */
  text?: string;
}

export class Notices {
  private readonly shown = new Map<string, { element: HTMLElement; sentence: string }>();
  /** What a person has closed is not said again in the same words. */
  private readonly closed = new Map<string, string>();

  constructor(private readonly root: HTMLElement) {}

  show(key: string, notice: Notice): void {
    if (this.shown.get(key)?.sentence === notice.sentence || this.closed.get(key) === notice.sentence) return;
    this.remove(key);
    const element = made("div", {
      class: notice.isError ? "notice error" : "notice",
      is: { role: notice.isError ? "alert" : "status" },
    });
    element.append(made("p", { text: notice.sentence }));
    if (notice.text !== undefined) element.append(selectable(notice.text));
    const { act } = notice;
    if (act) element.append(button(act.words, { class: "small" }, act.pressed));
    element.append(
      button("Close this notice", { class: "bare" }, () => {
        this.remove(key);
        if (!notice.isError) this.closed.set(key, notice.sentence);
      }, icon("close")),
    );
    this.root.append(element);
    this.shown.set(key, { element, sentence: notice.sentence });
    if (notice.lasts !== undefined)
      setTimeout(() => {
        if (this.shown.get(key)?.element === element) this.remove(key);
      }, notice.lasts);
  }

  remove(key: string): void {
    this.shown.get(key)?.element.remove();
    this.shown.delete(key);
  }
}

function selectable(text: string): HTMLInputElement {
  const field = made("input", { is: { type: "text", readonly: "", "aria-label": "Link" } });
  field.value = text;
  setTimeout(() => field.select(), 0);
  return field;
}
