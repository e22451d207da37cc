import assert from "node:assert/strict";
import { test } from "node:test";
import type { MotionRecord, Series } from "../src/motion/record.ts";
import { phaseContents, stripContents, type Look, type PanelContents } from "../src/plots/panel-contents.ts";
import { firstPanels, stripsOf, whyNot } from "../src/plots/panel-list.ts";
import { csvText } from "../src/plots/csv.ts";
import { recordOf, symmetricTop } from "./closed-forms.ts";

const time = [0, 1, 2, 3];
const LOOK: Look = { degrees: false, hidden: new Set(), spread: "none", pinned: null };
const keys = (record: MotionRecord): string[] => firstPanels(record, 0);
const contentsOf = (record: MotionRecord, id: string, look: Partial<Look> = {}, watched = 0): PanelContents[] =>
  stripsOf(record, watched, id).map((strip) => stripContents(strip, record, watched, { ...LOOK, ...look }));
const series = (name: string, ...values: number[]): Series => ({
  name,
  unit: "J",
  values: Float64Array.from(values),
  columns: values.length / time.length,
});
const still = (more: Partial<MotionRecord> = {}): MotionRecord =>
  recordOf(time, symmetricTop(0.3, 0, 0), { position: new Float64Array(12), ...more });
const top = (): MotionRecord => recordOf(time, symmetricTop(0.3, 1, 2));

test("empty panels are not shown at first, and say why", () => {
  assert.deepEqual(keys(still()), []);
  assert.deepEqual(keys(recordOf(time, symmetricTop(0.3, 0, 0))), ["position"]);
  assert.deepEqual(keys(top()), ["angular_velocity", "angular_velocity_world", "euler_angles", "position"]);
  assert.equal(whyNot(still(), 0, "euler_angles"), "nothing rotates");
  assert.equal(whyNot(still(), 0, "phase:theta:nonsense"), "this motion has no quantity “nonsense”");
  assert.equal(whyNot(still(), 0, "nonsense"), "there is no panel “nonsense”");
});

test("the stage chooses the panels, in its order", () => {
  const record = top();
  const stage = { ...record.stage, panels: ["speed", "angular_velocity"] };
  assert.deepEqual(keys({ ...record, stage }), ["speed", "angular_velocity"]);
});

test("each Euler angle has an axis of its own; a body that stays upright has the sum of phi and psi", () => {
  assert.deepEqual(contentsOf(top(), "euler_angles").map((one) => one.curves.map((curve) => curve.id)), [["theta"], ["phi"], ["psi"]]);
  assert.deepEqual(contentsOf(top(), "tilt_precession").map((one) => one.heading), ["Tilt θ", "Precession φ"]);
  const [, sum] = contentsOf(recordOf(time, symmetricTop(0, 0, 3)), "euler_angles");
  assert.deepEqual([...sum.curves[0].values].map((x) => Math.round(1e9 * x) / 1e9), [0, 3, 6, 9]);
  assert.match(sum.note, /only φ \+ ψ is determined/);
});

test("degrees are for angles and their rates, and nothing else", () => {
  const [body] = contentsOf(recordOf(time, symmetricTop(0, 0, Math.PI)), "angular_velocity", { degrees: true });
  assert.deepEqual([body.unit, body.curves[2].values[1]], ["°/s", 180]);
  const [theta] = contentsOf(top(), "euler_angles", { degrees: true });
  assert.equal(theta.unit, "°");
  assert.ok(Math.abs(theta.curves[0].values[1] - (0.3 * 180) / Math.PI) < 1e-12);
  assert.equal(contentsOf(top(), "position", { degrees: true })[0].unit, "m");
});

test("a hidden curve does not count for the range", () => {
  const hidden = new Set(["position/position_y", "position/position_z"]);
  const [all, one] = [contentsOf(top(), "position")[0], contentsOf(top(), "position", { hidden })[0]];
  assert.ok(all.range[0] < -3 && all.range[1] > 6 && one.range[0] > -0.5 && one.range[1] < 3.5);
  assert.deepEqual(one.curves.map((curve) => curve.isHidden), [false, true, true]);
});

test("velocity, speed and quaternion; the sign of a quaternion does not jump", () => {
  const record = top();
  record.quaternion.subarray(4, 8).forEach((_, i, part) => (part[i] *= -1));
  const [q] = contentsOf(record, "quaternion");
  const dots = [1, 2, 3].map((n) => q.curves.reduce((sum, { values }) => sum + values[n] * values[n - 1], 0));
  assert.ok(dots.every((dot) => dot > 0));
  assert.deepEqual(contentsOf(record, "velocity")[0].curves.map((one) => one.values[2]), [1, 2, -1]);
  assert.ok(Math.abs(contentsOf(record, "speed")[0].curves[0].values[1] - Math.sqrt(6)) < 1e-15);
});

test("the pinned run has curves of its own times", () => {
  const pinned = recordOf([0, 5], symmetricTop(0.3, 1, 2));
  const [panel] = contentsOf(top(), "position", { pinned });
  assert.deepEqual(panel.pinned?.lines.map((one) => [...one.values]), [[0, 5], [0, 10], [-0, -5]]);
  assert.deepEqual([...panel.pinned!.time], [0, 5]);
  assert.ok(panel.range[1] > 10);
});

