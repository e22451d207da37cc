"""Reference problems from the literature with 40-digit answers.

The numbers are in `data/problems.json`; `tests/helpers/make_reference_problems.py` computes them by two methods.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.errors import InputError, ScenarioError
from polhode.massprops.body import Body
from polhode.reference.multiprecision import to_fraction
from polhode.scenario.event import Event, EventLaw
from polhode.scenario.forces import FORCES
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.synonyms import explain_unknown_arguments
from polhode.validation import check_word

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Numbers = tuple[float, ...]


class Error(NamedTuple):
    """Error of a result; None for quantities that were not given."""

    attitude: float | None
    """Angle between the attitudes, in rad."""
    rates: float | None
    """Relative error of the angular velocity."""
    position: float | None
    """Distance in m."""


class Conditioning(NamedTuple):
    """Sum of the changes of the answer when each input changes by one unit in the last place."""

    attitude: float
    """In rad."""
    rates: float
    """Relative."""
    position: float
    """Distance in m."""


@dataclass(frozen=True)
class Kinematics:
    """Position, orientation and velocities at one time: SI units, world axes unless the name says body.

    Floats; `decimals` holds the same numbers by name as strings of 40 digits (input data: as given, at most 60).
    """

    position: Numbers
    quaternion_wxyz: Numbers
    velocity: Numbers
    angular_velocity_body: Numbers
    decimals: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class ReferenceProblem:
    """A reference problem with its data and answer.

    Examples
    --------
    >>> import polhode as ph
    >>> top = ph.reference.problem("hairer_vilmart_asymmetric")
    >>> top.moments, top.duration
    ((0.6, 0.8, 1.0), 10.0)
    >>> top.answer.decimals["angular_velocity_body"][0]
    '2.94327084753034589287858413639848086007'
    """

    name: str
    title: str
    source: str
    mass: float
    """kg"""
    moments: Numbers
    """Principal moments about the center of mass, in kg m2."""
    allow_unphysical: bool
    """Whether the moments violate the triangle inequality."""
    start: Kinematics
    forces_in_words: str
    forces: tuple[Mapping[str, Any], ...]
    """Kind and arguments of each force, named as in `ph.forces`."""
    pivot: Numbers | None
    """Fixed point of the body relative to the center of mass, body axes, in m."""
    duration: float
    """s"""
    answer: Kinematics
    """Final state for the published (decimal) data."""
    answer_of_doubles: Kinematics
    """Final state for the data rounded to double precision."""
    conditioning: Conditioning
    decimals: Mapping[str, Any]
    """Mass, moments, forces, pivot and duration as strings."""

    def error_of(
        self,
        *,
        quaternion_wxyz: Sequence[Any] | None = None,
        angular_velocity_body: Sequence[Any] | None = None,
        position: Sequence[Any] | None = None,
        of_doubles: bool = False,
    ) -> Error:
        """Error of a result against the answer, computed in exact fractions.

        Parameters
        ----------
        quaternion_wxyz, angular_velocity_body, position : sequence, optional
            The result, as floats, decimal strings or mpmath numbers.  The quaternion may have any norm and sign.
        of_doubles : bool, optional
            Compare with `answer_of_doubles`, for a code that received the data in double precision.

        Examples
        --------
        >>> import polhode as ph
        >>> top = ph.reference.problem("hairer_vilmart_asymmetric")
        >>> error = top.error_of(quaternion_wxyz=(-0.736061, -0.570787, -0.299389, -0.206839))
        >>> round(error.attitude, 8), error.position
        (1.11e-06, None)
        """
        exact = (self.answer_of_doubles if of_doubles else self.answer).decimals
        attitude = rates = place = None
        if quaternion_wxyz is not None:
            attitude = _angle(
                _check_given(quaternion_wxyz, 4, "quaternion_wxyz"), _parse_fractions(exact["quaternion_wxyz"])
            )
        if angular_velocity_body is not None:
            truth = _parse_fractions(exact["angular_velocity_body"])
            rates = _distance(_check_given(angular_velocity_body, 3, "angular_velocity_body"), truth) / _distance(truth)
        if position is not None:
            place = _distance(_check_given(position, 3, "position"), _parse_fractions(exact["position"]))
        return Error(attitude, rates, place)

    @explain_unknown_arguments(ScenarioError)
    def scenario(
        self,
        *,
        duration: float | None = None,
        step: float | None = None,
        method: str = "auto",
        formulation: str = "momentum",
        engine: str = "cpu",
        output_step: float | None = None,
        output_times: ArrayLike | None = None,
        events: Sequence[Event | EventLaw] = (),
        renormalize: bool = True,
        rtol: float | Sequence[float] = 1e-9,
        atol: float | Sequence[float] = 0.0,
        breaks: ArrayLike = (),
        largest_turn: float = 1.0,
        name: str | None = None,
    ) -> Scenario:
        """The problem as a `ph.Scenario`, which explains the arguments; duration and name are the problem's own.

        Examples
        --------
        >>> import polhode as ph
        >>> scenario = ph.reference.problem("boxes_complex").scenario(method="rk4", step=1e-3)
        >>> scenario.forces[0].params
        ((0.0, 0.0, -9.8),)
        """
        body = Body(self.mass, self.moments, allow_unphysical=self.allow_unphysical)
        state = State(
            position=self.start.position,
            velocity=self.start.velocity,
            angular_velocity_body=self.start.angular_velocity_body,
            quaternion_wxyz=self.start.quaternion_wxyz,
        )
        forces = [FORCES[f["kind"]](**{key: value for key, value in f.items() if key != "kind"}) for f in self.forces]
        return Scenario(
            body,
            state,
            forces,
            duration=self.duration if duration is None else duration,
            step=step,
            method=method,
            formulation=formulation,
            engine=engine,
            output_step=output_step,
            output_times=output_times,
            events=events,
            pivot=self.pivot,
            renormalize=renormalize,
            rtol=rtol,
            atol=atol,
            breaks=breaks,
            largest_turn=largest_turn,
            name=self.name if name is None else name,
        )


def problem(name: str) -> ReferenceProblem:
    """Return the reference problem of that name; `ph.reference.table()` lists them.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.reference.problem("boxes_complex").duration
    10.0
    """
    return PROBLEMS[check_word(name, "reference problem", PROBLEMS)]


def table() -> str:
    """List all problems, one per line: name, duration, conditioning of the attitude, title.

    Examples
    --------
    >>> import polhode as ph
    >>> print(ph.reference.table().splitlines()[-1])
    drag_and_thruster          10 s  3.2e-14 rad  A body that falls through air while an off-center thruster fires...
    """
    width = max(map(len, PROBLEMS))
    head = f"{'problem':{width}}  time  per ulp      title"
    lines = [
        f"{p.name:{width}}  {p.duration:g} s  {p.conditioning.attitude:.1e} rad  {p.title}" for p in PROBLEMS.values()
    ]
    return "\n".join([head, *lines])


def _read_problems() -> dict[str, ReferenceProblem]:
    text = files("polhode.reference").joinpath("data/problems.json").read_text(encoding="utf-8")
    return {record["name"]: _parse_problem(record) for record in json.loads(text)}


def _parse_problem(record: Mapping[str, Any]) -> ReferenceProblem:
    numbers = ("mass", "moments", "forces", "pivot", "duration")
    return ReferenceProblem(
        **{key: record[key] for key in ("name", "title", "source", "allow_unphysical", "forces_in_words")},
        **{key: _parse_floats(record[key]) for key in numbers},
        start=_parse_kinematics(record),
        answer=_parse_kinematics(record["answer"]),
        answer_of_doubles=_parse_kinematics(record["answer_of_doubles"]),
        conditioning=Conditioning(**record["conditioning"]),
        decimals={key: record[key] for key in numbers},
    )


def _parse_kinematics(record: Mapping[str, Any]) -> Kinematics:
    names = ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")
    decimals = {name: tuple(record[name]) for name in names}
    return Kinematics(**{name: tuple(float(text) for text in decimals[name]) for name in names}, decimals=decimals)


def _parse_floats(value: Any) -> Any:
    """Convert strings to floats and lists to tuples."""
    if isinstance(value, list):
        return tuple(_parse_floats(v) for v in value)
    if isinstance(value, dict):
        return {key: v if key == "kind" else _parse_floats(v) for key, v in value.items()}
    return None if value is None else float(value)


def _check_given(values: Sequence[Any], count: int, name: str) -> list[Fraction]:
    if len(values) != count:
        raise InputError(f"{name} has {count} numbers, not {len(values)}: {values!r}")
    return [to_fraction(value) for value in values]


def _parse_fractions(texts: Sequence[str]) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def _angle(p: Sequence[Fraction], q: Sequence[Fraction]) -> float:
    """2 atan2(|v|, |s|), (s, v) = p* q, for any norms."""
    a, b, c, d = p
    e, f, g, h = q
    scalar = a * e + b * f + c * g + d * h
    vector = (a * f - b * e - c * h + d * g, a * g + b * h - c * e - d * f, a * h - b * g + c * f - d * e)
    if not any(p):
        raise InputError("the quaternion is zero, which is not an orientation")
    largest = max(abs(scalar), *(abs(x) for x in vector))
    return 2 * math.atan2(_distance([x / largest for x in vector]), abs(float(scalar / largest)))


def _distance(one: Sequence[Fraction], other: Sequence[Fraction] | None = None) -> float:
    """Norm of an exact difference."""
    two = other if other is not None else [Fraction(0)] * len(one)
    return math.hypot(*(float(a - b) for a, b in zip(one, two, strict=True)))


PROBLEMS = _read_problems()
"""Reference problems by name."""
