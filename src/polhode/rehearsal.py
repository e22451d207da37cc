"""Before a run: each user's force is evaluated once, in plain Python, so that its slips show as sentences."""

from __future__ import annotations

import traceback
from numbers import Real
from typing import Any

import numpy as np

from polhode.equations.formulations import View
from polhode.equations.inertia import Constants
from polhode.equations.loads import view_of
from polhode.errors import ForceError
from polhode.forcing import Force, map_leaves
from polhode.scenario import Scenario


def rehearse(scenario: Scenario) -> None:
    """Complain about a user's force that fails, or gives something else than force and torque."""
    for f in scenario.forces:
        if f.function is not None:
            arguments = sample_arguments(scenario, f)
            try:
                answer = f.kernel(*arguments)
            except Exception as error:
                raise ForceError(f"{f.name} fails at the start of the run: {error}{where_in(f, error)}") from error
            _check_answer(f, answer)


def sample_arguments(scenario: Scenario, f: Force) -> tuple[Any, ...]:
    """What the force is called with at the start of the run; in an ensemble, for its first member."""
    start = scenario.form.start(*scenario.start, scenario.constants)
    seen = view_of(scenario.form, scenario.pivot is not None)
    first, second = f.bodies if f.kind == "pair" and f.bodies is not None else ((f.bodies or (0,))[0], 1)

    def of(i: int) -> tuple[View, Constants]:
        body = Constants(*_one(scenario.constants, i))
        return seen(_one(start, i), body), body

    params = _one(f.params, first)
    if f.kind == "pair":
        return scenario.start_time, *of(first), *of(second), params
    return scenario.start_time, *of(first), params


def _one(nest: Any, i: int) -> Any:
    """The numbers of body or member i."""
    return map_leaves(lambda leaf: float(leaf[i]) if np.ndim(leaf) else leaf, tuple(nest))


def _check_answer(f: Force, answer: Any) -> None:
    parts = ("force", "torque") if f.kind != "pair" else ("force on a", "torque on a", "torque on b")
    wanted = f"({', '.join(parts)}), each three numbers in a tuple"
    if not isinstance(answer, tuple) or len(answer) != len(parts):
        raise ForceError(f"{f.name} must return {wanted}, but returned {answer!r}")
    for part, vector in zip(parts, answer, strict=True):
        if not isinstance(vector, tuple) or len(vector) != 3 or not all(isinstance(c, Real) for c in vector):
            raise ForceError(f"{f.name} must return {wanted}, but its {part} is {vector!r}")


def where_in(f: Force, error: BaseException) -> str:
    """The place in the user's own function, if the error came from there."""
    code = getattr(f.function, "__code__", None)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if code is not None and frame.filename == code.co_filename:
            return f" ({frame.filename}, line {frame.lineno}: {frame.line})"
    return ""
