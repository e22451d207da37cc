// How the motion was computed, and what should have stayed and did.

import type { Finding, MotionRecord } from "../motion/record.ts";
import { made } from "./dom.ts";
import { capital, clock, sentences, short, spaced, withUnit } from "./format.ts";

export class Audit {
  readonly element: HTMLElement;
  private readonly inside = made("div");

  constructor() {
    const head = made("div", { class: "head" }, made("h2", { text: "Audit" }));
    this.element = made("section", { class: "card audit", is: { "aria-label": "Audit" } }, head, this.inside);
  }

  show(record: MotionRecord): void {
    const said = clock(record.time[0], record.time[record.times - 1]);
    const list = made("ul", { class: "rows" }, ...record.findings.map((one) => rowOf(one, said)));
    this.inside.replaceChildren(made("p", { text: sentences(record.computed) }), list);
  }
}

function rowOf(finding: Finding, said: (t: number) => string): HTMLElement {
  const name = made("span", { text: capital(finding.quantity) });
  if (!finding.conserved) {
    const why = finding.reason === "" ? "not conserved here" : `not conserved: ${spaced(finding.reason)}`;
    return made("li", {}, name, made("p", { class: "source", text: why }));
  }
  const { departure, relative, unit, time, reason } = finding;
  const kept = departure === 0 ? "exactly kept" : `kept to ${withUnit(short(departure, 2), unit)}`;
  const details = [departure === 0 ? "" : `${short(relative, 2)} of its size, at ${said(time)}`, spaced(reason)];
  return made(
    "li",
    {},
    made("div", { class: "line" }, name, made("span", { class: "found", text: kept })),
    made("p", { class: "source", text: details.filter(Boolean).join(" · ") }),
  );
}
