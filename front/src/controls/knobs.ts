// The knobs of a model, with a reset and a link.

import type { Model } from "../transport/protocol.ts";
import type { Values } from "./address.ts";
import { button, made } from "./dom.ts";
import { Knob } from "./knob.ts";

export class Knobs {
  readonly element: HTMLElement;
  private readonly list = made("div", { class: "knobs" });
  private readonly reset: HTMLButtonElement;
  private knobs: Knob[] = [];

  constructor(
    private readonly changed: (values: Values) => void,
    copyLink: () => void,
  ) {
    this.reset = button("Reset", { class: "small", title: "All knobs to their defaults" }, () => this.toDefaults());
    const link = button("Copy link", { class: "small", title: "An address that restores the motion that is shown" }, copyLink);
    const name = made("h2", { text: "Knobs" });
    const head = made("div", { class: "head" }, name, made("span", { class: "grow" }), this.reset, link);
    this.element = made("section", { class: "card", is: { "aria-label": "Knobs" } }, head, this.list);
  }

  show(model: Model, values: Values): void {
    this.knobs = model.parameters.map((parameter) => new Knob(parameter, () => this.send()));
    for (const knob of this.knobs) if (knob.parameter.name in values) knob.set(values[knob.parameter.name]);
    this.list.replaceChildren(...this.knobs.map((knob) => knob.element));
    if (this.knobs.length === 0) this.list.append(made("p", { class: "quiet", text: "This model has no knobs." }));
    this.reset.disabled = this.areDefault;
  }

  get values(): Values {
    const known = this.knobs.filter((knob) => knob.value !== null);
    return Object.fromEntries(known.map((knob) => [knob.parameter.name, knob.value as number]));
  }

  /** The server's sentence at its knob; whether there is such a knob. */
  complain(parameter: string, sentence: string): boolean {
    const knob = this.knobs.find((one) => one.parameter.name === parameter);
    knob?.complain(sentence);
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
    for (const knob of this.knobs) if (knob.value !== null) knob.complain("");
    this.reset.disabled = this.areDefault;
    this.changed(this.values);
  }
}
