// The live page: the gallery, the knobs, and the conversation with the server.

import type { App } from "../app.ts";
import { unpacked, type MotionRecord } from "../motion/record.ts";
import { Connection } from "../transport/connection.ts";
import type { Door, FromServer, Model } from "../transport/protocol.ts";
import { addressOf, knobsOf, modelOf, noSuchRun, runOf, type Values } from "./address.ts";
import { Asking } from "./requests.ts";
import { Drawer } from "./drawer.ts";
import { place } from "./dom.ts";
import { headed, sentences } from "./format.ts";
import { Gallery } from "./gallery.ts";
import { Knobs } from "./knobs.ts";
import type { Notice } from "./notices.ts";
import { Numbers } from "./checks.ts";
import { ProgressBar } from "./progress.ts";

const BRIEFLY = 2500;

export class Lab {
  private readonly asking = new Asking();
  private readonly knobs = new Knobs((values) => this.turned(values), () => void this.copyLink());
  private readonly numbers = new Numbers();
  private readonly progress = new ProgressBar(() => this.cancel());
  private readonly drawer: Drawer;
  private readonly connection: Connection;
  private isOpen = false;
  private models: Model[] = [];
  private model: Model | null = null;
  private gallery: Gallery | null = null;
  /** The scenario that a person has chosen to look at; it is kept while knobs are turned. */
  private wantedRun = "";
  /** The knobs of each run that was asked for, and of the last one that the server has computed. */
  private readonly asked = new Map<number, Values>();
  private computed: Values = {};
  private hasFallenBack = false;

  constructor(
    private readonly app: App,
    private readonly door: Door,
  ) {
    this.drawer = new Drawer(place("gallery"), app.header);
    app.asked = { lookAt: (run) => this.lookAt(run), toggleGallery: () => this.drawer.toggle() };
    place("notices").before(this.progress.element);
    window.addEventListener("popstate", () => this.fromAddress());
    this.connection = new Connection(socketAddress(), {
      message: (message) => this.heard(message),
      motion: (buffer) => this.received(buffer),
      state: (state) => this.connected(state),
    });
  }

  private connected(state: "connecting" | "open" | "lost"): void {
    this.isOpen = state === "open";
    if (state === "open") this.app.notices.remove("connection");
    if (state !== "lost") return;
    this.progress.stop();
    this.app.notices.show("connection", {
      sentence: "The server has gone, or was started anew with another token; trying again … What is shown here can still be played.",
      isError: true,
    });
  }

  private heard(message: FromServer): void {
    switch (message.type) {
      case "hello":
        this.met(message.themes, message.models);
        break;
      case "progress":
        if (this.asking.concerns(message.id)) this.progress.at(message.done, message.words);
        break;
      case "numbers":
        if (this.asking.takesNumbers(message.id)) this.numbers.show(message.numbers, message.id);
        break;
      case "refused":
        // 0: the server could not even tell which question it was.
        if (this.asking.takesEnd(message.id, true) || message.id === 0) this.refused(message.sentence, message.parameter);
        break;
      case "cancelled":
        if (this.asking.takesEnd(message.id, false)) {
          this.numbers.wait(false);
          this.app.notices.show("run", this.cancelled());
        }
        break;
    }
    if (message.type !== "hello") this.settle();
  }

  /** A server says hello when the page opens, and again when it has come back. */
  private met(themes: string[], models: Model[]): void {
    this.models = models;
    if (models.length === 0) return;
    if (this.gallery === null) {
      this.app.putFirst(this.knobs.element, this.numbers.element);
      const address = (model: Model): string => plainAddress(model);
      this.gallery = new Gallery(place("gallery"), themes, models, address, (model) => this.choose(model));
      this.drawer.ready();
      this.fromAddress();
    } else this.run(this.knobs.values);
  }

  private fromAddress(): void {
    const name = modelOf(location.pathname) || this.door.model || this.models[0].name;
    const model = this.models.find((one) => one.name === name);
    if (model === undefined) {
      this.app.notices.show("model", { sentence: `There is no model "${name}": choose one of the gallery.`, isError: true });
      return;
    }
    const { values, complaints } = knobsOf(location.search, model.name, model.parameters);
    if (complaints.length > 0) this.app.notices.show("address", { sentence: complaints.join(" ") });
    this.open(model, values, runOf(location.search));
    this.gallery?.mark(model.name, true);
  }

  private choose(model: Model): void {
    this.app.notices.remove("address");
    history.pushState(null, "", plainAddress(model));
    this.drawer.chosen();
    this.open(model, {}, "");
  }

