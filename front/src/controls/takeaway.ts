// "Take away": pictures, films, pages, numbers, text and links of what is shown.

import type { App, ServerActions } from "../app.ts";
import type { Taken, TakeRequest } from "../transport/protocol.ts";
import { pngOf, takePicture, type PictureOptions, type WhichPanes } from "./capture.ts";
import { csvOf, isSingle } from "./csv.ts";
import { button, create, setText } from "./dom.ts";
import { BLOCKED, download, fileName, isFramed } from "./downloads.ts";
import { frameCount, makeFilm } from "./film.ts";
import { timeFormatter } from "./format.ts";
import { showText } from "./text-dialog.ts";

const PANES: [WhichPanes, string][] = [
  ["both", "Both views"],
  ["space", "Space frame"],
  ["body", "Body frame"],
];
const SCALES: [string, string][] = [
  ["1", "1×"],
  ["2", "2×"],
];

export class Takeaway {
  private readonly panes = choice("Views", PANES);
  private readonly scale = choice("Size", SCALES);
  private readonly plots = box("with plots");
  private readonly caption = box("with caption");
  private readonly from = numberField("Start of the film, in s");
  private readonly to = numberField("End of the film, in s");
  private readonly pace = numberField("Pace: seconds of motion per second of film");
  private readonly length = create("span", { class: "quiet" });
  private readonly film: HTMLButtonElement;
  private readonly progress = create("progress", { hidden: true, attributes: { max: "1", "aria-label": "Film" } });
  private readonly ofServer: HTMLElement[];
  private readonly about = create("p", { class: "quiet" });
  private readonly status = create("p", { class: "status", attributes: { role: "status" } });
  private isFilming = false;

  /** `pageText` is the text of a page that is a file of its own. */
  constructor(
    root: HTMLElement,
    private readonly app: App,
    private readonly pageText: () => string,
  ) {
    const act = (words: string, title: string, what: () => unknown): HTMLButtonElement =>
      button(words, { class: "small", title }, () => void this.report(what));
    this.scale.value = "2";
    this.film = act("Save WebM", "A film of the views, drawn frame by frame", () => this.takeFilm());
    const live = act("HTML with knobs", "This model as one file that computes the motion itself, without a server", () => this.takePage(true));
    const python = act("As Python", "A Python program that computes this motion", () => this.takeText("python"));
    const toml = act("As TOML", "A scenario file for polhode run, or for polhode lab", () => this.takeText("toml"));
    this.ofServer = [live, python, toml];
    root.append(
      group(
        "Picture and film",
        row(this.panes, this.scale, this.plots.label, this.caption.label),
        row(act("Save PNG", "A picture of what is seen now", () => this.takePng()), create("span", { class: "quiet", text: "what is seen now" })),
        row(create("span", { class: "fields" }, "from", this.from, "to", this.to, "s, pace", this.pace, "×")),
        row(this.film, this.progress, this.length),
      ),
      group(
        "Page and numbers",
        row(
          act("Save HTML", "This motion as one file that needs no network", () => this.takePage(false)),
          live,
          act("Save CSV", "The motion as a table", () => this.takeCsv()),
          python,
          toml,
        ),
        this.about,
      ),
      group("Link", row(act("Copy link", "A link with parameters, time, camera and switches", () => app.copyLink()), create("span", { class: "quiet", text: "with time, camera and switches" }))),
      this.status,
    );
    if (isFramed()) root.append(create("p", { class: "quiet", text: BLOCKED }));
    for (const field of [this.from, this.to, this.pace]) field.addEventListener("input", () => this.describeFilm());
  }

  /** Another motion is shown. */
  show(isNew: boolean): void {
    const { record, playback } = this.app;
    if (record === null) return;
    const isServed = this.shown !== null;
    for (const element of this.ofServer) element.hidden = !isServed;
    const numbers = isSingle(record) ? "32-bit numbers, thinned to what is visible" : "the page's own numbers";
    setText(this.about, isServed ? "CSV: all outputs with all digits." : `CSV: ${numbers}.`);
    if (!isNew) return;
    this.from.value = String(playback.first);
    this.to.value = String(Number(playback.last.toPrecision(6)));
    this.pace.value = String(playback.speed);
    this.describeFilm();
  }

  private describeFilm(): void {
    const film = this.filmOptions();
    if (typeof film === "string") setText(this.length, film);
    else setText(this.length, `${((film.to - film.from) / film.pace).toFixed(1)} s, ${frameCount(film)} frames`);
    this.film.disabled = typeof film === "string" && !this.isFilming;
  }

  /** What is to be filmed, or what is wrong with it. */
  private filmOptions(): { from: number; to: number; pace: number } | string {
    const { first, last } = this.app.playback;
    const [from, to, pace] = [this.from, this.to, this.pace].map((field) => (field.value.trim() === "" ? NaN : Number(field.value)));
    const slack = 1e-5 * (last - first);
    if (!(from >= first - slack && to <= last + slack && from < to)) return `Choose times from ${first} to ${Number(last.toPrecision(6))} s, the first one earlier.`;
    return pace > 0 && Number.isFinite(pace) ? { from: Math.max(from, first), to: Math.min(to, last), pace } : "The pace must be a positive number.";
  }

  private pictureOptions(t: number): PictureOptions {
    const { record, playback } = this.app;
    const caption = this.caption.input.checked ? `${record?.title || record?.name} · t = ${timeFormatter(playback.first, playback.last)(t)}` : "";
    return { panes: this.panes.value as WhichPanes, scale: Number(this.scale.value), plots: this.plots.input.checked, caption };
  }

