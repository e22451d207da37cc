import assert from "node:assert/strict";
import { test } from "node:test";
import type { MotionRecord, Series } from "../src/motion/record.ts";
import { panelContents } from "../src/plots/panel-contents.ts";
import { recordOf, symmetricTop } from "./closed-forms.ts";

const time = [0, 1, 2, 3];
const keys = (record: MotionRecord): string[] => panelContents(record, 0).map((one) => one.key);
const series = (name: string, ...values: number[]): Series => ({
  name,
  unit: "J",
  values: Float64Array.from(values),
  columns: values.length / time.length,
});
const still = (more: Partial<MotionRecord> = {}): MotionRecord =>
  recordOf(time, symmetricTop(0.3, 0, 0), { position: new Float64Array(12), ...more });

test("empty panels are omitted", () => {
  assert.deepEqual(keys(still()), []);
  assert.deepEqual(keys(recordOf(time, symmetricTop(0.3, 0, 0))), ["position"]);
  assert.deepEqual(keys(recordOf(time, symmetricTop(0.3, 1, 2))), ["omega-body", "omega-space", "angles", "position"]);
});

test("a tilt with many turns has its own panel", () => {
  const fast = recordOf(time, symmetricTop(0.3, 1, 50), { position: new Float64Array(12) });
  assert.deepEqual(keys(fast), ["omega-body", "omega-space", "angles-turning", "angles-tilt"]);
});

test("a torque that is rounding is omitted, any other is shown", () => {
  const turning = (size: number): MotionRecord =>
    recordOf(time, symmetricTop(0.3, 1, 2), { torque: Float64Array.from({ length: 12 }, () => size) });
  assert.ok(!keys(turning(1e-16)).includes("torque"));
  assert.ok(keys(turning(1e-3)).includes("torque"));
  assert.ok(!keys(turning(NaN)).includes("torque"));
});

test("body axes: the spin of an upright top is its third component", () => {
  const [body] = panelContents(recordOf(time, symmetricTop(0, 0, 3)), 0);
  assert.deepEqual(body.curves.map((one) => one.values[2]), [0, 0, 3]);
});

test("energies of molecules have a readable unit", () => {
  const [energy] = panelContents(still({ energies: [series("rotational", 1e-22, 2e-22, 3e-22, 4e-22)] }), 0);
  assert.deepEqual([energy.power, energy.unit], [-24, "J"]);
  assert.ok(Math.abs(energy.curves[0].values[3] - 400) < 1e-10);
});

test("an energy that is constant up to rounding looks flat, with zero in range", () => {
  const [energy] = panelContents(still({ energies: [series("rotational", 8, 8 + 1e-12, 8, 8 - 1e-12)] }), 0);
  assert.ok(energy.range[0] <= 0 && energy.range[1] > 9);
});

test("drifts are logarithms; exactly conserved quantities are named; an exact zero is a gap", () => {
  const drifts = [series("energy", 0, 1e-15, 1e-12, 1e-13), series("momentum", 0, 0, 0, 0)];
  const [panel] = panelContents(still({ drifts }), 0);
  assert.deepEqual(panel.curves.map((one) => one.name), ["energy"]);
  assert.equal(panel.curves[0].values[0], -Infinity);
  assert.equal(panel.curves[0].values[2], -12);
  assert.equal(panel.note, "exactly conserved: momentum");
  assert.ok(panel.range[0] === -17 && panel.range[1] > -12);
});

test("members: the watched one in front, at most thirty others in the background", () => {
  const bodies = 100;
  const many = (values: number): Float64Array => new Float64Array(time.length * bodies * values).fill(0.5);
  const record = still({ axis: "member", bodies, quaternion: many(4), angularVelocity: many(3), position: many(3) });
  record.appearanceIndex = new Uint32Array(bodies);
  const [body] = panelContents(record, 42);
  assert.equal(body.curves.length, 3);
  assert.equal(body.background.length, 90);
});

test("panels with NaN have finite ranges", () => {
  const record = recordOf(time, symmetricTop(0.3, 1, 2));
  record.quaternion.fill(NaN, 8);
  record.angularVelocity.fill(NaN, 6);
  record.position.fill(NaN, 6);
  for (const panel of panelContents(record, 0)) assert.ok(panel.range.every(Number.isFinite), panel.key);
});
