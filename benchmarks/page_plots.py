"""Times of the page's plots in Chromium: a new motion in four panels, and the bands of an ensemble of 1000 members.

python -m benchmarks.page_plots      (needs Node, front/node_modules and Chromium)
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import polhode as ph
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

FRONT = Path(__file__).parent.parent / "front"
PANELS = ["angular_velocity", "angular_velocity_world", "quaternion", "energy"]
REPEATS = 41
HARNESS = """
import { Plots } from "./src/plots/plots.ts";
import { Playback } from "./src/motion/playback.ts";
import { Choices } from "./src/options.ts";
import { decodeRecord } from "./src/motion/record.ts";
const records = MOTIONS.map((text) => decodeRecord(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer));
const playback = new Playback();
const plots = new Plots(document.body, playback, new Choices());
const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
async function show(record) {
  const start = performance.now();
  playback.load(record.time, true);
  plots.show(record);
  // uPlot draws in a microtask.
  await null;
  await null;
  const spent = performance.now() - start;
  await frame();
  return spent;
}
async function measure() {
  plots.selection.set({ panels: PANELS });
  const [first, singles] = [await show(records[0]), []];
  for (let i = 0; i < REPEATS; i++) singles.push(await show(records[i % 2]));
  plots.selection.set({ spread: "none" });
  await show(records[2]);
  const bands = [];
  plots.selection.set({ spread: "bands" });
  for (let last = performance.now(); bands.length < PANELS.length + 2; ) {
    await new Promise((done) => setTimeout(done));
    bands.push(performance.now() - last);
    last = performance.now();
  }
  const longest = Math.max(...bands);
  return { "first motion": first, "next motion, median": median(singles), "longest pause for bands": longest };
}
measure().then((found) => (document.title = JSON.stringify(found)));
"""


def main() -> None:
    """Print milliseconds of the script, drawing into the canvas included."""
    page = f"<!doctype html><title></title><body><script>{_bundle(_motions())}</script>"
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        path = Path(folder) / "page.html"
        path.write_text(page)
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 390, "height": 844})
        tab.goto(path.as_uri())
        tab.wait_for_function("document.title !== ''", timeout=60_000)
        for what, spent in json.loads(tab.title()).items():
            print(f"{what}: {spent:.1f} ms")
        browser.close()


def _motions() -> list[str]:
    """Two similar motions of 721 outputs, and 1000 members at 200."""
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    states = [ph.State(angular_velocity_body=(0.1, spin, 0.1)) for spin in (5.0, 5.3)]
    one, other = (ph.simulate(box, state, duration=9.0, output_step=0.0125) for state in states)
    rates = np.array((0.1, 5.0, 0.1)) + 0.02 * np.random.default_rng(1).standard_normal((1000, 3))
    many = ph.ensemble(box, ph.State(angular_velocity_body=rates), duration=9.0, output_step=0.045)
    return [base64.b64encode(encode_record(record_motion(motion))).decode() for motion in (one, other, many)]


def _bundle(motions: list[str]) -> str:
    head = "".join(
        f"const {name} = {json.dumps(value)};\n"
        for name, value in (("MOTIONS", motions), ("PANELS", PANELS), ("REPEATS", REPEATS))
    )
    words = ["node", "node_modules/esbuild/bin/esbuild", "--bundle", "--format=iife", "--loader=ts", "--minify"]
    # The source comes from standard input, as if it were a file in front.
    run = subprocess.run(words, cwd=FRONT, input=HARNESS, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(run.stderr)
    return head + run.stdout


if __name__ == "__main__":
    main()
