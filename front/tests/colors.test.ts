// Words in the colour of their arrow must be read, on paper and on a dark page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DARK, LIGHT, readable } from "../src/colors.ts";

test("orange words on white paper are darkened until WCAG's contrast, blue ones stay as they are", () => {
  assert.equal(readable("#000000", LIGHT), "#000000");
  assert.equal(readable(LIGHT.axis3, LIGHT), LIGHT.axis3);
  assert.notEqual(readable(LIGHT.L, LIGHT), LIGHT.L);
  assert.equal(readable("#fefefe", { ink: "#767676", paper: "#ffffff" }), "#767676");
});

test("on a dark page the colours of arrows are bright enough as they are", () => {
  for (const colour of [DARK.L, DARK.omega, DARK.torque, DARK.axis1, DARK.axis3]) assert.equal(readable(colour, DARK), colour);
});
