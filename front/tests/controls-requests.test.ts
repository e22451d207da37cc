// Requests to the server: only the latest counts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PendingRequests } from "../src/controls/requests.ts";

test("a run is ready when motion and checks have arrived, in either order", () => {
  for (const order of ["motion first", "checks first"]) {
    const pending = new PendingRequests();
    const id = pending.startRun();
    const both = [() => pending.acceptMotion(id), () => pending.acceptChecks(id)];
    for (const take of order === "motion first" ? both : both.reverse()) {
      assert.equal(pending.state, "running");
      assert.equal(take(), true);
    }
    assert.equal(pending.state, "ready");
    assert.equal(pending.openId, null);
  }
});

test("a newer run supersedes the older", () => {
  const pending = new PendingRequests();
  const [old, now] = [pending.startRun(), pending.startRun()];
  assert.equal(pending.acceptMotion(old), false);
  assert.equal(pending.acceptChecks(old), false);
  assert.equal(pending.acceptEnd(old, true), false);
  assert.equal(pending.state, "running");
  assert.equal(pending.openId, now);
});

test("requesting another scenario keeps the checks of its run", () => {
  const pending = new PendingRequests();
  const run = pending.startRun();
  pending.acceptMotion(run);
  const other = pending.startMotionRequest();
  assert.equal(pending.acceptMotion(run), false);
  assert.equal(pending.acceptChecks(run), true);
  assert.equal(pending.acceptMotion(other), true);
  assert.equal(pending.state, "ready");
});

test("a refusal ends the request; a canceled one leaves the page ready", () => {
  const pending = new PendingRequests();
  pending.acceptEnd(pending.startRun(), true);
  assert.equal(pending.state, "refused");
  pending.acceptEnd(pending.startRun(), false);
  assert.equal(pending.state, "ready");
});
