// Where the page begins.

import { App } from "./app.ts";
import { place } from "./controls/dom.ts";
import { sentences } from "./controls/format.ts";
import { Lab } from "./controls/lab.ts";
import { unpacked, type MotionRecord } from "./motion/record.ts";
import type { Door } from "./transport/protocol.ts";

/** Not an error: an observer that will be told in the next frame. */
const HARMLESS = "ResizeObserver loop";

function started(): void {
  const door = JSON.parse(place("polhode-door").textContent ?? "") as Door;
  const app = new App(door);
  const failed = (what: unknown): void => {
    const words = what instanceof Error ? what.message : String(what);
    if (words.includes(HARMLESS)) return;
    const sentence = `Something failed on this page: ${words}. What is shown may be incomplete; load the page again.`;
    app.notices.show("failure", { sentence, isError: true });
  };
  window.addEventListener("error", (event) => failed(event.error ?? event.message));
  window.addEventListener("unhandledrejection", (event) => failed(event.reason));
  if (door.kind === "live") new Lab(app, door);
  else showFile(app, door);
}

function showFile(app: App, door: Door): void {
  let record: MotionRecord;
  try {
    record = unpacked(bytesOf(place("polhode-motion").textContent ?? ""));
  } catch (error) {
    const why = `The motion in this file cannot be read (${String(error)})`;
    app.notices.show("file", { sentence: `${why}: the file was cut off or changed; export it again.`, isError: true });
    app.state("refused");
    return;
  }
  app.header.name(record.title || door.title || record.name);
  app.header.describe([sentences(record.computed), ...record.notes]);
  app.show(record);
  app.state("ready");
}

function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes.buffer;
}

try {
  started();
} catch (error) {
  const sentence = document.createElement("p");
  sentence.setAttribute("role", "alert");
  sentence.textContent = `This page could not be started: ${error instanceof Error ? error.message : String(error)}.`;
  document.body.prepend(sentence);
  throw error;
}
