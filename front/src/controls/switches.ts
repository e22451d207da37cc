// Display options, one switch each; an unavailable one says why.

import type { MotionRecord } from "../motion/record.ts";
import type { Choices, Options, Switch } from "../options.ts";
import { length, type Vec3 } from "../motion/vectors.ts";
import { uniqueId, create, setText } from "./dom.ts";
import { unavailableReasons } from "./availability.ts";

const GROUPS: [string, [Switch, string, string][]][] = [
  [
    "Arrows",
    [
      ["omega", "Angular velocity ω", "omega"],
      ["L", "Angular momentum L", "L"],
      ["torque", "Torque", "torque"],
      ["forces", "Forces", "force"],
      ["impacts", "Impacts: points of contact, impulses", "impact"],
      ["bodyAxes", "Body axes", "axis1"],
    ],
  ],
  [
    "Constructions",
    [
      ["poinsot", "Poinsot's ellipsoid and plane", "omega"],
      ["closedForm", "Closed-form solution", "closedForm"],
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
      ["trailCenter", "Center of mass", "path"],
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
    create("input", { attributes: { type: "number", step: "any", "aria-label": `Body point ${axis}, in m` } }),
  );
  /** Whether the user has set the point; until then it is the farthest point of the body. */
  private isPointSet = false;

  constructor(
    root: HTMLElement,
    private readonly choices: Choices,
    theme: HTMLElement,
  ) {
    for (const [name, entries] of GROUPS) {
      const group = create("fieldset", {}, create("legend", { text: name }));
      for (const [key, words, color] of entries) group.append(this.row(key, words, color));
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
    const why = unavailableReasons(record, watched);
    const appearance = record.appearances[record.appearanceIndex[watched]];
    if (!this.isPointSet && appearance !== undefined) {
      this.choices.set({ point: record.stage.point ?? farthest(appearance.vertices) });
      this.point.forEach((field, k) => (field.value = String(this.choices.now.point[k])));
    }
    for (const row of this.rows) {
      const reason = why[row.key] ?? "";
      row.box.disabled = reason !== "";
      row.box.title = reason;
      setText(row.why, reason);
    }
  }

  private row(key: Switch, words: string, color: string): HTMLElement {
    const id = uniqueId("why");
    const box = create("input", { attributes: { type: "checkbox", role: "switch", "aria-describedby": id } });
    const why = create("span", { class: "why", id });
    box.checked = this.choices.now[key];
    box.addEventListener("change", () => this.choices.set({ [key]: box.checked } as Partial<Options>));
    const swatch = create("span", { class: "swatch" });
    swatch.style.setProperty("--swatch", `var(--${color})`);
    this.rows.push({ key, box, why });
    return create("div", { class: "switch" }, create("label", {}, box, swatch, words), why);
  }

  private pointFields(): HTMLElement {
    const fields = this.point;
    const apply = (): void => {
      const point = fields.map((field) => Number(field.value));
      const good = fields.map((field) => field.value.trim() !== "" && Number.isFinite(Number(field.value)));
      fields.forEach((field, k) => field.setAttribute("aria-invalid", String(!good[k])));
      this.isPointSet = true;
      if (good.every(Boolean)) this.choices.set({ point: point as Vec3, trailPoint: true });
    };
    for (const field of fields) field.addEventListener("change", apply);
    return create("div", { class: "point" }, "at", ...fields, "m");
  }
}

/** The vertex farthest from the center of mass, rounded to three digits. */
function farthest(vertices: Float64Array): Vec3 {
  let [best, most] = [[0, 0, 0] as Vec3, 0];
  for (let v = 0; v < vertices.length; v += 3) {
    const x: Vec3 = [vertices[v], vertices[v + 1], vertices[v + 2]];
    const far = length(x);
    // Farther by more than rounding, so that the first of a box's corners is chosen.
    if (far > most * (1 + 1e-9)) [best, most] = [x, far];
  }
  return best.map((x) => (Math.abs(x) < 1e-3 * most ? 0 : Number(x.toPrecision(3)))) as Vec3;
}
