"""What bodies can touch: fixed half-spaces (floor, wall, slope), and each other, with restitution and friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import pi
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from polhode import validation
from polhode.errors import ScenarioError, show
from polhode.massprops.frozen_arrays import freeze_arrays
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, Leaf, as_leaf

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ARGUMENT_DIMENSIONS = {"normal": 1, "point": 1}
"""Array dimensions of an argument that is not a scalar; one more is the ensemble axis."""


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """A fixed surface: bodies stay where normal . x >= offset.  Made by `ph.floor`, `ph.wall` and `ph.slope`.

    In an ensemble any of its numbers may have a leading axis for the members.
    """

    name: str
    normal: Array
    """A unit vector, world axes, out of the surface."""
    offset: Leaf
    """The distance of the surface from the origin along the normal, in m."""
    restitution: Leaf
    friction: Leaf
    kind: str
    """The function that made it: "floor", "wall" or "slope"."""
    arguments: dict[str, Any] = field(repr=False)
    """The arguments of that function, for scenario files."""

    @property
    def members(self) -> int | None:
        """The number of members, if its numbers differ between the members of an ensemble."""
        numbers = [(np.asarray(x), 0) for x in (self.offset, self.restitution, self.friction)]
        return validation.member_count((self.normal, 1), *numbers)

    def select_members(self, members: Any) -> HalfSpace:
        """The surface of one member of an ensemble (an index), or of several (an array of indices)."""
        return replace(
            self,
            normal=_select(self.normal, 1, members),
            offset=_select(self.offset, 0, members),
            restitution=_select(self.restitution, 0, members),
            friction=_select(self.friction, 0, members),
            arguments=_select_arguments(self.arguments, members),
        )


@dataclass(frozen=True, eq=False)
class BodyContact:
    """Contact of every two bodies of a system.  Made by `ph.between_bodies`."""

    name: str
    restitution: Leaf
    friction: Leaf
    arguments: dict[str, Any] = field(repr=False)
    """The arguments of `ph.between_bodies`, for scenario files."""
    kind: str = "between_bodies"

    @property
    def members(self) -> int | None:
        """The number of members, if its numbers differ between the members of an ensemble."""
        return validation.member_count(*((np.asarray(x), 0) for x in (self.restitution, self.friction)))

    def select_members(self, members: Any) -> BodyContact:
        """The contact of one member of an ensemble (an index), or of several (an array of indices)."""
        return replace(
            self,
            restitution=_select(self.restitution, 0, members),
            friction=_select(self.friction, 0, members),
            arguments=_select_arguments(self.arguments, members),
        )


Contact: TypeAlias = HalfSpace | BodyContact


@explain_unknown_arguments(ScenarioError)
def floor(
    restitution: ArrayLike = 0.0, friction: ArrayLike = 0.0, *, height: ArrayLike = 0.0, name: str = "floor"
) -> HalfSpace:
    """A horizontal floor that bodies fall on, for `contacts=[...]`.

    Parameters
    ----------
    restitution : float, optional
        From 0 (no rebound) to 1 (nothing is lost).
    friction : float, optional
        Coulomb's coefficient, 0 or more: of sliding and of static friction.
    height : float, optional
        z of the floor, in m.
    name : str, optional
        What it is called in results.

    Examples
    --------
    >>> import polhode as ph
    >>> ground = ph.floor(restitution=0.5, friction=0.3, height=-2.0)
    >>> ground.normal.tolist(), ground.offset
    ([0.0, 0.0, 1.0], -2.0)
    """
    validation.check_text(name, "name", ScenarioError)
    level = validation.check_numbers(height, f"height of {name}", (), ScenarioError)
    arguments = {"restitution": restitution, "friction": friction, "height": height, "name": name}
    return _half_space("floor", np.array((0.0, 0.0, 1.0)), level, arguments)


@explain_unknown_arguments(ScenarioError)
def wall(
    normal: ArrayLike,
    point: ArrayLike = (0.0, 0.0, 0.0),
    restitution: ArrayLike = 0.0,
    friction: ArrayLike = 0.0,
    *,
    name: str = "wall",
) -> HalfSpace:
    """A flat wall in any direction: bodies stay on the side that its normal points to.

    Parameters
    ----------
    normal : array_like
        Three numbers, world axes, out of the wall; need not be normalized.
    point : array_like, optional
        A point of the wall, in m.
    restitution : float, optional
        From 0 (no rebound) to 1 (nothing is lost).
    friction : float, optional
        Coulomb's coefficient, 0 or more: of sliding and of static friction.
    name : str, optional
        What it is called in results.

    Examples
    --------
    >>> import polhode as ph
    >>> ceiling = ph.wall((0, 0, -2), point=(0, 0, 3))
    >>> ceiling.normal.tolist(), ceiling.offset
    ([0.0, 0.0, -1.0], -3.0)
    """
    validation.check_text(name, "name", ScenarioError)
    n = validation.check_numbers(normal, f"normal of {name}", (3,), ScenarioError)
    longest = np.abs(n).max(axis=-1, keepdims=True)
    if not longest.all():
        raise ScenarioError(f"normal of {name} must not be (0, 0, 0): give the direction out of the wall")
    unit = n / longest
    unit = unit / np.linalg.norm(unit, axis=-1, keepdims=True)
    arguments = {"normal": normal, "point": point, "restitution": restitution, "friction": friction, "name": name}
    return _half_space("wall", unit, _offset(unit, point, name), arguments)


@explain_unknown_arguments(ScenarioError)
def slope(
    angle: ArrayLike,
    restitution: ArrayLike = 0.0,
    friction: ArrayLike = 0.0,
    *,
    point: ArrayLike = (0.0, 0.0, 0.0),
    name: str = "slope",
) -> HalfSpace:
    """An inclined plane that goes down toward +x.

    Parameters
    ----------
    angle : float
        From the horizontal, in rad, between -pi/2 and pi/2.
    restitution : float, optional
        From 0 (no rebound) to 1 (nothing is lost).
    friction : float, optional
        Coulomb's coefficient, 0 or more: of sliding and of static friction.
    point : array_like, optional
        A point of the plane, in m.
    name : str, optional
        What it is called in results.

    Examples
    --------
    >>> import polhode as ph, math
    >>> ramp = ph.slope(math.radians(30.0), friction=0.3)
    >>> ramp.normal.round(6).tolist()
    [0.5, 0.0, 0.866025]
    """
    validation.check_text(name, "name", ScenarioError)
    a = validation.check_numbers(angle, f"angle of {name}", (), ScenarioError)
    steep = a[np.abs(a) >= pi / 2]
    if steep.size:
        raise ScenarioError(
            f"angle of {name} must lie between -pi/2 and pi/2, in rad, but is {steep.flat[0]:g}: "
            f"if that is in degrees, give math.radians({steep.flat[0]:g}); for anything steeper use ph.wall"
        )
    normal = np.stack((np.sin(a), 0 * a, np.cos(a)), axis=-1)
    arguments = {"angle": angle, "restitution": restitution, "friction": friction, "point": point, "name": name}
    return _half_space("slope", normal, _offset(normal, point, name), arguments)


@explain_unknown_arguments(ScenarioError)
def between_bodies(
    restitution: ArrayLike = 0.0, friction: ArrayLike = 0.0, *, name: str = "between bodies"
) -> BodyContact:
    """Contact of the bodies of a system with each other, as convex solids.

    Parameters
    ----------
    restitution : float, optional
        From 0 (no rebound) to 1 (nothing is lost).
    friction : float, optional
        Coulomb's coefficient, 0 or more: of sliding and of static friction.
    name : str, optional
        What it is called in results.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.between_bodies(restitution=0.9).restitution
    0.9
    """
    validation.check_text(name, "name", ScenarioError)
    arguments = {"restitution": restitution, "friction": friction, "name": name}
    made = BodyContact(name, *_check_coefficients(arguments), _copy_arguments(arguments))
    _ = made.members  # refuses different numbers of them
    return made


CONTACTS: dict[str, Callable[..., Contact]] = {
    "floor": floor,
    "wall": wall,
    "slope": slope,
    "between_bodies": between_bodies,
}
"""The functions that make contacts, by the kind that scenario files name."""


def as_contact(given: Any) -> Contact:
    """A contact."""
    if isinstance(given, (HalfSpace, BodyContact)):
        return given
    if callable(given):
        name = getattr(given, "__name__", repr(given))
        raise ScenarioError(f"{name} is a function: call it, as in contacts=[ph.floor(restitution=0.5)]")
    known = ", ".join(f"ph.{kind}" for kind in CONTACTS)
    raise ScenarioError(f"{show(given)} is not a contact: make one with {known}")


def _half_space(kind: str, normal: Array, offset: Array, arguments: dict[str, Any]) -> HalfSpace:
    name = arguments["name"]
    numbers = (freeze_arrays(normal), freeze_arrays(as_leaf(offset)), *_check_coefficients(arguments))
    made = HalfSpace(name, *numbers, kind, _copy_arguments(arguments))
    _ = made.members  # refuses different numbers of them
    return made


def _offset(normal: Array, point: Any, name: str) -> Array:
    """normal . point, in m."""
    where = validation.check_numbers(point, f"point of {name}", (3,), ScenarioError)
    validation.member_count((normal, 1), (where, 1))
    offset: Array = np.asarray((normal * where).sum(axis=-1))
    return offset


def _check_coefficients(arguments: dict[str, Any]) -> tuple[Leaf, Leaf]:
    """Restitution and friction."""
    e, mu = (
        validation.check_numbers(arguments[key], f"{key} of {arguments['name']}", (), ScenarioError)
        for key in ("restitution", "friction")
    )
    wrong = e[(e < 0) | (e > 1)]
    if wrong.size:
        raise ScenarioError(
            f"restitution of {arguments['name']} must lie between 0 (no rebound) and 1 (nothing is lost), but is "
            f"{wrong.flat[0]:g}: no impact of rigid bodies creates energy"
        )
    if (mu < 0).any():
        raise ScenarioError(
            f"friction of {arguments['name']} must not be negative, but is {mu.min():g}: it is Coulomb's coefficient, "
            "the largest ratio of the tangential to the normal force"
        )
    return freeze_arrays(as_leaf(e)), freeze_arrays(as_leaf(mu))


def _select(value: Any, dimensions: int, members: Any) -> Any:
    """The values of some members, of a value that may have a leading axis; one number is a plain float."""
    array = np.asarray(value)
    if array.ndim <= dimensions:
        return value
    selected = array[members]
    return float(selected) if selected.ndim == 0 else selected


def _copy_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments that have been checked, as numbers and arrays of our own."""
    return {
        key: value if isinstance(value, str) else freeze_arrays(as_leaf(np.array(value, dtype=np.float64)))
        for key, value in arguments.items()
    }


def _select_arguments(arguments: dict[str, Any], members: Any) -> dict[str, Any]:
    return {
        key: value if isinstance(value, str) else _select(value, ARGUMENT_DIMENSIONS.get(key, 0), members)
        for key, value in arguments.items()
    }
