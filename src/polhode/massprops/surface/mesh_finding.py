"""One thing that was found about a surface, and the words that it is told in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MeshFinding:
    """One thing that was found: its kind, how bad it is ("error", "warning" or "note"), and the sentence."""

    kind: str
    level: str
    sentence: str


def count_phrase(count: int, thing: str) -> str:
    """1 face, 2 faces."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def faces_opposite_phrase(count: int) -> str:
    """What faces that are turned round do."""
    return "looks the other way than its" if count == 1 else "look the other way than their"


def is_or_are(count: int) -> str:
    """The verb for so many."""
    return "is" if count == 1 else "are"


def this_or_these(count: int) -> str:
    """The pronoun for so many."""
    return "this" if count == 1 else "these"


def has_or_have(count: int) -> str:
    """The verb for so many."""
    return "has" if count == 1 else "have"
