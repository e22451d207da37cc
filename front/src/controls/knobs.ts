// The parameters of a model, with a reset button and a link.

import type { Model } from "../transport/protocol.ts";
import type { Values } from "./address.ts";
import { button, create } from "./dom.ts";
import { Knob } from "./knob.ts";

export class Knobs {
  readonly element: HTMLElement;
  private readonly list = create("div", { class: "knobs" });
  private readonly reset: HTMLButtonElement;
  private knobs: Knob[] = [];

  constructor(
    private readonly changed: (values: Values) => void,
    copyLink: () => void,
  ) {
    this.reset = button("Reset", { class: "small", title: "Reset all parameters to their defaults" }, () => this.toDefaults());
    const link = button("Copy link", { class: "small", title: "Copy a link to the motion shown" }, copyLink);
    const name = create("h2", { text: "Parameters" });
    const head = create("div", { class: "head" }, name, create("span", { class: "grow" }), this.reset, link);
    this.element = create("section", { class: "card", attributes: { "aria-label": "Parameters" } }, head, this.list);
  }

  show(model: Model, values: Values): void {
    this.knobs = model.parameters.map((parameter) => new Knob(parameter, () => this.send()));
    for (const knob of this.knobs) if (knob.parameter.name in values) knob.set(values[knob.parameter.name]);
    this.list.replaceChildren(...this.knobs.map((knob) => knob.element));
    if (this.knobs.length === 0) this.list.append(create("p", { class: "quiet", text: "This model has no parameters." }));
    this.reset.disabled = this.areDefault;
  }

  get values(): Values {
    const known = this.knobs.filter((knob) => knob.value !== null);
    return Object.fromEntries(known.map((knob) => [knob.parameter.name, knob.value as number]));
  }

  /** Show the server's error at its knob; returns whether there is such a knob. */
  showError(parameter: string, sentence: string): boolean {
    const knob = this.knobs.find((one) => one.parameter.name === parameter);
    knob?.showError(sentence);
    return knob !== undefined;
  }

  private get areDefault(): boolean {
    return this.knobs.every((knob) => knob.value === knob.parameter.default);
  }

  private toDefaults(): void {
    for (const knob of this.knobs) knob.set(knob.parameter.default);
    this.send();
  }

  private send(): void {
    for (const knob of this.knobs) if (knob.value !== null) knob.showError("");
    this.reset.disabled = this.areDefault;
    this.changed(this.values);
  }
}
