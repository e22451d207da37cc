// Labels in the color of their arrow must be readable in both themes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DARK, LIGHT, readable } from "../src/colors.ts";

test("orange labels on white are darkened to WCAG's contrast, blue ones are unchanged", () => {
  assert.equal(readable("#000000", LIGHT), "#000000");
  assert.equal(readable(LIGHT.axis3, LIGHT), LIGHT.axis3);
  assert.notEqual(readable(LIGHT.L, LIGHT), LIGHT.L);
  assert.equal(readable("#fefefe", { ink: "#767676", paper: "#ffffff" }), "#767676");
});

test("on a dark page the colors of arrows are bright enough", () => {
  for (const color of [DARK.L, DARK.omega, DARK.torque, DARK.axis1, DARK.axis3]) assert.equal(readable(color, DARK), color);
});
