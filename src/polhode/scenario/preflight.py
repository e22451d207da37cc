"""Before a run: each user function is evaluated once, in plain Python, so that its mistakes get a clear message."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.equations.right_hand_side import build_view
from polhode.errors import ForceError, show
from polhode.scenario.force import Force, map_leaves, name_of_function
from polhode.scenario.part import OwnFunction
from polhode.scenario.scenario import Scenario


def check_user_functions(scenario: Scenario, members: int | None = None) -> None:
    """Refuse a user function that fails, or returns something other than force and torque.

    `members` is the number of members of the ensemble, if the scenario holds only some of them.
    """
    members = members or scenario.members
    for part in scenario.parts:
        for own in part.own_functions(getattr(scenario, part.name)):
            record = own.record
            try:
                answer = own.function(*sample_arguments(scenario, record))
            except Exception as error:
                raise own.error(_failure_at_start(members, record, own.function, error)) from error
            _check_answer(own, answer)


def sample_arguments(scenario: Scenario, f: Any) -> tuple[Any, ...]:
    """What a function of the user is called with at the start of the run; in an ensemble, for its first member."""
    start = scenario.problem.start
    view = build_view(scenario.form)
    is_pair = isinstance(f, Force) and f.kind == "pair"
    first, second = f.bodies if is_pair and f.bodies is not None else ((f.bodies or (0,))[0], 1)

    def of(i: int) -> tuple[StateView, BodyConstants]:
        body = BodyConstants(*_select_one(scenario.problem.constants, i))
        state = view(_select_one(start, i), body)
        return state, constants_for_forces(body, state.current_mass)

    params = _select_one(f.params, 0)
    if is_pair:
        return scenario.start_time, *of(first), *of(second), params
    return scenario.start_time, *of(first), params


def _select_one(nest: Any, i: int) -> Any:
    """The numbers of body or member i; in an ensemble of systems, of body i of the first member."""

    def one(leaf: Any) -> Any:
        if np.ndim(leaf) == 0:
            return leaf
        array = np.asarray(leaf)
        return float((array[0] if array.ndim > 1 else array)[i])

    return map_leaves(one, tuple(nest))


def _check_answer(own: OwnFunction, answer: Any) -> None:
    if own.gives in ("force", "pair"):
        _check_vectors(own.record, answer, ("force", "torque") if own.gives == "force" else PAIR_PARTS)
    elif own.gives == "torque":
        if not _is_number(answer):
            raise own.error(f"{own.name} must be one number, in N m, but is {answer!r}")
    elif not (_are_vectors(answer, 2) if own.gives == "change" else _is_number(answer)):
        wanted = "(impulse, angular impulse), each three numbers in a tuple" if own.gives == "change" else "one number"
        called = name_of_function(own.function)
        raise own.error(f"{own.name} must return {wanted}, but {called} returned {answer!r}")


PAIR_PARTS = ("force on a", "torque on a", "torque on b")


def _check_vectors(f: Force, answer: Any, parts: Sequence[str]) -> None:
    wanted = f"({', '.join(parts)}), each three numbers"
    if not isinstance(answer, (tuple, list, np.ndarray)) or len(answer) != len(parts):
        raise ForceError(f"{f.name} must return {wanted}, but returned {show(answer)}")
    for part, vector in zip(parts, answer, strict=True):
        if not _is_vector(vector):
            raise ForceError(f"{f.name} must return {wanted}, but its {part} is {vector!r}")


def _failure_at_start(rows: int | None, thing: Any, function: Any, error: Exception) -> str:
    """Why a user function failed; perhaps it reads more parameters than it was given."""
    hint, count = "", len(thing.params)
    if re.search("values to unpack|tuple index out of range", str(error)):
        given = f"{count} parameter{'' if count == 1 else 's'}"
        hint = f". It was made with {given}: give all that it reads when you call it, {thing.name}(...)"
    if rows is not None and re.search("'float' object is not|'float' has no len", str(error)):
        hint = f". An array with {rows} rows is one row for each of the {rows} members: give a table as a tuple or list"
    return f"{thing.name} fails at the start of the run: {error}{locate_error(function, error)}{hint}"


def _are_vectors(answer: Any, count: int) -> bool:
    return isinstance(answer, (tuple, list, np.ndarray)) and len(answer) == count and all(map(_is_vector, answer))


def _is_number(x: Any) -> bool:
    x = x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x
    return isinstance(x, Real) and not isinstance(x, bool)


def _is_vector(vector: Any) -> bool:
    return isinstance(vector, (tuple, list, np.ndarray)) and len(vector) == 3 and all(_is_number(c) for c in vector)


_OTHER_CODE = tuple(
    str(folder) for folder in (Path(__file__).parents[1], Path(np.__file__).parent, sysconfig.get_path("stdlib"))
)


def locate_error(thing: Any, error: BaseException) -> str:
    """The line of a user function, or of a helper that it calls, if the error came from there."""
    function = getattr(thing, "function", None) or thing
    while isinstance(function, partial):
        function = function.func
    called = function if hasattr(function, "__code__") else vars(type(function)).get("__call__")  # a callable object
    code = getattr(called, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    if code is None or not any(frame.filename == code.co_filename for frame in frames):
        return ""
    for frame in reversed(frames):
        if frame.filename == code.co_filename or not frame.filename.startswith((*_OTHER_CODE, "<frozen", "<__array")):
            return f" ({frame.filename}, line {frame.lineno}: {frame.line})"
    return ""
