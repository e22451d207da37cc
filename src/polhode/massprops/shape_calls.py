"""The call of `ph.shapes` that makes a body again, if one does, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import PolhodeError
from polhode.massprops import shapes
from polhode.massprops.geometry import Part, Shape

if TYPE_CHECKING:
    from polhode.massprops.body import Body

COMPARED = ("mass", "inertia_body", "principal_moments", "_axes", "center_of_mass", "volume", "area")


def find_shape_call(body: Body) -> tuple[str, dict[str, Any]] | None:
    """The name of a shape and its arguments, by its mass or its density; None if the body is something else.

    Examples
    --------
    >>> import polhode as ph
    >>> find_shape_call(ph.shapes.sphere(0.1, mass=2.0))
    ('sphere', {'radius': 0.1, 'mass': 2.0})
    >>> find_shape_call(ph.shapes.sphere(0.1, mass=2.0).move((1, 0, 0))) is None
    True
    """
    if len(body.parts) != 1 or body.members is not None or not isinstance(body.parts[0].source, Shape):
        return None
    (part,) = body.parts
    source: Any = part.source
    standard = Part(source)
    if part.is_hole or part.is_mixed or not all(np.array_equal(getattr(part, n), getattr(standard, n)) for n in
                                                ("linear", "offset")):  # fmt: skip
        return None
    sizes = {name: np.asarray(size).tolist() for name, size in source.sizes.items()}
    amounts = [{"mass": body.mass}] + ([] if body.volume is None else [{"density": body.density}])
    for amount in amounts:
        try:
            made: Body = getattr(shapes, source.name)(**sizes, **amount)
        except (PolhodeError, TypeError, AttributeError):
            continue
        if all(_equal(getattr(made, name), getattr(body, name)) for name in COMPARED) and _same_parts(made, body):
            return source.name, {**sizes, **amount}
    return None


def _same_parts(made: Body, body: Body) -> bool:
    one, other = made.parts[0], body.parts[0]
    mine, theirs = (dict(getattr(part.source, "sizes", {})) for part in (one, other))
    same_place = np.array_equal(one.linear, other.linear) and np.array_equal(one.offset, other.offset)
    return same_place and mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
