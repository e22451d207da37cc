"""The mass of a shape or mesh: given directly, or as a density times its extent."""

from __future__ import annotations

from typing import Any

from polhode import validation
from polhode.errors import InertiaError
from polhode.validation import Array

AMOUNT_UNITS = {"mass": "kg", "density": "kg/m3", "area_density": "kg/m2", "line_density": "kg/m"}


def resolve_mass(what: str, **amounts_and_extents: tuple[Any, Any]) -> Array:
    """The mass from exactly one amount: each name with (the value given, the extent that it multiplies).

    `what` begins the error message, as in "a shape".
    """
    given = {name: value for name, (value, _) in amounts_and_extents.items() if value is not None}
    if len(given) != 1:
        wanted = " or its ".join(f"{name} ({AMOUNT_UNITS[name]})" for name in amounts_and_extents)
        found = "neither was given" if not given else "both were given" if len(given) == 2 else "all were given"
        raise InertiaError(f"{what} needs its {wanted}, exactly one of them; {found}")
    ((name, value),) = given.items()
    total: Array = (
        validation.check_positive(value, name, AMOUNT_UNITS[name], InertiaError) * amounts_and_extents[name][1]
    )
    return total
