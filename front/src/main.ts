// Entry point of the page.

import { App } from "./app.ts";
import { viewOf, writeQuery } from "./controls/address.ts";
import { requireElement } from "./controls/dom.ts";
import { sentences } from "./controls/format.ts";
import { Lab } from "./controls/lab.ts";
import { LocalLab, type LiveData } from "./live/local-lab.ts";
import { decodeRecord, type MotionRecord } from "./motion/record.ts";
import { publish } from "./published.ts";
import type { PageOptions } from "./transport/protocol.ts";

/** Not an error: the observer is notified in the next frame. */
const HARMLESS = "ResizeObserver loop";

/**
 * Without a graphics card, a browser draws the curves of the plots ten times faster in memory than through its emulated
 * one; with a card the difference is small.  uPlot does not offer the choice.
 */
function drawPlotsInMemory(): void {
  const { getContext } = HTMLCanvasElement.prototype as { getContext: (this: unknown, kind: string, options?: object) => unknown };
  Object.assign(HTMLCanvasElement.prototype, {
    getContext(kind: string, options?: object): unknown {
      return getContext.call(this, kind, kind === "2d" ? { ...options, willReadFrequently: true } : options);
    },
  });
}

function start(): void {
  drawPlotsInMemory();
  const options = JSON.parse(requireElement("polhode-options").textContent ?? "") as PageOptions;
  // As it was written, before anything is built.
  const text = options.mode === "file" ? `<!doctype html>\n${document.documentElement.outerHTML}` : "";
  const app = new App(options, () => text);
  const failed = (what: unknown): void => {
    const words = what instanceof Error ? what.message : String(what);
    if (words.includes(HARMLESS)) return;
    const sentence = `An error occurred on this page: ${words}. The display may be incomplete; reload the page.`;
    app.notices.show("failure", { sentence, isError: true });
  };
  window.addEventListener("error", (event) => failed(event.error ?? event.message));
  window.addEventListener("unhandledrejection", (event) => failed(event.reason));
  publish(app, options);
  const program = document.getElementById("polhode-program");
  if (options.mode === "live") new Lab(app, options);
  else if (program === null) showFile(app, options);
  else void startLocalLab(app, JSON.parse(program.textContent ?? "") as LiveData).catch(failed);
}

async function startLocalLab(app: App, data: LiveData): Promise<void> {
  const lab = new LocalLab(app, data);
  const complaints = await lab.start(location.hash.slice(1));
  restoreFragment(app, complaints, () => lab.pairs);
  app.state("ready");
}

function showFile(app: App, options: PageOptions): void {
  let record: MotionRecord;
  try {
    record = decodeRecord(bytesOf(requireElement("polhode-motion").textContent ?? ""));
  } catch (error) {
    const why = `The motion in this file cannot be read (${String(error)})`;
    app.notices.show("file", { sentence: `${why}: the file is truncated or was modified; export it again.`, isError: true });
    app.state("refused");
    return;
  }
  app.header.name(record.title || options.title || record.name);
  if (options.about) app.lesson.explain(options.about);
  else app.lesson.describe([sentences(record.computed), ...record.notes]);
  app.show(record);
  restoreFragment(app);
  app.state("ready");
}

/** A file keeps time, camera, switches and knobs behind the # of its address, as far as the browser lets it. */
function restoreFragment(app: App, others: string[] = [], knobs: () => [string, string][] = () => []): void {
  const complaints = [...others, ...app.link.restore(viewOf(location.hash.slice(1), []))];
  if (complaints.length > 0) app.notices.show("view", { sentence: complaints.join(" ") });
  app.link.changed = () => {
    try {
      history.replaceState(null, "", `#${writeQuery([...knobs(), ...app.link.pairs])}`);
    } catch {
      // A frame without an address of its own.
    }
  };
}

function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes.buffer;
}

try {
  start();
} catch (error) {
  const sentence = document.createElement("p");
  sentence.setAttribute("role", "alert");
  sentence.textContent = `This page failed to start: ${error instanceof Error ? error.message : String(error)}.`;
  document.body.prepend(sentence);
  throw error;
}
