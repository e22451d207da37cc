"""A browser without a window that draws pages: Chromium, Chrome or Edge, spoken to by the DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from polhode.errors import PolhodeError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
ARGUMENTS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",  # containers have little of it
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)
START_S, READY_S, CALL_S = 30.0, 60.0, 120.0
"""How long the browser may take to start, a page to be ready, and a call to be answered."""


class BrowserError(PolhodeError):
    """A browser that cannot be started, or a page in it that fails."""


def find_browser() -> str | None:
    """The path of a browser that can draw pages without a window; None if there is none.

    The environment variable `CHROMIUM` names one.
    """
    given = os.environ.get("CHROMIUM")
    if given:
        return shutil.which(given)
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in found if path), next((place for place in PLACES if Path(place).exists()), None))


class BrowserPage:
    """One page of the browser."""

    def __init__(self, socket: Any, session: str) -> None:
        self._socket, self._session = socket, session
        self._numbers = itertools.count(1000)

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the DevTools protocol; events that come in between are ignored."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters, "sessionId": self._session}
        return _exchange(self._socket, message)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(f"the page failed: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + READY_S
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise BrowserError(f"the page was not ready within {READY_S:.0f} s")
            time.sleep(0.05)

    def take_screenshot(self) -> bytes:
        """The page as a PNG file."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def open_page(content: str, size: tuple[int, int], browser: str, *, dark: bool = False) -> Iterator[BrowserPage]:
    """A page with this HTML text in a browser without a window, width and height in pixels."""
    with tempfile.TemporaryDirectory(prefix="polhode-", ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "page.html"
        page.write_text(content, encoding="utf-8")
        with _start(browser, Path(folder) / "profile") as socket:
            target = _exchange(socket, {"id": 1, "method": "Target.createTarget", "params": {"url": "about:blank"}})
            attach = {"targetId": target["targetId"], "flatten": True}
            session = _exchange(socket, {"id": 2, "method": "Target.attachToTarget", "params": attach})["sessionId"]
            opened = BrowserPage(socket, session)
            width, height = size
            opened.call(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=1,
                mobile=False,
            )
            theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            opened.call("Emulation.setEmulatedMedia", features=[theme])
            opened.call("Page.navigate", url=page.as_uri())
            yield opened


@contextmanager
def _start(browser: str, profile: Path) -> Iterator[Any]:
    from websockets.sync.client import connect

    arguments = [browser, *ARGUMENTS, f"--user-data-dir={profile}", "about:blank"]
    if sys.platform.startswith("linux") and os.geteuid() == 0:
        arguments.insert(1, "--no-sandbox")  # Chromium refuses to run as root otherwise
    process = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True
    )
    try:
        port, path = _read_port(profile / "DevToolsActivePort", process)
        with connect(f"ws://127.0.0.1:{port}{path}", max_size=None, open_timeout=START_S, proxy=None) as socket:
            yield socket
            with suppress(Exception):
                socket.send(json.dumps({"id": 0, "method": "Browser.close"}))
                process.wait(5)
    finally:
        process.kill()
        process.wait()


def _read_port(place: Path, process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Where the browser listens, which it writes into a file once it has started."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise BrowserError(
                f"the browser ended at once, with code {process.returncode}: see whether it starts alone"
            )
        with suppress(OSError, ValueError):
            port, path = place.read_text().split("\n")[:2]
            return int(port), path
        time.sleep(0.05)
    raise BrowserError(f"the browser did not start within {START_S:.0f} s")


def _exchange(socket: Any, message: dict[str, Any]) -> Any:
    socket.send(json.dumps(message))
    while True:
        try:
            answer = json.loads(socket.recv(timeout=CALL_S))
        except TimeoutError:
            raise BrowserError(f"the browser did not answer {message['method']} within {CALL_S:.0f} s") from None
        if answer.get("id") == message["id"]:
            if "error" in answer:
                raise BrowserError(f"the browser refused {message['method']}: {answer['error']['message']}")
            return answer["result"]
