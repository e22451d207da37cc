import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePlotChoices, DEFAULT_CHOICES, encodePlotChoices, type PlotChoices } from "../src/plots/plot-choices.ts";

test("choices survive a link, whatever forces are called", () => {
  const choices: PlotChoices = {
    panels: ["phase:position_x:force_a, b;c=d", "energy"],
    degrees: true,
    hidden: ["energy/energy_total", "forces/force_100 %"],
    spread: "bands",
  };
  const text = encodePlotChoices(choices);
  const query = new URLSearchParams({ plots: text }).toString();
  assert.deepEqual(decodePlotChoices(new URLSearchParams(query).get("plots")!), choices);
});

test("the default is empty, no panel at all is not the default, and the text is readable", () => {
  assert.equal(encodePlotChoices(DEFAULT_CHOICES), "");
  assert.deepEqual(decodePlotChoices(""), DEFAULT_CHOICES);
  const none = { ...DEFAULT_CHOICES, panels: [] };
  assert.deepEqual(decodePlotChoices(encodePlotChoices(none)), none);
  assert.equal(encodePlotChoices({ ...DEFAULT_CHOICES, panels: ["phase:theta:theta_rate"], degrees: true }), "panels=phase:theta:theta_rate;degrees");
});

test("nonsense in a link is the default", () => {
  assert.deepEqual(decodePlotChoices("nonsense;bands=1;%E0%A4%A;hidden"), { ...DEFAULT_CHOICES, spread: "bands" });
});
