import assert from "node:assert/strict";
import { test } from "node:test";
import { naturalSpeed, Playback, turnsPerFrame } from "../src/motion/playback.ts";

function loaded(...time: number[]): Playback {
  const playback = new Playback();
  playback.load(Float64Array.from(time), false);
  return playback;
}

test("it follows the real clock at any frame rate", () => {
  const playback = loaded(0, 10);
  playback.setSpeed(2);
  playback.play();
  assert.equal(playback.tick(5000), false);
  assert.equal(playback.tick(5500), true);
  assert.equal(playback.t, 1);
  playback.tick(7500);
  assert.equal(playback.t, 5);
});

test("time does not advance during a pause", () => {
  const playback = loaded(0, 10);
  playback.play();
  playback.tick(0);
  playback.tick(1000);
  playback.pause();
  assert.equal(playback.tick(2000), false);
  playback.play();
  playback.tick(9000);
  playback.tick(9500);
  assert.equal(playback.t, 1.5);
});

test("at the end it wraps around without losing time, or stops", () => {
  const playback = loaded(2, 12);
  playback.play();
  playback.tick(0);
  playback.tick(10_500);
  assert.equal(playback.t, 2.5);
  playback.repeats = false;
  playback.tick(30_000);
  assert.equal(playback.t, 12);
  assert.equal(playback.playing, false);
  playback.play();
  assert.equal(playback.t, 2);
});

test("steps go from output to output, and pause", () => {
  const playback = loaded(0, 1, 1.5, 4);
  playback.play();
  const seen = [];
  for (let i = 0; i < 4; i++) {
    playback.step(1);
    seen.push(playback.t);
  }
  assert.equal(playback.playing, false);
  for (let i = 0; i < 4; i++) {
    playback.step(-1);
    seen.push(playback.t);
  }
  playback.seek(1.2);
  playback.step(1);
  seen.push(playback.t);
  playback.seek(1.2);
  playback.step(-1);
  seen.push(playback.t);
  assert.deepEqual(seen, [1, 1.5, 4, 4, 1.5, 1, 0, 0, 1.5, 1]);
});

test("from a time equal to an output up to rounding, a step is a whole one", () => {
  const playback = loaded(0, 1, 2);
  playback.seek(1 - 1e-13);
  playback.step(1);
  assert.equal(playback.t, 2);
  playback.seek(1 + 1e-13);
  playback.step(-1);
  assert.equal(playback.t, 0);
});

test("another motion keeps time and speed after a change of parameters, if the time is within range", () => {
  const playback = loaded(0, 10);
  playback.seek(6);
  playback.setSpeed(0.5);
  playback.load(Float64Array.of(0, 8), true);
  assert.deepEqual([playback.t, playback.speed, playback.last], [6, 0.5, 8]);
  playback.load(Float64Array.of(0, 5), true);
  assert.equal(playback.t, 0);
  playback.load(Float64Array.of(0, 1000), false);
  assert.deepEqual([playback.t, playback.speed], [0, 100]);
});

test("a single output cannot be played, and is never lost", () => {
  const playback = loaded(0, 10);
  playback.play();
  playback.load(Float64Array.of(3), true);
  assert.equal(playback.playing, false);
  playback.play();
  playback.tick(0);
  playback.tick(1000);
  assert.deepEqual([playback.t, playback.playing], [3, false]);
});

test("a seek is clamped to the range, and NaN is ignored", () => {
  const playback = loaded(0, 10);
  playback.seek(99);
  assert.equal(playback.t, 10);
  playback.seek(NaN);
  assert.equal(playback.t, 10);
  playback.setSpeed(0);
  playback.setSpeed(NaN);
  assert.equal(playback.speed, 1);
});

test("listeners are notified of every change", () => {
  const playback = loaded(0, 10);
  let count = 0;
  playback.onChange(() => count++);
  playback.play();
  playback.tick(0);
  playback.tick(10);
  playback.seek(2);
  playback.pause();
  assert.equal(count, 4);
});

test("real time for moderate durations, otherwise about ten seconds in total, at a round speed", () => {
  assert.equal(naturalSpeed(10), 1);
  assert.equal(naturalSpeed(0), 1);
  assert.equal(naturalSpeed(3.456e6), 2e5);
  assert.ok(Math.abs(naturalSpeed(1e-12) / 1e-13 - 1) < 1e-12);
});

test("thirty turns per second are half a turn per frame", () => {
  assert.ok(Math.abs(turnsPerFrame(2 * Math.PI * 30, 1) - 0.5) < 1e-15);
  assert.ok(Math.abs(turnsPerFrame(2 * Math.PI * 30, 0.1) - 0.05) < 1e-15);
});
