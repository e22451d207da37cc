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


def by_count(count: int, one: str, many: str) -> str:
    """The word for one, or for many."""
    return one if count == 1 else many
