// What the user has chosen to plot, and its text in a link.

export type Spread = "auto" | "bands" | "members" | "none";

export interface PlotChoices {
  /** Ids of the panels, from top to bottom; null for those of the motion's stage, or the default ones. */
  panels: string[] | null;
  /** Whether angles and their rates are in degrees. */
  degrees: boolean;
  /** Ids of the curves that are not drawn: "panel/curve". */
  hidden: string[];
  /** How the other members of an ensemble are drawn. */
  spread: Spread;
}

export const DEFAULT_CHOICES: PlotChoices = { panels: null, degrees: false, hidden: [], spread: "auto" };

const SPREADS: Spread[] = ["bands", "members", "none"];

/** "panels=angular_velocity,phase:position_x:position_y;degrees"; "" for the default. */
export function encodePlotChoices({ panels, degrees, hidden, spread }: PlotChoices): string {
  return [
    panels === null ? "" : `panels=${panels.map(escaped).join()}`,
    degrees ? "degrees" : "",
    hidden.length > 0 ? `hidden=${hidden.map(escaped).join()}` : "",
    spread === "auto" ? "" : spread,
  ].filter(Boolean).join(";");
}

/** What cannot be understood is the default; panels that do not exist are named by the plots. */
export function decodePlotChoices(text: string): PlotChoices {
  const found = { ...DEFAULT_CHOICES };
  for (const part of text.split(";")) {
    const [key, list] = part.split("=", 2);
    const ids = (list ?? "").split(",").filter(Boolean).map(unescaped);
    if (key === "panels") found.panels = ids;
    else if (key === "hidden") found.hidden = ids;
    else if (key === "degrees") found.degrees = true;
    else found.spread = SPREADS.find((one) => one === key) ?? found.spread;
  }
  return found;
}

/** Readable where possible: ":" and "/" separate the parts of an id. */
const escaped = (id: string): string => encodeURIComponent(id).replace(/%3A/g, ":").replace(/%2F/g, "/");

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The choices in one place; components that depend on them subscribe to changes. */
export class PlotSelection {
  now: PlotChoices = DEFAULT_CHOICES;
  private listeners: (() => void)[] = [];

  set(changed: Partial<PlotChoices>): void {
    this.now = { ...this.now, ...changed };
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}
