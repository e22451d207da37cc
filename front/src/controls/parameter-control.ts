// One parameter of a model: slider, number field, unit, description and error message.

import type { Parameter } from "../transport/protocol.ts";
import { uniqueId, button, create, setText } from "./dom.ts";
import { short, withSpaces, unitText, withUnit } from "./format.ts";
import { Scale } from "./scale.ts";

/** Number of round values by which a key moves the slider; the browser handles Home and End. */
const KEYS: Record<string, number> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
};

/** A knob that is swept from low to high, with so many members. */
export interface SweepRange {
  knob: string;
  low: number;
  high: number;
  members: number;
}

export class ParameterControl {
  readonly element: HTMLElement;
  private readonly scale: Scale;
  private readonly slider: HTMLInputElement;
  private readonly field: HTMLInputElement;
  private readonly error: HTMLElement;

  constructor(
    readonly parameter: Parameter,
    private readonly onChange: () => void,
    private readonly onDrag: () => void,
    onSweep: ((range: SweepRange) => void) | null = null,
  ) {
    const { low, high, unit, help } = parameter;
    const name = parameter.label || withSpaces(parameter.name);
    const [errorId, helpId] = [uniqueId("error"), uniqueId("help")];
    this.scale = new Scale(low, high);
    const described = { "aria-label": name, "aria-describedby": `${helpId} ${errorId}`, autocomplete: "off" };
    this.slider = create("input", { attributes: { type: "range", step: "any", ...described } });
    this.slider.min = String(this.scale.min);
    this.slider.max = String(this.scale.max);
    this.field = create("input", { attributes: { type: "number", inputmode: "decimal", ...described } });
    this.field.step = String(this.scale.step ?? "any");
    this.error = create("p", { class: "wrong", id: errorId, attributes: { role: "alert" } });
    this.slider.addEventListener("input", () => {
      this.onSlide();
      this.onDrag();
    });
    this.slider.addEventListener("change", () => {
      this.onSlide();
      this.onChange();
    });
    this.slider.addEventListener("keydown", (event) => this.onKey(event));
    this.field.addEventListener("change", () => this.onTyped());
    const range = `${short(low)} to ${withUnit(short(high), unit)}`;
    const sweep = onSweep && sweepControls(parameter, onSweep);
    this.element = create(
      "div",
      { class: "parameter", title: `${help}: ${range}` },
      create(
        "p",
        { class: "words" },
        sweep?.opener ?? null,
        create("span", { class: "name", text: name, attributes: { "aria-hidden": "true" } }),
        create("span", { class: "help", id: helpId, text: help }),
      ),
      this.slider,
      create("span", { class: "value" }, this.field, create("span", { class: "unit", text: unitText(unit) })),
      sweep?.row ?? null,
      this.error,
    );
    this.set(parameter.default);
  }

  /** The value in the field; null if it is not a number. */
  get value(): number | null {
    const text = this.field.value;
    return text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);
  }

  set(value: number): void {
    this.field.value = String(value);
    this.moveSlider(value);
    this.showError("");
  }

  showError(sentence: string): void {
    setText(this.error, sentence);
    for (const input of [this.field, this.slider]) {
      if (sentence === "") input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
    }
  }

  private onSlide(): void {
    const value = this.scale.valueAt(Number(this.slider.value));
    this.field.value = String(value);
    this.updateSlider(value);
  }

  /** Move to round values: a slider with step "any" would move by a hundredth of its range. */
  private onKey(event: KeyboardEvent): void {
    const steps = KEYS[event.key];
    if (steps === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    // The exact value, unless the field has none or one outside the slider's range.
    const { low, high } = this.parameter;
    let value = this.value ?? Number.NaN;
    if (!(value >= low && value <= high)) value = this.scale.valueAt(Number(this.slider.value));
    for (let k = 0; k < Math.abs(steps); k++) value = this.scale.next(value, steps > 0 ? 1 : -1, this.parameter.default);
    if (value === this.value) return;
    this.field.value = String(value);
    this.moveSlider(value);
    this.onChange();
  }

  private onTyped(): void {
    const { value } = this;
    if (value === null) {
      this.showError(`${this.parameter.name} must be a number; the motion is unchanged.`);
      return;
    }
    this.moveSlider(value);
    this.onChange();
  }

  private moveSlider(value: number): void {
    if (!this.scale.isLogarithmic || value > 0) this.slider.value = String(this.scale.positionOf(value));
    this.updateSlider(value);
  }

  private updateSlider(value: number): void {
    this.slider.setAttribute("aria-valuetext", withUnit(short(value, 6), this.parameter.unit));
    const share = (Number(this.slider.value) - this.scale.min) / (this.scale.max - this.scale.min);
    this.slider.style.setProperty("--share", String(share));
  }
}

/** Members of a sweep: src/polhode/lab/knob_sweep.py. */
const MEMBERS = { low: 5, high: 41, default: 15 };

/** A button that opens a row with the range and the number of members. */
function sweepControls({ name, low, high, unit }: Parameter, onSweep: (range: SweepRange) => void) {
  const words = withSpaces(name);
  const field = (label: string, value: number): HTMLInputElement => {
    const input = create("input", { attributes: { type: "number", step: "any", "aria-label": `${label} of the sweep of ${words}` } });
    input.value = String(value);
    return input;
  };
  const [from, to, count] = [field("Start", low), field("End", high), field("Members", MEMBERS.default)];
  Object.assign(count, { min: String(MEMBERS.low), max: String(MEMBERS.high), step: "1" });
  const run = button("Run", { class: "small", title: `Run ${words} at these values, side by side` }, () =>
    onSweep({ knob: name, low: Number(from.value), high: Number(to.value), members: Number(count.value) }),
  );
  const row = create("div", { class: "sweep", hidden: true }, from, "to", to, `${unitText(unit)} in`.trim(), count, "runs", run);
  const opener = button("Sweep", { class: "bare opens-sweep", title: `Run ${words} over a range, colored by its value` }, () => {
    row.hidden = !row.hidden;
    opener.setAttribute("aria-expanded", String(!row.hidden));
  });
  opener.setAttribute("aria-label", `Sweep ${words}`);
  opener.setAttribute("aria-expanded", "false");
  return { opener, row };
}
