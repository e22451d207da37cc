"""Forces of flight: the Earth's gravity, drag, aerodynamic coefficients, and magnetic torquers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import validation
from polhode.equations import aerodynamics as laws
from polhode.equations import earth as earth_laws
from polhode.equations.formulations import StateView
from polhode.equations.law import Groups
from polhode.errors import ForceError, nearest, show
from polhode.scenario.air import Air, Wind, air_to_plain, as_air, as_wind, check_knots, wind_to_plain
from polhode.scenario.earth import Earth, as_earth, check_degree, earth_to_plain
from polhode.scenario.force import Force, check_arguments, map_leaves, name_of_function
from polhode.validation import Leaf, as_leaf, as_leaves

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

VARIABLES = ("angle_of_attack", "sideslip", "mach", "height", "dynamic_pressure", "airspeed")
"""What a coefficient may depend on."""
_UNITS = {"angle_of_attack": "rad", "sideslip": "rad", "height": "m", "dynamic_pressure": "Pa", "airspeed": "m/s"}


class Limit(NamedTuple):
    """A quantity of the flow, and where what depends on it is known."""

    what: str
    variable: str
    low: float
    high: float

    @property
    def unit(self) -> str:
        """The unit, after a space, if there is one."""
        unit = _UNITS.get(self.variable, "")
        return f" {unit}" if unit else ""


class Environment(NamedTuple):
    """What surrounds a body: the Earth (None: flat ground, z is up), the air (None: unknown) and its wind."""

    earth: Earth | None
    air: Air | None = None
    wind: Wind | None = None
    limits: tuple[Limit, ...] = ()
    functions: tuple[tuple[str, Callable[..., Any]], ...] = ()
    """The user's functions that give coefficients, by name."""

    @property
    def params(self) -> Groups:
        """The numbers of `flow`."""
        air = () if self.air is None else self.air.params
        return (
            () if self.earth is None else self.earth.place_params,
            air,
            () if self.wind is None else self.wind.params,
        )

    @property
    def place(self) -> Callable[..., Any]:
        """(position, params) -> height, up, and how air moves that rests."""
        return laws.over_ground if self.earth is None else laws.over_earth

    @property
    def flow(self) -> Callable[..., laws.Flow]:
        """(t, state, params) -> what a body meets."""
        assert self.air is not None
        return laws.build_flow(self.place, self.air.law, None if self.wind is None else self.wind.law)


# Gravity --------------------------------------------------------------------------------------------------------------
def earth_gravity(
    earth: Earth | str | Mapping[str, Any] = "WGS84", degree: int | None = None, gradient_torque: bool = False
) -> Force:
    """The gravity of an Earth at the origin of the world whose axis is z, with its potential.

    Parameters
    ----------
    earth : Earth or str, optional
        `ph.earth.WGS84`, its name, or another.
    degree : int, optional
        The highest zonal harmonic: 0 for inverse square, 2 (the default, where known) with J2, up to 6 for WGS84.
    gradient_torque : bool, optional
        Whether the gradient of the field, harmonics included, turns the body, to second order in its size: satellites.

    Examples
    --------
    >>> import polhode as ph
    >>> fall = ph.State.from_geodetic(0.0, 0.0, 9144.0)
    >>> motion = ph.simulate(ph.particle(1.0), fall, [ph.forces.earth_gravity()], duration=30.0)
    >>> round(float(motion.in_frame("ned").height[-1]), 6)
    4754.546047
    """
    planet = as_earth(earth)
    n = check_degree(planet, degree)
    validation.check_flag(gradient_torque, "gradient_torque", ForceError)
    kernel, potential = (
        (earth_laws.earth_gravity_with_gradient, earth_laws.earth_gravity_with_gradient_potential)
        if gradient_torque
        else (earth_laws.earth_gravity, earth_laws.earth_gravity_potential)
    )
    return Force(
        "earth_gravity",
        kernel,
        planet.gravity_params(n),
        potential=potential,
        turns=gradient_torque,
        environment=Environment(planet),
        arguments={"earth": earth_to_plain(planet), "degree": n, "gradient_torque": gradient_torque},
    )


