// Messages between the page and the server; src/polhode/lab/session.py is the other side.  Text messages are JSON; a
// binary message is a motion (motion/record.ts) whose header contains the `id` of the request that it answers.

export interface Parameter {
  name: string;
  unit: string;
  default: number;
  low: number;
  high: number;
  help: string;
  /** What the page calls it; "" for its name. */
  label?: string;
}

/** A step to try; parameters that it does not name get their defaults.  src/polhode/gallery/lesson.py describes it. */
export interface TryThis {
  text: string;
  values: Record<string, number>;
  /** In s; null for the start. */
  time: number | null;
  run: string;
  switches: string[];
  off: string[];
  play: boolean;
}

export interface Lesson {
  formulas: { mathml: string; words: string }[];
  steps: TryThis[];
  references: { text: string; doi: string }[];
}

/** What is said about a model. */
export interface About {
  explanation: string;
  source: string;
  lesson: Lesson | null;
}

export interface Model extends About {
  name: string;
  title: string;
  theme: string;
  parameters: Parameter[];
  /** Whether the model has a figure of its own. */
  hasFigure: boolean;
  /** Place among the featured models, from 1; 0 for the others. */
  rank: number;
  /** File name of its picture; "" if there is none. */
  picture: string;
}

export interface ReferenceCheck {
  label: string;
  unit: string;
  found: number;
  expected: number;
  tolerance: number;
  difference: number;
  holds: boolean;
  source: string;
}

/** Something to take away that the server makes; `model` is "" for a motion that is viewed. */
export type TakeRequest = { model: string; values: Record<string, number>; run: string } & (
  /** `live`: a page that computes the motion itself, with the knobs of the model. */
  | { type: "page"; live: boolean }
  | { type: "csv" | "figure" }
  | { type: "text"; kind: "python" | "toml" }
);

export interface Taken {
  type: "taken" | "text";
  id: number;
  /** Of the file. */
  name?: string;
  mime?: string;
  text?: string;
  /** In base64. */
  data?: string;
}

export type ToServer =
  | (TakeRequest & { id: number })
  /** `quick`, while a knob is dragged: only the scenario `run` ("" for the first), and no checks. */
  | { type: "run"; id: number; model: string; values: Record<string, number>; quick?: boolean; run?: string }
  /** Run the model at several values of one knob; answered by an ensemble. */
  | { type: "sweep"; id: number; model: string; values: Record<string, number>; run: string; knob: string; low: number; high: number; members: number }
  /** Send the motion of another scenario of the last run. */
  | { type: "motion"; id: number; run: string }
  /** Write a run of a model as a Python script or a scenario file. */
  | { type: "text"; id: number; kind: "python" | "toml"; model: string; values: Record<string, number>; run: string }
  | { type: "cancel"; id: number };

export type FromServer =
  | Taken
  /**
   * Sent first: the gallery in order (empty when a single motion is viewed, which follows as a binary message); and
   * again when own models have changed, with their names.
   */
  | { type: "hello"; version: string; themes: string[]; models: Model[]; changed?: string[] }
  | { type: "progress"; id: number; done: number; text: string }
  | { type: "checks"; id: number; checks: ReferenceCheck[] }
  /** The request cannot be answered; `parameter` names the invalid one, if any. */
  | { type: "refused"; id: number; sentence: string; parameter: string | null }
  | { type: "cancelled"; id: number };

/** Contents of <script id="polhode-options" type="application/json"> in the page. */
export interface PageOptions {
  mode: "live" | "file";
  version: string;
  /** Initial model of a live page; "" for the first one, or when a single motion is viewed. */
  model: string;
  title: string;
  /** In a file that was made from a model: what is said about it. */
  about?: About;
  /** Only the views, for pictures and films: both or one of them, with a caption, of this body. */
  only?: "both" | "space" | "body";
  caption?: string;
  watched?: number;
}
