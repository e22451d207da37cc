// Labels at the tips of arrows, and the heads of arrows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { proportions } from "../src/view/arrows.ts";
import { placeLabels, type LabelBox, type LabelRequest } from "../src/view/labels.ts";

const PANE = { width: 600, height: 400 };
const SIZE = { width: 40, height: 16 };
const request = (x: number, y: number, fromX = 300, fromY = 200): LabelRequest => ({ text: "w", color: "", x, y, fromX, fromY });
const overlap = (a: LabelBox, b: LabelBox): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

test("six labels at one tip do not overlap", () => {
  const labelRequests = Array.from({ length: 6 }, () => request(400, 200));
  const boxes = placeLabels(labelRequests, labelRequests.map(() => SIZE), PANE).filter((box): box is LabelBox => box !== null);
  assert.ok(boxes.length >= 4);
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(!overlap(a, b))));
});

test("a label extends its arrow, and does not cover a longer arrow on the same line", () => {
  const alone = placeLabels([request(400, 200)], [SIZE], PANE)[0]!;
  assert.ok(alone.x > 420 && alone.y === 200);
  const [, shorter] = placeLabels([request(500, 200), request(400, 200)], [SIZE, SIZE], PANE);
  assert.ok(Math.abs(shorter!.y - 200) > SIZE.height / 2);
});

test("a label stays within the pane, and is hidden if its tip is outside", () => {
  const [near, outside] = placeLabels([request(598, 200), request(700, 200)], [SIZE, SIZE], PANE);
  assert.ok(near!.x + SIZE.width / 2 <= PANE.width);
  assert.equal(outside, null);
});

test("an arrow of any length has a visible head and shaft", () => {
  for (const pixels of [10, 20, 50, 400]) {
    const { head, shaft } = proportions(pixels);
    assert.ok(head >= 5 && head <= 15 && shaft > 0);
    assert.ok(Math.abs(head + shaft - pixels) < 1e-9);
  }
  assert.equal(proportions(1).head, 5);
});

test("a label avoids what it should not cover", () => {
  const [word] = placeLabels([{ ...request(280, 200), away: { x: 230, y: 200 } }], [SIZE], PANE);
  assert.ok(word!.x > 300);
});
