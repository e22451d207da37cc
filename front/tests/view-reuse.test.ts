// Shapes that two records have in common are recognized.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Appearance, MotionRecord } from "../src/motion/record.ts";
import { shareAppearances } from "../src/view/reuse.ts";

const shape = (x: number): Appearance => ({
  kind: "shape",
  sentence: "a triangle",
  vertices: Float64Array.of(0, 0, 0, x, 0, 0, 0, 1, 0),
  faces: Uint32Array.of(0, 1, 2),
  size: 1,
  axes: [1, 0, 0, 0],
});

const recordOf = (...appearances: Appearance[]): MotionRecord => ({ appearances }) as MotionRecord;

test("equal shapes become the same object, others stay", () => {
  const before = recordOf(shape(1), shape(2));
  const after = recordOf(shape(1), shape(2.5), shape(3));
  const [, second, third] = after.appearances;
  shareAppearances(after, before);
  assert.equal(after.appearances[0], before.appearances[0]);
  assert.equal(after.appearances[1], second);
  assert.equal(after.appearances[2], third);
});

test("a shape that differs in anything that is drawn or said is another", () => {
  const before = recordOf(shape(1));
  const changes: Partial<Appearance>[] = [{ kind: "mesh" }, { sentence: "another" }, { size: 2 }, { axes: [0, 1, 0, 0] }, { faces: Uint32Array.of(0, 2, 1) }];
  for (const change of changes) {
    const after = recordOf({ ...shape(1), ...change });
    shareAppearances(after, before);
    assert.notEqual(after.appearances[0], before.appearances[0]);
  }
});
