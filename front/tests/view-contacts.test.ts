// Impacts fade, and a patch of the floor is cut into triangles.  The reference values follow from the definitions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fading, fan, recentImpacts } from "../src/view/contacts.ts";
import type { Vec3 } from "../src/motion/vectors.ts";

test("an impact is strongest when it happens, and over after the window", () => {
  assert.equal(fading(0, 0.3), 1);
  assert.equal(fading(0.3, 0.3), 0);
  assert.equal(fading(1, 0.3), 0);
  assert.equal(fading(-0.05, 0.3), 0);
  assert.ok(fading(0.1, 0.3) > fading(0.2, 0.3));
  assert.equal(fading(0, 0), 0);
});

test("only impacts near the time are shown, the last first", () => {
  const time = new Float64Array([0, 1, 1.1, 1.2, 5]);
  assert.deepEqual(recentImpacts(time, 1.15, 0.3, () => true), [2, 1]);
  assert.deepEqual(recentImpacts(time, 1.15, 0.3, (i) => i === 1), [1]);
  assert.deepEqual(recentImpacts(time, 3, 0.3, () => true), []);
});

test("the triangles of a square have its area", () => {
  const square: Vec3[] = [[0, 0, 2], [3, 0, 2], [3, 3, 2], [0, 3, 2]];
  const corners = fan(square);
  let area = 0;
  for (let i = 0; i < corners.length; i += 3) {
    const [a, b, c] = corners.slice(i, i + 3);
    area += ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
  }
  assert.equal(area, 9);
});
