"""Air and wind: records that forces take, and what the air is like at a height."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations import atmosphere as laws
from polhode.equations.atmosphere import AirProperties
from polhode.equations.law import Groups
from polhode.errors import ForceError, InputError, nearest, show
from polhode.validation import Array, as_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["US76", "Air", "Wind", "constant", "exponential", "steady_wind", "wind", "wind_shear", "wind_table"]


@dataclass(frozen=True, eq=False)
class Air:
    """Air whose density, pressure, temperature and speed of sound depend on the height.

    `ph.air.US76`, or made by `ph.air.exponential` or `ph.air.constant`.

    Examples
    --------
    >>> import polhode as ph
    >>> round(float(ph.air.US76.at(11000.0).density), 5)
    0.3648
    """

    name: str
    law: Callable[..., AirProperties] = field(repr=False)
    params: Groups = ()
    heights: tuple[float, float] = (-math.inf, math.inf)
    """The heights, in m, between which it is known."""
    arguments: dict[str, Any] = field(default_factory=dict, repr=False)

    def at(self, height: ArrayLike) -> AirProperties:
        """Density (kg/m3), pressure (Pa), temperature (K) and speed of sound (m/s) at a geometric height (m).

        Examples
        --------
        >>> import polhode as ph
        >>> air = ph.air.US76.at(0.0)
        >>> round(float(air.pressure), 3), round(float(air.temperature), 3), round(float(air.speed_of_sound), 3)
        (101325.0, 288.15, 340.294)
        """
        h = _check_heights(height, self.heights, self.name)
        _check_shapes(h, self.params, self.name)
        parts = np.broadcast_arrays(*self.law(h, self.params), h)[:4]
        return AirProperties(*(np.array(part, dtype=np.float64)[()] for part in parts))


US76 = Air("US76", laws.us76, (), laws.US76_RANGE)
"""The US Standard Atmosphere 1976, for geometric heights from -5 to 86 km."""


def exponential(density: ArrayLike = 1.225, scale_height: ArrayLike = 8500.0, temperature: ArrayLike = 288.15) -> Air:
    """Air of one temperature (K) whose density (kg/m3, at height 0) falls by e over each scale height (m).

    In an ensemble each may be an array, with one number for each member.

    Examples
    --------
    >>> import polhode as ph
    >>> round(float(ph.air.exponential(1.2, 8000.0).at(8000.0).density), 6)
    0.441455
    """
    given = {"density": density, "scale_height": scale_height, "temperature": temperature}
    return Air("exponential", laws.exponential_air, _positive_leaves(given), arguments=given)


def constant(density: ArrayLike = 1.225, temperature: ArrayLike = 288.15) -> Air:
    """The same air at all heights: density in kg/m3, temperature in K; in an ensemble, one for each member.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.air.constant(1.2).at(5000.0).density
    np.float64(1.2)
    """
    given = {"density": density, "temperature": temperature}
    return Air("constant", laws.uniform_air, _positive_leaves(given), arguments=given)


_UNITS = {"density": "kg/m3", "scale_height": "m", "temperature": "K"}
AIRS: dict[str, Any] = {"US76": lambda: US76, "exponential": exponential, "constant": constant}


def as_air(given: Any) -> Air:
    """Air from itself, its name, or a table with its kind and numbers."""
    if isinstance(given, Air):
        return given
    table = {"kind": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or "kind" not in table:
        raise ForceError(
            f'{show(given)} is no air: give ph.air.US76, "US76", or a table such as '
            '{kind = "exponential", density = 1.2}'
        )
    if table["kind"] not in tuple(AIRS):
        raise ForceError(f"air {table['kind']!r} is unknown: {nearest(table['kind'], AIRS)}")
    made: Air = _call(AIRS[table["kind"]], table, f"air {table['kind']!r}")
    return made


def air_to_plain(air: Air) -> Any:
    """Air as files hold it."""
    plain = {key: np.array(value).tolist() for key, value in air.arguments.items()}
    return {"kind": air.name, **plain} if plain else air.name


# Wind -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Wind:
    """How the air moves relative to the ground: north, east and down, in m/s (toward which it blows, not from where).

    Made by `ph.air.steady_wind`, `ph.air.wind_shear`, `ph.air.wind_table`, or `ph.air.wind` from a function.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.air.wind_shear((0.0, 1000.0), ((0.0, 0.0, 0.0), (0.0, 10.0, 0.0))).at(500.0).tolist()
    [0.0, 5.0, 0.0]
    """

    name: str
    law: Callable[..., Any] = field(repr=False)
    params: Groups = ()
    heights: tuple[float, float] = (-math.inf, math.inf)
    function: Callable[..., Any] | None = field(default=None, repr=False)
    """The user's function, if it is one."""
    arguments: dict[str, Any] = field(default_factory=dict, repr=False)

    def at(self, height: ArrayLike, t: ArrayLike = 0.0) -> Array:
        """The wind at a height (m) and time (s): north, east, down in m/s.

        Examples
        --------
        >>> import polhode as ph
        >>> ph.air.steady_wind((3.0, 0.0, 0.0)).at(100.0).tolist()
        [3.0, 0.0, 0.0]
        """
        h = _check_heights(height, self.heights, "the wind")
        _check_shapes(h, self.params, "the wind")
        parts = self.law(validation.check_numbers(t, "t", validation.shape_of(t)), h, self.params)
        return np.stack(np.broadcast_arrays(*parts, h)[:3], axis=-1)


