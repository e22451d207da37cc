// Selection of the scenario that is shown, and of the body or member that is watched.

import type { MotionRecord } from "../motion/record.ts";
import type { Choices } from "../options.ts";
import { memberName } from "../view/color-scale.ts";
import { create } from "./dom.ts";
import { capitalize } from "./format.ts";

const MAX_LISTED = 24;

export class Selection {
  readonly element = create("div", { class: "selection" });
  private update: () => void = () => undefined;

  constructor(
    private readonly choices: Choices,
    private readonly selectRun: (run: string) => void,
  ) {
    // A body may also be chosen by a click in the views.
    choices.onChange(({ watched }) => {
      if (watched !== undefined) this.update();
    });
  }

  show(record: MotionRecord, isLive: boolean): void {
    this.element.replaceChildren();
    this.update = () => undefined;
    if (record.runs.length > 1 && isLive) this.element.append(this.runs(record));
    if (record.bodies > 1) this.element.append(record.bodies <= MAX_LISTED || record.colors ? this.list(record) : this.number(record));
    this.element.hidden = this.element.childElementCount === 0;
  }

  private runs(record: MotionRecord): HTMLElement {
    const select = create("select", {}, ...record.runs.map((run) => option(run, wordsOf(run))));
    select.value = record.run;
    select.addEventListener("change", () => this.selectRun(select.value));
    return create("label", {}, "Run", select);
  }

  private list(record: MotionRecord): HTMLElement {
    const axis = capitalize(record.axis ?? "body");
    const places = Array.from({ length: record.bodies }, (_, k) => option(String(k), record.colors ? capitalize(memberName(record, k)) : `${axis} ${record.members[k] ?? k}`));
    const select = create("select", {}, ...places);
    this.update = () => (select.value = String(this.choices.now.watched));
    this.update();
    select.addEventListener("change", () => this.choices.set({ watched: Number(select.value) }));
    return create("label", {}, "Watch", select);
  }

  private number(record: MotionRecord): HTMLElement {
    const field = create("input", { attributes: { type: "number", step: "1", min: String(record.members[0]) } });
    field.max = String(record.members[record.members.length - 1]);
    const wrong = create("span", { class: "wrong", attributes: { role: "alert" } });
    this.update = () => {
      field.value = String(record.members[this.choices.now.watched]);
      field.removeAttribute("aria-invalid");
      wrong.textContent = "";
    };
    this.update();
    field.addEventListener("change", () => {
      const at = record.members.indexOf(Number(field.value));
      field.setAttribute("aria-invalid", String(at < 0));
      wrong.textContent = at < 0 ? `${capitalize(record.axis ?? "member")} ${field.value} is not shown.` : "";
      if (at >= 0) this.choices.set({ watched: at });
    });
    return create("label", {}, `Watch ${record.axis ?? "member"}`, field, wrong);
  }
}

/** Words are capitalized, "t-handle" too; symbols such as h or h/2 are not. */
const wordsOf = (run: string): string => (/^[a-z]-?[a-z]/.test(run) ? capitalize(run) : run);

const option = (value: string, words: string): HTMLOptionElement => create("option", { text: words, attributes: { value } });
