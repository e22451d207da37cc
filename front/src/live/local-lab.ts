// A page in a file whose knobs are live: a worker computes the motion, with no server.

import type { App } from "../app.ts";
import { runOf, valuesOf, type Values } from "../controls/address.ts";
import { create } from "../controls/dom.ts";
import { sentence, withSpaces } from "../controls/format.ts";
import { NewestWins } from "../controls/newest.ts";
import { ParameterPanel } from "../controls/parameter-panel.ts";
import { decodeRecord, type MotionRecord } from "../motion/record.ts";
import type { Model } from "../transport/protocol.ts";
import { goTo } from "../published.ts";
import { liveRecord, type Answer, type LiveRun } from "./record.ts";

/** Contents of <script id="polhode-program" type="application/json">. */
export interface LiveData {
  model: Model;
  values: Values;
  /** Names of the live knobs, in the order in which the program takes them. */
  knobs: string[];
  /** The other parameters, each with the reason why it is not live. */
  fixed: Record<string, string>;
  /** Runs that the page does not compute, each with the reason. */
  leftOut: Record<string, string>;
  /** Index of the run that is shown first. */
  shown: number;
  runs: LiveRun[];
  /** Compressed: the script of the worker. */
  program: string;
}

interface Request {
  values: Values;
  run: number;
}

interface Waiting {
  request: Request;
  arrived: () => void;
  done: (record: MotionRecord) => void;
  failed: (error: Error) => void;
}

/** What scripts of an embedding page, and tests, may use: `window.polhode`. */
export interface PageHandle {
  /** The motion shown: 64-bit arrays `time`, `position`, `quaternion`, `angularVelocity`, ... */
  readonly record: MotionRecord | null;
  readonly values: Values;
  /** Change knobs (and, by its name, the run): resolves when the motion is shown. */
  set(values: Values, run?: string): Promise<MotionRecord>;
  /** Go to a time, in s. */
  time(t: number): Promise<unknown>;
}

export class LocalLab {
  private readonly panel: ParameterPanel;
  private readonly templates: (MotionRecord | null)[];
  private readonly newest = new NewestWins<Request>((request) => this.send(request));
  private readonly waiting = new Map<number, Waiting>();
  /** A motion that waits for the next frame. */
  private arrived: { record: MotionRecord; done: (record: MotionRecord) => void } | null = null;
  private worker: Worker | null = null;
  private run: number;
  private values: Values;
  private id = 0;

  constructor(
    private readonly app: App,
    private readonly data: LiveData,
  ) {
    this.run = data.shown;
    this.values = data.values;
    this.templates = data.runs.map(() => null);
    this.panel = new ParameterPanel(
      (values) => this.drag(values),
      (values) => void this.settle(values),
      () => void app.copyLink(),
      { pin: (words) => app.tryPin(words), unpin: () => app.unpin(), sweep: null },
    );
    app.lab = {
      selectRun: (run) => void this.selectRun(run),
      toggleGallery: () => undefined,
      setValues: (values, run) => this.setValues(values, run),
      knobs: this.panel,
    };
    const current = (): Values => ({ ...this.values });
    const handle: PageHandle = {
      get record() {
        return app.record;
      },
      get values() {
        return current();
      },
      set: async (values, run) => {
        const unknown = Object.keys(values).find((name) => !data.knobs.includes(name));
        if (unknown !== undefined) throw new Error(`${unknown} is not a knob of this page; its knobs are ${data.knobs.join(", ")}`);
        const wrong = this.outOfRange(values);
        if (wrong !== null) throw new Error(wrong.sentence);
        const record = await this.compute({ values: { ...this.values, ...values }, run: this.runNamed(run) });
        this.panel.show(this.liveModel, this.values);
        return record;
      },
      time: (t) => goTo(app, t),
    };
    Object.assign(window, { polhode: handle });
  }

