"""How many new motions a second the page shows while a knob is dragged, in Chromium with WebGL in software.

    python -m benchmarks.lab_drag dzhanibekov gyroscope
    python -m benchmarks.lab_drag exported-page.html

The first starts the lab and drags the first slider of each model with the mouse; the second opens an exported page with
live knobs, without a network.  A motion counts when it has been drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
WINDOW = {"width": 1440, "height": 900}
STARTUP_S = 180
"""For a model that is compiled first."""
COUNTER = """
(() => {
  const views = document.querySelector("[data-drawn]");
  const seen = (globalThis.shownMotions = []);
  let last = document.body.dataset.run;
  new MutationObserver(() => {
    if (document.body.dataset.run === last) return;
    last = document.body.dataset.run;
    seen.push(performance.now());
  }).observe(views, { attributes: true, attributeFilter: ["data-drawn"] });
})()
"""
"""Notes the time of every drawing of a motion that had not been drawn before."""


@contextmanager
def serve_lab() -> Iterator[str]:
    """The lab in its own process; yields its URL."""
    command = (sys.executable, "-m", "polhode", "lab", "--no-browser", "--port", "0")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if found is None:
            raise SystemExit(f"the lab did not print its URL, but {line!r}")
        yield found.group().rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=20)


def evaluate(page: Any, expression: str) -> Any:
    """Evaluate a script through the debugger: the page's policy forbids `page.evaluate`."""
    session = page.context.new_cdp_session(page)
    answer = session.send("Runtime.evaluate", {"expression": expression, "returnByValue": True})
    session.detach()
    return answer["result"].get("value")


def drag_slider(page: Any, seconds: float) -> None:
    """Drag the first slider of the parameters back and forth with the mouse."""
    slider = page.get_by_role("region", name="Parameters").get_by_role("slider").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    left, right, y = box["x"] + 0.1 * box["width"], box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move((left + right) / 2, y)
    page.mouse.down()
    start = perf_counter()
    while (passed := perf_counter() - start) < seconds:
        phase = passed / 3 % 1  # back and forth in three seconds
        page.mouse.move(left + (right - left) * (2 * phase if phase < 0.5 else 2 - 2 * phase), y)
    page.mouse.up()


def measure_page(browser: Any, url: str, seconds: float, offline: bool) -> dict[str, Any]:
    """Open a page, drag its first slider, and count."""
    context = browser.new_context(viewport=WINDOW, offline=offline)
    page = context.new_page()
    try:
        page.goto(url)
        page.wait_for_selector('body[data-state="ready"]', timeout=1000 * STARTUP_S)
        first = evaluate(page, "performance.getEntriesByName('polhode-first-drawing')[0]?.startTime ?? null")
        page.wait_for_timeout(1000)
        evaluate(page, COUNTER)
        drag_slider(page, seconds)
        times = evaluate(page, "shownMotions")
        page.wait_for_selector('body[data-state="ready"]', timeout=1000 * STARTUP_S)
    finally:
        context.close()
    gaps = [b - a for a, b in zip(times, times[1:], strict=False)]
    return {
        "first_drawing_ms": first,
        "motions": len(times),
        "motions_per_second": len(times) / seconds,
        "longest_gap_ms": max(gaps, default=None),
    }


def measure_drags(targets: list[str], seconds: float) -> dict[str, dict[str, Any]]:
    """The figures of each target: the name of a model, or an exported page."""
    from playwright.sync_api import sync_playwright

    pages = [target for target in targets if target.endswith((".html", ".htm"))]
    models = [target for target in targets if target not in pages]
    found = {}
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), args=list(CHROMIUM_ARGUMENTS)
        )
        for page in pages:
            found[page] = measure_page(browser, Path(page).resolve().as_uri(), seconds, offline=True)
        if models:
            with serve_lab() as address:
                for model in models:
                    found[model] = measure_page(browser, f"{address}/{model}", seconds, offline=False)
        browser.close()
    return found


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=["dzhanibekov", "gyroscope"], help="models, or exported pages")
    parser.add_argument("--seconds", type=float, default=6.0, help="of dragging (default 6)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    arguments = parser.parse_args()
    found = measure_drags(arguments.targets, arguments.seconds)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'':<32} {'first drawing, s':>16} {'motions a second':>16} {'longest gap, ms':>16}")
    for name, row in found.items():
        first, gap = row["first_drawing_ms"], row["longest_gap_ms"]
        print(
            f"{Path(name).name:<32} {'-' if first is None else f'{first / 1000:.2f}':>16} "
            f"{row['motions_per_second']:>16.1f} {'-' if gap is None else f'{gap:.0f}':>16}"
        )


if __name__ == "__main__":
    main()