  /** Draw a time of the motion, the plots' cursors included. */
  private draw(t: number, canvas?: HTMLCanvasElement): HTMLCanvasElement {
    const { views } = this.app;
    if (this.plots.input.checked) this.app.moveCursor(t);
    const drawn = views === null ? null : takePicture(views, t, this.pictureOptions(t), canvas);
    if (drawn === null) throw new Error("this browser does not support WebGL, so there is nothing to draw");
    return drawn;
  }

  private async takePng(): Promise<string> {
    const { t } = this.app.playback;
    const name = fileName(this.name, `${Number(t.toPrecision(4))}s`);
    download(await pngOf(this.draw(t)), `${name}.png`);
    return `Saved ${name}.png.`;
  }

  private async takeFilm(): Promise<string> {
    if (this.isFilming) {
      this.isFilming = false;
      return "";
    }
    const chosen = this.filmOptions();
    if (typeof chosen === "string") throw new Error(chosen);
    const { playback } = this.app;
    const before = playback.t;
    const canvas = document.createElement("canvas");
    playback.pause();
    this.setFilming(true);
    try {
      const progress = (share: number): boolean => {
        this.progress.value = share;
        return this.isFilming;
      };
      const film = await makeFilm({ ...chosen, draw: (t) => this.draw(t, canvas), progress });
      if (film === null) return "The film was canceled.";
      const name = `${fileName(this.name)}.webm`;
      download(film, name);
      return `Saved ${name}, ${(film.size / 1e6).toFixed(1)} MB.`;
    } finally {
      this.setFilming(false);
      playback.seek(before);
    }
  }

  private setFilming(yes: boolean): void {
    this.isFilming = yes;
    this.progress.hidden = !yes;
    this.progress.value = 0;
    this.film.textContent = yes ? "Cancel" : "Save WebM";
    this.length.hidden = yes;
    document.body.dataset["film"] = yes ? "making" : "done";
  }

  private async takePage(live: boolean): Promise<string> {
    if (!this.app.lab?.server) {
      download(this.pageText(), `${fileName(this.name)}.html`, "text/html;charset=utf-8");
      return "Saved this page.";
    }
    if (this.app.record?.colors) throw new Error("A sweep cannot be saved as a page; save one of its motions, or the numbers.");
    const taken = await this.ask({ type: "page", live }).catch((error: Error) => {
      throw live ? new Error(`${error.message}. “Save HTML” saves the motion without knobs.`) : error;
    });
    return this.save(taken.text ?? "", taken.name, "text/html;charset=utf-8");
  }

  private async takeCsv(): Promise<string> {
    const { record } = this.app;
    if (record === null) return "";
    if (this.shown === null) return this.save(csvOf(record), `${fileName(this.name)}.csv`, "text/csv;charset=utf-8");
    const taken = await this.ask({ type: "csv" });
    return this.save(taken.text ?? "", taken.name, "text/csv;charset=utf-8");
  }

  private async takeText(kind: "python" | "toml"): Promise<string> {
    const { shown } = this;
    if (shown === null) return "";
    const { text = "" } = await this.app.lab!.server!.take({ type: "text", kind, model: shown.model.name, values: shown.values, run: shown.run });
    showText(text, `${fileName(this.name)}.${kind === "python" ? "py" : "toml"}`, kind === "python" ? "As Python" : "As TOML");
    return "";
  }

  private ask(what: { type: "page"; live: boolean } | { type: "csv" }): Promise<Taken> {
    const shown = this.app.lab!.server!.shown();
    const request: TakeRequest = { ...what, model: shown?.model.name ?? "", values: shown?.values ?? {}, run: shown?.run ?? "" };
    return this.app.lab!.server!.take(request);
  }

  /** The model of the motion that is shown; null if the server cannot make it again. */
  private get shown(): ReturnType<ServerActions["shown"]> {
    const { lab, record } = this.app;
    return record?.colors ? null : (lab?.server?.shown() ?? null);
  }

  private save(text: string, name = "motion", mime: string): string {
    download(text, fileName(name), mime);
    return `Saved ${fileName(name)}.`;
  }

  private get name(): string {
    return fileName(this.app.record?.name ?? "motion", this.app.record?.run ?? "");
  }

  /** Act, and say what came of it. */
  private async report(act: () => unknown): Promise<void> {
    try {
      setText(this.status, "Working …");
      setText(this.status, String((await act()) ?? ""));
      this.status.classList.remove("wrong");
    } catch (error) {
      setText(this.status, error instanceof Error ? error.message : String(error));
      this.status.classList.add("wrong");
    }
  }
}

const row = (...children: HTMLElement[]): HTMLElement => create("div", { class: "row" }, ...children);
const group = (words: string, ...children: HTMLElement[]): HTMLElement => create("fieldset", {}, create("legend", { text: words }), ...children);

function choice(words: string, entries: [string, string][]): HTMLSelectElement {
  const options = entries.map(([value, text]) => create("option", { text, attributes: { value } }));
  return create("select", { title: words, attributes: { "aria-label": words } }, ...options);
}

function box(words: string): { label: HTMLElement; input: HTMLInputElement } {
  const input = create("input", { attributes: { type: "checkbox" } });
  return { label: create("label", { class: "box" }, input, words), input };
}

const numberField = (words: string): HTMLInputElement =>
  create("input", { title: words, attributes: { type: "number", step: "any", "aria-label": words } });