# Coefficients ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class CoefficientTable:
    """An aerodynamic coefficient in a table of one or two variables, linear between its knots.

    Parameters
    ----------
    variables : str or two of them
        "angle_of_attack", "sideslip" (rad), "mach", "height" (m), "dynamic_pressure" (Pa) or "airspeed" (m/s).
    knots : array_like
        Increasing values of the variable; of two variables, two lists.
    values : array_like
        One for each knot; of two variables, a row for each knot of the first.
    beyond : {"stop", "hold"}, optional
        Beyond the ends the coefficient is unknown, and a run that gets there stops with a sentence; or it holds the
        value at the end.

    Examples
    --------
    >>> import polhode as ph
    >>> cd = ph.CoefficientTable("mach", (0.0, 0.8, 1.2, 3.0), (0.3, 0.32, 0.55, 0.4))
    >>> drag = ph.forces.drag(0.01, cd, air="US76")
    >>> drag.name
    'drag'
    """

    variables: Any
    knots: Any = field(repr=False)
    values: Any = field(repr=False)
    beyond: str = "stop"

    def __post_init__(self) -> None:
        given = self.variables
        variables = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, (list, tuple)) else ()
        if not all(isinstance(variable, str) for variable in variables):
            raise ForceError(f"the variables of a table are texts, such as 'mach', not {show(given)}")
        if len(variables) not in (1, 2) or len(set(variables)) != len(variables):
            raise ForceError(f"a table has one variable or two different ones, not {show(given)}")
        for variable in variables:
            validation.check_word(variable, "table variable", VARIABLES, ForceError)
        advice = "a table's ends 'stop' the run or 'hold' their value"
        validation.check_word(self.beyond, "beyond", ("stop", "hold"), ForceError, advice)
        lists = [self.knots] if len(variables) == 1 else self.knots
        if len(variables) == 2 and (not hasattr(lists, "__len__") or len(lists) != 2):
            raise ForceError(f"a table of {' and '.join(variables)} needs two lists of knots, not {show(self.knots)}")
        knots = tuple(
            check_knots(part, f"knots of {variable}") for part, variable in zip(lists, variables, strict=True)
        )
        try:
            values = np.array(validation.as_floats(self.values))
        except (TypeError, ValueError, OverflowError):
            raise ForceError(
                f"values of a table must be numbers, with rows of equal length: {show(self.values)}"
            ) from None
        shape = tuple(map(len, knots))
        if values.shape != shape:
            raise ForceError(
                f"values of the table of {' and '.join(variables)} must have the shape {shape} of its knots, but have "
                f"{values.shape}"
            )
        if not np.isfinite(values).all():
            at = np.argwhere(~np.isfinite(values))[0].tolist()
            raise ForceError(f"values of a table must be finite, but at index {at} there is {values[tuple(at)]}")
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "knots", knots)
        object.__setattr__(self, "values", values)

    @property
    def law(self) -> Callable[..., Any]:
        """(flow, params) -> the coefficient."""
        return laws.table_coefficient(self.variables, self.beyond == "hold")

    @property
    def params(self) -> Groups:
        """The knots and values, as the law takes them."""
        values = tuple(map(tuple, self.values.tolist())) if self.values.ndim == 2 else tuple(self.values.tolist())
        return (*self.knots, values)

    def limits(self, what: str) -> tuple[Limit, ...]:
        """Where it is known."""
        if self.beyond == "hold":
            return ()
        return tuple(
            Limit(f"the table of {what}", variable, knots[0], knots[-1])
            for variable, knots in zip(self.variables, self.knots, strict=True)
        )

    def to_plain(self) -> dict[str, Any]:
        """As files hold it."""
        knots = list(map(list, self.knots)) if len(self.variables) == 2 else list(self.knots[0])
        table = {"variables": list(self.variables), "knots": knots, "values": self.values.tolist()}
        return table if self.beyond == "stop" else {**table, "beyond": self.beyond}


class _Coefficient(NamedTuple):
    law: Callable[..., Any]
    params: Groups
    limits: tuple[Limit, ...]
    is_function: bool
    plain: Any


def _coefficient(given: Any, name: str) -> _Coefficient:
    """A number, a table, or a function of the flow."""
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in ("variables", "knots", "values", "beyond")]
        missing = [key for key in ("variables", "knots", "values") if key not in given]
        if unknown or missing:
            raise ForceError(
                f"the table of {name} has variables, knots, values and beyond: "
                + (f"{unknown[0]!r} is unknown" if unknown else f"{missing[0]} is missing")
            )
        given = CoefficientTable(**given)
    if isinstance(given, CoefficientTable):
        return _Coefficient(given.law, given.params, given.limits(name), False, given.to_plain())
    if callable(given):
        _check_signature(given, 1, f"the function of {name} takes one: (flow)")
        return _Coefficient(_function_law(given), (), (), True, given)
    number = as_leaf(validation.check_numbers(given, name, (), ForceError))
    return _Coefficient(laws.constant_coefficient, (number,), (), False, given)


