"""Places of numbers in a scenario file, such as body.angular_velocity_body[1] or forces.0.g."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from polhode.errors import ScenarioError, show
from polhode.synonyms import suggest_name

Place: TypeAlias = tuple[str | int, ...]
"""Keys of tables and indices of lists, from the outside in."""

_STEP = re.compile(r"\.?(?:(?P<key>[A-Za-z_][\w-]*)|(?P<number>\d+)|\[(?P<index>\d+)\])")
_EXAMPLE = 'as in "body.angular_velocity_body[1]", "forces[0].g" or "duration"'


def parse_place(text: Any) -> Place:
    """The keys and indices of a place; `[1]` and `.1` say the same.

    Examples
    --------
    >>> parse_place("forces[0].wind[2]")
    ('forces', 0, 'wind', 2)
    >>> parse_place("bodies.1.position.2")
    ('bodies', 1, 'position', 2)
    """
    if not isinstance(text, str):
        raise ScenarioError(f"{text!r} is not a place in the file: write it as a string, {_EXAMPLE}")
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (at == 0) == text.startswith((".", "["), at):
            break
        steps.append(found["key"] if found["key"] is not None else int(found["number"] or found["index"]))
        at = found.end()
    if at < len(text) or not steps or not isinstance(steps[0], str):
        raise ScenarioError(f"{text!r} is not a place in the file: write keys and indices (from 0), {_EXAMPLE}")
    return tuple(steps)


def format_place(place: Sequence[str | int]) -> str:
    """A place as it is written.

    Examples
    --------
    >>> format_place(("forces", 0, "g"))
    'forces[0].g'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def number_at(content: Mapping[str, Any], place: Place) -> float:
    """The number at a place of a file; where there is none, the error says how far the place leads."""
    value: Any = content
    for depth, step in enumerate(place):
        value = _enter(value, step, format_place(place[:depth]) or "the file")
    if isinstance(value, bool) or not isinstance(value, int | float):
        inside = ""
        if isinstance(value, list) and value:
            inside = f"; one of its entries is {format_place((*place, len(value) - 1))}"
        if isinstance(value, Mapping) and value:
            inside = f"; in it there is {format_place((*place, next(iter(value))))}"
        raise ScenarioError(f"{format_place(place)} is {show(value)}, which is not a number{inside}")
    try:
        return float(value)
    except OverflowError:
        raise ScenarioError(f"{format_place(place)} is {show(value)}, which is beyond the largest number") from None


def _enter(value: Any, step: str | int, where: str) -> Any:
    if isinstance(step, int):
        if not isinstance(value, list):
            raise ScenarioError(f"{where} is {show(value)}, not a list: it has no entry {step}")
        if step >= len(value):
            count = f"{len(value)} entries, 0 to {len(value) - 1}" if len(value) > 1 else f"{len(value)} entry, 0"
            raise ScenarioError(f"{where} has no entry {step}: it has {count}")
        return value[step]
    if isinstance(value, list):
        raise ScenarioError(f"{where} is a list: say which entry, {where}[0].{step}")
    if not isinstance(value, Mapping):
        raise ScenarioError(f"{where} is {show(value)}, which has no key {step!r}")
    if step not in value:
        raise ScenarioError(
            f"{where} has no {step!r} ({suggest_name(step, list(value))}): write the number there, which is where the "
            "knob starts"
        )
    return value[step]


def replace_number(content: Any, place: Place, number: float) -> Any:
    """The content with another number at a place; everything beside the place is shared."""
    if not place:
        return number
    step, rest = place[0], place[1:]
    changed: Any = list(content) if isinstance(content, list) else dict(content)
    changed[step] = replace_number(content[step], rest, number)
    return changed
