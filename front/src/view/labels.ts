// Words at the tips of arrows, as text of the page with a halo, moved aside where they would cover each other.

export interface Wish {
  text: string;
  colour: string;
  /** The tip, and where the arrow comes from, in pixels of the pane. */
  x: number;
  y: number;
  fromX: number;
  fromY: number;
  /** The middle of what the word would better not cover. */
  away?: { x: number; y: number };
}

export interface Size {
  width: number;
  height: number;
}

/** x and y are its middle. */
export interface Place extends Size {
  x: number;
  y: number;
}

export interface Box extends Place {
  /** Which of the places that were tried. */
  way: number;
}

/** From the tip to the edge of the word, and where that is taken. */
const GAPS = [6, 22];
/** Turns from the arrow's own direction that are tried in order, in rad. */
const TURNS = [0, 0.7, -0.7, 1.4, -1.4, 2.2, -2.2, Math.PI];
/** So many pixels nearer to what is better not covered are as bad as an arrow that is crossed. */
const ASIDE = 40;
const WAYS = GAPS.flatMap((gap) => TURNS.map((turn) => ({ gap, turn })));

/**
 * Where each word goes within the pane; null where its tip is outside, or there is no room.  Words that come first are
 * placed first, none covers another or what is reserved, and an arrow is crossed only where nothing else is left.  A
 * word keeps the way it went in `before`, unless another is much better: words that jump cannot be read.
 */
export function arranged(
  wishes: Wish[],
  sizes: Size[],
  pane: Size,
  before: (number | undefined)[] = [],
  reserved: Place[] = [],
): (Box | null)[] {
  const taken = [...reserved];
  return wishes.map((wish, i) => {
    if (!(wish.x >= 0 && wish.x <= pane.width && wish.y >= 0 && wish.y <= pane.height)) return null;
    const angle = Math.atan2(wish.y - wish.fromY, wish.x - wish.fromX);
    const boxes = WAYS.map(({ gap, turn }, way) => {
      return { ...within(pane, beside(wish, angle + turn, gap, sizes[i])), way };
    });
    const free = boxes.filter((box) => !taken.some((other) => overlap(box, other)));
    const crossed = (box: Box): number => wishes.filter((arrow) => crosses(arrow, box)).length;
    const far = (box: Box): number => (wish.away ? Math.hypot(box.x - wish.away.x, box.y - wish.away.y) / ASIDE : 0);
    const costs = free.map((box) => crossed(box) - far(box) - (box.way === before[i] ? 1.5 : 0));
    const best = free[costs.indexOf(Math.min(...costs))] ?? null;
    if (best) taken.push(best);
    return best;
  });
}

function beside(wish: Wish, angle: number, gap: number, { width, height }: Size): Place {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const away = gap + Math.min(width / 2 / Math.max(Math.abs(c), 1e-6), height / 2 / Math.max(Math.abs(s), 1e-6));
  return { x: wish.x + c * away, y: wish.y + s * away, width, height };
}

function within(pane: Size, box: Place): Place {
  const held = (x: number, size: number, room: number): number => Math.max(size / 2, Math.min(room - size / 2, x));
  return { ...box, x: held(box.x, box.width, pane.width), y: held(box.y, box.height, pane.height) };
}

/** Whether an arrow goes through a box: what is left of it when cut by each side is more than nothing. */
function crosses(arrow: Wish, box: Place): boolean {
  let [from, to] = [0, 1];
  for (const [start, way, middle, size] of [
    [arrow.fromX, arrow.x - arrow.fromX, box.x, box.width],
    [arrow.fromY, arrow.y - arrow.fromY, box.y, box.height],
  ]) {
    const [a, b] = [middle - size / 2 - start, middle + size / 2 - start].map((edge) => edge / (way || 1e-9));
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from < to;
}

const overlap = (a: Place, b: Place): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

export class Labels {
  private readonly words: HTMLElement[] = [];
  private readonly sizes = new Map<string, Size>();
  private readonly ways = new Map<string, number>();
  private room = "";

  constructor(private readonly pane: HTMLElement) {}

  show(wishes: Wish[], room: Size, reserved: Place[]): void {
    // The page may have other letters at another size.
    if (this.room !== `${room.width} ${room.height}`) this.sizes.clear();
    this.room = `${room.width} ${room.height}`;
    const sizes = wishes.map(({ text }) => this.sizeOf(text));
    const boxes = arranged(wishes, sizes, room, wishes.map(({ text }) => this.ways.get(text)), reserved);
    while (this.words.length < wishes.length) this.words.push(this.word());
    this.words.forEach((word, i) => {
      const box = boxes[i] ?? null;
      word.hidden = box === null;
      if (box === null) return;
      this.ways.set(wishes[i].text, box.way);
      if (word.textContent !== wishes[i].text) word.textContent = wishes[i].text;
      word.style.color = wishes[i].colour;
      const [left, top] = [box.x - box.width / 2, box.y - box.height / 2].map((pixels) => `${pixels.toFixed(1)}px`);
      word.style.transform = `translate(${left}, ${top})`;
    });
  }

  private word(): HTMLElement {
    const word = document.createElement("span");
    word.className = "view-word";
    this.pane.append(word);
    return word;
  }

  private sizeOf(text: string): Size {
    const known = this.sizes.get(text);
    if (known) return known;
    const word = this.word();
    word.textContent = text;
    const size = { width: word.offsetWidth, height: word.offsetHeight };
    word.remove();
    if (size.width > 0) this.sizes.set(text, size);
    return size;
  }
}