  private open(model: Model, values: Values, run: string): void {
    if (this.model !== model) this.numbers.clear();
    this.model = model;
    this.wantedRun = run;
    this.hasFallenBack = false;
    this.gallery?.mark(model.name, false);
    this.app.header.name(model.title);
    this.app.header.explain(model);
    this.app.expect(model.name);
    this.app.notices.remove("model");
    this.knobs.show(model, values);
    this.run(this.knobs.values);
  }

  private turned(values: Values): void {
    this.app.notices.remove("address");
    this.run(values);
  }

  private run(values: Values): void {
    if (this.model === null || !this.isOpen) return;
    this.app.notices.remove("run");
    const id = this.asking.startRun();
    this.asked.set(id, values);
    this.connection.send({ type: "run", id, model: this.model.name, values });
    this.numbers.wait(true);
    this.progress.start();
    this.settle();
  }

  private lookAt(run: string): void {
    this.wantedRun = run;
    if (!this.isOpen) return;
    this.connection.send({ type: "look", id: this.asking.startLook(), run });
    this.settle();
  }

  private cancel(): void {
    const { open } = this.asking;
    if (open === null) return;
    this.connection.send({ type: "cancel", id: open });
    this.progress.at(0, "Cancelling …");
  }

  /** What was called off: a change of a motion that is drawn, or a model of which there is nothing to draw. */
  private cancelled(): Notice {
    const { model } = this;
    const { record } = this.app;
    if (model === null || record?.name === model.name)
      return { sentence: "Cancelled: what is drawn is the motion of before.", lasts: BRIEFLY };
    const drawn = record === null ? "nothing is drawn" : `what is drawn, faintly, is still ${headed(record.name)}`;
    return {
      sentence: `Cancelled: ${drawn}.`,
      act: { words: "Run it again", pressed: () => this.run(this.knobs.values) },
    };
  }

  private received(buffer: ArrayBuffer): void {
    const record = unpacked(buffer);
    const isViewed = this.models.length === 0;
    this.computed = this.asked.get(record.id) ?? this.computed;
    this.asked.delete(record.id);
    if (!isViewed && !this.asking.takesMotion(record.id)) return;
    if (record.runs.includes(this.wantedRun) && record.run !== this.wantedRun) {
      this.lookAt(this.wantedRun);
      return;
    }
    if (isViewed) {
      this.app.header.name(record.title || record.name);
      this.app.header.describe([sentences(record.computed), ...record.notes]);
    }
    this.app.show(record);
    this.describe(record);
    this.settle();
  }

  /** The address is that of the motion that is shown: what was refused, or is being computed, is not in it. */
  private describe(record: MotionRecord): void {
    if (this.model?.name !== record.name) return;
    const { name, parameters } = this.model;
    const run = record.runs.length > 1 && record.run !== record.runs[0] ? record.run : "";
    const state = { model: name, parameters, values: this.computed, run };
    history.replaceState(null, "", addressOf(location.pathname, location.search, state));
    if (this.wantedRun === "" || record.run === this.wantedRun) this.app.notices.remove("no run");
    else this.app.notices.show("no run", { sentence: noSuchRun(this.wantedRun, name, record.runs) });
  }

  private refused(sentence: string, parameter: string | null): void {
    const isAtKnob = parameter !== null && this.knobs.complain(parameter, sentence);
    this.numbers.wait(false);
    if (!isAtKnob) this.app.notices.show("run", { sentence, isError: true });
    else if (this.model !== null && this.app.record?.name !== this.model.name && !this.hasFallenBack) {
      // An address asked for the impossible, and there is no motion of before that could stay.
      this.hasFallenBack = true;
      this.run(Object.fromEntries(this.model.parameters.map((one) => [one.name, one.default])));
      this.app.notices.show("run", { sentence: "These knobs are refused: what is drawn has the defaults." });
    }
  }

  private settle(): void {
    const { state } = this.asking;
    if (state !== "running") this.progress.stop();
    this.app.state(state);
  }

  private async copyLink(): Promise<void> {
    const link = location.href;
    try {
      await navigator.clipboard.writeText(link);
      this.app.notices.show("link", { sentence: "The link is copied.", lasts: BRIEFLY });
    } catch {
      this.app.notices.show("link", { sentence: "The browser does not let the page copy; here is the link:", text: link });
    }
  }
}

/** Of a model with the knobs at their defaults. */
const plainAddress = ({ name, parameters }: Model): string =>
  addressOf(location.pathname, location.search, { model: name, parameters, values: {}, run: "" });

/** Beside the page, with the same token. */
function socketAddress(): string {
  const address = new URL("ws", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.hash = "";
  const token = new URLSearchParams(location.search).get("token");
  address.search = token === null ? "" : new URLSearchParams({ token }).toString();
  return address.href;
}
