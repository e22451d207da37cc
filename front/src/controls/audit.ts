// How the motion was computed, and the drift of conserved quantities.

import type { AuditFinding, MotionRecord } from "../motion/record.ts";
import { create } from "./dom.ts";
import { capitalize, sentences, short, timeFormatter, withSpaces, withUnit } from "./format.ts";

export class Audit {
  readonly element: HTMLElement;
  private readonly body = create("div");

  constructor() {
    const head = create("div", { class: "head" }, create("h2", { text: "Audit" }));
    this.element = create("section", { class: "card audit", attributes: { "aria-label": "Audit" } }, head, this.body);
  }

  show(record: MotionRecord): void {
    const formatTime = timeFormatter(record.time[0], record.time[record.times - 1]);
    const list = create("ul", { class: "rows" }, ...record.findings.map((one) => rowOf(one, formatTime)));
    this.body.replaceChildren(create("p", { text: sentences(record.computed) }), list);
  }
}

function rowOf(finding: AuditFinding, formatTime: (t: number) => string): HTMLElement {
  const name = create("span", { text: capitalize(finding.quantity) });
  if (!finding.conserved) {
    const why = finding.reason === "" ? "not conserved" : `not conserved: ${withSpaces(finding.reason)}`;
    return create("li", {}, name, create("p", { class: "source", text: why }));
  }
  const { drift, relative, unit, time, reason } = finding;
  const result = drift === 0 ? "exactly conserved" : `drift ${withUnit(short(drift, 2), unit)}`;
  const details = [drift === 0 ? "" : `${short(relative, 2)} relative, at ${formatTime(time)}`, withSpaces(reason)];
  return create(
    "li",
    {},
    create("div", { class: "line" }, name, create("span", { class: "found", text: result })),
    create("p", { class: "source", text: details.filter(Boolean).join(" · ") }),
  );
}
