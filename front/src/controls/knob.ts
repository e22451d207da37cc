// One parameter of a model: a slider, a number to type, its unit, what it is, and what is wrong with it.

import type { Parameter } from "../transport/protocol.ts";
import { freshId, made, say } from "./dom.ts";
import { short, spaced, unitText, withUnit } from "./format.ts";
import { Scale } from "./scale.ts";

/** By how many round values a key moves a slider; Home and End are the browser's. */
const KEYS: Record<string, number> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
};

export class Knob {
  readonly element: HTMLElement;
  private readonly scale: Scale;
  private readonly slider: HTMLInputElement;
  private readonly field: HTMLInputElement;
  private readonly wrong: HTMLElement;

  constructor(
    readonly parameter: Parameter,
    private readonly released: () => void,
  ) {
    const { low, high, unit, help } = parameter;
    const name = spaced(parameter.name);
    const [wrongId, helpId] = [freshId("wrong"), freshId("help")];
    this.scale = new Scale(low, high);
    const described = { "aria-label": name, "aria-describedby": `${helpId} ${wrongId}`, autocomplete: "off" };
    this.slider = made("input", { is: { type: "range", step: "any", ...described } });
    this.slider.min = String(this.scale.min);
    this.slider.max = String(this.scale.max);
    this.field = made("input", { is: { type: "number", inputmode: "decimal", ...described } });
    this.field.step = String(this.scale.step ?? "any");
    this.wrong = made("p", { class: "wrong", id: wrongId, is: { role: "alert" } });
    this.slider.addEventListener("input", () => this.follow());
    this.slider.addEventListener("change", () => {
      this.follow();
      this.released();
    });
    this.slider.addEventListener("keydown", (event) => this.pressed(event));
    this.field.addEventListener("change", () => this.typed());
    const range = `${short(low)} to ${withUnit(short(high), unit)}`;
    this.element = made(
      "div",
      { class: "knob", title: `${help}: ${range}` },
      made(
        "p",
        { class: "words" },
        made("span", { class: "name", text: name, is: { "aria-hidden": "true" } }),
        made("span", { class: "help", id: helpId, text: help }),
      ),
      this.slider,
      made("span", { class: "value" }, this.field, made("span", { class: "unit", text: unitText(unit) })),
      this.wrong,
    );
    this.set(parameter.default);
  }

  /** What stands in the field; null if that is no number. */
  get value(): number | null {
    const text = this.field.value;
    return text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);
  }

  set(value: number): void {
    this.field.value = String(value);
    this.place(value);
    this.complain("");
  }

  complain(sentence: string): void {
    say(this.wrong, sentence);
    for (const input of [this.field, this.slider]) {
      if (sentence === "") input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
    }
  }

  private follow(): void {
    const value = this.scale.valueAt(Number(this.slider.value));
    this.field.value = String(value);
    this.tell(value);
  }

  /** A slider with step "any" would move by a hundredth of its range, to values that nobody chooses. */
  private pressed(event: KeyboardEvent): void {
    const steps = KEYS[event.key];
    if (steps === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    // The exact value, unless the field has none or one beyond the slider's ends.
    const { low, high } = this.parameter;
    let value = this.value ?? Number.NaN;
    if (!(value >= low && value <= high)) value = this.scale.valueAt(Number(this.slider.value));
    for (let k = 0; k < Math.abs(steps); k++) value = this.scale.next(value, steps > 0 ? 1 : -1, this.parameter.default);
    if (value === this.value) return;
    this.field.value = String(value);
    this.place(value);
    this.released();
  }

  private typed(): void {
    const { value } = this;
    if (value === null) {
      this.complain(`${this.parameter.name} must be a number; the last motion stays.`);
      return;
    }
    this.place(value);
    this.released();
  }

  private place(value: number): void {
    if (!this.scale.isLogarithmic || value > 0) this.slider.value = String(this.scale.placeOf(value));
    this.tell(value);
  }

  private tell(value: number): void {
    this.slider.setAttribute("aria-valuetext", withUnit(short(value, 6), this.parameter.unit));
    const share = (Number(this.slider.value) - this.scale.min) / (this.scale.max - this.scale.min);
    this.slider.style.setProperty("--share", String(share));
  }
}
