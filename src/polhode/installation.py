"""How Polhode is installed: the one place that knows whether it is on PyPI.

On the day it is: set `PUBLISHED`, run `python docs/install_commands.py`, which rewrites the documentation.
"""

from __future__ import annotations

PUBLISHED = False
"""Whether `pip install polhode` finds the package."""


def install_command(extra: str | None = None) -> str:
    """The command that installs Polhode, with an extra.

    Examples
    --------
    >>> install_command("taylor")
    "pip install '.[taylor]'"
    """
    name = "polhode" if PUBLISHED else "."
    return f"pip install {name}" if extra is None else f"pip install '{name}[{extra}]'"


def install_hint(extra: str | None = None) -> str:
    """The end of a sentence about what is not installed.

    Examples
    --------
    >>> install_hint("mesh")
    "pip install '.[mesh]' in a clone of Polhode"
    """
    return install_command(extra) + ("" if PUBLISHED else " in a clone of Polhode")
