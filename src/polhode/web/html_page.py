"""The page as one self-contained HTML document: markup, style, script and motion; it needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import tempfile
import warnings
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from polhode.errors import PolhodeError
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.results.trajectory import Trajectory
from polhode.version import __version__
from polhode.web.browser import open_url
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record
from polhode.web.stage import Stage

FRAME_HEIGHT = 640
"""Height of the frame in a notebook, in pixels."""
HTML_SUFFIXES = (".html", ".htm")


@cache
def _read_asset(name: str) -> str:
    """The contents of a file built by front/build.mjs."""
    try:
        return files("polhode.web").joinpath("built", name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolhodeError(
            "this installation does not include the interactive page: it was built without Node. Install Node 20 or "
            "newer, then run `pip install --force-reinstall .` in a clone of Polhode, or `node build.mjs` in its front/"
        ) from None


def build_page(options: dict[str, Any], motion: bytes | None = None, program: dict[str, Any] | None = None) -> str:
    """The whole page with its `options` (`PageOptions` in protocol.ts) and, if given, an encoded motion.

    A `program` computes the motion in the page, in a worker of its own: front/src/live/program.ts describes it.
    """
    encoded = _as_script_text({"version": __version__, "model": "", "title": "", **options})
    data = "" if motion is None else base64.b64encode(motion).decode()
    script = _read_asset("lab.js")
    policy = content_security_policy(live=options["mode"] == "live", computes=program is not None)
    live = (
        ""
        if program is None
        else f'<script id="polhode-program" type="application/json">{_as_script_text(program)}</script>'
    )
    parts = {
        "policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "licenses": f"<!--\n{_read_asset('licenses.txt').replace('--', '- -')}\n-->",
        "style": f"<style>{_read_asset('lab-style.css')}</style>",
        "options": f'<script id="polhode-options" type="application/json">{encoded}</script>',
        "motion": f'<script id="polhode-motion" type="application/octet-stream">{data}</script>' + live,
        "script": f"<script>{script}</script>",
    }
    return re.sub(r"<!--polhode:(\w+)-->", lambda found: parts[found[1]], _read_asset("page.html"))


def _as_script_text(value: dict[str, Any]) -> str:
    """JSON that ends no script element."""
    return json.dumps(value).replace("<", "\\u003c")


def content_security_policy(live: bool, computes: bool = False) -> str:
    """The policy of the page: it may run its own script and, if `live`, connect to its server and show its pictures.

    If it `computes`, it may start workers from texts of its own.
    """
    digest = base64.b64encode(hashlib.sha256(_read_asset("lab.js").encode()).digest()).decode()
    reach, pictures = ("connect-src 'self'; ", "'self' ") if live else ("", "")
    reach += "worker-src blob:; " if computes else ""
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        f"img-src {pictures}data: blob:; {reach}base-uri 'none'; form-action 'none'"
    )


def build_motion_page(motion: Trajectory, name: str = "", stage: Stage | None = None) -> str:
    """The page of one motion, which needs no server; its title is the name of the scenario, or `name`."""
    title = motion.scenario.name or name or "motion"
    record = record_motion(motion, name=title, title=title, stage=stage)
    return build_page({"mode": "file", "title": title}, encode_record(record))


def write_html(motion: Trajectory, path: Path, stage: Stage | None = None) -> None:
    """Write the page of a motion; `stage` is how it begins."""
    check_suffix(path, HTML_SUFFIXES, "a page")
    write_page(build_motion_page(motion, path.stem, stage), path)


def write_page(page: str, path: Path) -> None:
    """Write a page."""
    check_suffix(path, HTML_SUFFIXES, "a page")
    write_atomic(path, page.encode())


def build_iframe(motion: Trajectory) -> str:
    """The page of a motion in a sandboxed frame for notebooks."""
    title = html.escape(motion.scenario.name or "motion", quote=True)
    content = html.escape(build_motion_page(motion), quote=True)
    style = f"width: 100%; height: {FRAME_HEIGHT}px; border: 0"
    rights = 'sandbox="allow-scripts allow-downloads" allow="fullscreen"'
    return f'<iframe title="Polhode: {title}" {rights} style="{style}" srcdoc="{content}"></iframe>'


def open_motion_page(motion: Trajectory) -> Path:
    """Open the page of a motion in the browser and return the path of its file."""
    name = re.sub(r"[^\w-]+", "-", motion.scenario.name or "motion").strip("-") or "motion"
    path = Path(tempfile.mkdtemp(prefix="polhode-")) / f"{name}.html"
    write_html(motion, path)
    if not open_url(path.as_uri()):
        warnings.warn(f"could not open a browser: open {path} yourself", stacklevel=3)
    return path
