// The link that restores model and knobs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, knobsOf, modelOf } from "../src/controls/address.ts";

const knob = (name: string, usual: number) => ({ name, unit: "1", default: usual, low: 0, high: 10, help: "" });
const KNOBS = [knob("spin", 5), knob("nudge", 0.1)];

test("an address gives back what was written into it, to the last bit", () => {
  const values = { spin: 0.1 + 0.2, nudge: 1e-7 };
  const address = addressOf("/dzhanibekov", "?spin=9", "dzhanibekov", KNOBS, values);
  assert.equal(modelOf(address.split("?")[0]), "dzhanibekov");
  assert.deepEqual(knobsOf(address.split("?")[1], "dzhanibekov", KNOBS), { values, complaints: [] });
});

test("fx and token stay, defaults are not written", () => {
  const address = addressOf("/a/boxes", "?spin=3&token=x%2By&fx=low", "cubesat", KNOBS, { spin: 5, nudge: 0.2 });
  assert.equal(address, "/a/cubesat?nudge=0.2&fx=low&token=x%2By");
});

test("what an address asks for in vain is said", () => {
  const { values, complaints } = knobsOf("?spin=fast&colour=red&nudge=0.3&fx=low", "boxes", KNOBS);
  assert.deepEqual(values, { nudge: 0.3 });
  assert.equal(complaints.length, 2);
  assert.match(complaints[0], /spin = "fast"/);
  assert.match(complaints[1], /boxes has no such knob/);
});

test("the root has no model, and a broken escape is no failure", () => {
  assert.equal(modelOf("/"), "");
  assert.equal(modelOf("/%zz"), "%zz");
});
