// What the page and the server say to each other.  src/polhode/lab/session.py is the other side.
// Texts are JSON; a binary message is a motion (motion/record.ts) whose header's `id` says which question it answers.

export interface Parameter {
  name: string;
  unit: string;
  default: number;
  low: number;
  high: number;
  help: string;
}

export interface Model {
  name: string;
  title: string;
  theme: string;
  source: string;
  explanation: string;
  parameters: Parameter[];
}

export interface Shown {
  label: string;
  unit: string;
  found: number;
  expected: number;
  tolerance: number;
  difference: number;
  holds: boolean;
  source: string;
}

export type ToServer =
  | { type: "run"; id: number; model: string; values: Record<string, number> }
  /** Another of the scenarios that the last run of a model has computed. */
  | { type: "look"; id: number; run: string }
  | { type: "cancel"; id: number };

export type FromServer =
  /** First of all: the gallery in order (empty where one motion is viewed, which follows as a binary message). */
  | { type: "hello"; version: string; themes: string[]; models: Model[] }
  | { type: "progress"; id: number; done: number; words: string }
  | { type: "numbers"; id: number; numbers: Shown[] }
  /** A sentence; `parameter` names the knob that is wrong, if one is. */
  | { type: "refused"; id: number; sentence: string; parameter: string | null }
  | { type: "cancelled"; id: number };

/** In the page, <script id="polhode-door" type="application/json">. */
export interface Door {
  kind: "live" | "file";
  version: string;
  /** Of a live page: the model that it opens with; "" for the first, or for a motion that is viewed. */
  model: string;
  /** What the gallery's link opened with is checked by the server; a token is in the address. */
  title: string;
}