def steady_wind(ned: ArrayLike) -> Wind:
    """The same wind everywhere: (north, east, down) in m/s.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.air.steady_wind((0.0, 6.096, 0.0)).at(0.0).tolist()
    [0.0, 6.096, 0.0]
    """
    return Wind("steady", laws.steady_wind, (_leaves(ned, "ned"),), arguments={"ned": ned})


def wind_shear(heights: ArrayLike, ned: ArrayLike) -> Wind:
    """Wind that changes linearly with height: through its values at two heights (m), and in the same way beyond them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.air.wind_shear((0.0, 9144.0), ((0, -6.096, 0), (0, 21.336, 0))).at(9144.0).tolist()
    [0.0, 21.336, 0.0]
    """
    knots = _heights(heights)
    if len(knots) != 2:
        raise ForceError(f"wind_shear has two heights, not {show(heights)}: for more use wind_table")
    first, second = _rows(ned, 2)
    params = (knots, (tuple(first), tuple(second)))
    return Wind("shear", laws.sheared_wind, params, arguments={"heights": heights, "ned": ned})


def wind_table(heights: ArrayLike, ned: ArrayLike) -> Wind:
    """Wind from a table of increasing heights (m) with (north, east, down) in m/s at each; linear between them.

    Beyond the ends the wind is unknown: a run that gets there stops with a sentence.

    Examples
    --------
    >>> import polhode as ph
    >>> table = ph.air.wind_table((0, 1000, 2000), ((0, 0, 0), (0, 8, 0), (2, 9, 0)))
    >>> table.at(1500.0).tolist()
    [1.0, 8.5, 0.0]
    """
    knots = _heights(heights)
    rows = _rows(ned, len(knots))
    params = (knots, *(tuple(row[i] for row in rows) for i in range(3)))
    return Wind("table", laws.wind_table, params, (knots[0], knots[-1]), arguments={"heights": heights, "ned": ned})


def wind(function: Callable[[Any, Any], Any]) -> Wind:
    """Wind of your own: a function (t, height) -> (north, east, down), in s, m and m/s.

    It may be written with what [forces of your own](../howto/forces.md) may be written with.

    Examples
    --------
    >>> import polhode as ph
    >>> gusts = ph.air.wind(lambda t, height: (0.0, 5.0 + 2.0 * ph.sin(t), 0.0))
    >>> gusts.at(0.0).tolist()
    [0.0, 5.0, 0.0]
    """
    if not callable(function):
        raise ForceError(f"wind takes a function (t, height) -> (north, east, down), not {show(function)}")

    def law(t: Any, height: Any, params: Groups) -> Any:
        return tuple(function(t, height))

    return Wind("function", law, (), function=function)


WINDS: dict[str, Any] = {"steady": steady_wind, "shear": wind_shear, "table": wind_table}


def as_wind(given: Any) -> Wind | None:
    """A wind from itself, three numbers, a function, or a table with its kind and numbers; None is calm air."""
    if given is None or isinstance(given, Wind):
        return given
    if isinstance(given, Mapping):
        kind = given.get("kind", "table" if "heights" in given else "steady")
        if kind not in tuple(WINDS):
            raise ForceError(f"wind {kind!r} is unknown: {nearest(kind, WINDS)}")
        made: Wind = _call(WINDS[kind], given, f"wind {kind!r}")
        return made
    return wind(given) if callable(given) else steady_wind(given)


