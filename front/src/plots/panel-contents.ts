// The contents of each plot panel, independent of drawing.

import { isSinglePrecision, type MotionRecord } from "../motion/record.ts";
import type { CsvColumn } from "./csv.ts";
import { LEVELS } from "./bands.ts";
import { familiesOf, findQuantity, type Family, type Quantity } from "./quantities.ts";
import { decimalsFor, powerFor } from "./number-format.ts";
import { extent, largestOf, logRangeOf, rangeOf } from "./ranges.ts";
import { bandsOf, drawnMembers, shareOfColor } from "./spread.ts";
import { phaseOf, type Strip } from "./panel-list.ts";

export interface Curve extends Quantity {
  /** Divided by the power of ten; on a logarithmic axis, decadic logarithms. */
  values: Float64Array;
  breaks: ReadonlySet<number> | undefined;
  isHidden: boolean;
}

/** A curve in the background: of another member, or of the pinned run. */
export interface FaintLine {
  /** A key of Colors, or a fraction of the color scale of a sweep. */
  color: string | number;
  values: Float64Array;
  breaks: ReadonlySet<number> | undefined;
}

export interface PanelContents {
  key: string;
  /** Of the panel that this strip belongs to. */
  id: string;
  heading: string;
  unit: string;
  power: number;
  decimals: number;
  curves: Curve[];
  /** Other members of the ensemble. */
  members: FaintLine[];
  /** One array per level for each visible curve. */
  bands: { color: string; levels: Float64Array[] }[];
  pinned: { time: Float64Array; lines: FaintLine[] } | null;
  range: [number, number];
  isLogarithmic: boolean;
  isLow: boolean;
  note: string;
  /** The same numbers, full and without a power of ten. */
  csv(): CsvColumn[];
}

/** How contents are to be shown. */
export interface Look {
  degrees: boolean;
  hidden: ReadonlySet<string>;
  spread: "bands" | "members" | "none";
  pinned: MotionRecord | null;
}

const DEGREES = 180 / Math.PI;

/** Factor and unit of a family. */
function unitOf({ isAngle, unit }: Family, degrees: boolean): { factor: number; unit: string } {
  return isAngle && degrees ? { factor: DEGREES, unit: unit === "rad" ? "°" : "°/s" } : { factor: 1, unit };
}

const times = (values: Float64Array, factor: number): Float64Array => (factor === 1 ? values : values.map((x) => x * factor));

/** The contents of one strip. */
export function stripContents(strip: Strip, record: MotionRecord, watched: number, look: Look): PanelContents {
  const { family, places, isLogarithmic } = strip;
  const { factor, unit } = unitOf(family, look.degrees);
  const isHidden = (place: number): boolean => look.hidden.has(hiddenId(strip.id, family.quantities[place]));
  const visible = places.filter((place) => !isHidden(place));
  const mine = family.columns(watched);
  const spread = family.isPerBody ? look.spread : "none";
  const bands = spread === "bands" ? bandsOf(record, family) : [];
  const shown = bands.length === 0 ? [] : visible.map((place) => ({ color: family.quantities[place].color, levels: bands[place] }));
  const members = spread !== "members" ? [] : drawnMembers(record, watched);
  const theirs = members.flatMap((member) => linesOf(family, member, visible, shareOfColor(record, member)));
  const pinned = pinnedLines(strip, look, visible, watched);
  const all = [...visible.map((place) => mine.values[place]), ...shown.flatMap((one) => one.levels), ...[...theirs, ...(pinned?.lines ?? [])].map((one) => one.values)];
  const largest = factor * largestOf(all);
  const power = isLogarithmic ? 0 : powerFor(largest);
  const scale = (values: Float64Array): Float64Array => (isLogarithmic ? values.map(Math.log10) : times(values, factor / 10 ** power));
  const scaled = <T extends FaintLine>(one: T): T => ({ ...one, values: scale(one.values) });
  const curves = places.map((place) => ({
    ...family.quantities[place],
    values: scale(mine.values[place]),
    breaks: mine.breaks?.[place],
    isHidden: isHidden(place),
  }));
  const background = {
    members: theirs.map(scaled),
    bands: shown.map((one) => ({ ...one, levels: one.levels.map(scale) })),
    pinned: pinned === null ? null : { ...pinned, lines: pinned.lines.map(scaled) },
  };
  const inFront = curves.filter((one) => !one.isHidden).map((one) => one.values);
  const behind = [
    ...background.members.map((one) => one.values),
    ...background.bands.flatMap((one) => one.levels),
    ...(background.pinned?.lines ?? []).map((one) => one.values),
  ];
  return {
    ...{ key: strip.key, id: strip.id, heading: strip.heading, unit, power, curves, ...background, isLogarithmic, isLow: strip.isLow },
    decimals: isLogarithmic ? 0 : decimalsFor(largest / 10 ** power),
    range: isLogarithmic ? logRangeOf(inFront) : rangeOf(inFront, behind),
    note: strip.note,
    csv: () => {
      const isSingle = family.sources.some(isSinglePrecision);
      const column = (name: string, values: Float64Array): CsvColumn => ({ name, unit, isSingle, values: times(values, factor) });
      return [
        { name: "time", unit: "s", isSingle: isSinglePrecision(record.time), values: record.time },
        ...places.map((place) => column(family.quantities[place].id, mine.values[place])),
        ...(bands.length === 0 ? [] : places).flatMap((place) =>
          bands[place].map((values, k) => column(`${family.quantities[place].id}_q${String(Math.round(100 * LEVELS[k])).padStart(2, "0")}`, values)),
        ),
      ];
    },
  };
}

