// Keys for the whole page; a field, a slider or a button that has the focus keeps its own.

import type { Playback } from "../motion/playback.ts";
import { made } from "./dom.ts";

const MANY = 10;

const HELP: [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "one output back or forward"],
  ["Shift + ← →", `${MANY} outputs back or forward`],
  ["Home, End", "to the start, to the end"],
  ["Tab", "from control to control"],
  ["← → ↑ ↓", "in a view reached by Tab: turn the camera"],
  ["+ − 0", "in a view: nearer, farther, as at first"],
  ["Escape", "close a panel"],
];

export type Keeps = "all" | "space" | "arrows" | "nothing";

interface Focused {
  tagName: string;
  type?: string;
  isContentEditable?: boolean;
  dataset?: DOMStringMap;
}

/** Which keys an element needs itself. */
export function keeps(element: Focused): Keeps {
  const tag = element.tagName.toUpperCase();
  if (element.isContentEditable || tag === "SELECT" || tag === "TEXTAREA") return "all";
  if (tag === "BUTTON" || tag === "SUMMARY") return "space";
  if (tag !== "INPUT") return "nothing";
  if (element.type === "checkbox" || element.type === "radio") return "space";
  // The time slider moves from output to output, as the page does.
  if (element.type === "range") return element.dataset?.["time"] === undefined ? "arrows" : "nothing";
  return "all";
}

export function listenToKeys(playback: Playback): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const kept = event.target instanceof HTMLElement ? keeps(event.target) : "nothing";
    const act = kept === "all" ? null : actOf(event, playback);
    if (act === null || kept === (event.key === " " ? "space" : "arrows")) return;
    event.preventDefault();
    act();
  });
}

function actOf(event: KeyboardEvent, playback: Playback): (() => void) | null {
  const steps = event.shiftKey ? MANY : 1;
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
  const rows = HELP.flatMap(([keys, words]) => [made("dt", {}, made("kbd", { text: keys })), made("dd", { text: words })]);
  return made("details", { class: "keys" }, made("summary", { text: "Keyboard" }), made("dl", {}, ...rows));
}
