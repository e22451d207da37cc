"""The binary of an FMU: its C code compiled for this machine."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from polhode.errors import FileError

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")
"""Nothing is fused and nothing reordered, so that the binary has the bits of the source."""
_SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}

_ARCHITECTURES = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64", "i386": "x86", "i686": "x86"}


def find_compiler() -> list[str] | None:
    """The C compiler of this machine, as a command: that of the environment variable CC, or cc, gcc or clang."""
    given = shlex.split(os.environ.get("CC", ""))
    if given and shutil.which(given[0]) is not None:
        return given
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name) is not None), None)
    return None if found is None else [found]


def compile_library(source: str, identifier: str, compiler: list[str]) -> bytes:
    """The shared library of a C file."""
    suffix = _SYSTEMS.get(sys.platform, ("", ".so"))[1]
    with tempfile.TemporaryDirectory() as folder:
        text, library = Path(folder) / f"{identifier}.c", Path(folder) / f"{identifier}{suffix}"
        text.write_text(source, encoding="utf-8")
        command = [*compiler, *FLAGS, text.name, "-o", library.name, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not library.is_file():
            raise FileError(
                f"{shlex.join(command)} failed: {done.stderr.strip()[-2000:]}\n"
                "Name another compiler with the environment variable CC, or write a source FMU with compiled=False"
            )
        return library.read_bytes()


def binary_path(version: str, identifier: str) -> str:
    """Where an FMU has its binary for this machine."""
    system, suffix = _SYSTEMS.get(sys.platform, (sys.platform, ".so"))
    machine = platform.machine().lower()
    architecture = _ARCHITECTURES.get(machine, machine)
    if version == "2.0":
        bits = "64" if sys.maxsize > 2**32 else "32"
        return f"binaries/{'win' if system == 'windows' else system}{bits}/{identifier}{suffix}"
    return f"binaries/{architecture}-{system}/{identifier}{suffix}"
