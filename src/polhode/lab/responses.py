"""What the page is told: texts of JSON, and motions as bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from polhode.gallery import MODELS, THEMES, Model, ReferenceCheck
from polhode.results.motion import Motion
from polhode.version import __version__
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record


@dataclass(frozen=True)
class ModelResult:
    """What a run of a model has computed: its motions by name, the one to watch first."""

    name: str
    title: str
    motions: dict[str, Motion]
    notes: Sequence[str] = ()
    """Sentences that the computation has said, in warnings."""


def encode_message(kind: str, **fields: Any) -> str:
    """A message; what is no finite number becomes null, which JSON can hold."""
    return json.dumps({"type": kind, **_replace_nonfinite(fields)}, allow_nan=False)


@cache
def models_by_theme() -> tuple[Model, ...]:
    """All models, in the order of their themes; a page that names none opens with the first."""
    return tuple(sorted((MODELS[name] for name in MODELS), key=lambda model: THEMES.index(model.theme)))


def hello_message() -> str:
    """The whole gallery."""
    return encode_message(
        "hello", version=__version__, themes=THEMES, models=[model.described() for model in models_by_theme()]
    )


def hello_without_gallery() -> str:
    """No gallery: the motion follows."""
    return encode_message("hello", version=__version__, themes=[], models=[])


def motion_message(result: ModelResult, id: int, run: str | None = None) -> bytes:
    """One of the motions of a result, the one to watch if no other is named."""
    names = list(result.motions)
    chosen = names[0] if run is None else run
    runs, run = (names, chosen) if len(names) > 1 else ([], "")
    record = record_motion(result.motions[chosen], id=id, name=result.name, title=result.title, runs=runs, run=run)
    record.meta["notes"] = [*result.notes, *record.meta["notes"]]
    return encode_record(record)


def numbers_message(id: int, found: Sequence[ReferenceCheck]) -> str:
    """The numbers that a model must show, found and expected."""
    fields = ("label", "unit", "found", "expected", "tolerance", "difference", "holds", "source")
    return encode_message("numbers", id=id, numbers=[{name: getattr(one, name) for name in fields} for one in found])


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace_nonfinite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
