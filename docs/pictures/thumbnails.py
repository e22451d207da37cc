"""Photographs the models for the gallery of the page: each at its stage's camera, in the light and in the dark theme.

Run `python docs/pictures/thumbnails.py [MODEL ...]` with Chromium and Playwright; by default it photographs all.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from polhode.gallery import MODELS
from polhode.gallery.thumbnails import DARK_SUFFIX, SUFFIX

FOLDER = Path(__file__).parents[2] / "src/polhode/gallery/data/thumbnails"
SIZE = (320, 200)
"""Of a picture, in pixels; it is taken larger."""
QUALITY = 75
WINDOW = {"width": 1100, "height": 980}
CLIP = {"x": 96, "y": 60, "width": 768, "height": 480}
"""The middle of the view, which has a margin for labels."""
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
HIDE = """
  #head, #cards, #side, #play-bar, #notices, .divider, .view-bar, .view-handle, .view-caption, .view-remark,
  .view-triad, .view-word { display: none !important; }
  #views { position: fixed !important; inset: 0 auto auto 0 !important; width: 960px; height: 600px; z-index: 99; }
"""
SEEK = """share => {
  const slider = document.querySelector('#play-bar input[type=range]');
  const [low, high] = [Number(slider.min), Number(slider.max)];
  slider.value = low + share * (high - low);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
}"""


def photograph(page: Any, name: str, address: str) -> Image.Image:
    """The space view of a model at the moment that its stage names."""
    model = MODELS[name]
    page.goto(f"{address}{name}")
    page.wait_for_selector(f"body[data-state=ready][data-model={name}]", timeout=180_000)
    page.get_by_role("button", name="Space frame only").click()
    page.add_style_tag(content=HIDE)
    page.evaluate(SEEK, model.stage_of(model.values()).moment)
    page.wait_for_timeout(1500)
    shot = page.screenshot(clip=CLIP)
    return Image.open(io.BytesIO(shot)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)


def main(names: list[str]) -> None:
    """Open the lab, and photograph each model."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "polhode", "lab", "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split()[0]
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            for scheme, suffix in (("light", SUFFIX), ("dark", DARK_SUFFIX)):
                # The policy of the page forbids other scripts than its own.
                page = browser.new_page(viewport=WINDOW, color_scheme=scheme, bypass_csp=True)
                for name in names or MODELS:
                    file = FOLDER / f"{name}{suffix}"
                    photograph(page, name, address).save(file, quality=QUALITY, method=6)
                    print(file.name, file.stat().st_size)
    finally:
        server.terminate()


if __name__ == "__main__":
    main(sys.argv[1:])
