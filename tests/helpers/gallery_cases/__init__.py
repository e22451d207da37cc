"""For every model of the gallery: what its numbers are by hand at its defaults, and other parameters to try."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple


class Case(NamedTuple):
    """What a model is tested with."""

    by_hand: dict[str, tuple[float, float]]
    """At the defaults: a number's label, its value from a source of its own, and how far off it may be."""
    others: tuple[dict[str, Any], ...]
    """At least two other sets of parameters."""


CASES: dict[str, Case] = {}
for _part in iter_modules(__path__):
    CASES |= import_module(f"{__name__}.{_part.name}").CASES
