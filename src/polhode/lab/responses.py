"""What the page is told: texts of JSON, and motions as bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from polhode.gallery import MODELS, THEMES, Model, Shown
from polhode.results.motion import Motion
from polhode.version import __version__
from polhode.web.motion_record import recorded
from polhode.web.record_encoding import packed


@dataclass(frozen=True)
class Result:
    """What a run of a model has computed: its motions by name, the one to watch first."""

    name: str
    title: str
    motions: dict[str, Motion]
    notes: Sequence[str] = ()
    """Sentences that the computation has said, in warnings."""


def text(kind: str, **fields: Any) -> str:
    """A message; what is no finite number becomes null, which JSON can hold."""
    return json.dumps({"type": kind, **_plain(fields)}, allow_nan=False)


@cache
def gallery() -> tuple[Model, ...]:
    """All models, in the order of their themes; a page that names none opens with the first."""
    return tuple(sorted((MODELS[name] for name in MODELS), key=lambda model: THEMES.index(model.theme)))


def hello() -> str:
    """The whole gallery."""
    return text("hello", version=__version__, themes=THEMES, models=[model.described() for model in gallery()])


def hello_of_one_motion() -> str:
    """No gallery: the motion follows."""
    return text("hello", version=__version__, themes=[], models=[])


def motion(result: Result, id: int, run: str | None = None) -> bytes:
    """One of the motions of a result, the one to watch if no other is named."""
    names = list(result.motions)
    chosen = names[0] if run is None else run
    runs, run = (names, chosen) if len(names) > 1 else ([], "")
    record = recorded(result.motions[chosen], id=id, name=result.name, title=result.title, runs=runs, run=run)
    record.meta["notes"] = [*result.notes, *record.meta["notes"]]
    return packed(record)


def numbers(id: int, found: Sequence[Shown]) -> str:
    """The numbers that a model must show, found and expected."""
    fields = ("label", "unit", "found", "expected", "tolerance", "difference", "holds", "source")
    return text("numbers", id=id, numbers=[{name: getattr(one, name) for name in fields} for one in found])


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