export const hiddenId = (panel: string, { id }: Quantity): string => `${panel}/${id}`;

const linesOf = (family: Family, body: number, places: number[], share: number | null = null): FaintLine[] => {
  const { values, breaks } = family.columns(body);
  return places.map((place) => ({ color: share ?? family.quantities[place].color, values: values[place], breaks: breaks?.[place] }));
};

/** The same quantities of the pinned run. */
function pinnedLines(strip: Strip, { pinned }: Look, visible: number[], watched: number): PanelContents["pinned"] {
  // The drifts of two runs are rounding, and hide each other.
  if (pinned === null || strip.isLogarithmic) return null;
  const lines = visible.flatMap((place) => {
    const found = findQuantity(pinned, strip.family.quantities[place].id);
    return found === null ? [] : linesOf(found.family, Math.min(watched, pinned.bodies - 1), [found.place]);
  });
  return { time: pinned.time, lines };
}

/** One of the two axes of a phase plot. */
export interface PhaseAxis extends Quantity {
  unit: string;
  power: number;
  decimals: number;
  values: Float64Array;
  range: [number, number];
}

export interface PhaseLine {
  color: string | number;
  x: Float64Array;
  y: Float64Array;
  breaks: ReadonlySet<number> | undefined;
}

/** One quantity against another. */
export interface PhaseContents {
  key: string;
  x: PhaseAxis;
  y: PhaseAxis;
  breaks: ReadonlySet<number> | undefined;
  members: PhaseLine[];
  pinned: PhaseLine[];
  /** Whether both axes have the same scale. */
  isEqual: boolean;
  csv(): CsvColumn[];
}

export function phaseContents(id: string, record: MotionRecord, watched: number, look: Look): PhaseContents {
  const ids = phaseOf(id)!;
  const found = [ids.x, ids.y].map((one) => findQuantity(record, one)!);
  const members = look.spread === "none" ? [] : drawnMembers(record, watched);
  const pinnedFound = [ids.x, ids.y].map((one) => (look.pinned === null ? null : findQuantity(look.pinned, one)));
  const columns = found.map(({ family, place }, i) => {
    const column = (body: number): Float64Array => family.columns(body).values[place];
    const theirs = members.map((member) => column(member));
    const ghost = pinnedFound[i] === null ? [] : [pinnedFound[i].family.columns(Math.min(watched, look.pinned!.bodies - 1)).values[pinnedFound[i].place]];
    return { mine: column(watched), theirs, ghost, ...unitOf(family, look.degrees) };
  });
  const isEqual = found.every(({ family }) => family.unit === "m");
  const sizes = columns.map(({ mine, theirs, ghost, factor }) => factor * largestOf([mine, ...theirs, ...ghost]));
  // With equal scales, both have the same power of ten.
  const powers = sizes.map((size) => powerFor(isEqual ? Math.max(...sizes) : size));
  const axis = (i: number): PhaseAxis => {
    const { mine, theirs, ghost, factor, unit } = columns[i];
    const scale = factor / 10 ** powers[i];
    const [low, high] = extent([mine, ...theirs, ...ghost]).map((x) => x * scale);
    const middle = Number.isNaN(low) ? 0 : (low + high) / 2;
    // A constant is in the middle of a range of its own size.
    const half = Math.max(Number.isNaN(low) ? 0 : 0.54 * (high - low), 1e-6 * Math.abs(middle)) || 1;
    return {
      ...found[i].family.quantities[found[i].place],
      ...{ unit, power: powers[i], decimals: decimalsFor(sizes[i] / 10 ** powers[i]), values: times(mine, scale), range: [middle - half, middle + half] },
    };
  };
  const breaksOf = (body: number): ReadonlySet<number> | undefined => union(found.map(({ family, place }) => family.columns(body).breaks?.[place]));
  const line = (color: string | number, of: (i: number) => Float64Array, breaks: ReadonlySet<number> | undefined): PhaseLine => ({
    ...{ color, breaks, x: times(of(0), columns[0].factor / 10 ** powers[0]), y: times(of(1), columns[1].factor / 10 ** powers[1]) },
  });
  return {
    key: id,
    x: axis(0),
    y: axis(1),
    breaks: breaksOf(watched),
    members: members.map((member, k) => line(shareOfColor(record, member) ?? "muted", (i) => columns[i].theirs[k], breaksOf(member))),
    pinned: columns.every((one) => one.ghost.length > 0) ? [line("ink", (i) => columns[i].ghost[0], undefined)] : [],
    isEqual,
    csv: () => [
      { name: "time", unit: "s", isSingle: isSinglePrecision(record.time), values: record.time },
      ...found.map(({ family, place }, i) => ({
        name: family.quantities[place].id,
        unit: columns[i].unit,
        isSingle: family.sources.some(isSinglePrecision),
        values: times(columns[i].mine, columns[i].factor),
      })),
    ],
  };
}

const union = (sets: (ReadonlySet<number> | undefined)[]): ReadonlySet<number> | undefined =>
  sets.every((one) => one === undefined) ? undefined : new Set(sets.flatMap((one) => [...(one ?? [])]));

/** The quantities of a record for the lists of a phase plot, by heading. */
export const quantityGroups = (record: MotionRecord): { heading: string; quantities: Quantity[] }[] =>
  [...familiesOf(record).entries()]
    .filter(([name]) => name !== "angle_about_vertical")
    .map(([, { heading, quantities }]) => ({ heading, quantities }));
