// Pictures of the page: one view or both, with their labels and, if asked, the plots.

import type { Views } from "../view/views.ts";
import { paintElement } from "./paint.ts";

export type WhichPanes = "both" | "space" | "body";

export interface PictureOptions {
  panes: WhichPanes;
  /** Pixels per pixel of the page. */
  scale: number;
  plots: boolean;
  /** A line of text below; "" for none. */
  caption: string;
}

const GAP = 12;
const CAPTION_HEIGHT = 40;

interface Place {
  element: HTMLElement;
  x: number;
  y: number;
}

/** The layout of a picture, in pixels of the page. */
interface Layout {
  /** The part of the views that is seen. */
  views: DOMRect;
  panels: Place[];
  width: number;
  height: number;
}

/** Draws what is on the page at time t; null if the browser has no WebGL. */
export function takePicture(views: Views, t: number, options: PictureOptions, canvas = document.createElement("canvas")): HTMLCanvasElement | null {
  const layout = layOut(options);
  // Films need even sizes.
  const even = (x: number): number => 2 * Math.round((x * options.scale) / 2);
  const [width, height] = [even(layout.width), even(layout.height)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const picture = canvas.getContext("2d")!;
  const style = getComputedStyle(document.documentElement);
  picture.setTransform(1, 0, 0, 1, 0, 0);
  picture.fillStyle = style.getPropertyValue("--paper") || "#fff";
  picture.fillRect(0, 0, width, height);
  picture.setTransform(options.scale, 0, 0, options.scale, 0, 0);
  const seen = layout.views;
  const isDrawn = views.capture(t, options.scale, (drawn) => {
    const whole = drawn.getBoundingClientRect();
    const ratio = drawn.width / whole.width;
    const from = [(seen.left - whole.left) * ratio, (seen.top - whole.top) * ratio, seen.width * ratio, seen.height * ratio] as const;
    picture.drawImage(drawn, ...from, 0, 0, seen.width, seen.height);
    picture.save();
    picture.beginPath();
    picture.rect(0, 0, seen.width, seen.height);
    picture.clip();
    const panes = panesOf(options.panes);
    for (const pane of panes) for (const child of pane.children) paintElement(picture, child, seen.left, seen.top);
    if (panes.length > 1) paintSeam(picture, panes[1], seen, style.getPropertyValue("--grid"));
    picture.restore();
  });
  if (!isDrawn) return null;
  for (const { element, x, y } of layout.panels) {
    const box = element.getBoundingClientRect();
    paintElement(picture, element, box.left - x, box.top - y);
  }
  if (options.caption !== "") {
    picture.font = `16px ${style.fontFamily}`;
    picture.fillStyle = style.getPropertyValue("--ink");
    picture.textAlign = "left";
    picture.textBaseline = "middle";
    picture.fillText(options.caption, GAP, layout.height - CAPTION_HEIGHT / 2, layout.width - 2 * GAP);
  }
  return canvas;
}

const panesOf = (which: WhichPanes): HTMLElement[] => {
  const panes = [...document.querySelectorAll<HTMLElement>("#views .view-pane")].filter(({ offsetWidth }) => offsetWidth > 0);
  const wanted = panes.filter((pane) => which === "both" || pane.classList.contains(`view-${which}`));
  return wanted.length > 0 ? wanted : panes;
};

/** The views, and below them the panels of the plots in rows. */
function layOut(options: PictureOptions): Layout {
  const boxes = panesOf(options.panes).map((pane) => pane.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  const views = new DOMRect(left, top, right - left, bottom - top);
  const panels: Place[] = [];
  let [x, y, height] = [0, views.height + GAP, views.height];
  if (options.plots)
    for (const element of document.querySelectorAll<HTMLElement>("#plots figure")) {
      const box = element.getBoundingClientRect();
      if (box.height === 0) continue;
      if (x > 0 && x + box.width > views.width) [x, y] = [0, height + GAP];
      panels.push({ element, x, y });
      x += box.width + GAP;
      height = Math.max(height, y + box.height);
    }
  const width = Math.max(views.width, ...panels.map(({ element, x: left }) => left + element.getBoundingClientRect().width));
  return { views, panels, width, height: height + (options.caption === "" ? 0 : CAPTION_HEIGHT) };
}

/** The line between two panes. */
function paintSeam(picture: CanvasRenderingContext2D, pane: HTMLElement, seen: DOMRect, color: string): void {
  const box = pane.getBoundingClientRect();
  const isBeside = box.left > seen.left + 1;
  picture.fillStyle = color;
  picture.fillRect(isBeside ? box.left - seen.left - 1 : 0, isBeside ? 0 : box.top - seen.top - 1, isBeside ? 1 : box.width, isBeside ? box.height : 1);
}

export const pngOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error("the picture is too large for this browser")) : resolve(blob)), "image/png");
  });