@lru_cache(maxsize=256)
def _function_law(function: Any) -> Callable[..., Any]:
    def coefficient(flow: laws.Flow, params: Groups) -> Any:
        return function(flow)

    return coefficient


def drag(
    area: ArrayLike,
    coefficient: Any,
    air: Air | str | Mapping[str, Any] = "US76",
    wind: Any = None,
    earth: Earth | str | Mapping[str, Any] | None = None,
    com_to_pressure_body: ArrayLike | None = None,
) -> Force:
    """Drag against the motion relative to the air: density V^2/2 times area times coefficient.

    Parameters
    ----------
    area : float
        Reference area, in m2.
    coefficient : float, CoefficientTable or callable
        CD: a number, a table, or a function of the flow (`ph.Flow`).
    air : Air or str, optional
        `ph.air.US76`, `ph.air.exponential(...)`, `ph.air.constant(...)`.
    wind : optional
        (north, east, down) in m/s, a wind of `ph.air`, or a function (t, height).  None: calm.
    earth : Earth or str, optional
        With it the height is that above the ellipsoid, and the air turns with the Earth.  Without, the ground is flat:
        the height is z, east is x and north is y.
    com_to_pressure_body : array_like, optional
        Center of pressure, from the center of mass, in body axes, in m: where the drag acts.

    Examples
    --------
    >>> import polhode as ph
    >>> ball, start = ph.particle(1.0), ph.State(position=(0, 0, 1000.0))
    >>> fall = [ph.forces.gravity(), ph.forces.drag(0.01, 0.5, air=ph.air.constant(1.2))]
    >>> ph.simulate(ball, start, fall, duration=90.0).final.velocity[2].round(4)  # -sqrt(2 m g/(density S CD))
    np.float64(-57.1741)
    """
    if com_to_pressure_body is None:
        arm: Any = (0.0, 0.0, 0.0)
    else:
        arm = as_leaves(validation.check_numbers(com_to_pressure_body, "com_to_pressure_body", (3,), ForceError))
    cd = _coefficient(coefficient, "coefficient")
    around = _environment(earth, air, wind, {"coefficient": cd})
    kernel = laws.build_drag(around.flow, cd.law, com_to_pressure_body is not None)
    return _force(
        "drag",
        kernel,
        (around.params, _not_negative(area, "area"), cd.params, arm),
        around,
        cd.is_function,
        {"area": area, "coefficient": cd.plain, "com_to_pressure_body": com_to_pressure_body},
        turns=com_to_pressure_body is not None,
    )


