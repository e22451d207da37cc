// The colors of the members of a sweep, by the value of the knob, in a corner of the space view.

import { colorOfShare } from "../colors.ts";
import { create } from "../controls/dom.ts";
import { short, unitText, withSpaces, withUnit } from "../controls/format.ts";
import type { MotionRecord } from "../motion/record.ts";

/** Color of a member of a sweep; null for other motions. */
export function memberColor(record: MotionRecord, member: number, dark: boolean): string | null {
  const values = record.colors?.values;
  if (values === undefined) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return colorOfShare(high > low ? (values[member] - low) / (high - low) : 0.5, dark);
}

/** Name of a member: the value of the swept knob, or its number. */
export function memberName(record: MotionRecord, member: number): string {
  const { colors } = record;
  return colors ? `${withSpaces(colors.knob)} ${withUnit(short(colors.values[member]), colors.unit)}` : `member ${record.members[member]}`;
}

export class ColorScale {
  readonly element = create("div", { class: "view-scale", hidden: true, attributes: { role: "img" } });

  show({ colors }: MotionRecord, dark: boolean): void {
    this.element.hidden = colors === undefined;
    if (colors === undefined) return;
    const [low, high] = [short(Math.min(...colors.values)), short(Math.max(...colors.values))];
    const bar = create("span");
    bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((share) => colorOfShare(share, dark)).join()})`;
    const [name, unit] = [withSpaces(colors.knob), unitText(colors.unit)];
    this.element.setAttribute("aria-label", `Color: ${name} from ${low} to ${high} ${unit}`.trim());
    this.element.replaceChildren(name, " ", low, bar, `${high} ${unit}`.trim());
  }
}
