// The parameters of a model, with a reset button and a link.

import type { Model } from "../transport/protocol.ts";
import type { Values } from "./address.ts";
import { button, create } from "./dom.ts";
import { short, withSpaces, withUnit } from "./format.ts";
import { ParameterControl, type SweepRange } from "./parameter-control.ts";

/** What else a page can do with its parameters. */
export interface PanelActions {
  /** Keep the motion that is shown, to compare others with it; returns why that cannot be, or "". */
  pin(words: string): string;
  unpin(): void;
  /** Run one parameter over a range; null where there is no server. */
  sweep: ((range: SweepRange) => void) | null;
}

export class ParameterPanel {
  readonly element: HTMLElement;
  private readonly list = create("div", { class: "parameters" });
  private readonly reset: HTMLButtonElement;
  private readonly pin = button("Pin", { class: "small", title: "Keep this motion as a ghost, to compare others with it" }, () => this.togglePin());
  private readonly pinned = create("p", { class: "pinned quiet", attributes: { role: "status" } });
  private isPinned = false;
  private controls: ParameterControl[] = [];

  constructor(
    private readonly onDrag: (values: Values) => void,
    private readonly onSettle: (values: Values) => void,
    copyLink: () => void,
    private readonly actions: PanelActions | null = null,
  ) {
    this.reset = button("Reset", { class: "small", title: "Reset all parameters to their defaults" }, () => this.toDefaults());
    const link = button("Copy link", { class: "small", title: "Copy a link to the motion shown" }, copyLink);
    const name = create("h2", { text: "Parameters" });
    const head = create("div", { class: "head" }, name, create("span", { class: "grow" }), actions && this.pin, this.reset, link);
    this.element = create("section", { class: "card", attributes: { "aria-label": "Parameters" } }, head, this.pinned, this.list);
  }

  show(model: Model, values: Values): void {
    const [settle, drag] = [(): void => this.send(this.onSettle), (): void => this.send(this.onDrag)];
    this.controls = model.parameters.map((parameter) => new ParameterControl(parameter, settle, drag, this.actions?.sweep));
    for (const control of this.controls) if (control.parameter.name in values) control.set(values[control.parameter.name]);
    this.list.replaceChildren(...this.controls.map((control) => control.element));
    if (this.controls.length === 0) this.list.append(create("p", { class: "quiet", text: "This model has no parameters." }));
    this.reset.disabled = this.areDefault;
  }

  get values(): Values {
    const known = this.controls.filter((control) => control.value !== null);
    return Object.fromEntries(known.map((control) => [control.parameter.name, control.value as number]));
  }

  /** Value and range of a parameter; null if there is none of this name. */
  find(name: string): { value: number; low: number; high: number } | null {
    const control = this.controls.find((one) => one.parameter.name === name);
    if (control === undefined) return null;
    const { low, high, default: first } = control.parameter;
    return { value: control.value ?? first, low, high };
  }

  /** Move parameters, as their sliders do; `isFinal` when they are released. */
  setValues(values: Values, isFinal: boolean): void {
    for (const control of this.controls) if (control.parameter.name in values) control.set(values[control.parameter.name]);
    this.send(isFinal ? this.onSettle : this.onDrag);
  }

  /** Show the server's error at its parameter; returns whether there is such a parameter. */
  showError(parameter: string, sentence: string): boolean {
    const control = this.controls.find((one) => one.parameter.name === parameter);
    control?.showError(sentence);
    return control !== undefined;
  }

  private get areDefault(): boolean {
    return this.controls.every((control) => control.value === control.parameter.default);
  }

  /** Let the pinned motion go. */
  unpin(): void {
    if (!this.isPinned) return;
    this.isPinned = false;
    this.actions?.unpin();
    this.pin.textContent = "Pin";
    this.pinned.textContent = "";
  }

  private togglePin(): void {
    if (this.isPinned) return this.unpin();
    const { values } = this;
    const words = this.controls
      .filter(({ parameter }) => parameter.name in values)
      .map(({ parameter: { name, unit } }) => `${withSpaces(name)} ${withUnit(short(values[name], 6), unit)}`)
      .join(", ");
    const refusal = this.actions?.pin(words || "the same model") ?? "";
    this.isPinned = refusal === "";
    this.pin.textContent = this.isPinned ? "Unpin" : "Pin";
    this.pinned.textContent = this.isPinned ? `Pinned: ${words}` : refusal;
  }

  private toDefaults(): void {
    for (const control of this.controls) control.set(control.parameter.default);
    this.send(this.onSettle);
  }

  private send(to: (values: Values) => void): void {
    for (const control of this.controls) if (control.value !== null) control.showError("");
    this.reset.disabled = this.areDefault;
    to(this.values);
  }
}
