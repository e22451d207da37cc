// The live page: gallery, parameters, and communication with the server.

import type { App } from "../app.ts";
import { decodeRecord, type MotionRecord } from "../motion/record.ts";
import { Connection } from "../transport/connection.ts";
import type { PageOptions, FromServer, Model, Parameter } from "../transport/protocol.ts";
import { addressOf, valuesOf, viewOf, modelOf, noSuchRun, runOf, type Values, type ViewPairs } from "./address.ts";
import { NewestWins } from "./newest.ts";
import { PendingRequests } from "./requests.ts";
import { Drawer } from "./drawer.ts";
import { requireElement } from "./dom.ts";
import { titleFromName, sentences } from "./format.ts";
import { featuredOf, Gallery } from "./gallery.ts";
import type { SweepRange } from "./parameter-control.ts";
import { ParameterPanel } from "./parameter-panel.ts";
import type { Notice } from "./notices.ts";
import { ReferenceChecks } from "./checks.ts";
import { ProgressBar } from "./progress.ts";
import { Takes } from "./takes.ts";

const BRIEF_MS = 2500;

export class Lab {
  private readonly pending = new PendingRequests();
  private readonly parameterPanel = new ParameterPanel(
    (values) => this.drag(values),
    (values) => this.changeValues(values),
    () => void this.app.copyLink(),
    {
      pin: (words) => this.app.tryPin(words),
      unpin: () => this.app.unpin(),
      sweep: (range) => this.sweep(range),
    },
  );
  private readonly dragged = new NewestWins<Values>((values) => this.sendQuickRun(values));
  /** A motion that arrived during a drag, to be shown in the next frame. */
  private arrived: MotionRecord | null = null;
  private readonly checks = new ReferenceChecks();
  private readonly progress = new ProgressBar(() => this.cancel());
  private readonly drawer: Drawer;
  private readonly connection: Connection;
  private isOpen = false;
  private models: Model[] = [];
  private model: Model | null = null;
  private gallery: Gallery | null = null;
  /** The scenario that the user has chosen; it stays selected while parameters change. */
  private wantedRun = "";
  /** Parameter values of each requested run, and of the last one computed. */
  private readonly requested = new Map<number, Values>();
  private computed: Values = {};
  private hasFallenBack = false;
  private readonly takes = new Takes((message) => this.connection.send(message));
  /** What the address says is seen, until its motion is shown. */
  private toRestore: ViewPairs = [];
  /** Knobs of an own model that were moved, also while its file has an error and declares none. */
  private moved: Values = {};

  constructor(
    private readonly app: App,
    private readonly options: PageOptions,
  ) {
    this.drawer = new Drawer(requireElement("gallery"), app.header);
    app.lab = {
      selectRun: (run) => this.selectRun(run),
      toggleGallery: () => this.drawer.toggle(),
      knobs: this.parameterPanel,
      setValues: (values, run) => this.model && this.open(this.model, values, run),
      server: {
        shown: () => (this.model === null ? null : { model: this.model, values: this.computed, run: app.record?.run ?? "" }),
        take: (request) => (this.isOpen ? this.takes.ask(request) : Promise.reject(new Error("there is no connection to the server"))),
      },
    };
    app.link.changed = () => {
      if (app.record && !app.isDragging) this.describe(app.record);
    };
    requireElement("notices").before(this.progress.element);
    window.addEventListener("popstate", () => this.loadAddress());
    this.connection = new Connection(socketAddress(), {
      message: (message) => this.handleMessage(message),
      motion: (buffer) => this.handleMotion(buffer),
      state: (state) => this.handleConnectionState(state),
    });
  }

  private handleConnectionState(state: "connecting" | "open" | "lost"): void {
    this.isOpen = state === "open";
    if (state === "open") this.app.notices.remove("connection");
    if (state !== "lost") return;
    this.dragged.clear();
    this.progress.stop();
    this.takes.fail("the connection to the server was lost");
    this.app.notices.show("connection", {
      sentence:
        "Lost the connection to the server (it has stopped, or was restarted with a new token). Reconnecting … " +
        "You can still play the motion shown here.",
      isError: true,
    });
  }

  private handleMessage(message: FromServer): void {
    if (this.takes.accept(message)) return;
    switch (message.type) {
      case "hello":
        this.handleHello(message.themes, message.models, message.changed ?? null);
        break;
      case "progress":
        if (this.pending.isCurrent(message.id)) this.progress.at(message.done, message.text);
        break;
      case "checks":
        if (this.pending.acceptChecks(message.id)) this.checks.show(message.checks, message.id);
        break;
      case "refused":
        // 0: the server could not read the id of the request.
        if (this.pending.acceptEnd(message.id, true) || message.id === 0) {
          this.handleRefusal(message.sentence, message.parameter);
          this.dragged.finish();
        }
        break;
      case "cancelled":
        if (this.pending.acceptEnd(message.id, false)) {
          this.checks.setStale(false);
          this.app.notices.show("run", this.cancelNotice());
          this.dragged.finish();
        }
        break;
    }
    if (message.type !== "hello") this.updateState();
  }

