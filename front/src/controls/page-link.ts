// What is seen of a motion, as text in a link: time, camera, switches, watched body, and whatever other components add.

import type { Playback } from "../motion/playback.ts";
import type { MotionRecord } from "../motion/record.ts";
import type { Vec3 } from "../motion/vectors.ts";
import { decodePlotChoices, encodePlotChoices, type PlotSelection } from "../plots/plot-choices.ts";
import type { CameraState } from "../view/orbit.ts";
import type { PageCamera } from "../view/views.ts";
import type { Choices, Switch } from "../options.ts";
import type { ViewKey, ViewPairs } from "./address.ts";

/** The address is written at most this often, in ms: browsers limit it. */
const WRITE_EVERY = 400;

/** A part of what is seen. */
export interface LinkPart {
  key: ViewKey;
  /** The text in a link; "" for what is seen at first. */
  write(): string;
  /** Restore what a link says; returns a sentence if that is impossible, otherwise "". */
  read(text: string): string;
}

export class PageLink {
  private readonly parts: LinkPart[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;

  /** `changed` writes the address. */
  constructor(public changed: () => void = () => undefined) {}

  add(part: LinkPart): void {
    this.parts.push(part);
  }

  get pairs(): ViewPairs {
    return this.parts.map((part): [ViewKey, string] => [part.key, part.write()]).filter(([, text]) => text !== "");
  }

  /** Restore what a link says; returns a sentence for each part that is wrong. */
  restore(pairs: ViewPairs): string[] {
    const given = new Map(pairs);
    const complaints = this.parts.map(({ key, read }) => (given.has(key) ? read(given.get(key)!) : ""));
    return complaints.filter(Boolean);
  }

  /** Something has changed: write the address soon. */
  touch(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.changed();
    }, WRITE_EVERY);
  }
}

/** Time in s. */
export function timePart(playback: Playback): LinkPart {
  return {
    key: "t",
    write: () => (playback.t === playback.first ? "" : String(Number(playback.t.toPrecision(9)))),
    read: (text) => {
      const t = Number(text);
      if (text.trim() === "" || !Number.isFinite(t)) return `The URL sets t = "${text}", which is not a time in s; it is ignored.`;
      playback.seek(t);
      const slack = 1e-6 * (playback.last - playback.first);
      if (t >= playback.first - slack && t <= playback.last + slack) return "";
      return `The URL sets t = ${text} s, but the motion lasts from ${playback.first} to ${playback.last} s; the nearest time is shown.`;
    },
  };
}

/** Something with cameras: one for both views, or another for the body's. */
export interface HasCamera {
  cameraState(): PageCamera;
  /** Where it is at first. */
  readonly cameraHome: CameraState;
  setCamera(state: PageCamera): void;
}

const rounded = (x: number): number => Number(x.toFixed(3)) || 0;

function writeCamera({ azimuthDeg, elevationDeg, zoom, pan }: CameraState): string {
  const isCentered = pan.every((x) => rounded(x) === 0);
  return [azimuthDeg, elevationDeg, zoom, ...(isCentered ? [] : pan)].map(rounded).join();
}

/** "azimuth,elevation,zoom", in degrees, with the displacement of the center in half widths if there is one; or null. */
function readCamera(text: string): CameraState | null {
  const numbers = text.split(",").map((one) => (one.trim() === "" ? NaN : Number(one)));
  if (![3, 6].includes(numbers.length) || !numbers.every(Number.isFinite) || numbers[2] <= 0) return null;
  const [azimuthDeg, elevationDeg, zoom, x = 0, y = 0, z = 0] = numbers;
  return { azimuthDeg, elevationDeg, zoom, pan: [x, y, z] };
}

/** The camera; the body's own follows after a semicolon. */
export function cameraPart(views: HasCamera): LinkPart {
  return {
    key: "cam",
    write: () => {
      const { body, ...space } = views.cameraState();
      const text = [space, ...(body ? [body] : [])].map(writeCamera).join(";");
      return text === writeCamera(views.cameraHome) ? "" : text;
    },
    read: (text) => {
      const cameras = text.split(";").map(readCamera);
      const [space, body] = cameras;
      if (!space || body === null || cameras.length > 2)
        return `The URL sets cam = "${text}", which is not "azimuth,elevation,zoom" in degrees; it is ignored.`;
      views.setCamera(body ? { ...space, body } : space);
      return "";
    },
  };
}

/** Which views are shown. */
export function panesPart(panes: { readonly shown: string; show(shown: string): boolean }): LinkPart {
  return {
    key: "panes",
    write: () => (panes.shown === "both" ? "" : panes.shown),
    read: (text) => (panes.show(text) ? "" : `The URL shows the views "${text}"; choose both, space or body.`),
  };
}

/** Switches that differ from those at first: "poinsot,-L" turns one on and one off. */
export function switchesPart(choices: Choices, before: () => Readonly<Record<Switch, boolean>>): LinkPart {
  const names = switchNames(choices);
  return {
    key: "show",
    write: () => {
      const first = before();
      return names.filter((name) => choices.now[name] !== first[name]).map((name) => (choices.now[name] ? name : `-${name}`)).join();
    },
    read: (text) => {
      const wrong: string[] = [];
      const changed: Partial<Record<Switch, boolean>> = {};
      for (const word of text.split(",").filter(Boolean)) {
        const name = word.replace(/^-/, "") as Switch;
        if (names.includes(name)) changed[name] = word === name;
        else wrong.push(word);
      }
      choices.set(changed);
      return wrong.length === 0 ? "" : `The URL shows "${wrong.join(", ")}", which is not a switch of this page; known are ${names.join(", ")}.`;
    },
  };
}

/** Names of the switches; the theme is the reader's own. */
export const switchNames = (choices: Choices): Switch[] =>
  (Object.keys(choices.now) as (keyof Choices["now"])[]).filter((key): key is Switch => typeof choices.now[key] === "boolean" && key !== "dark");

/** What is plotted. */
export function plotsPart(selection: PlotSelection): LinkPart {
  return {
    key: "plots",
    write: () => encodePlotChoices(selection.now),
    read: (text) => {
      selection.set(decodePlotChoices(text));
      return "";
    },
  };
}

/** The body or member that is watched, by its number. */
export function watchPart(choices: Choices, record: () => MotionRecord | null): LinkPart {
  return {
    key: "watch",
    write: () => (choices.now.watched === 0 ? "" : String(record()?.members[choices.now.watched] ?? choices.now.watched)),
    read: (text) => {
      const members = record()?.members ?? [];
      const at = members.indexOf(Number(text));
      const what = record()?.axis ?? "body";
      if (text.trim() === "" || at < 0) return `The URL watches ${what} "${text}", which is not shown; the first one is watched.`;
      choices.set({ watched: at });
      return "";
    },
  };
}

/** The point of the body whose trail is drawn. */
export function pointPart(choices: Choices): LinkPart {
  return {
    key: "point",
    write: () => (choices.now.trailPoint ? choices.now.point.map((x) => Number(x.toPrecision(6))).join() : ""),
    read: (text) => {
      const point = text.split(",").map((one) => (one.trim() === "" ? NaN : Number(one)));
      if (point.length !== 3 || !point.every(Number.isFinite)) return `The URL sets point = "${text}", which is not "x,y,z" in m; it is ignored.`;
      choices.set({ point: point as Vec3 });
      return "";
    },
  };
}
