// The page's URL: the model is the last part of the path; parameter values, the run and what is seen (time, camera,
// switches, ...) are in the query, or after # in a file.  `fx` and `token` belong to the page itself.

import type { Parameter } from "../transport/protocol.ts";

const PAGE_KEYS = ["fx", "token"];
const RUN = "run";
/** What is seen; a parameter of the same name has precedence. */
export const VIEW_KEYS = ["t", "cam", "show", "point", "watch", "panes", "plots", "tab"] as const;
export type ViewKey = (typeof VIEW_KEYS)[number];
/** Key and text of each part of what is seen. */
export type ViewPairs = [ViewKey, string][];

export type Values = Record<string, number>;

export const modelOf = (path: string): string => {
  const last = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
};

/** The parameter values in a URL, and a sentence for each that cannot be used. */
export function valuesOf(query: string, model: string, parameters: Parameter[]): { values: Values; complaints: string[] } {
  const known = new Set(parameters.map((p) => p.name));
  const others: readonly string[] = [RUN, ...PAGE_KEYS, ...VIEW_KEYS];
  const values: Values = {};
  const complaints: string[] = [];
  for (const [name, text] of new URLSearchParams(query)) {
    if (!known.has(name)) {
      if (!others.includes(name)) complaints.push(`The URL sets "${name}", but ${model} has no such parameter; it is ignored.`);
    } else if (text.trim() === "" || !Number.isFinite(Number(text)))
      complaints.push(`The URL sets ${name} = "${text}", which is not a number; the default is used instead.`);
    else values[name] = Number(text);
  }
  return { values, complaints };
}

/** Name of the scenario in a URL; "" for the first. */
export const runOf = (query: string): string => new URLSearchParams(query).get(RUN) ?? "";

/** What is seen, as a URL says; names of parameters are left out. */
export function viewOf(query: string, parameters: Parameter[]): ViewPairs {
  const found = new URLSearchParams(query);
  const free = VIEW_KEYS.filter((key) => parameters.every(({ name }) => name !== key));
  return free.flatMap((key): ViewPairs => (found.has(key) ? [[key, found.get(key)!]] : []));
}

/** The sentence about a run that the model does not have. */
export function noSuchRun(run: string, model: string, runs: string[]): string {
  const has = runs.length > 1 ? `the runs are ${runs.join(", ")}, and the first one is shown` : "it has only the one shown";
  return `${model} has no run "${run}": ${has}.`;
}

/** What the page shows: a model, its parameter values, the scenario ("" for the first), and what is seen of it. */
export interface State {
  model: string;
  parameters: Parameter[];
  values: Values;
  run: string;
  view?: ViewPairs;
}

/** The path and query that restore a state; default values are omitted. */
export function addressOf(path: string, query: string, { model, parameters, values, run, view = [] }: State): string {
  const pairs: [string, string][] = [];
  for (const { name, default: defaultValue } of parameters)
    if (name in values && values[name] !== defaultValue) pairs.push([name, String(values[name])]);
  if (run !== "") pairs.push([RUN, run]);
  pairs.push(...view.filter(([key]) => parameters.every(({ name }) => name !== key)));
  const before = new URLSearchParams(query);
  for (const name of PAGE_KEYS) {
    const value = before.get(name);
    if (value !== null) pairs.push([name, value]);
  }
  const text = writeQuery(pairs);
  return path.slice(0, path.lastIndexOf("/") + 1) + encodeURIComponent(model) + (text === "" ? "" : `?${text}`);
}

/** Pairs as a query, readable where possible. */
export const writeQuery = (pairs: [string, string][]): string =>
  pairs.map(([key, text]) => `${encodeURIComponent(key)}=${readable(text)}`).join("&");

const PLAIN = /%(2C|3A|2F|3B|3D|40)/g;
const readable = (text: string): string => encodeURIComponent(text).replace(PLAIN, (code) => decodeURIComponent(code)).replaceAll("%20", "+");