  /** Show the motion, with the values that a link has set; returns a sentence for each that is wrong. */
  async start(link: string): Promise<string[]> {
    const { model, shown, program, fixed } = this.data;
    const record = await this.template(shown);
    this.app.header.name(record.title);
    this.app.lesson.explain(model);
    this.panel.show(this.liveModel, this.values);
    for (const [name, why] of Object.entries(fixed))
      this.panel.element.append(create("p", { class: "quiet", text: `${withSpaces(name)} is fixed in this page: ${sentence(why)}` }));
    for (const [name, why] of Object.entries(this.data.leftOut))
      this.panel.element.append(create("p", { class: "quiet", text: `This page does not compute the run “${name}”: ${sentence(why)}` }));
    this.app.prependCards(this.panel.element, create("div"));
    this.app.show(record);
    try {
      const script = new Blob([await decompressed(program)], { type: "text/javascript" });
      this.worker = new Worker(URL.createObjectURL(script));
      this.worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => void this.receive(data));
      this.worker.addEventListener("error", (event) => this.stop(event.message));
      await this.compute({ values: this.values, run: this.run });
    } catch (error) {
      this.stop(String(error));
      return [];
    }
    return this.follow(link);
  }

  private async follow(link: string): Promise<string[]> {
    const { values, complaints } = valuesOf(link, this.data.model.name, this.liveModel.parameters);
    const wrong = this.outOfRange(values);
    if (wrong !== null) return [...complaints, wrong.sentence];
    const run = this.runNamed(runOf(link));
    if (Object.keys(values).length === 0 && run === this.run) return complaints;
    await this.compute({ values: { ...this.values, ...values }, run }).catch(() => undefined);
    this.panel.show(this.liveModel, this.values);
    return complaints;
  }

  /** What a link needs to restore the values: those that are not the first. */
  get pairs(): [string, string][] {
    const { data, values, run } = this;
    const changed = data.knobs.filter((name) => values[name] !== data.values[name]).map((name): [string, string] => [name, String(values[name])]);
    return run === data.shown ? changed : [...changed, ["run", data.runs[run].name]];
  }

  /** The model with its live parameters only. */
  private get liveModel(): Model {
    const { model, knobs } = this.data;
    return { ...model, parameters: model.parameters.filter(({ name }) => knobs.includes(name)) };
  }

  private runNamed(name: string | undefined): number {
    const found = this.data.runs.findIndex((run) => run.name === name);
    return found < 0 ? this.run : found;
  }

  private async template(run: number): Promise<MotionRecord> {
    const known = this.templates[run];
    if (known !== null) return known;
    const record = decodeRecord(await (await decompressedBlob(this.data.runs[run].record)).arrayBuffer());
    const first = run === this.data.shown ? record : await this.template(this.data.shown);
    // Meshes that are the same as those of the first run are not stored again.
    record.appearances.forEach((one, i) => {
      if (one.faces.length === 0) Object.assign(one, { vertices: first.appearances[i].vertices, faces: first.appearances[i].faces });
    });
    this.templates[run] = record;
    return record;
  }

  private drag(values: Values): void {
    this.app.setDragging(true);
    this.newest.offer({ values: { ...this.values, ...values }, run: this.run });
  }

  private async settle(values: Values): Promise<void> {
    this.newest.clear();
    this.app.setDragging(false);
    const wrong = this.outOfRange(values);
    if (wrong !== null) {
      this.panel.showError(wrong.name, wrong.sentence);
      return;
    }
    await this.compute({ values: { ...this.values, ...values }, run: this.run }).catch(() => undefined);
  }

  private outOfRange(values: Values): { name: string; sentence: string } | null {
    const wrong = this.liveModel.parameters.find(({ name, low, high }) => name in values && !(values[name] >= low && values[name] <= high));
    return wrong === undefined ? null : { name: wrong.name, sentence: `${wrong.name} is outside its range: choose from ${wrong.low} to ${wrong.high}.` };
  }

  /** As a step of the lesson asks: defaults for what it does not name. */
  private setValues(values: Values, run: string): void {
    const { knobs, model } = this.data;
    const all = Object.fromEntries(model.parameters.filter(({ name }) => knobs.includes(name)).map(({ name, default: first }) => [name, values[name] ?? first]));
    this.run = this.runNamed(run || this.data.runs[0].name);
    this.panel.setValues(all, true);
  }

  private async selectRun(name: string): Promise<void> {
    await this.compute({ values: this.values, run: this.runNamed(name) }).catch(() => undefined);
  }

  /** While a knob moves: the next request leaves before the motion is drawn, so that the worker computes meanwhile. */
  private send(request: Request): void {
    const finish = (): void => this.newest.finish();
    this.compute(request, finish).catch(finish);
  }

  private compute(request: Request, arrived: () => void = () => undefined): Promise<MotionRecord> {
    const { worker } = this;
    if (worker === null) return Promise.reject(new Error("this page cannot compute: its worker did not start"));
    const id = ++this.id;
    return new Promise((done, failed) => {
      this.waiting.set(id, { request, arrived, done, failed });
      worker.postMessage({ id, run: request.run, knobs: this.data.knobs.map((name) => request.values[name]) });
    });
  }

  private async receive(answer: Answer): Promise<void> {
    const waiting = this.waiting.get(answer.id);
    if (waiting === undefined) return;
    this.waiting.delete(answer.id);
    const { request, arrived, done, failed } = waiting;
    if (answer.refused) {
      const sentence = "For these values the model takes another way, which this page does not know; Polhode itself computes it. The motion is unchanged.";
      this.app.notices.show("live", { sentence });
      failed(new Error(sentence));
      return;
    }
    this.app.notices.remove("live");
    const run = this.data.runs[answer.run];
    const isFirst = this.data.knobs.every((name) => request.values[name] === this.data.values[name]);
    const record = liveRecord(await this.template(answer.run), run, answer, isFirst);
    this.run = answer.run;
    this.values = request.values;
    arrived();
    this.showInNextFrame(record, done);
  }

  private showInNextFrame(record: MotionRecord, done: (record: MotionRecord) => void): void {
    const before = this.arrived;
    this.arrived = { record, done };
    if (before !== null) {
      before.done(before.record);
      return;
    }
    requestAnimationFrame(() => {
      const { arrived } = this;
      this.arrived = null;
      if (arrived === null) return;
      this.app.show(arrived.record);
      arrived.done(arrived.record);
    });
  }

  private stop(why: string): void {
    this.worker = null;
    const sentence = `The knobs do not work here: this page may not start a worker (${why}). The motion is a recording.`;
    this.app.notices.show("live", { sentence, isError: true });
    for (const { failed } of this.waiting.values()) failed(new Error(sentence));
    this.waiting.clear();
  }
}

async function decompressedBlob(base64: string): Promise<Response> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

const decompressed = async (base64: string): Promise<string> => (await decompressedBlob(base64)).text();
