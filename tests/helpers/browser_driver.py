"""Chromium for the tests (driven by Playwright), the lab that it visits, and checks of what it shows."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request

ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",  # containers have little of it
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
WIDE, PHONE = {"width": 1120, "height": 680}, {"width": 390, "height": 844}
CONTROLS = re.compile(
    "button|checkbox|combobox|im(g|age)|link|menuitem|option|progressbar|radio|searchbox|slider|spinbutton|switch|textbox"
)
TIMEOUT, COMPILE_TIMEOUT = 15_000, 180_000
"""Timeouts in ms: for anything on the page, and for a model that must be compiled first."""
FAINT = 48
"""Colors closer than this, of 3 times 255, are considered equal."""
DRAWN = 0.05
"""Minimum fraction of a view that is not background if a body is drawn; text alone covers 3 %."""
WITH_CASES = """
import sys; sys.path.insert(0, sys.argv.pop(1))
import pytest, lab_models; lab_models.install(pytest.MonkeyPatch())
from polhode.cli import main; main()
"""
LOCAL_SCHEMES = ("file", "data", "blob", "about")


def chromium() -> str:
    """Path of Chromium."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.fail(
            "the browser tests require Chromium: `apt-get install chromium fonts-dejavu-core`, "
            "or set its path: CHROMIUM=/path/to/chromium",
            pytrace=False,
        )
    return found


@dataclass
class Visit:
    """One page in its own window, its requests, and its errors."""

    context: BrowserContext
    page: Page
    hosts: tuple[str, ...]
    """Hosts that may be contacted."""
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    expected: str | None = None
    """Pattern of the errors that the test expects."""

    def __post_init__(self) -> None:
        self.context.set_default_timeout(TIMEOUT)
        self.context.on("request", self._on_request)
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _on_request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.errors.append(f"{message.text} ({message.location.get('url')})")

    def foreign_requests(self) -> list[str]:
        """Requests to other hosts."""
        parts = [(urlsplit(address), address) for address in self.requests]
        return [
            address for part, address in parts if part.scheme not in LOCAL_SCHEMES and part.netloc not in self.hosts
        ]

    def end(self) -> None:
        """Close the window; fail if there were requests to other hosts, or errors."""
        self.context.close()
        foreign_requests = self.foreign_requests()
        errors = [c for c in self.errors if not (self.expected and re.search(self.expected, c))]
        assert not foreign_requests, f"the page has contacted other hosts than {self.hosts}: {foreign_requests}"
        assert not errors, f"the page has errors: {errors}"


class Lab:
    """`polhode lab`, or another command, in its own process; `port` 0 means any free one.

    With `cases` its gallery has the models of tests/helpers/lab_models.py, which are quick, slow, or fail.
    """

    def __init__(self, *command: str, port: int = 0, cases: bool = False) -> None:
        program = ("-c", WITH_CASES, str(Path(__file__).parent)) if cases else ("-m", "polhode")
        words = (*program, *(command or ("lab",)), "--no-browser", "--port", str(port))
        self.process = subprocess.Popen(
            (sys.executable, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        lines = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            lines.append(line)
            if found := re.search(r"http://\S+", line):
                self.start = urlsplit(found.group())
                return
        pytest.fail(f"{words} has exited without printing a URL: " + "".join(lines), pytrace=False)

    @property
    def host(self) -> str:
        return self.start.netloc

    def address(self, model: str = "", **query: object) -> str:
        """URL of a model with parameter values."""
        words = {"fx": "low", **dict(parse_qsl(self.start.query)), **query}
        return urlunsplit(("http", self.host, f"/{model}", urlencode(words), ""))

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


def choose(page: Page, model: str) -> None:
    """Choose a model in the gallery by the text of its link; hydra-6dof is called Hydra 6-DOF there.

    A featured model has two links, at the top and within its theme.
    """
    letters = "[ -]?".join(model.replace("-", ""))
    page.get_by_role("navigation").get_by_role("link", name=re.compile(f"^{letters}$", re.IGNORECASE)).first.click()
    wait_until_ready(page, model)


def evaluate(page: Page, expression: str) -> Any:
    """Evaluate a script; `page.evaluate` is forbidden by the policy of the page."""
    session = page.context.new_cdp_session(page)
    answer = session.send("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
    session.detach()
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


def unnamed_controls(page: Page) -> list[str]:
    """Controls and images without an accessible name, according to the browser."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    known = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    assert len([role for role, _ in known if CONTROLS.fullmatch(role)]) > 10
    return [role for role, name in known if CONTROLS.fullmatch(role) and not name.strip()]


def wait_until_ready(page: Page, model: str | None = None) -> None:
    """Wait until the page shows a motion and its checks."""
    page.wait_for_selector(
        'body[data-state="ready"]' + (f'[data-model="{model}"]' if model else ""), timeout=COMPILE_TIMEOUT
    )


def wait_until_drawn(page: Page) -> None:
    """Wait until the views are drawn."""
    views, before = page.get_by_role("region", name="Views"), None
    while (drawn := views.get_attribute("data-drawn")) != before:
        before = drawn
        page.wait_for_timeout(100)


def pixels_of(element: Locator) -> np.ndarray:
    """Pixels of an element: (rows, columns, 3), 0 to 255."""
    return np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("RGB"), dtype=int)


def share_drawn(picture: np.ndarray) -> float:
    """Fraction of a picture that is not background, its most frequent color."""
    colors, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return float(np.mean(np.abs(picture - colors[counts.argmax()]).sum(axis=2) > FAINT))


def share_changed(one: np.ndarray, other: np.ndarray) -> float:
    """Fraction of pixels that differ between two pictures of the same size."""
    return float(np.mean(np.abs(one - other).sum(axis=2) > FAINT))
