// The page's URL: the model is the last part of the path, parameter values and the run are in the query.  `fx` and
// `token` belong to the page itself.

import type { Parameter } from "../transport/protocol.ts";

const PAGE_KEYS = ["fx", "token"];
const RUN = "run";

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
  const values: Values = {};
  const complaints: string[] = [];
  for (const [name, text] of new URLSearchParams(query)) {
    if (name === RUN || PAGE_KEYS.includes(name)) continue;
    if (!known.has(name)) complaints.push(`The URL sets "${name}", but ${model} has no such parameter; it is ignored.`);
    else if (text.trim() === "" || !Number.isFinite(Number(text)))
      complaints.push(`The URL sets ${name} = "${text}", which is not a number; the default is used instead.`);
    else values[name] = Number(text);
  }
  return { values, complaints };
}

/** Name of the scenario in a URL; "" for the first. */
export const runOf = (query: string): string => new URLSearchParams(query).get(RUN) ?? "";

/** The sentence about a run that the model does not have. */
export function noSuchRun(run: string, model: string, runs: string[]): string {
  const has = runs.length > 1 ? `the runs are ${runs.join(", ")}, and the first one is shown` : "it has only the one shown";
  return `${model} has no run "${run}": ${has}.`;
}

/** What the page shows: a model, its parameter values, and the scenario ("" for the first). */
export interface State {
  model: string;
  parameters: Parameter[];
  values: Values;
  run: string;
}

/** The path and query that restore a state; default values are omitted. */
export function addressOf(path: string, query: string, { model, parameters, values, run }: State): string {
  const written = new URLSearchParams();
  for (const { name, default: defaultValue } of parameters)
    if (name in values && values[name] !== defaultValue) written.set(name, String(values[name]));
  if (run !== "") written.set(RUN, run);
  const before = new URLSearchParams(query);
  for (const name of PAGE_KEYS) {
    const value = before.get(name);
    if (value !== null) written.set(name, value);
  }
  const text = written.toString();
  return path.slice(0, path.lastIndexOf("/") + 1) + encodeURIComponent(model) + (text === "" ? "" : `?${text}`);
}