test("a phase plot has two quantities, with one scale for lengths", () => {
  const path = phaseContents("phase:position_x:position_y", top(), 0, LOOK);
  assert.deepEqual([[...path.x.values], [...path.y.values], path.isEqual], [[0, 1, 2, 3], [0, 2, 4, 6], true]);
  const phase = phaseContents("phase:theta:psi_rate", top(), 0, { ...LOOK, degrees: true });
  assert.deepEqual([phase.x.unit, phase.y.unit, phase.isEqual], ["°", "°/s", false]);
  assert.ok(Math.abs(phase.y.values[1] - 360 / Math.PI) < 1e-9);
  assert.ok(phase.x.range[0] < phase.x.values[1] && phase.x.values[1] < phase.x.range[1]);
});

test("a phase plot of a constant, and of NaN, has a range", () => {
  const record = top();
  record.velocity.fill(NaN);
  const { x, y } = phaseContents("phase:velocity_x:angular_momentum_x", record, 0, LOOK);
  for (const [low, high] of [x.range, y.range]) assert.ok(low < high && Number.isFinite(high - low));
});

test("the CSV of a panel has names, units and all digits, without the power of ten of the axis", () => {
  const [energy] = contentsOf(still({ energies: [series("rotational", 1e-22, 2e-22, 3e-22, 0.1)] }), "energy");
  assert.equal(csvText(energy.csv()), "time (s),energy_rotational (J)\r\n0,1e-22\r\n1,2e-22\r\n2,3e-22\r\n3,0.1\r\n");
  const [theta] = contentsOf(top(), "euler_angles", { degrees: true });
  assert.match(csvText(theta.csv()), /^time \(s\),theta \(°\)\r\n0,17\.18873385392/);
});

test("a torque that is rounding is omitted, any other is shown", () => {
  const turning = (size: number): MotionRecord =>
    recordOf(time, symmetricTop(0.3, 1, 2), { torque: Float64Array.from({ length: 12 }, () => size) });
  assert.ok(!keys(turning(1e-16)).includes("torque"));
  assert.ok(keys(turning(1e-3)).includes("torque"));
  assert.ok(!keys(turning(NaN)).includes("torque"));
});

test("body axes: the spin of an upright top is its third component", () => {
  const [body] = contentsOf(recordOf(time, symmetricTop(0, 0, 3)), "angular_velocity");
  assert.deepEqual(body.curves.map((one) => one.values[2]), [0, 0, 3]);
});

test("energies of molecules have a readable unit", () => {
  const [energy] = contentsOf(still({ energies: [series("rotational", 1e-22, 2e-22, 3e-22, 4e-22)] }), "energy");
  assert.deepEqual([energy.power, energy.unit], [-24, "J"]);
  assert.ok(Math.abs(energy.curves[0].values[3] - 400) < 1e-10);
});

test("an energy that is constant up to rounding looks flat, with zero in range", () => {
  const [energy] = contentsOf(still({ energies: [series("rotational", 8, 8 + 1e-12, 8, 8 - 1e-12)] }), "energy");
  assert.ok(energy.range[0] <= 0 && energy.range[1] > 9);
});

test("drifts are logarithms; exactly conserved quantities are named; an exact zero is a gap", () => {
  const drifts = [series("energy", 0, 1e-15, 1e-12, 1e-13), series("momentum", 0, 0, 0, 0)];
  const [panel] = contentsOf(still({ drifts }), "drift");
  assert.deepEqual(panel.curves.map((one) => one.name), ["energy"]);
  assert.equal(panel.curves[0].values[0], -Infinity);
  assert.equal(panel.curves[0].values[2], -12);
  assert.equal(panel.note, "exactly conserved: momentum");
  assert.ok(panel.range[0] === -17 && panel.range[1] > -12);
});

const ensemble = (bodies: number, more: Partial<MotionRecord> = {}): MotionRecord => {
  const values = (n: number): Float64Array => Float64Array.from({ length: time.length * bodies * n }, (_, i) => Math.sin(i * i));
  const record = still({ axis: "member", bodies, quaternion: values(4), angularVelocity: values(3), position: values(3), ...more });
  record.appearanceIndex = new Uint32Array(bodies);
  return record;
};

test("members: the watched one in front, at most thirty others behind, or bands of all", () => {
  const [drawn] = contentsOf(ensemble(100), "angular_velocity", { spread: "members" }, 42);
  assert.equal(drawn.curves.length, 3);
  assert.ok(drawn.members.length >= 29 * 3 && drawn.members.length <= 31 * 3);
  const [bands] = contentsOf(ensemble(100), "angular_velocity_world", { spread: "bands" }, 42);
  assert.deepEqual([bands.members.length, bands.bands.length, bands.bands[0].levels.length], [0, 3, 5]);
});

test("members of a sweep have the color of their value", () => {
  const colors = { knob: "spin", unit: "rad/s", values: [3, 5, 4] };
  const [panel] = contentsOf(ensemble(3, { colors }), "angular_velocity", { spread: "members" });
  assert.deepEqual(panel.members.map((one) => one.color), [1, 1, 1, 0.5, 0.5, 0.5]);
});

test("panels with NaN have finite ranges", () => {
  const record = recordOf(time, symmetricTop(0.3, 1, 2));
  record.quaternion.fill(NaN, 8);
  record.angularVelocity.fill(NaN, 6);
  record.position.fill(NaN, 6);
  for (const id of ["angular_velocity", "euler_angles", "yaw_pitch_roll", "quaternion", "position"]) {
    for (const panel of contentsOf(record, id)) assert.ok(panel.range.every(Number.isFinite), panel.key);
  }
});
