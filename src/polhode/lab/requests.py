"""What a page may ask, checked word for word: the page may be anything that has found the socket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from polhode.errors import PolhodeError, nearest
from polhode.gallery import MODELS, Model

MAX_MESSAGE_CHARACTERS = 65_536
"""Characters of a message; the longest honest one has some hundred."""


@dataclass(frozen=True)
class RunRequest:
    """Run a model with these values."""

    id: int
    model: Model
    values: dict[str, float]


@dataclass(frozen=True)
class MotionRequest:
    """Show another of the motions that the last run has computed."""

    id: int
    run: str


@dataclass(frozen=True)
class CancelRequest:
    """Stop computing the answer to a question."""

    id: int


PageRequest = RunRequest | MotionRequest | CancelRequest


class RefusedRequestError(PolhodeError):
    """A question that cannot be answered.  `parameter` names the knob that is wrong, if one is."""

    def __init__(self, sentence: str, id: int = 0, parameter: str | None = None) -> None:
        super().__init__(sentence)
        self.id, self.parameter = id, parameter


def parse_request(text: str) -> PageRequest:
    """The question in a message.

    Examples
    --------
    >>> question = asked('{"type": "run", "id": 1, "model": "dzhanibekov", "values": {"spin": 4}}')
    >>> question.values
    {'spin': 4.0, 'nudge': 0.1}
    >>> asked('{"type": "dance", "id": 2}')
    Traceback (most recent call last):
    ...
    polhode.lab.requests.RefusedRequestError: a message of type 'dance' means nothing here: ...cancel, look, run
    """
    message = _parse_object(text)
    number = _request_id(message)
    kind = message.get("type")
    if kind == "cancel":
        return CancelRequest(number)
    if kind == "look":
        return MotionRequest(number, _require_text(message, "run", number))
    if kind == "run":
        return _parse_run(message, number)
    known = nearest(kind, ("run", "look", "cancel"))
    raise RefusedRequestError(f"a message of type {_abbreviate(kind)} means nothing here: {known}", number)


def request_id(text: str) -> int:
    """The id of a message; 0 where it has none."""
    try:
        return _request_id(_parse_object(text))
    except RefusedRequestError:
        return 0


def _request_id(message: dict[str, Any]) -> int:
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**53:
        raise RefusedRequestError("a message needs an id that is a whole number from 0 on")
    return number


def _parse_object(text: str) -> dict[str, Any]:
    if len(text) > MAX_MESSAGE_CHARACTERS:
        raise RefusedRequestError(
            f"a message of {len(text):,} characters is too long: at most {MAX_MESSAGE_CHARACTERS:,} are read"
        )
    try:
        message = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedRequestError(f"a message is no JSON: {error}") from None
    if not isinstance(message, dict):
        raise RefusedRequestError(f"a message must be an object of JSON, but is {_abbreviate(message)}")
    return message


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _require_text(message: dict[str, Any], name: str, number: int) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise RefusedRequestError(f"the message needs {name!r}, a text, but has {_abbreviate(value)}", number)
    return value


def _parse_run(message: dict[str, Any], number: int) -> RunRequest:
    name = _require_text(message, "model", number)
    if name not in MODELS:
        raise RefusedRequestError(f"there is no model {_abbreviate(name)}: {nearest(name[:100], MODELS)}", number)
    model, values = MODELS[name], message.get("values")
    if not isinstance(values, dict):
        raise RefusedRequestError(f"the message needs 'values', numbers by name, but has {_abbreviate(values)}", number)
    for knob, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RefusedRequestError(f"{knob[:100]} must be a number, but is {_abbreviate(value)}", number, knob[:100])
        try:  # one by one, so that the page knows which knob is wrong
            model.values(**{knob: value})
        except (PolhodeError, OverflowError) as error:
            sentence = f"{knob} is too large for a number" if isinstance(error, OverflowError) else str(error)
            raise RefusedRequestError(sentence, number, knob if _has_parameter(model, knob) else None) from None
    return RunRequest(number, model, model.values(**values))


def _has_parameter(model: Model, knob: str) -> bool:
    return any(p.name == knob for p in model.parameters)


def _abbreviate(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
