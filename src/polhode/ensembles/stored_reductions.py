"""The reductions of a run as plain JSON, in its store: what a resumed run is compared with, and what is read back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from polhode.ensembles import reduction_kinds
from polhode.ensembles.merge_tree import MergeTree
from polhode.ensembles.quantities import Quantity, read_quantity
from polhode.ensembles.reduced_quantity import ReducedQuantity
from polhode.ensembles.reduction_kinds import Reduction
from polhode.ensembles.store import EnsembleStore
from polhode.ensembles.stored_run import read_partials

KINDS = ("Mean", "Covariance", "Quantiles", "Histogram", "Extremes", "Count")
"""Reductions that are numbers and names alone, unless their quantity is a function."""


def describe_reductions(reductions: Iterable[Reduction]) -> list[dict[str, Any]]:
    """Plain JSON; functions are named, not stored."""
    return [_describe(reduction) for reduction in reductions]


def restore_reductions(stored: Iterable[dict[str, Any]]) -> list[Reduction]:
    """The reductions that a store describes, except those with functions of the user."""
    return [made for one in stored if (made := _restore(one)) is not None]


def finish_reductions(store: EnsembleStore, reductions: Iterable[Reduction]) -> dict[str, ReducedQuantity]:
    """What reductions found, from what the chunks of a store remember; each chunk is there."""
    trees = {reduction.name: MergeTree(reduction.merge) for reduction in reductions}
    if not trees:
        return {}
    for k in range(store.plan.count):
        partials = read_partials(store, k)
        for name, tree in trees.items():
            tree.add(k, partials.get(name))
    totals = {reduction: trees[reduction.name].total() for reduction in reductions}
    return {reduction.name: reduction.finish(total) for reduction, total in totals.items() if total is not None}


def _describe(reduction: Reduction) -> dict[str, Any]:
    kind = type(reduction).__name__.removesuffix("Reduction")
    if kind not in KINDS:
        return {"kind": "Custom", "name": reduction.name}
    values: dict[str, Any] = {}
    for one in fields(reduction):  # type: ignore[arg-type]
        value = getattr(reduction, one.name)
        quantities = value if isinstance(value, tuple) and value and isinstance(value[0], Quantity) else None
        if isinstance(value, Quantity):
            value = _describe_quantity(value)
        elif quantities is not None:
            value = [_describe_quantity(quantity) for quantity in quantities]
        values[one.name] = list(value) if isinstance(value, tuple) else value
    return {"kind": kind, **values}


def _describe_quantity(quantity: Quantity) -> dict[str, Any]:
    return {"text": quantity.text, "is_function": quantity.function is not None}


def _restore(stored: dict[str, Any]) -> Reduction | None:
    values = dict(stored)
    kind = values.pop("kind")
    if kind not in KINDS:
        return None
    named = values.get("quantities") or [values["quantity"]]
    if any(one["is_function"] for one in named):
        return None
    quantities = tuple(read_quantity(one["text"]) for one in named)
    if "quantities" in values:
        values["quantities"] = quantities
    else:
        values["quantity"] = quantities[0]
    made: Reduction = getattr(reduction_kinds, f"{kind}Reduction")(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    )
    return made
