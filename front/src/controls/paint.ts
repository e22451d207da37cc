// Draws elements of the page into a picture: canvases, text, colored boxes and the lines of small SVG drawings.

/** Controls and hints are no part of a picture. */
const LEFT_OUT = "button:not(.plot-legend *), select, input, progress, .view-notice, .view-handle, .u-select, .u-legend";

const HALO = 3;

/** Draws an element and everything in it, as it is on the screen; (left, top) of the screen is the origin of the picture. */
export function paintElement(picture: CanvasRenderingContext2D, element: Element, left: number, top: number): void {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || element.matches(LEFT_OUT)) return;
  const box = element.getBoundingClientRect();
  if (box.width === 0 && box.height === 0 && element.childNodes.length === 0) return;
  const [x, y] = [box.left - left, box.top - top];
  if (element instanceof HTMLCanvasElement) {
    if (element.width > 0 && element.height > 0) picture.drawImage(element, x, y, box.width, box.height);
    return;
  }
  if (element instanceof SVGSVGElement) {
    paintDrawing(picture, element, left, top);
    return;
  }
  paintBox(picture, style, x, y, box.width, box.height);
  paintMark(picture, element, style, x, y);
  for (const child of element.childNodes) {
    if (child instanceof Element) paintElement(picture, child, left, top);
    else if (child instanceof Text) paintText(picture, child, style, left, top);
  }
}

function paintBox(picture: CanvasRenderingContext2D, style: CSSStyleDeclaration, x: number, y: number, width: number, height: number): void {
  const isClear = /^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor);
  if (isClear || width === 0 || height === 0) return;
  picture.fillStyle = style.backgroundColor;
  picture.beginPath();
  const corner = Number.parseFloat(style.borderTopLeftRadius) || 0;
  picture.roundRect(x, y, width, height, style.borderTopLeftRadius.endsWith("%") ? (corner / 100) * width : corner);
  picture.fill();
}

/** The mark before a word, such as the color of a curve. */
function paintMark(picture: CanvasRenderingContext2D, element: Element, style: CSSStyleDeclaration, x: number, y: number): void {
  const mark = getComputedStyle(element, "::before");
  if (mark.content !== '""' || mark.display === "none") return;
  const pixels = (text: string): number => Number.parseFloat(text) || 0;
  const isPlaced = mark.position === "absolute";
  const [left, top] = isPlaced ? [pixels(mark.left), pixels(mark.top)] : [pixels(style.paddingLeft), pixels(style.paddingTop) + pixels(mark.marginTop)];
  paintBox(picture, mark, x + left, y + top, pixels(mark.width), pixels(mark.height));
}

/** Text line by line, as the page has broken it. */
function paintText(picture: CanvasRenderingContext2D, text: Text, style: CSSStyleDeclaration, left: number, top: number): void {
  if (text.data.trim() === "") return;
  picture.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  picture.fillStyle = style.color;
  picture.textBaseline = "alphabetic";
  picture.textAlign = "left";
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = picture.measureText("x");
  for (const { words, box } of linesOf(text)) {
    const [x, y] = [box.left - left, (box.top + box.bottom + above - below) / 2 - top];
    // Labels have a halo of the paper's color.
    if (style.textShadow !== "none") {
      picture.strokeStyle = /rgba?\([^)]*\)/.exec(style.textShadow)?.[0] ?? "transparent";
      picture.lineWidth = HALO;
      picture.lineJoin = "round";
      picture.strokeText(words, x, y);
    }
    picture.fillText(words, x, y);
  }
}

function linesOf(text: Text): { words: string; box: DOMRect }[] {
  const range = document.createRange();
  const lines: { words: string; box: DOMRect }[] = [];
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const box = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.box.top - box.top) < box.height / 2) last.words += ` ${word}`;
    else lines.push({ words: word, box });
  }
  return lines;
}

function paintDrawing(picture: CanvasRenderingContext2D, drawing: SVGSVGElement, left: number, top: number): void {
  const place = drawing.getScreenCTM();
  if (place === null) return;
  const at = (x: number, y: number): [number, number] => [place.a * x + place.c * y + place.e - left, place.b * x + place.d * y + place.f - top];
  for (const line of drawing.querySelectorAll("line")) {
    const style = getComputedStyle(line);
    picture.strokeStyle = style.stroke;
    picture.lineWidth = Number.parseFloat(style.strokeWidth) * place.a;
    picture.lineCap = "round";
    picture.beginPath();
    picture.moveTo(...at(line.x1.baseVal.value, line.y1.baseVal.value));
    picture.lineTo(...at(line.x2.baseVal.value, line.y2.baseVal.value));
    picture.stroke();
  }
  for (const text of drawing.querySelectorAll("text")) {
    const style = getComputedStyle(text);
    picture.font = `${Number.parseFloat(style.fontSize) * place.a}px ${style.fontFamily}`;
    picture.fillStyle = style.fill;
    picture.textAlign = "center";
    picture.textBaseline = "alphabetic";
    const [x, y] = at(Number(text.getAttribute("x")), Number(text.getAttribute("y")));
    // As dominant-baseline: central.
    const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = picture.measureText("x");
    picture.fillText(text.textContent ?? "", x, y + (above - below) / 2);
  }
}
