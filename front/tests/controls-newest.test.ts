// Requests during a drag: one under way, the newest waits, others are dropped.

import assert from "node:assert/strict";
import { test } from "node:test";
import { NewestWins } from "../src/controls/newest.ts";
import { PendingRequests } from "../src/controls/requests.ts";

function started(): { newest: NewestWins<number>; values: number[] } {
  const values: number[] = [];
  return { newest: new NewestWins<number>((value) => values.push(value)), values };
}

test("the first starts at once, of the others only the newest", () => {
  const { newest, values } = started();
  for (const value of [1, 2, 3, 4]) newest.offer(value);
  assert.deepEqual(values, [1]);
  newest.finish();
  assert.deepEqual(values, [1, 4]);
  newest.finish();
  assert.deepEqual(values, [1, 4]);
  newest.offer(5);
  assert.deepEqual(values, [1, 4, 5]);
});

test("there is never more than one under way, and the last value offered is always started", () => {
  let [underWay, most, last] = [0, 0, -1];
  const newest = new NewestWins<number>((value) => {
    underWay += 1;
    most = Math.max(most, underWay);
    last = value;
  });
  // Answers come now and then, in a fixed but irregular order.
  for (let k = 0, seed = 7; k < 500; k++) {
    seed = (seed * 16807) % 2147483647;
    newest.offer(k);
    if (seed % 3 === 0) {
      underWay -= 1;
      newest.finish();
    }
  }
  while (underWay > 0) {
    underWay -= 1;
    newest.finish();
  }
  assert.equal(most, 1);
  assert.equal(last, 499);
});

test("after clearing nothing waits, and the next starts at once", () => {
  const { newest, values } = started();
  newest.offer(1);
  newest.offer(2);
  newest.clear();
  newest.finish();
  assert.deepEqual(values, [1]);
  newest.offer(3);
  assert.deepEqual(values, [1, 3]);
});

test("a quick run is ready when its motion has arrived; the run that follows supersedes it", () => {
  const pending = new PendingRequests();
  const quick = pending.startQuickRun();
  assert.equal(pending.state, "running");
  assert.equal(pending.acceptMotion(quick), true);
  assert.equal(pending.state, "ready");
  const late = pending.startQuickRun();
  const settled = pending.startRun();
  assert.equal(pending.acceptMotion(late), false);
  assert.equal(pending.acceptMotion(settled), true);
  assert.equal(pending.state, "running");
  assert.equal(pending.acceptChecks(settled), true);
  assert.equal(pending.state, "ready");
});
