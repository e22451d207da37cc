// Keyboard shortcuts of the page; a focused field, slider or button keeps its own keys.

import type { Playback } from "../motion/playback.ts";
import { create } from "./dom.ts";

const LARGE_STEP = 10;

const HELP: [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "one output back or forward"],
  ["Shift + ← →", `${LARGE_STEP} outputs back or forward`],
  ["Home, End", "go to the start or the end"],
  ["Tab", "move between controls"],
  ["Alt + Enter", "on a curve's name: show this curve only, or all again"],
  ["← → ↑ ↓", "in a view focused with Tab: rotate the camera"],
  ["Shift + ← → ↑ ↓", "in such a view: move it"],
  ["+ −", "in such a view: zoom in, zoom out"],
  ["0", "camera as at the start"],
  ["1 2 3 4 5", "camera: front, side, top, isometric, along L"],
  ["V", "both views, or one of them"],
  ["F", "full screen"],
  ["Escape", "close a panel"],
];

export type Keeps = "all" | "space" | "arrows" | "nothing";

interface Focused {
  tagName: string;
  type?: string;
  isContentEditable?: boolean;
  dataset?: DOMStringMap;
}

/** Which keys an element handles itself. */
export function keeps(element: Focused): Keeps {
  const tag = element.tagName.toUpperCase();
  if (element.isContentEditable || tag === "SELECT" || tag === "TEXTAREA") return "all";
  if (tag === "BUTTON" || tag === "SUMMARY") return "space";
  if (tag !== "INPUT") return "nothing";
  if (element.type === "checkbox" || element.type === "radio") return "space";
  // The time slider steps from output to output, as the page does.
  if (element.type === "range") return element.dataset?.["time"] === undefined ? "arrows" : "nothing";
  return "all";
}

/** `others` are the actions of other keys, by their names. */
export function listenToKeys(playback: Playback, others: Record<string, () => void>): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const kept = event.target instanceof HTMLElement ? keeps(event.target) : "nothing";
    const act = kept === "all" ? null : (actionOf(event, playback) ?? others[event.key.toLowerCase()] ?? null);
    if (act === null || kept === (event.key === " " ? "space" : "arrows")) return;
    event.preventDefault();
    act();
  });
}

function actionOf(event: KeyboardEvent, playback: Playback): (() => void) | null {
  const steps = event.shiftKey ? LARGE_STEP : 1;
  const stepped = (by: 1 | -1) => () => {
    for (let k = 0; k < steps; k++) playback.step(by);
  };
  if (event.key === " ") return event.repeat ? () => undefined : () => playback.toggle();
  if (event.key === "ArrowRight") return stepped(1);
  if (event.key === "ArrowLeft") return stepped(-1);
  if (event.key === "Home") return () => playback.seek(playback.first);
  if (event.key === "End") return () => playback.seek(playback.last);
  return null;
}

export function keyboardHelp(): HTMLElement {
  const rows = HELP.flatMap(([keys, words]) => [create("dt", {}, create("kbd", { text: keys })), create("dd", { text: words })]);
  return create("details", { class: "keys" }, create("summary", { text: "Keyboard" }), create("dl", {}, ...rows));
}