def aerodynamics(
    area: ArrayLike,
    coefficients: Mapping[str, Any],
    span: ArrayLike = 1.0,
    chord: ArrayLike = 1.0,
    axes: str = "wind",
    air: Air | str | Mapping[str, Any] = "US76",
    wind: Any = None,
    earth: Earth | str | Mapping[str, Any] | None = None,
    com_to_reference_body: ArrayLike = (0.0, 0.0, 0.0),
    rates_relative_to: str = "air",
) -> Force:
    """Forces and moments of the air from dimensionless coefficients; all motion is relative to the air.

    Force: density V^2/2 times area times the coefficient; moment: that times span (Cl, Cn) or chord (Cm).

    Parameters
    ----------
    area : float
        Reference area S, in m2.
    coefficients : mapping
        By name, each a number, a table (`CoefficientTable`) or a function of the flow (`ph.Flow`).  Forces: "CD", "CY",
        "CL" with axes="wind" (drag backward, lift up), or "CX", "CY", "CZ" with axes="body" (along x, y, z).  Moments
        about body axes: "Cl", "Cm", "Cn".  Damping: "Clp", "Clr", "Cmq", "Cnp", "Cnr", times p b/(2 V), q c/(2 V),
        r b/(2 V), where p, q, r are relative to the air.
    span, chord : float, optional
        Reference lengths b and c, in m.
    axes : {"wind", "body"}, optional
        The axes of the force coefficients.
    air, wind, earth : optional
        As for `ph.forces.drag`.
    com_to_reference_body : array_like, optional
        The point to which the coefficients refer (the center of pressure, if they have no moments), from the center of
        mass, in body axes, in m.
    rates_relative_to : {"air", "inertial"}, optional
        What p, q and r of the damping are relative to: the air, which turns with the Earth, or, as in some simulations,
        inertial axes.

    Examples
    --------
    >>> import polhode as ph
    >>> brick = ph.Body(mass=2.27, inertia=(2.57e-3, 8.42e-3, 9.75e-3))
    >>> damping = ph.forces.aerodynamics(
    ...     0.02064, {"Clp": -1.0, "Cmq": -1.0, "Cnr": -1.0}, span=0.1016, chord=0.2032, earth="WGS84"
    ... )
    >>> damping.turns
    True
    """
    advice = "force coefficients are along 'wind' or 'body' axes"
    validation.check_word(axes, "axes", laws.FORCE_COEFFICIENTS, ForceError, advice)
    validation.check_word(rates_relative_to, "rates_relative_to", ("air", "inertial"), ForceError)
    known = (*laws.FORCE_COEFFICIENTS[axes], *laws.MOMENT_COEFFICIENTS, *laws.DAMPING_COEFFICIENTS)
    if not isinstance(coefficients, Mapping) or not coefficients:
        raise ForceError(f"coefficients must name at least one of {', '.join(known)}, not {show(coefficients)}")
    for name in coefficients:
        if name not in known:
            other = "body" if axes == "wind" else "wind"
            hint = nearest(str(name), known)
            if name in laws.FORCE_COEFFICIENTS[other]:
                hint = f"it is along {other} axes. Give axes={other!r}, or one of {', '.join(known)}"
            raise ForceError(f"coefficient {show(name)} is unknown with axes={show(axes)}: {hint}")
    made = {name: _coefficient(coefficients[name], name) for name in known if name in coefficients}
    around = _environment(earth, air, wind, made)
    kernel = laws.build_aerodynamics(
        around.flow, tuple(made), tuple(c.law for c in made.values()), axes, rates_relative_to == "inertial"
    )
    b, c = _not_negative(span, "span"), _not_negative(chord, "chord")
    arm: Any = as_leaves(validation.check_numbers(com_to_reference_body, "com_to_reference_body", (3,), ForceError))
    return _force(
        "aerodynamics",
        kernel,
        (around.params, _not_negative(area, "area"), (b, c, b), arm, tuple(one.params for one in made.values())),
        around,
        any(one.is_function for one in made.values()),
        {
            "area": area,
            "coefficients": {name: one.plain for name, one in made.items()},
            "span": span,
            "chord": chord,
            "axes": axes,
            "com_to_reference_body": com_to_reference_body,
            "rates_relative_to": rates_relative_to,
        },
        pushes=any(name in laws.FORCE_COEFFICIENTS[axes] for name in made),
    )


def _environment(earth: Any, air: Any, wind: Any, coefficients: Mapping[str, _Coefficient]) -> Environment:
    around = Environment(None if earth is None else as_earth(earth), as_air(air), as_wind(wind))
    if around.wind is not None and around.wind.function is not None:
        _check_signature(around.wind.function, 2, "the function of a wind takes two: (t, height)")
    known = (Limit(what, "height", low, high) for what, low, high in known_heights(around))
    limits = (*known, *(limit for one in coefficients.values() for limit in one.limits))
    functions = tuple((name, one.plain) for name, one in coefficients.items() if one.is_function)
    return around._replace(limits=limits, functions=functions)


def _check_signature(function: Callable[..., Any], count: int, rule: str) -> None:
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError, OverflowError):  # one that is not written in Python: the run will tell
        return
    check_arguments(function, arguments, count, rule, ForceError)


def known_heights(around: Environment) -> list[tuple[str, float, float]]:
    """The heights, in m, between which the air and the wind are known, where that is not everywhere."""
    known = [(f"the atmosphere {around.air.name}", *around.air.heights)] if around.air else []
    if around.wind is not None:
        known.append(("the wind", *around.wind.heights))
    return [k for k in known if np.isfinite(k[1:]).any()]


def _force(
    name: str,
    kernel: Any,
    params: Groups,
    around: Environment,
    has_function: bool,
    arguments: dict[str, Any],
    **about: Any,
) -> Force:
    is_own = has_function or (around.wind is not None and around.wind.function is not None)
    where = {
        "air": air_to_plain(around.air) if around.air else None,
        "wind": wind_to_plain(around.wind),
        "earth": None if around.earth is None else earth_to_plain(around.earth),
    }
    return Force(
        name,
        kernel,
        params,
        environment=around,
        function=kernel if is_own else None,
        arguments={} if is_own else {**arguments, **where},
        **about,
    )


