"""The library of forces.  Each function returns a `Force`; all can act together.

Parameters may carry a leading axis for the members of an ensemble.  Vectors in body axes are along the axes in which
the body was described; points of a body are measured from its center of mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.equations import force_laws as kernels
from polhode.equations import pair_laws
from polhode.equations.scalar_ops import absolute, larger, sqrt
from polhode.equations.vectors import dot
from polhode.errors import ForceError, show
from polhode.scenario.flight_forces import aerodynamics, drag, earth_gravity
from polhode.scenario.force import Force, check_body_pair
from polhode.validation import Leaf, as_leaf, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "EARTH_MAGNETIC_MOMENT",
    "GRAVITATIONAL_CONSTANT",
    "STANDARD_GRAVITY",
    "aerodynamics",
    "drag",
    "earth_gravity",
    "force_at",
    "gravity",
    "impulse",
    "linear_drag",
    "magnetic_torquer",
    "mutual_gravity",
    "point_gravity",
    "quadratic_drag",
    "rotational_drag",
    "spring",
    "spring_between",
    "thruster",
    "torque",
]

STANDARD_GRAVITY = 9.80665
"""m/s2, by definition (CGPM 1901)."""
GRAVITATIONAL_CONSTANT = 6.67430e-11
"""m3/(kg s2), CODATA 2018."""
EARTH_MAGNETIC_MOMENT = (0.0, 0.0, -29.4041e-6 * 6371.2e3**3)
"""T m3: the axial dipole of the IGRF for 2020, g10 = -29404.1 nT.  [Alken 2021]"""


def gravity(g: ArrayLike = STANDARD_GRAVITY) -> Force:
    """Uniform gravity: g in m/s2 along -z, or a vector.  Three numbers are always one vector, also with three members;
    two numbers are refused.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.forces.gravity().params
    ((0.0, 0.0, -9.80665),)
    """
    shape = validation.shape_of(g)
    if shape == (2,):
        raise ForceError(
            f"g={show(g)} is two numbers: give a vector as three, (x, y, z); for two members of an ensemble give each "
            "its vector, [(0, 0, -9.8), (0, 0, -1.6)]"
        )
    field: Any = _vector(g, "g") if shape[-1:] == (3,) else (0.0, 0.0, _opposite(_number(g, "g")))
    fixed = field if all(np.ndim(component) == 0 for component in field) else None
    return Force(
        "gravity",
        kernels.gravity,
        (field,),
        potential=kernels.gravity_potential,
        turns=False,
        uniform=True,
        direction=fixed,
        arguments={"g": g},
    )


def point_gravity(gm: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0)) -> Force:
    """The gravity of a point mass, with its gravity-gradient torque: gm = G M in m3/s2, and its position in m.

    Examples
    --------
    >>> import polhode as ph
    >>> orbit = ph.State(position=(1, 0, 0), velocity=(0, 1, 0))
    >>> motion = ph.simulate(ph.particle(1.0), orbit, [ph.forces.point_gravity(1.0)], duration=6.283185307179586)
    >>> bool(abs(motion.final.position - (1, 0, 0)).max() < 1e-6)
    True
    """
    return Force(
        "point_gravity",
        kernels.point_gravity,
        (_number(gm, "gm"), _vector(center, "center")),
        arguments={"gm": gm, "center": center},
    )


def linear_drag(c: ArrayLike, wind: ArrayLike = (0.0, 0.0, 0.0)) -> Force:
    """-c (v - wind), c in kg/s, wind in m/s.

    Examples
    --------
    >>> import polhode as ph
    >>> start, drag = ph.State(velocity=(1, 0, 0)), ph.forces.linear_drag(2.0)
    >>> ph.simulate(ph.particle(1.0), start, [drag], duration=1.0).final.velocity[0].round(9)  # exp(-2)
    np.float64(0.135335283)
    """
    params = (_not_negative(c, "c"), _vector(wind, "wind"))
    return Force("linear_drag", kernels.linear_drag, params, turns=False, arguments={"c": c, "wind": wind})


def quadratic_drag(c: ArrayLike, wind: ArrayLike = (0.0, 0.0, 0.0)) -> Force:
    """-c |v - wind| (v - wind), c in kg/m, wind in m/s.

    Examples
    --------
    >>> import polhode as ph
    >>> start, drag = ph.State(velocity=(1, 0, 0)), ph.forces.quadratic_drag(3.0)
    >>> ph.simulate(ph.particle(1.0), start, [drag], duration=1.0).final.velocity[0].round(9)  # 1/(1 + 3 t)
    np.float64(0.25)
    """
    params = (_not_negative(c, "c"), _vector(wind, "wind"))
    return Force("quadratic_drag", kernels.quadratic_drag, params, turns=False, arguments={"c": c, "wind": wind})


def rotational_drag(c: ArrayLike) -> Force:
    """A torque -c times the angular velocity, c in N m s.

    Examples
    --------
    >>> import polhode as ph
    >>> ball, spin = ph.Body(mass=1.0, inertia=(2, 2, 2)), ph.State(angular_velocity=(0, 0, 1))
    >>> motion = ph.simulate(ball, spin, [ph.forces.rotational_drag(2.0)], duration=1.0)
    >>> motion.final.angular_velocity[2].round(9)  # exp(-c t/I)
    np.float64(0.367879441)
    """
    params = (_not_negative(c, "c"),)
    return Force("rotational_drag", kernels.rotational_drag, params, pushes=False, arguments={"c": c})


def force_at(
    force: ArrayLike,
    com_to_point_body: ArrayLike | None = None,
    *,
    point: ArrayLike | None = None,
    axes: str = "world",
    start: ArrayLike = -math.inf,
    stop: ArrayLike = math.inf,
) -> Force:
    """A constant force in N, at a point of the body or at a point of the world.

    Parameters
    ----------
    force : array_like
        In world axes, or with axes="body" fixed to the body.
    com_to_point_body : array_like, optional
        Where on the body it acts, from the center of mass, in body axes, in m.  Without any point: the center of mass.
    point : array_like, optional
        Where in the world it acts instead, in m.
    axes : {"world", "body"}, optional
        The axes of `force`.
    start, stop : float, optional
        It acts while start <= t < stop, in s; always, if not given.  No step crosses start or stop.

    Examples
    --------
    >>> import polhode as ph
    >>> push = ph.forces.force_at((0, 0, 3), com_to_point_body=(1, 0, 0))
    >>> ball = ph.Body(mass=1.0, inertia=(2, 2, 2))
    >>> ph.simulate(ball, forces=[push], duration=1.0, output_step=1.0).acceleration[0].tolist()
    [0.0, 0.0, 3.0]
    """
    if com_to_point_body is not None and point is not None:
        raise ForceError("force_at acts at com_to_point_body or at point, not at both")
    world_point = point is not None
    on_body = (0.0, 0.0, 0.0) if com_to_point_body is None else com_to_point_body
    place = _vector(point, "point") if world_point else _vector(on_body, "com_to_point_body")
    kernel = {
        ("world", False): kernels.world_force_at_body_point,
        ("body", False): kernels.body_force_at_body_point,
        ("world", True): kernels.world_force_at_world_point,
        ("body", True): kernels.body_force_at_world_point,
    }[_axes(axes), world_point]
    push = _vector(force, "force")
    fixed = axes == "world" and all(np.ndim(component) == 0 for component in push)
    at_center = not world_point and all(np.all(np.asarray(component) == 0) for component in place)
    place_argument = {"point": point} if world_point else {"com_to_point_body": com_to_point_body}
    acting = Force(
        "force_at",
        kernel,
        (push, place),
        turns=not at_center,
        direction=push if fixed else None,
        arguments={"force": force, "axes": axes, **place_argument},
    )
    return _between(acting, start, stop)


def torque(torque: ArrayLike, axes: str = "world", start: ArrayLike = -math.inf, stop: ArrayLike = math.inf) -> Force:
    """A constant torque in N m, in world axes, or with axes="body" fixed to the body, while start <= t < stop (s).

    No step crosses start or stop.

    Examples
    --------
    >>> import polhode as ph
    >>> ball = ph.Body(mass=1.0, inertia=(2, 2, 2))
    >>> ph.simulate(ball, forces=[ph.forces.torque((0, 0, 4))], duration=1.0).final.angular_velocity[2].round(9)
    np.float64(2.0)
    """
    kernel = kernels.world_torque if _axes(axes) == "world" else kernels.body_torque
    acting = Force(
        "torque", kernel, (_vector(torque, "torque"),), pushes=False, arguments={"torque": torque, "axes": axes}
    )
    return _between(acting, start, stop)


def thruster(
    com_to_nozzle_body: ArrayLike,
    direction_body: ArrayLike,
    thrust: ArrayLike,
    start: ArrayLike = 0.0,
    stop: ArrayLike = math.inf,
    *,
    pulses: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
) -> Force:
    """A thruster: pushes the body with `thrust` (N) along `direction_body` while start <= t < stop (s).

    Only the direction of `direction_body` counts, not its length.  Instead of start and stop `pulses` may list several
    windows, [(start, stop), ...], one after another.  No step crosses any of these times.

    Examples
    --------
    >>> import polhode as ph
    >>> burn = ph.forces.thruster((0, 0, -1), (0, 0, 1), 10.0, start=1.0, stop=3.0)
    >>> ph.simulate(ph.particle(5.0), forces=[burn], duration=4.0).final.velocity[2].round(9)
    np.float64(4.0)
    >>> pulsed = ph.forces.thruster((0, 0, -1), (0, 0, 1), 10.0, pulses=[(0, 1), (2, 2.5)])
    >>> ph.simulate(ph.particle(5.0), forces=[pulsed], duration=4.0).final.velocity[2].round(9)
    np.float64(3.0)
    """
    direction = validation.check_numbers(direction_body, "direction_body", (3,), ForceError)
    along = as_leaves(direction)
    largest = larger(larger(absolute(along[0]), absolute(along[1])), absolute(along[2]))
    if np.any(np.asarray(largest) == 0):
        raise ForceError("direction_body of a thruster is zero: give the direction in which it pushes")
    along = tuple(x / largest for x in along)
    length = sqrt(dot(along, along))
    strength = validation.check_numbers(thrust, "thrust", (), ForceError)
    if pulses is not None and not (_is_number(start, 0.0) and _is_number(stop, math.inf)):
        raise ForceError("a thruster has start and stop, or pulses: give the windows in one of these ways")
    times = _windows("a thruster", [(start, stop)] if pulses is None else pulses)
    validation.member_count((direction, 1), (strength, 0), *((np.asarray(time), 0) for time in times))
    push = as_leaf(strength)
    arguments = {
        "com_to_nozzle_body": com_to_nozzle_body,
        "direction_body": direction_body,
        "thrust": thrust,
        **({"start": start, "stop": stop} if pulses is None else {"pulses": pulses}),
    }
    return Force(
        "thruster",
        kernels.thruster,
        (_vector(com_to_nozzle_body, "com_to_nozzle_body"), tuple(x / length * push for x in along), times),
        has_windows=True,
        arguments=arguments,
    )


def magnetic_torquer(
    dipole_body: ArrayLike,
    field: ArrayLike | str = "earth",
    start: ArrayLike = -math.inf,
    stop: ArrayLike = math.inf,
    *,
    pulses: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
) -> Force:
    """A coil or magnet fixed in the body, with the dipole `dipole_body` (A m2): torque m x B while start <= t < stop.

    `field` is a uniform field in T, world axes, or "earth": the axial dipole of the Earth, centered at the origin of
    the world, 29.4e-6 T at the equator of a sphere of 6371.2 km.  `pulses` may list several windows.

    Examples
    --------
    >>> import polhode as ph
    >>> coil = ph.forces.magnetic_torquer((0.0, 0.0, 10.0), field=(3e-5, 0.0, 0.0))
    >>> ball = ph.Body(mass=1.0, inertia=(2, 2, 2))
    >>> ph.simulate(ball, forces=[coil], duration=1.0).final.angular_velocity[1].round(9)
    np.float64(0.00015)
    """
    if pulses is not None and not (_is_number(start, -math.inf) and _is_number(stop, math.inf)):
        raise ForceError("a magnetic torquer has start and stop, or pulses: give the windows in one of these ways")
    times = _windows("a magnetic torquer", [(start, stop)] if pulses is None else pulses)
    if isinstance(field, str):
        if field != "earth":
            raise ForceError(f"field={show(field)} is unknown: give 'earth', or a vector in T along the world's axes")
        kernel, source = kernels.magnetic_torquer_over_earth, EARTH_MAGNETIC_MOMENT
    else:
        kernel, source = kernels.magnetic_torquer, _vector(field, "field")
    return Force(
        "magnetic_torquer",
        kernel,
        (_vector(dipole_body, "dipole_body"), source, times),
        pushes=False,
        has_windows=True,
        arguments={
            "dipole_body": dipole_body,
            "field": field,
            **({"start": start, "stop": stop} if pulses is None else {"pulses": pulses}),
        },
    )


def spring(
    stiffness: ArrayLike,
    anchor: ArrayLike,
    com_to_point_body: ArrayLike = (0.0, 0.0, 0.0),
    damping: ArrayLike = 0.0,
    length: ArrayLike = 0.0,
) -> Force:
    """A spring-damper from a point of the body to an anchor in the world: N/m, m, m, N s/m, and its rest length in m.

    The damper acts along the line of the spring.

    Examples
    --------
    >>> import polhode as ph
    >>> start, spring = ph.State(position=(1, 0, 0)), ph.forces.spring(4.0, anchor=(0, 0, 0))
    >>> ph.simulate(ph.particle(1.0), start, [spring], duration=1.0).final.position[0].round(6)  # cos(2 t)
    np.float64(-0.416147)
    """
    params = (
        _not_negative(stiffness, "stiffness"),
        _not_negative(damping, "damping"),
        _not_negative(length, "length"),
        _vector(com_to_point_body, "com_to_point_body"),
        _vector(anchor, "anchor"),
    )
    return Force(
        "spring",
        kernels.spring,
        params,
        potential=_unless_damped(kernels.spring_potential, damping),
        arguments={
            "stiffness": stiffness,
            "anchor": anchor,
            "com_to_point_body": com_to_point_body,
            "damping": damping,
            "length": length,
        },
    )


def spring_between(
    a: int,
    b: int,
    stiffness: ArrayLike,
    com_to_point_a: ArrayLike = (0.0, 0.0, 0.0),
    com_to_point_b: ArrayLike = (0.0, 0.0, 0.0),
    damping: ArrayLike = 0.0,
    length: ArrayLike = 0.0,
) -> Force:
    """A spring-damper between points of the bodies a and b of a system (indices from 0).

    Examples
    --------
    >>> import polhode as ph
    >>> bodies, states = [ph.particle(1.0)] * 2, [ph.State(), ph.State(position=(2, 0, 0))]
    >>> spring = ph.forces.spring_between(0, 1, 2.0, length=1.0)
    >>> motion = ph.simulate(bodies, states, [spring], duration=1.0, engine="python")
    >>> motion.position[-1, :, 0].round(6).tolist()  # the distance is 1 + cos(2 t)
    [0.708073, 1.291927]
    """
    params = (
        _not_negative(stiffness, "stiffness"),
        _not_negative(damping, "damping"),
        _not_negative(length, "length"),
        _vector(com_to_point_a, "com_to_point_a"),
        _vector(com_to_point_b, "com_to_point_b"),
    )
    return Force(
        "spring_between",
        pair_laws.spring_between,
        params,
        kind="pair",
        potential=_unless_damped(pair_laws.spring_between_potential, damping),
        bodies=check_body_pair(a, b, "spring_between"),
        arguments={
            "a": a,
            "b": b,
            "stiffness": stiffness,
            "com_to_point_a": com_to_point_a,
            "com_to_point_b": com_to_point_b,
            "damping": damping,
            "length": length,
        },
    )


def mutual_gravity(G: ArrayLike = GRAVITATIONAL_CONSTANT) -> Force:
    """Newton's attraction between the centers of mass of every two bodies of a system, G in m3/(kg s2).

    Examples
    --------
    >>> import polhode as ph
    >>> bodies = [ph.particle(1.0), ph.particle(1.0)]
    >>> states = [ph.State(position=(s, 0, 0), velocity=(0, s / 2, 0)) for s in (-1, 1)]
    >>> circle = ph.simulate(bodies, states, [ph.forces.mutual_gravity(G=1.0)], duration=1.0, engine="python")
    >>> bool(abs((circle.position[-1] ** 2).sum(axis=-1) - 1).max() < 1e-8)
    True
    """
    return Force(
        "mutual_gravity",
        pair_laws.mutual_gravity,
        (_number(G, "G"),),
        kind="pair",
        potential=pair_laws.mutual_gravity_potential,
        arguments={"G": G},
    )


def impulse(
    impulse: ArrayLike, time: ArrayLike, com_to_point_body: ArrayLike = (0.0, 0.0, 0.0), axes: str = "world"
) -> Force:
    """An impulse in N s at a time in s, at a point of the body.  Output at that time is after it.

    Examples
    --------
    >>> import polhode as ph
    >>> kick = ph.forces.impulse((0, 0, 6), time=1.0)
    >>> ph.simulate(ph.particle(2.0), forces=[kick], duration=3.0).final.position[2].round(9)
    np.float64(6.0)
    """
    kernel = kernels.impulse if _axes(axes) == "world" else kernels.body_impulse
    return Force(
        "impulse",
        kernel,
        (_vector(impulse, "impulse"), _vector(com_to_point_body, "com_to_point_body")),
        kind="impulse",
        instant=_number(time, "time"),
        arguments={"impulse": impulse, "time": time, "com_to_point_body": com_to_point_body, "axes": axes},
    )


FORCES = {
    maker.__name__: maker
    for maker in (
        gravity,
        point_gravity,
        linear_drag,
        quadratic_drag,
        rotational_drag,
        force_at,
        torque,
        thruster,
        magnetic_torquer,
        spring,
        spring_between,
        mutual_gravity,
        impulse,
        earth_gravity,
        drag,
        aerodynamics,
    )
}
"""The forces by name, as scenario files call them."""


def _number(value: Any, name: str) -> Leaf:
    return as_leaf(validation.check_numbers(value, name, (), ForceError))


def _between(acting: Force, start: Any, stop: Any) -> Force:
    """The same force, while start <= t < stop."""
    if _is_number(start, -math.inf) and _is_number(stop, math.inf):
        return acting
    return replace(
        acting,
        kernel=kernels.in_windows(acting.kernel),
        params=(*acting.params, _windows(acting.name, [(start, stop)])),
        has_windows=True,
        arguments={**acting.arguments, "start": start, "stop": stop},
    )


def _is_number(value: Any, number: float) -> bool:
    return validation.shape_of(value) == () and bool(value == number)


def _is_list(given: Any) -> bool:
    return isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim > 0)


def _windows(name: str, given: Any) -> tuple[Leaf, ...]:
    """The times (start, stop, start, stop, ...) of windows that follow one another."""
    if not _is_list(given) or len(given) == 0:
        raise ForceError(f"pulses of {name} are a list of windows, [(start, stop), ...] in s, not {show(given)}")
    times: list[Leaf] = []
    for window in given:
        if not _is_list(window) or len(window) != 2:
            raise ForceError(f"a window of {name} is two times, (start, stop) in s, not {show(window)}")
        start, stop = _time(window[0], f"start of {name}"), _time(window[1], f"stop of {name}")
        if (np.asarray(start) > np.asarray(stop)).any():
            raise ForceError(f"{name} stops before it starts: start {show(window[0])} s, stop {show(window[1])} s")
        if times and (np.asarray(start) < np.asarray(times[-1])).any():
            raise ForceError(
                f"two windows of {name} overlap, or are not in order: one starts at {show(window[0])} s, before the "
                f"one listed before it stops, at {times[-1]!r} s"
            )
        times += [start, stop]
    return tuple(times)


def _time(value: Any, name: str) -> Leaf:
    """A number that may be infinite: what never starts, or never stops."""
    try:
        numbers: Any = validation.as_floats(value)
        finite = np.where(np.isinf(numbers), 0.0, numbers)
    except (TypeError, ValueError, OverflowError):  # not numbers at all: refused below
        numbers = finite = value
    validation.check_numbers(finite, name, (), ForceError)
    return as_leaf(numbers)


def _not_negative(value: Any, name: str) -> Leaf:
    array = validation.check_numbers(value, name, (), ForceError)
    if (array < 0).any():
        raise ForceError(
            f"{name} must not be negative, but is {show(value)}: a negative one would add energy to the motion"
        )
    return as_leaf(array)


def _opposite(value: Leaf) -> Leaf:
    return -value


def _vector(value: Any, name: str) -> tuple[Any, Any, Any]:
    x, y, z = as_leaves(validation.check_numbers(value, name, (3,), ForceError))
    return x, y, z


def _axes(axes: str) -> str:
    return validation.check_word(axes, "axes", validation.AXES, ForceError, "a vector is in 'world' or in 'body' axes")


def _unless_damped(potential: Any, damping: Any) -> Any:
    return potential if np.all(np.asarray(damping) == 0) else None
