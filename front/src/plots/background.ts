// Lines and bands that are drawn behind the curves: other members, quantiles, and the pinned run.

import type uPlot from "uplot";
import { colorOfShare, colorsOf, type Colors } from "../colors.ts";

/** The color of a curve: a key of Colors, or a fraction of the color scale of a sweep. */
export function cssColor(color: string | number, dark: boolean): string {
  if (typeof color === "number") return colorOfShare(color, dark);
  const colors = colorsOf(dark);
  return color in colors ? colors[color as keyof Colors] : color;
}

/** From numbers to pixels of the canvas. */
export interface Mapping {
  x(value: number): number;
  y(value: number): number;
}

export function mappingOf({ scales, bbox }: uPlot): Mapping {
  const [x0, x1, y0, y1] = [scales.x.min!, scales.x.max!, scales.y.min!, scales.y.max!];
  const [across, up] = [bbox.width / (x1 - x0), bbox.height / (y1 - y0)];
  return { x: (value) => bbox.left + (value - x0) * across, y: (value) => bbox.top + (y1 - value) * up };
}

export interface LineStyle {
  color: string;
  width: number;
  alpha?: number;
  dash?: number[];
}

/** Draw within the axes. */
export function clipped(plot: uPlot, draw: (context: CanvasRenderingContext2D, to: Mapping) => void): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx, mappingOf(plot));
  ctx.restore();
}

/** Stroke a line up to index `last`, with gaps where numbers are not finite or the line is broken. */
export function strokeLine(
  context: CanvasRenderingContext2D,
  to: Mapping,
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  breaks: ReadonlySet<number> | undefined,
  style: LineStyle,
  last = x.length - 1,
): void {
  const ratio = devicePixelRatio;
  context.strokeStyle = style.color;
  context.globalAlpha = style.alpha ?? 1;
  context.lineWidth = style.width * ratio;
  context.lineJoin = "round";
  context.setLineDash((style.dash ?? []).map((length) => length * ratio));
  context.beginPath();
  let isPenDown = false;
  for (let n = 0; n <= last; n++) {
    const [px, py] = [to.x(x[n]), to.y(y[n])];
    const isKnown = Number.isFinite(px) && Number.isFinite(py);
    if (isKnown && isPenDown) context.lineTo(px, py);
    else if (isKnown) context.moveTo(px, py);
    isPenDown = isKnown && breaks?.has(n) !== true;
  }
  context.stroke();
}

/** Fill between two curves. */
export function fillBetween(
  context: CanvasRenderingContext2D,
  to: Mapping,
  x: ArrayLike<number>,
  low: Float64Array,
  high: Float64Array,
  color: string,
  alpha: number,
): void {
  context.fillStyle = color;
  context.globalAlpha = alpha;
  for (let from = 0; from < x.length; from++) {
    if (!Number.isFinite(low[from])) continue;
    let until = from;
    while (until < x.length && Number.isFinite(low[until])) until++;
    context.beginPath();
    for (let n = from; n < until; n++) context.lineTo(to.x(x[n]), to.y(high[n]));
    for (let n = until - 1; n >= from; n--) context.lineTo(to.x(x[n]), to.y(low[n]));
    context.fill();
    from = until;
  }
}
