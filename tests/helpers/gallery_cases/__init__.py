"""For every gallery model: its numbers by hand at the defaults, and other parameters to try."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple


class Case(NamedTuple):
    """Test case of a model."""

    by_hand: dict[str, tuple[float, float]]
    """At the defaults: label, independent value, and tolerance of a check."""
    others: tuple[dict[str, Any], ...]
    """At least two other sets of parameters."""


CASES: dict[str, Case] = {}
for _part in iter_modules(__path__):
    CASES |= import_module(f"{__name__}.{_part.name}").CASES
