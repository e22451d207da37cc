"""How much matter: a mass, or a density times what it fills.  The rule of every shape and mesh."""

from __future__ import annotations

from typing import Any

from polhode import validation
from polhode.errors import InertiaError
from polhode.validation import Array

UNITS = {"mass": "kg", "density": "kg/m3", "area_density": "kg/m2", "line_density": "kg/m"}


def mass_of(what: str, **given_and_filled: tuple[Any, Any]) -> Array:
    """The mass from exactly one given amount: each name with (what was given, the extent that it multiplies).

    `what` begins the sentence of a complaint, as in "a shape".
    """
    given = {name: value for name, (value, _) in given_and_filled.items() if value is not None}
    if len(given) != 1:
        wanted = " or its ".join(f"{name} ({UNITS[name]})" for name in given_and_filled)
        found = "neither was given" if not given else "both were given" if len(given) == 2 else "all were given"
        raise InertiaError(f"{what} needs its {wanted}, exactly one of them; {found}")
    ((name, value),) = given.items()
    total: Array = validation.positive(value, name, UNITS[name], InertiaError) * given_and_filled[name][1]
    return total
