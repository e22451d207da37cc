// The toolbar above the plots: the current time, the marked events, the choice of panels, the unit of angles, zooming in
// time, and the color scale of a sweep.

import { colorOfShare } from "../colors.ts";
import { button, create, setText } from "../controls/dom.ts";
import { short, timeFormatter, unitText, withSpaces } from "../controls/format.ts";
import type { MotionRecord } from "../motion/record.ts";
import type { PlotChooser } from "./chooser.ts";
import type { PlotActions } from "./gestures.ts";
import type { PlotSelection } from "./plot-choices.ts";

const ZOOM_STEP = 0.5;

export class PlotToolbar {
  readonly element = create("div", { class: "plots-bar" });
  private readonly time = create("output", { attributes: { "aria-label": "Time of the plots", "aria-live": "off" } });
  private readonly timeUnit = create("span", { class: "plots-time-unit" });
  private readonly events = create("span", { class: "plots-events" });
  private readonly scale = create("div", { class: "plots-scale", hidden: true, attributes: { role: "img" } });
  private readonly reset: HTMLButtonElement;
  private readonly zoomOut: HTMLButtonElement;
  private formatTime = timeFormatter(0, 0);

  constructor(actions: PlotActions, chooser: PlotChooser, selection: PlotSelection) {
    const tool = (text: string, title: string, act: () => void): HTMLButtonElement =>
      button(text, { title, attributes: { "aria-label": title } }, act);
    const zoomIn = tool("+", "Zoom in on the time axis (Ctrl + wheel, or pinch)", () => actions.zoom(ZOOM_STEP, 0.5));
    this.zoomOut = tool("−", "Zoom out of the time axis", () => actions.zoom(1 / ZOOM_STEP, 0.5));
    this.reset = tool("reset", "Show the whole time range (double-click)", () => actions.reset());
    const degrees = tool("deg", "Angles in degrees", () => selection.set({ degrees: !selection.now.degrees }));
    const press = (): void => degrees.setAttribute("aria-pressed", String(selection.now.degrees));
    press();
    selection.onChange(press);
    const buttons = create("span", { class: "plots-zoom" }, degrees, this.reset, this.zoomOut, zoomIn);
    const tools = create("div", { class: "plots-tools" }, this.time, this.timeUnit, this.events, buttons, chooser.popover.element);
    this.element.append(tools, this.scale);
    this.setZoomed(false);
  }

  /** `timeUnit` describes the time axis if it is not in plain seconds. */
  show(formatTime: (t: number) => string, timeUnit: string, events: string[]): void {
    this.formatTime = formatTime;
    setText(this.timeUnit, timeUnit);
    this.timeUnit.hidden = timeUnit === "";
    setText(this.events, withSpaces(events.join(", ")));
    this.events.hidden = events.length === 0;
    this.events.title = `Dashed lines: ${this.events.textContent}`;
  }

  write(t: number): void {
    setText(this.time, `t = ${this.formatTime(t)}`);
  }

  /** Whether only part of the time range is shown. */
  setZoomed(isZoomed: boolean): void {
    this.reset.hidden = !isZoomed;
    this.zoomOut.disabled = !isZoomed;
  }

  /** The color scale of the members of a sweep. */
  showColors(record: MotionRecord | null, dark: boolean): void {
    const colors = record?.colors;
    this.scale.hidden = colors === undefined;
    if (colors === undefined) return;
    const unit = unitText(colors.unit);
    const [low, high] = [Math.min(...colors.values), Math.max(...colors.values)].map((x) => short(x));
    const bar = create("span");
    bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((share) => colorOfShare(share, dark)).join()})`;
    this.scale.setAttribute("aria-label", `Color: ${withSpaces(colors.knob)} from ${low} to ${high} ${unit}`.trim());
    this.scale.replaceChildren(withSpaces(colors.knob), " ", low, bar, `${high} ${unit}`.trim());
  }
}
