"""What reductions found, in the store of their ensemble: `ph.load` has it without the functions that found it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from polhode.ensembles.quantities import QuantityAt
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reduction_kinds import CustomReduction, Reduction
from polhode.ensembles.store import EnsembleStore
from polhode.solve.scenario_description import digest_function

REDUCTIONS = "reductions"
PLAIN = ("name", "kind", "quantity", "members", "missing", "error_bound")
FINISH = "finish_function"
TABLES = ("values", "coordinates", "units", "dims")


def describe_reductions(reductions: Iterable[Reduction]) -> list[dict[str, Any]]:
    """The reductions of a run as plain JSON, with which a resumed run is compared, with digests of functions.

    What makes the result of the total may be another one: it is called anew.
    """
    return [{"kind": type(one).__name__.removesuffix("Reduction"), **_describe(one)} for one in reductions]


def _describe(reduction: Reduction) -> dict[str, Any]:
    if is_dataclass(reduction) and type(reduction).__module__ == CustomReduction.__module__:
        return {one.name: _plain(getattr(reduction, one.name)) for one in fields(reduction) if one.name != FINISH}
    return {"name": reduction.name, **{name: _plain(getattr(reduction, name)) for name in ("partial", "merge")}}


def _plain(value: Any) -> Any:
    if isinstance(value, QuantityAt):
        own = value.function if value.known is None or not value.known.is_own else value.known.law
        return value.text if own is None else [value.text, digest_function(own)]
    if callable(value):
        return digest_function(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def write_reductions(store: EnsembleStore, reductions: Mapping[str, ReducedQuantity]) -> None:
    """Keep what reductions found of the whole ensemble; what was there before is replaced."""
    content = {}
    for name, reduced in reductions.items():
        plain = {field: getattr(reduced, field) for field in PLAIN}
        plain |= {field: dict(getattr(reduced, field)) for field in TABLES}
        content[name] = {**plain, "notes": list(reduced.notes)}
    store.write_extra(REDUCTIONS, content)


def read_reductions(store: EnsembleStore) -> dict[str, ReducedQuantity]:
    """What reductions found; empty if there were none, or if the run has not ended."""
    restored = {}
    for name, stored in (store.read_extra(REDUCTIONS) or {}).items():
        stored["dims"] = {key: tuple(dims) for key, dims in stored["dims"].items()}
        restored[name] = ReducedQuantity(**{**stored, "notes": tuple(stored["notes"])})
    return restored
