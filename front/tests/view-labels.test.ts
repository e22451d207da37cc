// Words at the tips of arrows, and the arrows' heads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { proportions } from "../src/view/arrows.ts";
import { arranged, type Box, type Wish } from "../src/view/labels.ts";

const PANE = { width: 600, height: 400 };
const SIZE = { width: 40, height: 16 };
const wish = (x: number, y: number, fromX = 300, fromY = 200): Wish => ({ text: "w", colour: "", x, y, fromX, fromY });
const overlap = (a: Box, b: Box): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

test("six words at one tip: none covers another", () => {
  const wishes = Array.from({ length: 6 }, () => wish(400, 200));
  const boxes = arranged(wishes, wishes.map(() => SIZE), PANE).filter((box): box is Box => box !== null);
  assert.ok(boxes.length >= 4);
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b))));
});

test("a word goes on where its arrow points, and leaves a longer arrow on the same line free", () => {
  const alone = arranged([wish(400, 200)], [SIZE], PANE)[0]!;
  assert.ok(alone.x > 420 && alone.y === 200);
  const [, shorter] = arranged([wish(500, 200), wish(400, 200)], [SIZE, SIZE], PANE);
  assert.ok(Math.abs(shorter!.y - 200) > SIZE.height / 2);
});

test("a word stays within the pane, and is not shown if its tip is outside", () => {
  const [near, outside] = arranged([wish(598, 200), wish(700, 200)], [SIZE, SIZE], PANE);
  assert.ok(near!.x + SIZE.width / 2 <= PANE.width);
  assert.equal(outside, null);
});

test("of an arrow of any length the head is seen and leaves some of the shaft", () => {
  for (const pixels of [10, 20, 50, 400]) {
    const { head, shaft } = proportions(pixels);
    assert.ok(head >= 5 && head <= 15 && shaft > 0);
    assert.ok(Math.abs(head + shaft - pixels) < 1e-9);
  }
  assert.equal(proportions(1).head, 5);
});

test("a word that is to leave something free goes to the other side of its tip", () => {
  const [word] = arranged([{ ...wish(280, 200), away: { x: 230, y: 200 } }], [SIZE], PANE);
  assert.ok(word!.x > 300);
});