def _not_negative(value: Any, name: str) -> Leaf:
    array = validation.check_numbers(value, name, (), ForceError)
    if (array < 0).any():
        raise ForceError(f"{name} must not be negative, but is {show(value)}")
    return as_leaf(array)


# Where it is known ----------------------------------------------------------------------------------------------------
def view_of_state(state: Any) -> StateView:
    """What a force sees of a state; momenta, which the flow does not need, are left out."""
    x, q, v, w, w_body = (
        as_leaves(part)
        for part in (
            state.position,
            state.quaternion_wxyz,
            state.velocity,
            state.angular_velocity,
            state.angular_velocity_body,
        )
    )
    none: Any = ()
    return StateView(x, q, none, none, v, w, w_body)


def describe_bad_function(f: Force, t: float, state: Any) -> str | None:
    """The sentence about a user's wind or coefficient that is not numbers, at the start of the first member.

    A function that fails has its own sentence, before the run.
    """
    around: Environment = f.environment
    own_wind = None if around.wind is None else around.wind.function
    if own_wind is None and not around.functions:
        return None
    view: Any = StateView(*map_leaves(_first, tuple(view_of_state(state))))
    params = map_leaves(_first, f.params[0])
    try:
        if own_wind is not None:
            answer = own_wind(t, around.place(view.position, params[0])[0])
            if not (isinstance(answer, (tuple, list, np.ndarray)) and len(answer) == 3 and all(map(_is_real, answer))):
                return (
                    f"the wind {name_of_function(own_wind)} of {f.name} must return (north, east, down), three numbers "
                    f"in m/s, but returned {answer!r}"
                )
        flow = around.flow(t, view, params)
        for name, function in around.functions:
            if not _is_real(answer := function(flow)):
                return (
                    f"{name} of {f.name}, {name_of_function(function)}, must return one number, but returned {answer!r}"
                )
    except Exception:
        return None
    return None


def _first(leaf: Any) -> Any:
    return float(np.ravel(leaf)[0]) if np.ndim(leaf) else leaf


def _is_real(value: Any) -> bool:
    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return isinstance(value, Real) and not isinstance(value, bool)


def limits_of(f: Force, t: float, state: Any) -> list[tuple[Limit, Any]]:
    """What a force needs to stay within, and the values in a state."""
    if f.environment is None or not f.environment.limits:
        return []
    if all(limit.variable == "height" for limit in f.environment.limits):  # needs neither wind nor air
        height = f.environment.place(as_leaves(state.position), f.params[0][0])[0]
        return [(limit, height) for limit in f.environment.limits]
    with np.errstate(all="ignore"):
        flow = f.environment.flow(t, view_of_state(state), f.params[0])
        return [(limit, getattr(flow, limit.variable)) for limit in f.environment.limits]


def describe_start_outside(f: Force, t: float, state: Any) -> str | None:
    """The sentence about a start where the air, the wind or a table is unknown; None if all are known."""
    for limit, value in limits_of(f, t, state):
        values = np.atleast_1d(np.asarray(value, dtype=np.float64))
        outside = (values < limit.low) | (values > limit.high)
        if outside.any():
            found = float(values[int(np.argmax(outside))])
            return (
                f"{f.name} starts where {limit.what} is unknown: {limit.variable.replace('_', ' ')} {found:.12g}"
                f"{limit.unit}, known from {limit.low:.9g} to {limit.high:.9g}{limit.unit}. Nothing is extrapolated"
            )
    return None


NEAR_LIMIT = 1e-2
"""A run that failed within this part of a range from its end, failed because it left the range."""


def describe_limit_reached(f: Force, t: float, state: Any) -> str | None:
    """The sentence about a run that failed where the air, the wind or a table ends; None if it is far from there."""
    for limit, value in limits_of(f, t, state):
        span, found = limit.high - limit.low, float(value)
        low = np.isfinite(limit.low) and not found - limit.low > NEAR_LIMIT * span
        high = np.isfinite(limit.high) and not limit.high - found > NEAR_LIMIT * span
        if low or high:
            end, side = (limit.low, "below") if low else (limit.high, "above")
            return (
                f"{limit.variable.replace('_', ' ')} {found:.9g}{limit.unit} reaches the end of {limit.what}, "
                f"{end:g}{limit.unit}: {side} it {f.name} is unknown, and nothing is extrapolated. End the run there, "
                "by an event, or give data that go further"
            )
    return None
