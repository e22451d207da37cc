import assert from "node:assert/strict";
import { test } from "node:test";
import { naturalSpeed, Playback, turnsAFrame } from "../src/motion/playback.ts";

function taken(...time: number[]): Playback {
  const playback = new Playback();
  playback.take(Float64Array.from(time), false);
  return playback;
}

test("it follows the real clock, however rarely it is asked", () => {
  const playback = taken(0, 10);
  playback.setSpeed(2);
  playback.play();
  assert.equal(playback.tick(5000), false);
  assert.equal(playback.tick(5500), true);
  assert.equal(playback.t, 1);
  playback.tick(7500);
  assert.equal(playback.t, 5);
});

test("time that passes in a pause does not count", () => {
  const playback = taken(0, 10);
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

test("at the end it begins again and keeps what is over, or stops there", () => {
  const playback = taken(2, 12);
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
  const playback = taken(0, 1, 1.5, 4);
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

test("an output but for rounding is left by a whole step", () => {
  const playback = taken(0, 1, 2);
  playback.seek(1 - 1e-13);
  playback.step(1);
  assert.equal(playback.t, 2);
  playback.seek(1 + 1e-13);
  playback.step(-1);
  assert.equal(playback.t, 0);
});

test("another motion keeps instant and speed where a knob was turned, if the instant lies within", () => {
  const playback = taken(0, 10);
  playback.seek(6);
  playback.setSpeed(0.5);
  playback.take(Float64Array.of(0, 8), true);
  assert.deepEqual([playback.t, playback.speed, playback.last], [6, 0.5, 8]);
  playback.take(Float64Array.of(0, 5), true);
  assert.equal(playback.t, 0);
  playback.take(Float64Array.of(0, 1000), false);
  assert.deepEqual([playback.t, playback.speed], [0, 100]);
});

test("a single instant cannot be played, and is never lost", () => {
  const playback = taken(0, 10);
  playback.play();
  playback.take(Float64Array.of(3), true);
  assert.equal(playback.playing, false);
  playback.play();
  playback.tick(0);
  playback.tick(1000);
  assert.deepEqual([playback.t, playback.playing], [3, false]);
});

test("a seek ends at the ends, and what is no number is no instant", () => {
  const playback = taken(0, 10);
  playback.seek(99);
  assert.equal(playback.t, 10);
  playback.seek(NaN);
  assert.equal(playback.t, 10);
  playback.setSpeed(0);
  playback.setSpeed(NaN);
  assert.equal(playback.speed, 1);
});

test("who listens is told of every change", () => {
  const playback = taken(0, 10);
  let told = 0;
  playback.onChange(() => told++);
  playback.play();
  playback.tick(0);
  playback.tick(10);
  playback.seek(2);
  playback.pause();
  assert.equal(told, 4);
});

test("real time where that can be watched, else about ten seconds for the whole, at a round speed", () => {
  assert.equal(naturalSpeed(10), 1);
  assert.equal(naturalSpeed(0), 1);
  assert.equal(naturalSpeed(3.456e6), 2e5);
  assert.ok(Math.abs(naturalSpeed(1e-12) / 1e-13 - 1) < 1e-12);
});

test("thirty turns a second are half a turn a frame", () => {
  assert.ok(Math.abs(turnsAFrame(2 * Math.PI * 30, 1) - 0.5) < 1e-15);
  assert.ok(Math.abs(turnsAFrame(2 * Math.PI * 30, 0.1) - 0.05) < 1e-15);
});
