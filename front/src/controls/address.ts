// The page's address: the model is its last part, the knobs and the run are its query.  fx and token belong to the page
// itself.

import type { Parameter } from "../transport/protocol.ts";

const OWN = ["fx", "token"];
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

/** The knobs that an address asks for; what it asks for in vain is said in sentences. */
export function knobsOf(query: string, model: string, parameters: Parameter[]): { values: Values; complaints: string[] } {
  const known = new Set(parameters.map((p) => p.name));
  const values: Values = {};
  const complaints: string[] = [];
  for (const [name, text] of new URLSearchParams(query)) {
    if (name === RUN || OWN.includes(name)) continue;
    if (!known.has(name)) complaints.push(`The address asks for "${name}", but ${model} has no such knob; it is left out.`);
    else if (text.trim() === "" || !Number.isFinite(Number(text)))
      complaints.push(`The address asks for ${name} = "${text}", which is no number; the default stands instead.`);
    else values[name] = Number(text);
  }
  return { values, complaints };
}

/** Which of a model's scenarios an address asks for; "" for the first. */
export const runOf = (query: string): string => new URLSearchParams(query).get(RUN) ?? "";

/** Said where the run that is wanted is not among those that a model has. */
export function noSuchRun(run: string, model: string, runs: string[]): string {
  const has = runs.length > 1 ? `it has ${runs.join(", ")}; the first of them is shown` : "what is shown is all there is";
  return `There is no run "${run}" of ${model}: ${has}.`;
}

/** What a page shows: a model with these knobs, and which of its scenarios; "" for the first. */
export interface State {
  model: string;
  parameters: Parameter[];
  values: Values;
  run: string;
}

/** The path and query that restore a state; knobs at their defaults are not written. */
export function addressOf(path: string, query: string, { model, parameters, values, run }: State): string {
  const written = new URLSearchParams();
  for (const { name, default: usual } of parameters)
    if (name in values && values[name] !== usual) written.set(name, String(values[name]));
  if (run !== "") written.set(RUN, run);
  const before = new URLSearchParams(query);
  for (const name of OWN) {
    const kept = before.get(name);
    if (kept !== null) written.set(name, kept);
  }
  const text = written.toString();
  return path.slice(0, path.lastIndexOf("/") + 1) + encodeURIComponent(model) + (text === "" ? "" : `?${text}`);
}