  /** The server sends this when the page opens, after a reconnection, and when files of own models have changed. */
  private handleHello(themes: string[], models: Model[], changed: string[] | null): void {
    const before = this.models;
    this.models = models;
    if (models.length === 0) return;
    const isFirst = this.gallery === null;
    if (isFirst) this.app.prependCards(this.parameterPanel.element, this.checks.element);
    if (JSON.stringify(before) !== JSON.stringify(models)) {
      const address = (model: Model): string => plainAddress(model);
      this.gallery = new Gallery(requireElement("gallery"), themes, models, address, (model) => this.choose(model), this.app.choices);
    }
    if (isFirst) {
      this.drawer.ready();
      this.loadAddress();
    } else this.refresh(changed);
  }

  /** Run the model again, as it is now; a knob that was moved stays where it is, if its range allows. */
  private refresh(changed: string[] | null): void {
    const old = this.model;
    const model = this.models.find((one) => one.name === old?.name);
    if (old === null || model === undefined) return;
    this.gallery?.mark(model.name, false);
    if (changed !== null && !changed.includes(model.name)) return;
    const { values } = this.parameterPanel;
    for (const { name, default: start } of old.parameters) {
      if (values[name] !== start) this.moved[name] = values[name];
      else delete this.moved[name];
    }
    const isInRange = ({ name, low, high }: Parameter): boolean => this.moved[name] >= low && this.moved[name] <= high;
    const kept = model.parameters.filter(isInRange).map(({ name }) => [name, this.moved[name]] as const);
    this.open(model, Object.fromEntries(kept), this.wantedRun);
  }

  private loadAddress(): void {
    const name = modelOf(location.pathname) || this.options.model || (featuredOf(this.models)[0] ?? this.models[0]).name;
    const model = this.models.find((one) => one.name === name);
    if (model === undefined) {
      this.app.notices.show("model", { sentence: `There is no model "${name}"; choose one from the gallery.`, isError: true });
      return;
    }
    const { values, complaints } = valuesOf(location.search, model.name, model.parameters);
    if (complaints.length > 0) this.app.notices.show("address", { sentence: complaints.join(" ") });
    this.toRestore = viewOf(location.search, model.parameters);
    this.open(model, values, runOf(location.search));
    this.gallery?.mark(model.name, true);
  }

  private choose(model: Model): void {
    this.moved = {};
    this.app.notices.remove("address");
    history.pushState(null, "", plainAddress(model));
    this.toRestore = [];
    this.drawer.onChosen();
    this.open(model, {}, "");
  }

  private open(model: Model, values: Values, run: string): void {
    if (this.model !== model) {
      this.checks.clear();
      this.parameterPanel.unpin();
    }
    this.model = model;
    this.wantedRun = run;
    this.hasFallenBack = false;
    this.gallery?.mark(model.name, false);
    this.app.header.name(model.title);
    this.app.lesson.explain(model);
    this.app.expect(model.name);
    this.app.notices.remove("model");
    this.parameterPanel.show(model, values);
    this.run(this.parameterPanel.values);
  }

  private changeValues(values: Values): void {
    this.app.notices.remove("address");
    this.run(values);
  }

  /** A knob moves: the motion follows, as fast as it is computed and drawn. */
  private drag(values: Values): void {
    this.app.notices.remove("address");
    this.app.setDragging(true);
    this.checks.setStale(true);
    this.dragged.offer(values);
  }

  private sendQuickRun(values: Values): void {
    if (this.model === null || !this.isOpen) return this.dragged.clear();
    const id = this.pending.startQuickRun();
    this.requested.set(id, values);
    this.connection.send({ type: "run", id, model: this.model.name, values, quick: true, run: this.wantedRun });
    this.updateState();
  }

  private run(values: Values): void {
    this.dragged.clear();
    this.arrived = null;
    this.app.setDragging(false);
    if (this.model === null || !this.isOpen) return;
    this.app.notices.remove("run");
    const id = this.pending.startRun();
    this.requested.set(id, values);
    this.connection.send({ type: "run", id, model: this.model.name, values });
    this.checks.setStale(true);
    this.progress.start();
    this.updateState();
  }

  private sweep(range: SweepRange): void {
    if (this.model === null || !this.isOpen) return;
    this.dragged.clear();
    this.app.setDragging(false);
    this.app.notices.remove("run");
    const id = this.pending.startQuickRun();
    this.requested.set(id, this.parameterPanel.values);
    this.connection.send({ type: "sweep", id, model: this.model.name, values: this.parameterPanel.values, run: this.wantedRun, ...range });
    this.progress.start();
    this.updateState();
  }

