"""What reductions found, in the store of their ensemble: `ph.load` has it without the functions that found it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from polhode.ensembles.quantities import Quantity
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.store import EnsembleStore

REDUCTIONS = "reductions"
ARRAYS = ("values", "coordinates")
PLAIN = ("name", "kind", "quantity", "units", "members", "missing", "error_bound")


def describe_reductions(reductions: Iterable[Reduction]) -> list[dict[str, Any]]:
    """The reductions of a run as plain JSON, with which a resumed run is compared; functions are only named."""
    return [{"kind": type(one).__name__.removesuffix("Reduction"), **_describe(one)} for one in reductions]


def _describe(reduction: Reduction) -> dict[str, Any]:
    found: dict[str, Any] = {"name": reduction.name}
    names: list[str] = [one.name for one in fields(reduction)] if is_dataclass(reduction) else []
    for name in names:
        value = getattr(reduction, name)
        if not callable(value):
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Quantity):
        return value.text
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def write_reductions(store: EnsembleStore, reductions: Mapping[str, ReducedQuantity]) -> None:
    """Keep what reductions found of the whole ensemble; what was there before is replaced."""
    content: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for i, (name, reduced) in enumerate(reductions.items()):
        plain = {field: getattr(reduced, field) for field in PLAIN}
        plain["units"] = dict(reduced.units)
        plain["dims"] = {key: list(dims) for key, dims in reduced.dims.items()}
        content[name] = {**plain, "notes": list(reduced.notes), "number": i}
        for field in ARRAYS:
            arrays |= {f"{i}/{field}/{key}": values for key, values in getattr(reduced, field).items()}
    store.write_extra(REDUCTIONS, content, arrays)


def read_reductions(store: EnsembleStore) -> dict[str, ReducedQuantity]:
    """What reductions found; empty if there were none, or if the run has not ended."""
    found = store.read_extra(REDUCTIONS)
    if found is None:
        return {}
    content, arrays = found

    def arrays_of(number: int, field: str) -> dict[str, Any]:
        prefix = f"{number}/{field}/"
        return {key.removeprefix(prefix): values for key, values in arrays.items() if key.startswith(prefix)}

    restored = {}
    for name, stored in content.items():
        number = stored.pop("number")
        stored["dims"] = {key: tuple(dims) for key, dims in stored["dims"].items()}
        stored["notes"] = tuple(stored["notes"])
        restored[name] = ReducedQuantity(
            values=arrays_of(number, "values"), coordinates=arrays_of(number, "coordinates"), **stored
        )
    return restored
