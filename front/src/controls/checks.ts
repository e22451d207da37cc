// The model's numbers: as found in the motion, and as a formula expects them.

import type { Shown } from "../transport/protocol.ts";
import { made } from "./dom.ts";
import { digitsFor, formula, significant, short, withUnit } from "./format.ts";
import { icon } from "./icons.ts";

export class Numbers {
  readonly element: HTMLElement;
  private readonly list = made("ul", { class: "rows" });
  private readonly summary = made("span", { class: "quiet" });

  constructor() {
    this.element = made(
      "section",
      { class: "card numbers", is: { role: "region", "aria-label": "Numbers", "aria-live": "polite" } },
      made("div", { class: "head" }, made("h2", { text: "Numbers" }), this.summary),
      this.list,
    );
  }

  /** While a new motion is computed the old numbers stay, but are marked. */
  wait(yes: boolean): void {
    this.element.classList.toggle("stale", yes);
    this.element.setAttribute("aria-busy", String(yes));
    if (this.list.childElementCount === 0) this.summary.textContent = yes ? "being computed" : "";
  }

  show(numbers: Shown[], id: number): void {
    this.wait(false);
    this.element.dataset["run"] = String(id);
    this.list.replaceChildren(...numbers.map(rowOf));
    const good = numbers.filter((number) => number.holds).length;
    this.summary.textContent =
      numbers.length === 0 ? "" : good === numbers.length ? "all agree" : `${good} of ${numbers.length} agree`;
  }

  clear(): void {
    this.wait(false);
    delete this.element.dataset["run"];
    this.list.replaceChildren();
    this.summary.textContent = "";
  }
}

function rowOf(number: Shown): HTMLElement {
  const { unit, holds } = number;
  const digits = digitsFor(number.expected, number.tolerance);
  const off = number.difference === null ? "no number" : withUnit(short(Math.abs(number.difference), 2), unit);
  const allowed = `${withUnit(short(number.tolerance, 2), unit)} is allowed`;
  const [kind, sign, word] = holds ? ["good", "tick", "agrees"] : ["bad", "cross", "differs"];
  const verdict = made("span", { class: `verdict ${kind}` }, icon(sign), word);
  return made(
    "li",
    { title: allowed },
    made(
      "div",
      { class: "line" },
      made("span", { text: number.label }),
      made("span", { class: "found", text: withUnit(significant(number.found, digits), unit) }),
    ),
    made(
      "div",
      { class: "line" },
      verdict,
      made("span", { class: "expected", text: `expected ${withUnit(significant(number.expected, digits), unit)}` }),
    ),
    made("p", { class: "source", text: [`off by ${off}`, formula(number.source)].filter(Boolean).join(" · ") }),
  );
}
