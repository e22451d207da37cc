// The stroboscopic effect, and the speeds that avoid it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aliasingWarning, maxAngularSpeed, slowMotionSpeed, samplingWarning } from "../src/controls/aliasing.ts";
import { keeps } from "../src/controls/keyboard.ts";
import { unavailableReasons } from "../src/controls/availability.ts";
import { speedsAround, wordsOf } from "../src/controls/speeds.ts";
import { turnsPerFrame } from "../src/motion/playback.ts";
import type { MotionRecord } from "../src/motion/record.ts";

/** Two bodies, three outputs a second apart; the second body spins at 4 turns a second in the middle. */
const RECORD = {
  unknownForces: [],
  events: [],
  times: 3,
  bodies: 2,
  time: Float64Array.of(0, 1, 2),
  angularVelocity: Float64Array.of(0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 8 * Math.PI, 0, 0, 0, 1, 0, 0, 0),
  angularMomentum: new Float64Array(18),
  position: new Float64Array(18),
  appearances: [{ kind: "shape" }],
  appearanceIndex: Uint32Array.of(0, 0),
  torque: new Float64Array(18),
  forces: [],
  closedForm: null,
  poinsotUnavailable: "Torques act.",
  closedFormUnavailable: "",
} as unknown as MotionRecord;

test("the rotation is aliased beyond half a turn per frame, not before", () => {
  const oneTurnAFrame = 2 * Math.PI * 60;
  assert.equal(aliasingWarning(oneTurnAFrame, 0.49), "");
  assert.match(aliasingWarning(oneTurnAFrame, 1.5), /makes 1\.5 turns between two frames/);
  assert.equal(aliasingWarning(0, 1e9), "");
});

test("slow motion is at most a twelfth of a turn per frame, and not much less", () => {
  for (const rate of [0.3, 5, 77, 4e4, 1e9]) {
    const turns = turnsPerFrame(rate, slowMotionSpeed(rate));
    assert.ok(turns <= 1 / 12 && turns > 1 / 12 / 2.6, `${rate}: ${turns}`);
  }
});

test("each body has its own maximum rate; outputs too far apart give a warning", () => {
  assert.equal(maxAngularSpeed(RECORD, 0), 1);
  assert.equal(maxAngularSpeed(RECORD, 1), 8 * Math.PI);
  assert.equal(samplingWarning(RECORD, 0), "");
  assert.match(samplingWarning(RECORD, 1), /makes up to 4 turns/);
});

test("speeds range over a factor of a hundred either way, and include the current one", () => {
  const speeds = speedsAround(1, 0.03).map((speed) => speed.value);
  assert.deepEqual([speeds[0], speeds[speeds.length - 1], speeds.length], [0.01, 100, 14]);
  assert.ok(speeds.includes(0.03));
  assert.equal(speedsAround(2000, 2000).length, 13);
  assert.equal(wordsOf(1), "×1, real time");
});

test("a force that a file could not store, and impulses, are not reported as no force", () => {
  assert.match(unavailableReasons({ ...RECORD, unknownForces: ["own_push"] }, 0).forces ?? "", /cannot store own push/);
  const impulse = { name: "impulse", time: 1, body: 0 };
  assert.match(unavailableReasons({ ...RECORD, events: [impulse] }, 0).forces ?? "", /Only impulses act/);
});

test("an unavailable switch says why", () => {
  const why = unavailableReasons(RECORD, 0);
  assert.equal(why.poinsot, "Torques act.");
  assert.equal(why.torque, "No torque acts.");
  assert.match(why.closedForm ?? "", /closed form/);
  assert.match(why.follow ?? "", /nothing to follow/);
  assert.equal(why.omega, undefined);
  assert.equal(why.bodyAxes, undefined);
});

test("fields keep all keys, buttons space, sliders arrows; the time slider leaves stepping to the page", () => {
  assert.equal(keeps({ tagName: "INPUT", type: "number" }), "all");
  assert.equal(keeps({ tagName: "SELECT" }), "all");
  assert.equal(keeps({ tagName: "BUTTON" }), "space");
  assert.equal(keeps({ tagName: "INPUT", type: "range", dataset: {} }), "arrows");
  assert.equal(keeps({ tagName: "INPUT", type: "range", dataset: { time: "" } }), "nothing");
  assert.equal(keeps({ tagName: "A" }), "nothing");
  assert.equal(keeps({ tagName: "CANVAS" }), "nothing");
});
