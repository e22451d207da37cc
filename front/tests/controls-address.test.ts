// The link that restores model, parameters and run.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, valuesOf, modelOf, runOf } from "../src/controls/address.ts";

const parameter = (name: string, defaultValue: number) => ({ name, unit: "1", default: defaultValue, low: 0, high: 10, help: "" });
const PARAMETERS = [parameter("spin", 5), parameter("nudge", 0.1)];

test("a URL round-trips parameter values to the last bit", () => {
  const values = { spin: 0.1 + 0.2, nudge: 1e-7 };
  const state = { model: "dzhanibekov", parameters: PARAMETERS, values, run: "t-handle & more" };
  const address = addressOf("/dzhanibekov", "?spin=9&spinn=3&run=box", state);
  assert.equal(modelOf(address.split("?")[0]), "dzhanibekov");
  assert.deepEqual(valuesOf(address.split("?")[1], "dzhanibekov", PARAMETERS), { values, complaints: [] });
  assert.equal(runOf(address.split("?")[1]), "t-handle & more");
});

test("fx and token are kept, defaults are omitted", () => {
  const state = { model: "cubesat", parameters: PARAMETERS, values: { spin: 5, nudge: 0.2 }, run: "" };
  const address = addressOf("/a/boxes", "?spin=3&run=box&token=x%2By&fx=low", state);
  assert.equal(address, "/a/cubesat?nudge=0.2&fx=low&token=x%2By");
});

test("invalid parameters in a URL are reported", () => {
  const { values, complaints } = valuesOf("?spin=fast&color=red&nudge=0.3&fx=low", "boxes", PARAMETERS);
  assert.deepEqual(values, { nudge: 0.3 });
  assert.equal(complaints.length, 2);
  assert.match(complaints[0], /spin = "fast"/);
  assert.match(complaints[1], /boxes has no such parameter/);
});

test("the root has no model, and a malformed escape is not an error", () => {
  assert.equal(modelOf("/"), "");
  assert.equal(modelOf("/%zz"), "%zz");
});
