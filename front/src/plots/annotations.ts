// Lines drawn behind the curves: zero, the size of rounding, and the instants of events.

import type uPlot from "uplot";
import { readable, type Colours } from "../colors.ts";

/** Marks closer than this, in pixels, are drawn as one. */
const APART = 3;

function stroke(plot: uPlot, colour: string, dash: number[], from: [number, number], to: [number, number]): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = Math.max(1, Math.round(ratio));
  ctx.setLineDash(dash.map((length) => length * ratio));
  const half = (ctx.lineWidth % 2) / 2;
  ctx.beginPath();
  ctx.moveTo(Math.round(from[0]) + half, Math.round(from[1]) + half);
  ctx.lineTo(Math.round(to[0]) + half, Math.round(to[1]) + half);
  ctx.stroke();
  ctx.restore();
}

function across(plot: uPlot, value: number, colour: string, dash: number[]): number {
  const { left, width } = plot.bbox;
  const y = plot.valToPos(value, "y", true);
  stroke(plot, colour, dash, [left, y], [left + width, y]);
  return y;
}

/** Zero stands out from the other lines of the grid. */
export function zeroLine(plot: uPlot, colours: Colours): void {
  const { min, max } = plot.scales.y;
  if (min !== undefined && max !== undefined && min <= 0 && max >= 0) across(plot, 0, colours.muted + "80", []);
}

/** The distance between a number of 64 bits and the next: no computation does better. */
export function roundingLine(plot: uPlot, colours: Colours): void {
  across(plot, Math.log10(Number.EPSILON), colours.muted, [4, 3]);
}

/** Its name, over the curves, with an edge of paper. */
export function roundingName(plot: uPlot, colours: Colours, font: string): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const place: [string, number, number] = [
    "rounding",
    bbox.left + bbox.width - 2 * ratio,
    plot.valToPos(Math.log10(Number.EPSILON), "y", true) + 4 * ratio,
  ];
  ctx.save();
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * ratio));
  ctx.fillStyle = readable(colours.muted, colours);
  ctx.strokeStyle = colours.paper;
  ctx.lineWidth = 4 * ratio;
  ctx.lineJoin = "round";
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.strokeText(...place);
  ctx.fillText(...place);
  ctx.restore();
}

export function crossingMarks(plot: uPlot, times: readonly number[], colours: Colours): void {
  const { left, top, width, height } = plot.bbox;
  let last = -Infinity;
  for (const t of times) {
    const x = plot.valToPos(t, "x", true);
    if (x < left || x > left + width || x < last + APART * devicePixelRatio) continue;
    stroke(plot, colours.muted, [2, 3], [x, top], [x, top + height]);
    last = x;
  }
}
