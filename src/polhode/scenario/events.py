"""Ready-made events.  Each function returns an `Event`, for `events=[...]`.

All take `action`, `direction`, `count`, `within` and `change`, as the events of your own do: by default a run stops at
the first crossing.  Numbers may carry a leading axis for the members of an ensemble.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations import event_functions as laws
from polhode.errors import ScenarioError, show
from polhode.scenario.earth import Earth, as_earth, earth_to_plain
from polhode.scenario.event import Event, make_event
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import Array, Leaf, as_leaf, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["angle", "apex", "distance", "landing"]


@explain_unknown_arguments(ScenarioError)
def landing(
    height: ArrayLike = 0.0,
    *,
    com_to_point_body: ArrayLike = (0.0, 0.0, 0.0),
    earth: Earth | str | Mapping[str, Any] | None = None,
    action: str = "stop",
    direction: int = -1,
    count: int | None = None,
    within: float = 0.0,
    change: Callable[..., Any] | None = None,
) -> Event:
    """Where a body comes down to a height.

    Parameters
    ----------
    height : float, optional
        In m: z, or with an earth the height above its ellipsoid.
    com_to_point_body : array_like, optional
        The point of the body that lands, from its center of mass, body axes, in m; the center of mass by default.
        What lands is this one point: a body of which any point may touch first needs contacts.
    earth : Earth, str or mapping, optional
        The Earth whose surface it is, such as "WGS84".  Without one the ground is flat, and z is the height.
    action, direction, count, within, change
        As of the events that `@ph.event` makes; by default only falling counts.

    Examples
    --------
    >>> import polhode as ph
    >>> stone, start = ph.particle(1.0), ph.State(position=(0.0, 0.0, 4.903325))
    >>> motion = ph.simulate(stone, start, [ph.forces.gravity()], duration=5.0, events=[ph.events.landing()])
    >>> round(float(motion.times[-1]), 12), motion.crossings[0].name
    (1.0, 'landing')
    """
    level, point = _number(height, "height of landing"), _vector(com_to_point_body, "com_to_point_body of landing")
    around = None if earth is None else as_earth(earth)
    more: tuple[float, ...] = ()
    law: Any = laws.height_above
    if around is not None:
        law, more = laws.height_above_earth, (around.radius, around.squared_axis_ratio)
    given = {"height": height, "com_to_point_body": com_to_point_body, "earth": _plain(around)}
    return make_event("landing", law, (level, point, *more), action, direction, count, within, change, arguments=given)


@explain_unknown_arguments(ScenarioError)
def apex(
    *,
    earth: Earth | str | Mapping[str, Any] | None = None,
    action: str = "stop",
    direction: int = -1,
    count: int | None = None,
    within: float = 0.0,
    change: Callable[..., Any] | None = None,
) -> Event:
    """Where the center of mass stops rising.

    Parameters
    ----------
    earth : Earth, str or mapping, optional
        The Earth above whose ellipsoid it rises, such as "WGS84".  Without one the ground is flat, and z is the height.
    action, direction, count, within, change
        As of the events that `@ph.event` makes; by default only highest points count, with `direction=1` lowest ones.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=(1.0, 0.0, 19.6133))
    >>> motion = ph.simulate(ph.particle(1.0), start, [ph.forces.gravity()], duration=5.0, events=[ph.events.apex()])
    >>> round(float(motion.times[-1]), 12), round(float(motion.final.position[2]), 9)
    (2.0, 19.6133)
    """
    around = None if earth is None else as_earth(earth)
    law: Any = laws.vertical_speed if around is None else laws.vertical_speed_over_earth
    params = () if around is None else (around.radius, around.squared_axis_ratio)
    given = {"earth": _plain(around)}
    return make_event("apex", law, params, action, direction, count, within, change, arguments=given)


@explain_unknown_arguments(ScenarioError)
def distance(
    distance: ArrayLike,
    point: ArrayLike = (0.0, 0.0, 0.0),
    *,
    action: str = "stop",
    direction: int = 0,
    count: int | None = None,
    within: float = 0.0,
    change: Callable[..., Any] | None = None,
) -> Event:
    """Where the center of mass is so far from a point of the world.

    Parameters
    ----------
    distance : float
        In m, above 0.
    point : array_like, optional
        In the world, in m; the origin by default.
    action, direction, count, within, change
        As of the events that `@ph.event` makes.  `direction=1` counts only where it goes away, -1 where it comes near.

    Examples
    --------
    >>> import polhode as ph
    >>> away = ph.events.distance(5.0, point=(0, 0, 1))
    >>> start = ph.State(position=(0, 0, 1), velocity=(3, 4, 0))
    >>> motion = ph.simulate(ph.particle(1.0), start, duration=9.0, events=[away])
    >>> round(float(motion.times[-1]), 12)
    1.0
    """
    radius = validation.check_positive(distance, "distance", "m", ScenarioError)
    params, given = (as_leaf(radius), _vector(point, "point of distance")), {"distance": distance, "point": point}
    return make_event("distance", laws.distance_from, params, action, direction, count, within, change, arguments=given)


@explain_unknown_arguments(ScenarioError)
def angle(
    angle: ArrayLike,
    axis_body: ArrayLike = (0.0, 0.0, 1.0),
    to: ArrayLike = (0.0, 0.0, 1.0),
    *,
    action: str = "stop",
    direction: int = 0,
    count: int | None = None,
    within: float = 0.0,
    change: Callable[..., Any] | None = None,
) -> Event:
    """Where an axis of the body makes an angle with a direction of the world: a tilt.

    Parameters
    ----------
    angle : float
        In rad, between 0 and pi.
    axis_body : array_like, optional
        The axis of the body, body axes; need not be normalized.  The third by default.
    to : array_like, optional
        The direction, world axes; need not be normalized.  Upward by default.
    action, direction, count, within, change
        As of the events that `@ph.event` makes.  `direction=1` counts only where the angle grows, -1 where it shrinks.

    Examples
    --------
    >>> import polhode as ph, math
    >>> box, spin = ph.shapes.box((1, 1, 1), mass=1.0), ph.State(angular_velocity_body=(0.5, 0, 0))
    >>> motion = ph.simulate(box, spin, duration=9.0, events=[ph.events.angle(math.radians(60))])
    >>> round(float(motion.times[-1]) * 0.5, 12), round(math.pi / 3, 12)
    (1.047197551197, 1.047197551197)
    """
    wanted = validation.check_numbers(angle, "angle", (), ScenarioError)
    wrong = wanted[(wanted <= 0) | (wanted >= math.pi)]
    if wrong.size:
        raise ScenarioError(
            f"angle must lie between 0 and pi, in rad, but is {wrong.flat[0]:g}: an axis only touches 0 or pi, it "
            f"never crosses them. If that is in degrees, give math.radians({wrong.flat[0]:g})"
        )
    half = np.sin(wanted / 2)
    params = (as_leaf(4 * half * half), _direction(axis_body, "axis_body"), _direction(to, "to"))
    given = {"angle": angle, "axis_body": axis_body, "to": to}
    return make_event("angle", laws.tilt_beyond, params, action, direction, count, within, change, arguments=given)


EVENTS: dict[str, Callable[..., Event]] = {"landing": landing, "apex": apex, "distance": distance, "angle": angle}
"""The functions that make events, by the kind that scenario files name."""


def _plain(around: Earth | None) -> Any:
    return None if around is None else earth_to_plain(around)


def _number(value: Any, name: str) -> Leaf:
    return as_leaf(validation.check_numbers(value, name, (), ScenarioError))


def _vector(value: Any, name: str) -> tuple[Any, Any, Any]:
    x, y, z = as_leaves(validation.check_numbers(value, name, (3,), ScenarioError))
    return x, y, z


def _direction(value: Any, name: str) -> tuple[Any, Any, Any]:
    given = validation.check_numbers(value, f"{name} of angle", (3,), ScenarioError)
    longest: Array = np.abs(given).max(axis=-1, keepdims=True)
    if not longest.all():
        raise ScenarioError(f"{name} of angle must not be (0, 0, 0), but is {show(value)}: give a direction")
    unit = given / longest
    x, y, z = as_leaves(unit / np.linalg.norm(unit, axis=-1, keepdims=True))
    return x, y, z
