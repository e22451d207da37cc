// Questions to the server: only the newest is answered.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Asking } from "../src/controls/requests.ts";

test("a run is ready when motion and numbers are here, in either order", () => {
  for (const order of ["motion first", "numbers first"]) {
    const asking = new Asking();
    const id = asking.startRun();
    const both = [() => asking.takesMotion(id), () => asking.takesNumbers(id)];
    for (const take of order === "motion first" ? both : both.reverse()) {
      assert.equal(asking.state, "running");
      assert.equal(take(), true);
    }
    assert.equal(asking.state, "ready");
    assert.equal(asking.open, null);
  }
});

test("a newer run makes the older void", () => {
  const asking = new Asking();
  const [old, now] = [asking.startRun(), asking.startRun()];
  assert.equal(asking.takesMotion(old), false);
  assert.equal(asking.takesNumbers(old), false);
  assert.equal(asking.takesEnd(old, true), false);
  assert.equal(asking.state, "running");
  assert.equal(asking.open, now);
});

test("a look at another scenario keeps the numbers of its run", () => {
  const asking = new Asking();
  const run = asking.startRun();
  asking.takesMotion(run);
  const look = asking.startLook();
  assert.equal(asking.takesMotion(run), false);
  assert.equal(asking.takesNumbers(run), true);
  assert.equal(asking.takesMotion(look), true);
  assert.equal(asking.state, "ready");
});

test("a refusal ends the question; a cancelled one leaves the page ready", () => {
  const asking = new Asking();
  asking.takesEnd(asking.startRun(), true);
  assert.equal(asking.state, "refused");
  asking.takesEnd(asking.startRun(), false);
  assert.equal(asking.state, "ready");
});
