// What is drawn: one switch each; where a thing means nothing for this motion, the switch says why.

import type { MotionRecord } from "../motion/record.ts";
import type { Choices, Options } from "../options.ts";
import { length, type Vec3 } from "../motion/vectors.ts";
import { freshId, made, say } from "./dom.ts";
import { reasons, type Switch } from "./availability.ts";

const GROUPS: [string, [Switch, string, string][]][] = [
  [
    "Arrows",
    [
      ["omega", "Angular velocity ω", "omega"],
      ["L", "Angular momentum L", "L"],
      ["torque", "Torque", "torque"],
      ["forces", "Forces", "force"],
      ["bodyAxes", "Body axes", "axis1"],
    ],
  ],
  [
    "Constructions",
    [
      ["poinsot", "Poinsot's ellipsoid and plane", "omega"],
      ["ghost", "Closed form as a ghost", "closedForm"],
      ["follow", "Camera follows the body", "muted"],
    ],
  ],
  [
    "Trails",
    [
      ["trailOmega", "Tip of ω", "omega"],
      ["trailL", "Tip of L", "L"],
      ["trailAxis1", "Body axis 1", "axis1"],
      ["trailAxis2", "Body axis 2", "axis2"],
      ["trailAxis3", "Body axis 3", "axis3"],
      ["trailCentre", "Centre of mass", "path"],
      ["trailPoint", "A point of the body", "ink"],
    ],
  ],
];

interface Row {
  key: Switch;
  box: HTMLInputElement;
  why: HTMLElement;
}

export class Switches {
  private readonly rows: Row[] = [];
  private readonly point = ["x", "y", "z"].map((axis) =>
    made("input", { is: { type: "number", step: "any", "aria-label": `Body point ${axis}, in m` } }),
  );
  /** A person's own point stays; till then it is the body's farthest, for the centre leaves no path. */
  private isOwnPoint = false;

  constructor(
    root: HTMLElement,
    private readonly choices: Choices,
    theme: HTMLElement,
  ) {
    for (const [name, entries] of GROUPS) {
      const group = made("fieldset", {}, made("legend", { text: name }));
      for (const [key, words, colour] of entries) group.append(this.row(key, words, colour));
      if (name === "Trails") group.append(this.pointFields());
      root.append(group);
    }
    root.append(theme);
    choices.onChange((changed) => {
      for (const { key, box } of this.rows) if (key in changed) box.checked = this.choices.now[key];
    });
  }

  show(record: MotionRecord): void {
    const { watched } = this.choices.now;
    const why = reasons(record, watched);
    const look = record.looks[record.lookOf[watched]];
    if (!this.isOwnPoint && look !== undefined) {
      this.choices.set({ point: farthest(look.vertices) });
      this.point.forEach((field, k) => (field.value = String(this.choices.now.point[k])));
    }
    for (const row of this.rows) {
      const reason = why[row.key] ?? "";
      row.box.disabled = reason !== "";
      row.box.title = reason;
      say(row.why, reason);
    }
  }

  private row(key: Switch, words: string, colour: string): HTMLElement {
    const id = freshId("why");
    const box = made("input", { is: { type: "checkbox", role: "switch", "aria-describedby": id } });
    const why = made("span", { class: "why", id });
    box.checked = this.choices.now[key];
    box.addEventListener("change", () => this.choices.set({ [key]: box.checked } as Partial<Options>));
    const swatch = made("span", { class: "swatch" });
    swatch.style.setProperty("--swatch", `var(--${colour})`);
    this.rows.push({ key, box, why });
    return made("div", { class: "switch" }, made("label", {}, box, swatch, words), why);
  }

  private pointFields(): HTMLElement {
    const fields = this.point;
    const taken = (): void => {
      const point = fields.map((field) => Number(field.value));
      const good = fields.map((field) => field.value.trim() !== "" && Number.isFinite(Number(field.value)));
      fields.forEach((field, k) => field.setAttribute("aria-invalid", String(!good[k])));
      this.isOwnPoint = true;
      if (good.every(Boolean)) this.choices.set({ point: point as Vec3, trailPoint: true });
    };
    for (const field of fields) field.addEventListener("change", taken);
    return made("div", { class: "point" }, "at", ...fields, "m");
  }
}

/** The vertex farthest from the centre of mass, to three digits. */
function farthest(vertices: Float64Array): Vec3 {
  let [best, most] = [[0, 0, 0] as Vec3, 0];
  for (let v = 0; v < vertices.length; v += 3) {
    const x: Vec3 = [vertices[v], vertices[v + 1], vertices[v + 2]];
    const far = length(x);
    // By more than rounding: of a box's corners, which are all as far, always the first.
    if (far > most * (1 + 1e-9)) [best, most] = [x, far];
  }
  return best.map((x) => (Math.abs(x) < 1e-3 * most ? 0 : Number(x.toPrecision(3)))) as Vec3;
}
