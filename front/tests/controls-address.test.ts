// The link that restores model, parameters, run, and what is seen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, valuesOf, viewOf, modelOf, runOf } from "../src/controls/address.ts";
import { cameraPart, PageLink, pointPart, switchesPart, timePart, watchPart } from "../src/controls/page-link.ts";
import { Playback } from "../src/motion/playback.ts";
import type { MotionRecord } from "../src/motion/record.ts";
import { Choices } from "../src/options.ts";
import type { PageCamera } from "../src/view/views.ts";

const parameter = (name: string, defaultValue: number) => ({ name, unit: "1", default: defaultValue, low: 0, high: 10, help: "" });
const PARAMETERS = [parameter("spin", 5), parameter("nudge", 0.1)];

/** A page whose parts are not drawn. */
function page(): { link: PageLink; choices: Choices; playback: Playback; camera: { now: PageCamera } } {
  const [choices, playback, link] = [new Choices(), new Playback(), new PageLink()];
  const camera = { now: { azimuthDeg: -55, elevationDeg: 22, zoom: 1, pan: [0, 0, 0] } as PageCamera };
  const record = { members: [0, 4, 9], axis: "member" } as MotionRecord;
  const first = { ...choices.now };
  playback.load(Float64Array.of(0, 1, 2, 9), false);
  link.add(timePart(playback));
  const cameraHome = camera.now;
  link.add(cameraPart({ cameraHome, cameraState: () => camera.now, setCamera: (state) => (camera.now = state) }));
  link.add(switchesPart(choices, () => first));
  link.add(pointPart(choices));
  link.add(watchPart(choices, () => record));
  return { link, choices, playback, camera };
}

test("a URL round-trips parameter values to the last bit", () => {
  const values = { spin: 0.1 + 0.2, nudge: 1e-7 };
  const state = { model: "dzhanibekov", parameters: PARAMETERS, values, run: "t-handle & more" };
  const address = addressOf("/dzhanibekov", "?spin=9&spinn=3&run=box", state);
  assert.equal(modelOf(address.split("?")[0]), "dzhanibekov");
  assert.deepEqual(valuesOf(address.split("?")[1], "dzhanibekov", PARAMETERS), { values, complaints: [] });
  assert.equal(runOf(address.split("?")[1]), "t-handle & more");
});

test("fx and token are kept, defaults are omitted", () => {
  const state = { model: "cubesat", parameters: PARAMETERS, values: { spin: 5, nudge: 0.2 }, run: "" };
  const address = addressOf("/a/boxes", "?spin=3&run=box&token=x%2By&fx=low", state);
  assert.equal(address, "/a/cubesat?nudge=0.2&fx=low&token=x%2By");
});

test("invalid parameters in a URL are reported", () => {
  const { values, complaints } = valuesOf("?spin=fast&color=red&nudge=0.3&fx=low&t=3&cam=1,2,3", "boxes", PARAMETERS);
  assert.deepEqual(values, { nudge: 0.3 });
  assert.equal(complaints.length, 2);
  assert.match(complaints[0], /spin = "fast"/);
  assert.match(complaints[1], /boxes has no such parameter/);
});

test("the root has no model, and a malformed escape is not an error", () => {
  assert.equal(modelOf("/"), "");
  assert.equal(modelOf("/%zz"), "%zz");
});

test("what is seen goes through a link and back", () => {
  const one = page();
  one.playback.seek(1.25);
  one.camera.now = { azimuthDeg: 30.5, elevationDeg: -12, zoom: 2.25, pan: [0.5, 0, -1] };
  one.choices.set({ poinsot: true, L: false, watched: 2, trailPoint: true, point: [0.1, 0, -0.45] });
  const address = addressOf("/boxes", "", { model: "boxes", parameters: PARAMETERS, values: {}, run: "", view: one.link.pairs });
  assert.equal(address, "/boxes?t=1.25&cam=30.5,-12,2.25,0.5,0,-1&show=-L,trailPoint,poinsot&point=0.1,0,-0.45&watch=9");
  const other = page();
  assert.deepEqual(other.link.restore(viewOf(address.split("?")[1], PARAMETERS)), []);
  assert.equal(other.playback.t, 1.25);
  assert.deepEqual(other.camera.now, one.camera.now);
  assert.deepEqual(other.choices.now, one.choices.now);
});

test("cameras of their own are told apart", () => {
  const one = page();
  one.camera.now = { ...one.camera.now, body: { azimuthDeg: 1, elevationDeg: 2, zoom: 3, pan: [0, 0, 0] } };
  assert.deepEqual(one.link.pairs, [["cam", "-55,22,1;1,2,3"]]);
  const other = page();
  assert.deepEqual(other.link.restore(one.link.pairs), []);
  assert.deepEqual(other.camera.now, one.camera.now);
  assert.equal(other.link.restore([["cam", "1,2,3;4"]]).length, 1);
});

test("a motion as it is shown at first adds nothing to its link", () => {
  assert.deepEqual(page().link.pairs, []);
});

test("each wrong part of a link is reported, and the others are used", () => {
  const { link, playback, camera, choices } = page();
  const complaints = link.restore(viewOf("t=20&cam=1,2&show=poinsot,sparkles&watch=7&point=1,2", PARAMETERS));
  assert.equal(complaints.length, 5);
  assert.match(complaints[0], /lasts from 0 to 9 s/);
  assert.match(complaints[1], /cam = "1,2"/);
  assert.match(complaints[2], /"sparkles"/);
  assert.match(complaints[3], /x,y,z/);
  assert.match(complaints[4], /member "7"/);
  assert.equal(playback.t, 9);
  assert.equal(camera.now.zoom, 1);
  assert.equal(choices.now.poinsot, true);
  assert.equal(choices.now.watched, 0);
});

test("a parameter has precedence over what is seen", () => {
  const parameters = [parameter("t", 1)];
  assert.deepEqual(viewOf("t=3&cam=1,2,3", parameters), [["cam", "1,2,3"]]);
  const state = { model: "m", parameters, values: { t: 3 }, run: "", view: [["t", "7"] as ["t", string]] };
  assert.equal(addressOf("/m", "", state), "/m?t=3");
});
