"""Responses to the page: JSON text messages, and encoded motions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from polhode.errors import PolhodeError
from polhode.gallery import MODELS, THEMES, Model, ReferenceCheck
from polhode.lab_server.requests import TextRequest
from polhode.lab_server.texts import model_as_text
from polhode.own_models.model_file import OWN_THEME
from polhode.results.motion import Motion
from polhode.version import __version__
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record
from polhode.web.stage import Stage


@dataclass(frozen=True)
class ModelResult:
    """The result of running a model: its motions by name, the main one first."""

    name: str
    title: str
    motions: dict[str, Motion]
    notes: Sequence[str] = ()
    """Warnings of the computation."""
    stage_of: Callable[[str], Stage] | None = None
    """The stage of each motion, by its name; None for the page's defaults."""
    runs: Sequence[str] = ()
    """The names of all scenarios of the model, where not all were run."""


def encode_message(kind: str, /, **fields: Any) -> str:
    """A JSON message; NaN and infinity become null."""
    return json.dumps({"type": kind, **_replace_nonfinite(fields)}, allow_nan=False)


@cache
def models_by_theme() -> tuple[Model, ...]:
    """All models in the order of their themes; the page opens with the first by default."""
    return tuple(sorted((MODELS[name] for name in MODELS), key=lambda model: THEMES.index(model.theme)))


def hello_message(own: Sequence[Model] = (), changed: Sequence[str] | None = None) -> str:
    """The greeting with the user's own models, and the whole gallery; a later one names the models that changed."""
    themes = [OWN_THEME, *THEMES] if own else THEMES
    models = [model.describe() for model in (*own, *models_by_theme())]
    again = {} if changed is None else {"changed": changed}
    return encode_message("hello", version=__version__, themes=themes, models=models, **again)


def hello_without_gallery() -> str:
    """The greeting before a single motion."""
    return encode_message("hello", version=__version__, themes=[], models=[])


def motion_message(result: ModelResult, id: int, run: str | None = None, has_closed_form: bool = True) -> bytes:
    """The motion named `run` of a result, by default the main one."""
    names = list(result.runs or result.motions)
    chosen = next(iter(result.motions)) if run is None else run
    runs, run = (names, chosen) if len(names) > 1 else ([], "")
    stage = None if result.stage_of is None else result.stage_of(chosen)
    motion, name, title = result.motions[chosen], result.name, result.title
    record = record_motion(
        motion, id=id, name=name, title=title, runs=runs, run=run, stage=stage, has_closed_form=has_closed_form
    )
    record.meta["notes"] = [*result.notes, *record.meta["notes"]]
    return encode_record(record)


def text_message(request: TextRequest) -> str:
    """A run of a model as text, or the reason why it cannot be written."""
    try:
        text = model_as_text(request.kind, request.model, request.values, request.run)
    except PolhodeError as error:
        return encode_message("refused", id=request.id, sentence=str(error), parameter=None)
    name = f"{request.model.name}.{'py' if request.kind == 'python' else 'toml'}"
    return encode_message("text", id=request.id, kind=request.kind, name=name, text=text)


def checks_message(id: int, checks: Sequence[ReferenceCheck]) -> str:
    """The numbers of a model with their reference values."""
    fields = ("label", "unit", "found", "expected", "tolerance", "difference", "holds", "source")
    return encode_message("checks", id=id, checks=[{name: getattr(check, name) for name in fields} for check in checks])


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace_nonfinite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
