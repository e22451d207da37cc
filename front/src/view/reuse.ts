// When a motion can be drawn by changing numbers in the scenes of another, and which shapes both have in common.

import type { Appearance, MotionRecord } from "../motion/record.ts";
import type { ViewContext } from "./context.ts";
import { hasStand } from "./pivot.ts";
import { hasSpring } from "./spring.ts";

/** Whether the scenes of one context can be reloaded with another. */
export function isSameStructure(before: ViewContext, after: ViewContext): boolean {
  const structure = ({ record, framing, watched, effects }: ViewContext): string =>
    JSON.stringify([
      [record.axis, record.bodies, record.hasPivot, record.contacts, record.patches.length > 0, hasSpring(record)],
      [record.appearances.map(({ kind }) => kind), Array.from(record.appearanceIndex)],
      [framing.hasGround, framing.displacements !== null, record.stage.floor, hasStand(record.stage), watched, effects],
    ]);
  return before.colors === after.colors && before.pinned === after.pinned && structure(before) === structure(after);
}

/** Use the shapes of an earlier record where they are the same, so that they are recognized as such. */
export function shareAppearances(record: MotionRecord, before: MotionRecord): void {
  record.appearances = record.appearances.map((one, i) => {
    const known = before.appearances[i];
    return known !== undefined && isSameShape(one, known) ? known : one;
  });
}

function isSameShape(a: Appearance, b: Appearance): boolean {
  const isSame = a.kind === b.kind && a.sentence === b.sentence && a.size === b.size;
  return isSame && isSameArray(a.axes, b.axes) && isSameArray(a.vertices, b.vertices) && isSameArray(a.faces, b.faces);
}

function isSameArray(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