  private selectRun(run: string): void {
    this.wantedRun = run;
    if (!this.isOpen) return;
    this.connection.send({ type: "motion", id: this.pending.startMotionRequest(), run });
    this.updateState();
  }

  private cancel(): void {
    const { openId } = this.pending;
    if (openId === null) return;
    this.connection.send({ type: "cancel", id: openId });
    this.progress.at(0, "Canceling …");
  }

  /** The notice after a cancellation: the motion shown is the previous one, of this model or of another. */
  private cancelNotice(): Notice {
    const { model } = this;
    const { record } = this.app;
    if (model === null || record?.name === model.name)
      return { sentence: "Canceled: the previous motion is shown.", duration: BRIEF_MS };
    const drawn = record === null ? "there is no motion to show" : `the dimmed motion is still ${titleFromName(record.name)}`;
    return {
      sentence: `Canceled: ${drawn}.`,
      action: { words: "Run again", onClick: () => this.run(this.parameterPanel.values) },
    };
  }

  private handleMotion(buffer: ArrayBuffer): void {
    const record = decodeRecord(buffer);
    const isViewed = this.models.length === 0;
    this.computed = this.requested.get(record.id) ?? this.computed;
    this.requested.delete(record.id);
    if (!isViewed && !this.pending.acceptMotion(record.id)) return;
    if (record.runs.includes(this.wantedRun) && record.run !== this.wantedRun) {
      this.selectRun(this.wantedRun);
      return;
    }
    if (isViewed) {
      this.app.header.name(record.title || record.name);
      this.app.lesson.describe([sentences(record.computed), ...record.notes]);
    }
    if (this.app.isDragging) this.showInNextFrame(record);
    else {
      this.app.show(record);
      this.restoreView();
      // Not while a knob is dragged: browsers limit how often an address changes.
      this.describe(record);
    }
    this.updateState();
  }

  /** Time, camera and switches of the address that was opened. */
  private restoreView(): void {
    const complaints = this.app.link.restore(this.toRestore);
    this.toRestore = [];
    if (complaints.length > 0) this.app.notices.show("view", { sentence: complaints.join(" ") });
  }

  /** The next request leaves before the motion is drawn, so that the server computes meanwhile. */
  private showInNextFrame(record: MotionRecord): void {
    const isAwaited = this.arrived !== null;
    this.arrived = record;
    this.dragged.finish();
    if (isAwaited) return;
    requestAnimationFrame(() => {
      if (this.arrived !== null) this.app.show(this.arrived);
      this.arrived = null;
    });
  }

  /** Set the URL to that of the motion shown, without values that were refused or are being computed. */
  private describe(record: MotionRecord): void {
    if (this.model?.name !== record.name) return;
    const { name, parameters } = this.model;
    const run = record.runs.length > 1 && record.run !== record.runs[0] ? record.run : "";
    const state = { model: name, parameters, values: this.computed, run, view: this.app.link.pairs };
    const address = addressOf(location.pathname, location.search, state);
    if (address !== location.pathname + location.search) history.replaceState(null, "", address);
    if (this.wantedRun === "" || record.run === this.wantedRun) this.app.notices.remove("no run");
    else this.app.notices.show("no run", { sentence: noSuchRun(this.wantedRun, name, record.runs) });
  }

  private handleRefusal(sentence: string, parameter: string | null): void {
    const isAtParameter = parameter !== null && this.parameterPanel.showError(parameter, sentence);
    this.checks.setStale(false);
    if (!isAtParameter) this.app.notices.show("run", { sentence, isError: true });
    else if (this.model !== null && this.app.record?.name !== this.model.name && !this.hasFallenBack) {
      // The URL has invalid values, and there is no previous motion to keep.
      this.hasFallenBack = true;
      this.run(Object.fromEntries(this.model.parameters.map((one) => [one.name, one.default])));
      this.app.notices.show("run", { sentence: "These values were refused; the motion shown has the default values." });
    }
  }

  private updateState(): void {
    const { state } = this.pending;
    if (state !== "running") this.progress.stop();
    this.app.state(state);
  }
}

/** URL of a model with default values. */
const plainAddress = ({ name, parameters }: Model): string =>
  addressOf(location.pathname, location.search, { model: name, parameters, values: {}, run: "" });

/** URL of the WebSocket, with the same token as the page. */
function socketAddress(): string {
  const address = new URL("ws", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.hash = "";
  const token = new URLSearchParams(location.search).get("token");
  address.search = token === null ? "" : new URLSearchParams({ token }).toString();
  return address.href;
}
