"""Makes the pictures of the page in the documentation, with Playwright and Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SEEN = {
    "lab.png": ("dzhanibekov", "1.3", "light", "Poinsot"),
    "lab-dark.png": ("gyroscope-analytic", "4", "dark", "Body axis 3"),
    "own-model.png": ("wheel", "1", "light", "Body axis 3"),
}
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SEEK = "(slider, t) => { slider.value = t; slider.dispatchEvent(new Event('input', { bubbles: true })) }"


def main() -> None:
    """Open the lab, and photograph each page at its instant; those that are named, or all."""
    from playwright.sync_api import sync_playwright

    own = Path(tempfile.mkdtemp()) / "wheel.toml"  # the file of the how-to guide
    guide = (HERE.parent / "howto" / "own-models.md").read_text(encoding="utf-8")
    own.write_text(re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)[0], encoding="utf-8")
    command = [sys.executable, "-m", "polhode", "lab", str(own), "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split()[0].removesuffix("wheel")
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            for name, (model, instant, scheme, switch) in SEEN.items():
                if sys.argv[1:] and name not in sys.argv[1:]:
                    continue
                page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
                page.goto(address + model)
                page.wait_for_selector("body[data-state=ready]", timeout=120_000)
                page.get_by_role("button", name="Show").click()
                page.get_by_role("switch", name=switch).check()
                page.keyboard.press("Escape")
                page.get_by_role("slider", name="Time").evaluate(SEEK, instant)
                page.wait_for_timeout(3000)
                page.mouse.click(640, 60)  # away from the button that has the focus
                page.screenshot(path=HERE / name)
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
