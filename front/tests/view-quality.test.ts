// Adaptive drawing, on machines that are made up: a time per frame for each quality.

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { AdaptiveQuality, qualitiesFor } from "../src/view/quality.ts";

/** Levels after each of a number of frames. */
function play(quality: AdaptiveQuality, timeAt: (level: number) => number, frames: number, start = 0): number[] {
  let now = start;
  return Array.from({ length: frames }, () => {
    const time = timeAt(quality.level);
    now += time;
    quality.judge(time, now);
    return quality.level;
  });
}

const changes = (levels: number[]): number => levels.filter((level, k) => k > 0 && level !== levels[k - 1]).length;

test("a fast machine keeps the best quality", () => {
  assert.deepEqual(new Set(play(new AdaptiveQuality(4), () => 16.7, 500)), new Set([0]));
});

test("a slow machine steps down to the first quality that is fast enough, and stays there", () => {
  const levels = play(new AdaptiveQuality(4), (level) => [120, 60, 30, 18][level], 3000);
  assert.equal(levels[2999], 2);
  assert.equal(changes(levels), 2);
});

test("a quality that was too slow is tried again ever more rarely", () => {
  // Too slow at the best, very fast at the next: the worst case for oscillation.
  const levels = play(new AdaptiveQuality(2), (level) => [60, 10][level], 20_000);
  const seconds = 200;
  assert.ok(changes(levels) <= 2 * Math.log2(seconds / 4), `${changes(levels)} changes in ${seconds} s`);
  assert.equal(levels[19_999], 1);
});

test("what becomes fast is drawn better again", () => {
  const quality = new AdaptiveQuality(3);
  play(quality, () => 80, 30);
  assert.equal(quality.level, 2);
  play(quality, () => 12, 3000, 1e5);
  assert.equal(quality.level, 0);
});

test("if a coarser drawing is no faster, the finer one is kept", () => {
  const quality = new AdaptiveQuality(5);
  play(quality, () => 90, 200);
  assert.equal(quality.level, 0);
  const half = new AdaptiveQuality(5);
  play(half, (level) => [200, 90, 88, 87, 86][level], 400);
  assert.equal(half.level, 1);
});

test("a very slow machine does not wait for many frames", () => {
  const quality = new AdaptiveQuality(3);
  play(quality, (level) => [800, 400, 100][level], 10);
  assert.equal(quality.level, 2);
});

test("a single interruption and a hidden tab change nothing", () => {
  const quality = new AdaptiveQuality(3);
  play(quality, () => 16, 50);
  for (const time of [400, 5000, 60_000]) quality.judge(time, 1e5);
  play(quality, () => 16, 50, 2e5);
  assert.equal(quality.level, 0);
});

test("the qualities of a screen become coarser, without repetition", () => {
  for (const ratio of [1, 1.5, 2, 3]) {
    const all = qualitiesFor(ratio);
    assert.equal(all[0].ratio, Math.min(2, ratio));
    assert.ok(all[0].shadows);
    assert.equal(new Set(all.map((one) => JSON.stringify(one))).size, all.length);
    all.slice(1).forEach((one, k) => assert.ok(one.ratio <= all[k].ratio && Number(one.shadows) <= Number(all[k].shadows)));
  }
});
