// Numbers of the model checked against their reference values.

import type { ReferenceCheck } from "../transport/protocol.ts";
import { create } from "./dom.ts";
import { digitsFor, formula, significant, short, withUnit } from "./format.ts";
import { icon } from "./icons.ts";

export class ReferenceChecks {
  readonly element: HTMLElement;
  private readonly list = create("ul", { class: "rows" });
  private readonly summary = create("span", { class: "quiet" });

  constructor() {
    this.element = create(
      "section",
      { class: "card checks", attributes: { role: "region", "aria-label": "Checks", "aria-live": "polite" } },
      create("div", { class: "head" }, create("h2", { text: "Checks" }), this.summary),
      this.list,
    );
  }

  /** While a new motion is being computed, the old checks are marked as stale. */
  setStale(yes: boolean): void {
    this.element.classList.toggle("stale", yes);
    this.element.setAttribute("aria-busy", String(yes));
    if (this.list.childElementCount === 0) this.summary.textContent = yes ? "computing" : "";
  }

  show(checks: ReferenceCheck[], id: number): void {
    this.setStale(false);
    this.element.dataset["run"] = String(id);
    this.list.replaceChildren(...checks.map(rowOf));
    this.element.hidden = checks.length === 0;
    const good = checks.filter((check) => check.holds).length;
    this.summary.textContent =
      checks.length === 0 ? "" : good === checks.length ? "all agree" : `${good} of ${checks.length} agree`;
  }

  clear(): void {
    this.setStale(false);
    delete this.element.dataset["run"];
    this.list.replaceChildren();
    this.element.hidden = false;
    this.summary.textContent = "";
  }
}

function rowOf(check: ReferenceCheck): HTMLElement {
  const { unit, holds } = check;
  const digits = digitsFor(check.expected, check.tolerance);
  const off = check.difference === null ? "NaN" : withUnit(short(Math.abs(check.difference), 2), unit);
  const tolerance = `${withUnit(short(check.tolerance, 2), unit)} tolerance`;
  const [kind, sign, word] = holds ? ["good", "tick", "agrees"] : ["bad", "cross", "differs"];
  const verdict = create("span", { class: `verdict ${kind}` }, icon(sign), word);
  return create(
    "li",
    { title: tolerance },
    create(
      "div",
      { class: "line" },
      create("span", { text: check.label }),
      create("span", { class: "found", text: withUnit(significant(check.found, digits), unit) }),
    ),
    create(
      "div",
      { class: "line" },
      verdict,
      create("span", { class: "expected", text: `expected ${withUnit(significant(check.expected, digits), unit)}` }),
    ),
    create("p", { class: "source", text: [`off by ${off}`, formula(check.source)].filter(Boolean).join(" · ") }),
  );
}
