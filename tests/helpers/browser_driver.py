"""A real browser for the tests (Debian's Chromium, driven by Playwright), the lab that it visits, and what it saw."""

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
PATIENCE, COMPILING = 15_000, 180_000
"""In ms: how long anything may take to appear, and a model whose code must first be compiled."""
FAINT = 48
"""Of 3 times 255: colors that lie closer together are taken for the same."""
DRAWN = 0.05
"""The share of a view that is not background, at least, where a body is drawn; a sentence alone covers 3 %."""
WITH_CASES = """
import sys; sys.path.insert(0, sys.argv.pop(1))
import pytest, lab_models; lab_models.put_in_place(pytest.MonkeyPatch())
from polhode.cli import main; main()
"""
OF_THE_MACHINE = ("file", "data", "blob", "about")


def chromium() -> str:
    """Where Chromium is."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.fail(
            "the tests in a real browser need Chromium: `apt-get install chromium fonts-dejavu-core`, "
            "or say where one is: CHROMIUM=/path/to/chromium",
            pytrace=False,
        )
    return found


@dataclass
class Visit:
    """One page in a window of its own, all that it asked for, and all that it complained about."""

    context: BrowserContext
    page: Page
    hosts: tuple[str, ...]
    """Who may be asked."""
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    expected: str | None = None
    """A pattern of the complaints that belong to the test."""

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.on("request", self._hear_request)
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))
        self.page.on("console", self._hear_console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear_request(self, request: Request) -> None:
        self.asked.append(request.url)

    def _hear_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def strangers(self) -> list[str]:
        """What was asked of anybody else."""
        parts = [(urlsplit(address), address) for address in self.asked]
        return [
            address for part, address in parts if part.scheme not in OF_THE_MACHINE and part.netloc not in self.hosts
        ]

    def end(self) -> None:
        """Close the window; fail if it asked a stranger, or complained."""
        self.context.close()
        strangers = self.strangers()
        complaints = [c for c in self.complaints if not (self.expected and re.search(self.expected, c))]
        assert not strangers, f"the page has asked others than {self.hosts}: {strangers}"
        assert not complaints, f"the page has complained: {complaints}"


class Lab:
    """`polhode lab`, or another command, in a process of its own; `port` 0 takes one that is free.

    With `cases` its gallery has the models of tests/helpers/lab_models.py, which are quick, or slow, or fail.
    """

    def __init__(self, *command: str, port: int = 0, cases: bool = False) -> None:
        program = ("-c", WITH_CASES, str(Path(__file__).parent)) if cases else ("-m", "polhode.cli")
        words = (*program, *(command or ("lab",)), "--no-browser", "--port", str(port))
        self.process = subprocess.Popen(
            (sys.executable, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        heard = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            heard.append(line)
            if found := re.search(r"http://\S+", line):
                self.start = urlsplit(found.group())
                return
        pytest.fail(f"{words} has ended without an address: " + "".join(heard), pytrace=False)

    @property
    def host(self) -> str:
        return self.start.netloc

    def address(self, model: str = "", **query: object) -> str:
        """Of a model with its knobs."""
        words = {"fx": "low", **dict(parse_qsl(self.start.query)), **query}
        return urlunsplit(("http", self.host, f"/{model}", urlencode(words), ""))

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)


def choose(page: Page, model: str) -> None:
    """Choose a model in the gallery, by the name of its link: hydra-6dof is called Hydra 6-DOF there."""
    letters = "[ -]?".join(model.replace("-", ""))
    page.get_by_role("navigation").get_by_role("link", name=re.compile(f"^{letters}$", re.IGNORECASE)).click()
    ready(page, model)


def told(page: Page, expression: str) -> Any:
    """What a script says.  Not by `page.evaluate`, which the page's own policy forbids: it makes scripts of texts."""
    session = page.context.new_cdp_session(page)
    answer = session.send("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
    session.detach()
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


def nameless(page: Page) -> list[str]:
    """The controls and pictures to which a screen reader can give no name, as the browser itself sees them."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    known = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    assert len([role for role, _ in known if CONTROLS.fullmatch(role)]) > 10
    return [role for role, name in known if CONTROLS.fullmatch(role) and not name.strip()]


def ready(page: Page, model: str | None = None) -> None:
    """Wait until the page shows a motion, and its numbers."""
    page.wait_for_selector('body[data-state="ready"]' + (f'[data-model="{model}"]' if model else ""), timeout=COMPILING)


def at_rest(page: Page) -> None:
    """Wait until the views have nothing more to draw."""
    views, before = page.get_by_role("region", name="Views"), None
    while (drawn := views.get_attribute("data-drawn")) != before:
        before = drawn
        page.wait_for_timeout(100)


def painted(element: Locator) -> np.ndarray:
    """What an element looks like: (rows, columns, 3), 0 to 255."""
    return np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("RGB"), dtype=int)


def share_drawn(picture: np.ndarray) -> float:
    """How much of a picture is not background, its most frequent color."""
    colors, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return float(np.mean(np.abs(picture - colors[counts.argmax()]).sum(axis=2) > FAINT))


def share_changed(one: np.ndarray, other: np.ndarray) -> float:
    """How much of two pictures of one size differs."""
    return float(np.mean(np.abs(one - other).sum(axis=2) > FAINT))