def wind_to_plain(given: Wind | None) -> Any:
    """A wind as files hold it; a function stays itself."""
    if given is None:
        return None
    if given.function is not None:
        return given.function
    return {"kind": given.name, **{key: np.array(value).tolist() for key, value in given.arguments.items()}}


def _call(maker: Any, table: Mapping[str, Any], what: str) -> Any:
    given = {key: value for key, value in table.items() if key != "kind"}
    try:
        return maker(**given)
    except TypeError:
        import inspect

        keys = ", ".join(inspect.signature(maker).parameters) or "nothing more"
        raise ForceError(f"{what} takes {keys}, not {', '.join(given) or 'nothing'}") from None


def _positive_leaves(given: Mapping[str, Any]) -> Groups:
    """Numbers above zero, each the same for all or one for each member."""
    arrays = [validation.check_positive(value, key, _UNITS[key]) for key, value in given.items()]
    validation.member_count(*((array, 0) for array in arrays))
    return tuple(map(validation.as_leaf, arrays))


def _check_heights(height: Any, known: tuple[float, float], what: str) -> Array:
    """Heights at which the air or the wind is known."""
    h = validation.check_numbers(height, "height", validation.shape_of(height))
    low, high = known
    outside = (h < low) | (h > high)
    if outside.any():
        worst = float(h[outside].flat[0])
        raise InputError(f"{what} is known from {low:.9g} to {high:.9g} m, not at a height of {worst:.12g} m")
    return h


def _check_shapes(h: Array, params: Groups, what: str) -> None:
    """Refuse heights that do not go with the members of the air or the wind."""
    lengths = _lengths(params)
    if h.ndim and lengths - {h.shape[-1]}:
        raise InputError(
            f"{what} has {max(lengths)} members, but height has the shape {h.shape}: give one height, or one for each "
            "member along the last axis"
        )


def _lengths(nest: Any) -> set[int]:
    """The lengths of the arrays over the members in nested tuples."""
    if isinstance(nest, tuple):
        return {length for part in nest for length in _lengths(part)}
    return {len(nest)} if np.ndim(nest) else set()


def _leaves(value: Any, name: str) -> Any:
    return validation.as_leaves(validation.check_numbers(value, name, (3,), ForceError))


def _heights(given: Any) -> tuple[float, ...]:
    return check_knots(given, "heights of the wind")


def check_knots(given: Any, name: str) -> tuple[float, ...]:
    """The knots of a table: at least two finite numbers that increase."""
    try:
        knots = np.array(as_floats(given))
    except (TypeError, ValueError, OverflowError):
        raise ForceError(f"{name} must be a list of numbers, not {show(given)}") from None
    if knots.ndim != 1 or len(knots) < 2:
        raise ForceError(f"{name} must be a list of at least two numbers, but has the shape {knots.shape}")
    if not np.isfinite(knots).all():
        at = int(np.argmin(np.isfinite(knots)))
        raise ForceError(f"{name} must be finite, but number {at} is {knots[at]}: remove it, with its value")
    falling = np.diff(knots) <= 0
    if falling.any():
        at = int(np.argmax(falling))
        raise ForceError(
            f"{name} must increase, but {knots[at]:g} is followed by {knots[at + 1]:g}: sort the table by them, with "
            "each once"
        )
    return tuple(knots.tolist())


def _rows(given: Any, count: int) -> list[list[float]]:
    """One wind at each height."""
    try:
        rows = np.array(as_floats(given))
    except (TypeError, ValueError, OverflowError):
        raise ForceError(f"ned of the wind must be (north, east, down) for each height, not {show(given)}") from None
    if rows.shape != (count, 3):
        raise ForceError(
            f"ned of the wind must be (north, east, down) for each of the {count} heights, but has the shape "
            f"{rows.shape}"
        )
    if not np.isfinite(rows).all():
        at = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ForceError(f"ned of the wind must be finite, but at height number {at} it is {rows[at].tolist()}")
    listed: list[list[float]] = rows.tolist()
    return listed
