// Lines drawn behind the curves: zero, the rounding level, and the times of events.

import type uPlot from "uplot";
import { readable, type Colors } from "../colors.ts";

/** Marks closer than this, in pixels, are drawn as one. */
const APART = 3;

function stroke(plot: uPlot, color: string, dash: number[], from: [number, number], to: [number, number]): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = Math.max(1, Math.round(ratio));
  ctx.setLineDash(dash.map((length) => length * ratio));
  const half = (ctx.lineWidth % 2) / 2;
  ctx.beginPath();
  ctx.moveTo(Math.round(from[0]) + half, Math.round(from[1]) + half);
  ctx.lineTo(Math.round(to[0]) + half, Math.round(to[1]) + half);
  ctx.stroke();
  ctx.restore();
}

function horizontalLine(plot: uPlot, value: number, color: string, dash: number[]): number {
  const { left, width } = plot.bbox;
  const y = plot.valToPos(value, "y", true);
  stroke(plot, color, dash, [left, y], [left + width, y]);
  return y;
}

/** Emphasize zero. */
export function zeroLine(plot: uPlot, colors: Colors): void {
  const { min, max } = plot.scales.y;
  if (min !== undefined && max !== undefined && min <= 0 && max >= 0) horizontalLine(plot, 0, colors.muted + "80", []);
}

/** The rounding level of double precision. */
export function roundingLine(plot: uPlot, colors: Colors): void {
  horizontalLine(plot, Math.log10(Number.EPSILON), colors.muted, [4, 3]);
}

/** The label of the rounding level, drawn over the curves with a halo. */
export function roundingLabel(plot: uPlot, colors: Colors, font: string): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const place: [string, number, number] = [
    "rounding",
    bbox.left + bbox.width - 2 * ratio,
    plot.valToPos(Math.log10(Number.EPSILON), "y", true) + 4 * ratio,
  ];
  ctx.save();
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * ratio));
  ctx.fillStyle = readable(colors.muted, colors);
  ctx.strokeStyle = colors.paper;
  ctx.lineWidth = 4 * ratio;
  ctx.lineJoin = "round";
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.strokeText(...place);
  ctx.fillText(...place);
  ctx.restore();
}

export function eventMarks(plot: uPlot, times: readonly number[], colors: Colors): void {
  const { left, top, width, height } = plot.bbox;
  let last = -Infinity;
  for (const t of times) {
    const x = plot.valToPos(t, "x", true);
    if (x < left || x > left + width || x < last + APART * devicePixelRatio) continue;
    stroke(plot, colors.muted, [2, 3], [x, top], [x, top + height]);
    last = x;
  }
}
