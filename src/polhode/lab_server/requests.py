"""Requests of the page, fully validated: anything may connect to the socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polhode.errors import PolhodeError, nearest
from polhode.gallery import MODELS, Model
from polhode.lab_server.knob_sweep import MAX_MEMBERS, MIN_MEMBERS
from polhode.lab_server.texts import TEXT_KINDS

MAX_MESSAGE_CHARACTERS = 65_536
"""Valid messages have a few hundred characters."""


@dataclass(frozen=True)
class RunRequest:
    """Run a model with these values."""

    id: int
    model: Model
    values: dict[str, float]
    is_quick: bool = False
    """While a knob is dragged: only one scenario, no closed form, no checks."""
    run: str = ""
    """The scenario of a quick run; the first if the model has none of this name."""


@dataclass(frozen=True)
class SweepRequest:
    """Run a model at several values of one knob, from `low` to `high`."""

    id: int
    model: Model
    values: dict[str, float]
    knob: str
    low: float
    high: float
    members: int
    run: str = ""


@dataclass(frozen=True)
class MotionRequest:
    """Send another motion of the last run."""

    id: int
    run: str


@dataclass(frozen=True)
class CancelRequest:
    """Cancel a request."""

    id: int


@dataclass(frozen=True)
class TakeRequest:
    """Make something to take away: a "page" in one file, a "csv" table, or the model's own "figure".

    `model` is None for the motion that is viewed.
    """

    id: int
    kind: str
    model: Model | None
    values: dict[str, float]
    run: str = ""
    is_live: bool = False
    """A page that computes the motion itself, with the knobs of the model."""


@dataclass(frozen=True)
class TextRequest:
    """Write a run of a model as a Python script or a scenario file."""

    id: int
    kind: str
    model: Model
    values: dict[str, float]
    run: str


TAKE_KINDS = ("page", "csv", "figure")
PageRequest = RunRequest | SweepRequest | MotionRequest | CancelRequest | TakeRequest | TextRequest


class RefusedRequestError(PolhodeError):
    """A request that cannot be answered; `parameter` names the invalid parameter, if any."""

    def __init__(self, sentence: str, id: int = 0, parameter: str | None = None) -> None:
        super().__init__(sentence)
        self.id, self.parameter = id, parameter


def parse_request(text: str, models: Mapping[str, Model] = MODELS) -> PageRequest:
    """Parse and validate a message; only these models can be named.

    Examples
    --------
    >>> request = parse_request('{"type": "run", "id": 1, "model": "dzhanibekov", "values": {"spin": 4}}')
    >>> request.values
    {'spin': 4.0, 'nudge': 0.1}
    >>> parse_request('{"type": "dance", "id": 2}')
    Traceback (most recent call last):
    ...
    polhode.lab_server.requests.RefusedRequestError: unknown message type 'dance': ...cancel, csv, ...
    """
    message = _parse_object(text)
    number = _request_id(message)
    kind = message.get("type")
    if kind == "cancel":
        return CancelRequest(number)
    if kind == "motion":
        return MotionRequest(number, _require_text(message, "run", number))
    if kind == "run":
        return _parse_run(message, number, models)
    if kind == "sweep":
        return _parse_sweep(message, _parse_run(message, number, models))
    if kind in TAKE_KINDS:
        return _parse_take(kind, message, number, models)
    if kind == "text":
        return _parse_text(message, number, models)
    known = nearest(kind, ("run", "sweep", "motion", "cancel", "text", *TAKE_KINDS))
    raise RefusedRequestError(f"unknown message type {_abbreviate(kind)}: {known}", number)


def request_id(text: str) -> int:
    """The id of a message; 0 if it has none."""
    try:
        return _request_id(_parse_object(text))
    except RefusedRequestError:
        return 0


def _request_id(message: dict[str, Any]) -> int:
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**53:
        raise RefusedRequestError("a message needs an id that is a nonnegative integer")
    return number


def _parse_object(text: str) -> dict[str, Any]:
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise RefusedRequestError(
            f"a message of {len(text):,} characters is too long: at most {MAX_MESSAGE_CHARACTERS:,} are allowed"
        )
    try:
        message = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedRequestError(f"the message is not valid JSON: {error}") from None
    if not isinstance(message, dict):
        raise RefusedRequestError(f"the message must be a JSON object, but is {_abbreviate(message)}")
    return message


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _require_text(message: dict[str, Any], name: str, number: int) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise RefusedRequestError(f"the message needs {name!r}, a string, but has {_abbreviate(value)}", number)
    return value


def _parse_text(message: dict[str, Any], number: int, models: Mapping[str, Model]) -> TextRequest:
    kind = _require_text(message, "kind", number)
    if kind not in TEXT_KINDS:
        raise RefusedRequestError(f"there is no text of kind {_abbreviate(kind)}: {nearest(kind, TEXT_KINDS)}", number)
    run = "" if message.get("run") is None else _require_text(message, "run", number)
    asked = _parse_run(message, number, models)
    return TextRequest(number, kind, asked.model, asked.values, run)


def _parse_run(message: dict[str, Any], number: int, models: Mapping[str, Model]) -> RunRequest:
    name = _require_text(message, "model", number)
    if name not in models:
        raise RefusedRequestError(f"there is no model {_abbreviate(name)}: {nearest(name[:100], models)}", number)
    model, values = models[name], message.get("values")
    if not isinstance(values, dict):
        raise RefusedRequestError(f"the message needs 'values', numbers by name, but has {_abbreviate(values)}", number)
    for parameter, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RefusedRequestError(
                f"{parameter[:100]} must be a number, but is {_abbreviate(value)}", number, parameter[:100]
            )
        try:  # one by one, so that the error names the parameter
            model.values(**{parameter: value})
        except (PolhodeError, OverflowError) as error:
            sentence = f"{parameter} is too large for a float" if isinstance(error, OverflowError) else str(error)
            known = any(p.name == parameter for p in model.parameters)
            raise RefusedRequestError(sentence, number, parameter if known else None) from None
    is_quick, run = message.get("quick", False), message.get("run", "")
    if not isinstance(is_quick, bool) or not isinstance(run, str):
        raise RefusedRequestError(
            f"'quick' must be true or false and 'run' a string, but they are {_abbreviate(is_quick)} and "
            f"{_abbreviate(run)}",
            number,
        )
    return RunRequest(number, model, model.values(**values), is_quick, run)


def _parse_sweep(message: dict[str, Any], run: RunRequest) -> SweepRequest:
    asked: list[Any] = [message.get(name) for name in ("knob", "low", "high", "members")]
    knob, low, high, members = asked
    if not any(p.name == knob for p in run.model.parameters):
        names = (p.name for p in run.model.parameters)
        raise RefusedRequestError(
            f"{run.model.name} has no knob {_abbreviate(knob)}: {nearest(str(knob)[:100], names)}", run.id
        )
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float):
            raise RefusedRequestError(f"{knob} must be swept between numbers, not {_abbreviate(end)}", run.id, knob)
        try:
            run.model.values(**{knob: end})
        except (PolhodeError, OverflowError) as error:
            raise RefusedRequestError(str(error), run.id, knob) from None
    if not low < high:
        raise RefusedRequestError(f"{knob} must be swept from a smaller to a larger value", run.id, knob)
    if isinstance(members, bool) or not isinstance(members, int) or not MIN_MEMBERS <= members <= MAX_MEMBERS:
        raise RefusedRequestError(
            f"a sweep has {MIN_MEMBERS} to {MAX_MEMBERS} members, not {_abbreviate(members)}", run.id, knob
        )
    return SweepRequest(run.id, run.model, run.values, knob, float(low), float(high), members, run.run)


def _parse_take(kind: str, message: dict[str, Any], number: int, models: Mapping[str, Model]) -> TakeRequest:
    run, is_live = _require_text(message, "run", number), message.get("live", False)
    if not isinstance(is_live, bool):
        raise RefusedRequestError(f"'live' must be true or false, but is {_abbreviate(is_live)}", number)
    if _require_text(message, "model", number) == "":
        return TakeRequest(number, kind, None, {}, run, is_live)
    parsed = _parse_run({**message, "run": ""}, number, models)
    return TakeRequest(number, kind, parsed.model, parsed.values, run, is_live)


def _abbreviate(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
