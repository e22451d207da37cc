"""A finding about a surface mesh, and phrases for its message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MeshFinding:
    """A finding: its kind, its level ("error", "warning" or "note"), and the sentence."""

    kind: str
    level: str
    sentence: str


def count_phrase(count: int, thing: str) -> str:
    """1 face, 2 faces."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def is_or_are(count: int) -> str:
    """The verb for a count."""
    return "is" if count == 1 else "are"


def this_or_these(count: int) -> str:
    """The pronoun for a count."""
    return "this" if count == 1 else "these"


def has_or_have(count: int) -> str:
    """The verb for a count."""
    return "has" if count == 1 else "have"
