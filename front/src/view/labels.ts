// Labels at the tips of arrows, moved aside where they would overlap.

export interface LabelRequest {
  text: string;
  color: string;
  /** Tip and start of the arrow, in pixels of the pane. */
  x: number;
  y: number;
  fromX: number;
  fromY: number;
  /** Center of something that the label should not cover. */
  away?: { x: number; y: number };
}

export interface Size {
  width: number;
  height: number;
}

/** x and y are its center. */
export interface Box extends Size {
  x: number;
  y: number;
}

export interface LabelBox extends Box {
  /** Index of the candidate position. */
  candidate: number;
}

/** Distance from the tip to the edge of the label; the second is tried if the first is occupied. */
const GAPS = [6, 22];
/** Angles from the arrow's direction that are tried in order, in rad. */
const TURNS = [0, 0.7, -0.7, 1.4, -1.4, 2.2, -2.2, Math.PI];
/** This many pixels closer to `away` cost as much as crossing an arrow. */
const AWAY_PIXELS = 40;
const CANDIDATES = GAPS.flatMap((gap) => TURNS.map((turn) => ({ gap, turn })));

/**
 * Position of each label in the pane; null if its tip is outside, it is wider than the pane, or there is no room.  Labels are placed in order,
 * without overlapping each other or the reserved boxes, and cross an arrow only if there is no alternative.  A label
 * keeps its candidate of `before` unless another is much better, because labels that jump are hard to read.
 */
export function placeLabels(
  requests: LabelRequest[],
  sizes: Size[],
  pane: Size,
  before: (number | undefined)[] = [],
  reserved: Box[] = [],
): (LabelBox | null)[] {
  const occupied = [...reserved];
  return requests.map((request, i) => {
    if (sizes[i].width > pane.width) return null;
    if (!(request.x >= 0 && request.x <= pane.width && request.y >= 0 && request.y <= pane.height)) return null;
    const angle = Math.atan2(request.y - request.fromY, request.x - request.fromX);
    const boxes = CANDIDATES.map(({ gap, turn }, candidate) => {
      return { ...within(pane, beside(request, angle + turn, gap, sizes[i])), candidate };
    });
    const free = boxes.filter((box) => !occupied.some((other) => overlap(box, other)));
    const crossed = (box: LabelBox): number => requests.filter((arrow) => crosses(arrow, box)).length;
    const far = (box: LabelBox): number => (request.away ? Math.hypot(box.x - request.away.x, box.y - request.away.y) / AWAY_PIXELS : 0);
    const costs = free.map((box) => crossed(box) - far(box) - (box.candidate === before[i] ? 1.5 : 0));
    const best = free[costs.indexOf(Math.min(...costs))] ?? null;
    if (best) occupied.push(best);
    return best;
  });
}

function beside(request: LabelRequest, angle: number, gap: number, { width, height }: Size): Box {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const away = gap + Math.min(width / 2 / Math.max(Math.abs(c), 1e-6), height / 2 / Math.max(Math.abs(s), 1e-6));
  return { x: request.x + c * away, y: request.y + s * away, width, height };
}

function within(pane: Size, box: Box): Box {
  const clamp = (x: number, size: number, room: number): number => Math.max(size / 2, Math.min(room - size / 2, x));
  return { ...box, x: clamp(box.x, box.width, pane.width), y: clamp(box.y, box.height, pane.height) };
}

/** Whether an arrow crosses a box, by clipping it to the box. */
function crosses(arrow: LabelRequest, box: Box): boolean {
  let [from, to] = [0, 1];
  for (const [start, extent, middle, size] of [
    [arrow.fromX, arrow.x - arrow.fromX, box.x, box.width],
    [arrow.fromY, arrow.y - arrow.fromY, box.y, box.height],
  ]) {
    const [a, b] = [middle - size / 2 - start, middle + size / 2 - start].map((edge) => edge / (extent || 1e-9));
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from < to;
}

const overlap = (a: Box, b: Box): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

export class Labels {
  private readonly labels: HTMLElement[] = [];
  private readonly sizes = new Map<string, Size>();
  private readonly candidates = new Map<string, number>();
  private room = "";

  constructor(private readonly pane: HTMLElement) {}

  show(requests: LabelRequest[], room: Size, reserved: Box[]): void {
    // The font may change with the size of the page.
    if (this.room !== `${room.width} ${room.height}`) this.sizes.clear();
    this.room = `${room.width} ${room.height}`;
    const sizes = requests.map(({ text }) => this.sizeOf(text));
    const boxes = placeLabels(requests, sizes, room, requests.map(({ text }) => this.candidates.get(text)), reserved);
    while (this.labels.length < requests.length) this.labels.push(this.label());
    this.labels.forEach((label, i) => {
      const box = boxes[i] ?? null;
      label.hidden = box === null;
      if (box === null) return;
      this.candidates.set(requests[i].text, box.candidate);
      if (label.textContent !== requests[i].text) label.textContent = requests[i].text;
      label.style.color = requests[i].color;
      const [left, top] = [box.x - box.width / 2, box.y - box.height / 2].map((pixels) => `${pixels.toFixed(1)}px`);
      label.style.transform = `translate(${left}, ${top})`;
    });
  }

  private label(): HTMLElement {
    const label = document.createElement("span");
    label.className = "view-word";
    this.pane.append(label);
    return label;
  }

  private sizeOf(text: string): Size {
    const known = this.sizes.get(text);
    if (known) return known;
    const label = this.label();
    label.textContent = text;
    const size = { width: label.offsetWidth, height: label.offsetHeight };
    label.remove();
    if (size.width > 0) this.sizes.set(text, size);
    return size;
  }
}
