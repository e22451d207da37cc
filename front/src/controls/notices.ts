// Notices that pop up over the views; a newer one replaces the older one with the same key.

import { button, create } from "./dom.ts";
import { icon } from "./icons.ts";

export interface Notice {
  sentence: string;
  /** Whether it reports an error. */
  isError?: boolean;
  /** A button that does something about it. */
  action?: { words: string; onClick: () => void };
  /** How long it is shown, in ms; by default until it is closed. */
  duration?: number;
  /** Text to be copied manually. */
  text?: string;
}

export class Notices {
  private readonly shown = new Map<string, { element: HTMLElement; sentence: string }>();
  /** Notices that the user has closed are not repeated. */
  private readonly closed = new Map<string, string>();

  constructor(private readonly root: HTMLElement) {}

  show(key: string, notice: Notice): void {
    if (this.shown.get(key)?.sentence === notice.sentence || this.closed.get(key) === notice.sentence) return;
    this.remove(key);
    const element = create("div", {
      class: notice.isError ? "notice error" : "notice",
      attributes: { role: notice.isError ? "alert" : "status" },
    });
    element.append(create("p", { text: notice.sentence }));
    if (notice.text !== undefined) element.append(selectable(notice.text));
    const { action } = notice;
    if (action) element.append(button(action.words, { class: "small" }, action.onClick));
    element.append(
      button("Close this notice", { class: "bare" }, () => {
        this.remove(key);
        if (!notice.isError) this.closed.set(key, notice.sentence);
      }, icon("close")),
    );
    this.root.append(element);
    this.shown.set(key, { element, sentence: notice.sentence });
    if (notice.duration !== undefined)
      setTimeout(() => {
        if (this.shown.get(key)?.element === element) this.remove(key);
      }, notice.duration);
  }

  remove(key: string): void {
    this.shown.get(key)?.element.remove();
    this.shown.delete(key);
  }
}

function selectable(text: string): HTMLInputElement {
  const field = create("input", { attributes: { type: "text", readonly: "", "aria-label": "Link" } });
  field.value = text;
  setTimeout(() => field.select(), 0);
  return field;
}
