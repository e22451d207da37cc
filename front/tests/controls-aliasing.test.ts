// The stroboscope, and the speeds that avoid it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deception, fastest, slowMotion, sparse } from "../src/controls/aliasing.ts";
import { keeps } from "../src/controls/keyboard.ts";
import { reasons } from "../src/controls/availability.ts";
import { speedsAround, wordsOf } from "../src/controls/speeds.ts";
import { turnsAFrame } from "../src/motion/playback.ts";
import type { MotionRecord } from "../src/motion/record.ts";

/** Two bodies, three outputs a second apart; the second body spins at 4 turns a second in the middle. */
const RECORD = {
  unknownForces: [],
  crossings: [],
  times: 3,
  bodies: 2,
  time: Float64Array.of(0, 1, 2),
  angularVelocity: Float64Array.of(0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 8 * Math.PI, 0, 0, 0, 1, 0, 0, 0),
  angularMomentum: new Float64Array(18),
  position: new Float64Array(18),
  looks: [{ kind: "shape" }],
  lookOf: Uint32Array.of(0, 0),
  torque: new Float64Array(18),
  forces: [],
  ghost: null,
  whyNoPoinsot: "Torques act.",
  whyNoGhost: "",
} as unknown as MotionRecord;

test("the eye is deceived beyond half a turn a frame, not before", () => {
  const oneTurnAFrame = 2 * Math.PI * 60;
  assert.equal(deception(oneTurnAFrame, 0.49), "");
  assert.match(deception(oneTurnAFrame, 1.5), /turns 1\.5 times between two frames/);
  assert.equal(deception(0, 1e9), "");
});

test("slow motion turns at most a twelfth of a turn a frame, and not much less", () => {
  for (const rate of [0.3, 5, 77, 4e4, 1e9]) {
    const turns = turnsAFrame(rate, slowMotion(rate));
    assert.ok(turns <= 1 / 12 && turns > 1 / 12 / 2.6, `${rate}: ${turns}`);
  }
});

test("of each body its own greatest rate; outputs that are too far apart are told", () => {
  assert.equal(fastest(RECORD, 0), 1);
  assert.equal(fastest(RECORD, 1), 8 * Math.PI);
  assert.equal(sparse(RECORD, 0), "");
  assert.match(sparse(RECORD, 1), /turns up to 4 times/);
});

test("speeds go a hundredfold either way, and hold the one in use", () => {
  const speeds = speedsAround(1, 0.03).map((speed) => speed.value);
  assert.deepEqual([speeds[0], speeds[speeds.length - 1], speeds.length], [0.01, 100, 14]);
  assert.ok(speeds.includes(0.03));
  assert.equal(speedsAround(2000, 2000).length, 13);
  assert.equal(wordsOf(1), "×1, real time");
});

test("a force that a file could not hold, and blows, are not called nothing", () => {
  assert.match(reasons({ ...RECORD, unknownForces: ["own_push"] }, 0).forces ?? "", /cannot hold own push/);
  const blow = { name: "impulse", time: 1, body: 0 };
  assert.match(reasons({ ...RECORD, crossings: [blow] }, 0).forces ?? "", /Only blows act/);
});

test("a switch that means nothing says why", () => {
  const why = reasons(RECORD, 0);
  assert.equal(why.poinsot, "Torques act.");
  assert.equal(why.torque, "No torque acts.");
  assert.match(why.ghost ?? "", /closed form/);
  assert.match(why.follow ?? "", /nothing to follow/);
  assert.equal(why.omega, undefined);
  assert.equal(why.bodyAxes, undefined);
});

test("fields keep all keys, buttons space, sliders arrows; the time slider lets the page step", () => {
  assert.equal(keeps({ tagName: "INPUT", type: "number" }), "all");
  assert.equal(keeps({ tagName: "SELECT" }), "all");
  assert.equal(keeps({ tagName: "BUTTON" }), "space");
  assert.equal(keeps({ tagName: "INPUT", type: "range", dataset: {} }), "arrows");
  assert.equal(keeps({ tagName: "INPUT", type: "range", dataset: { time: "" } }), "nothing");
  assert.equal(keeps({ tagName: "A" }), "nothing");
  assert.equal(keeps({ tagName: "CANVAS" }), "nothing");
});
