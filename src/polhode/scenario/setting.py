"""The record of a setting: an argument of a scenario, with its types, its default and its text."""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """An argument of a scenario."""

    name: str
    annotation: str
    """What is accepted, as the source writes it."""
    held: str
    """The type of the field of a `Scenario`."""
    default: str | None
    """As the source writes it; None for what must be given."""
    kind: str
    """Its type in words, as documentation shows it."""
    text: str
    in_file: bool = True
    """Whether a scenario file has a key of this name that holds the value as it is."""
    by_position: bool = False
