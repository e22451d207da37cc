// Which of a model's scenarios is shown, and which body or member of it is watched.

import type { MotionRecord } from "../motion/record.ts";
import type { Choices } from "../options.ts";
import { made } from "./dom.ts";
import { capital } from "./format.ts";

const LISTED = 24;

export class Watching {
  readonly element = made("div", { class: "watching" });
  private follow: () => void = () => undefined;

  constructor(
    private readonly choices: Choices,
    private readonly lookAt: (run: string) => void,
  ) {
    // A body may be chosen by a click in the views, too.
    choices.onChange(({ watched }) => {
      if (watched !== undefined) this.follow();
    });
  }

  show(record: MotionRecord, canAsk: boolean): void {
    this.element.replaceChildren();
    this.follow = () => undefined;
    if (record.runs.length > 1 && canAsk) this.element.append(this.runs(record));
    if (record.bodies > 1) this.element.append(record.bodies <= LISTED ? this.list(record) : this.number(record));
    this.element.hidden = this.element.childElementCount === 0;
  }

  private runs(record: MotionRecord): HTMLElement {
    const select = made("select", {}, ...record.runs.map((run) => option(run, wordsOf(run))));
    select.value = record.run;
    select.addEventListener("change", () => this.lookAt(select.value));
    return made("label", {}, "Run", select);
  }

  private list(record: MotionRecord): HTMLElement {
    const axis = capital(record.axis ?? "body");
    const places = Array.from({ length: record.bodies }, (_, k) => option(String(k), `${axis} ${record.members[k] ?? k}`));
    const select = made("select", {}, ...places);
    this.follow = () => (select.value = String(this.choices.now.watched));
    this.follow();
    select.addEventListener("change", () => this.choices.set({ watched: Number(select.value) }));
    return made("label", {}, "Watch", select);
  }

  private number(record: MotionRecord): HTMLElement {
    const field = made("input", { is: { type: "number", step: "1", min: String(record.members[0]) } });
    field.max = String(record.members[record.members.length - 1]);
    const wrong = made("span", { class: "wrong", is: { role: "alert" } });
    this.follow = () => {
      field.value = String(record.members[this.choices.now.watched]);
      field.removeAttribute("aria-invalid");
      wrong.textContent = "";
    };
    this.follow();
    field.addEventListener("change", () => {
      const at = record.members.indexOf(Number(field.value));
      field.setAttribute("aria-invalid", String(at < 0));
      wrong.textContent = at < 0 ? `${capital(record.axis ?? "member")} ${field.value} is not among those shown.` : "";
      if (at >= 0) this.choices.set({ watched: at });
    });
    return made("label", {}, `Watch ${record.axis ?? "member"}`, field, wrong);
  }
}

/** A word begins with a capital, "t-handle" too; a symbol, such as h or h/2, stays as it is. */
const wordsOf = (run: string): string => (/^[a-z]-?[a-z]/.test(run) ? capital(run) : run);

const option = (value: string, words: string): HTMLOptionElement => made("option", { text: words, is: { value } });
