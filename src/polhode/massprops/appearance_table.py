"""The geometry of bodies as a table of plain values and arrays for a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.massprops.body_table import to_plain_values
from polhode.massprops.geometry import Part, Shape, Surface
from polhode.massprops.volume.boundary_faces import CellMesh

if TYPE_CHECKING:
    from polhode.massprops.body import Body

PLACEMENT_KEYS = ("linear", "offset", "is_hole", "is_mixed")
"""Attributes of a part besides its shape or mesh."""


def appearance_to_table(bodies: Sequence[Body]) -> dict[str, Any]:
    """The shapes and meshes of bodies, each stored once, and their placement in each body."""
    sources = {id(part.source): part.source for body in bodies for part in body.parts}
    number = {key: i for i, key in enumerate(sources)}
    tables = [{"parts": [_part_to_table(part, number[id(part.source)]) for part in body.parts]} for body in bodies]
    return {"sources": [_source_to_table(source) for source in sources.values()], "bodies": tables}


def restore_appearance(bodies: Sequence[Body], table: Mapping[str, Any]) -> list[Body]:
    """The bodies with their geometry from the table."""
    sources = [_source_from_table(one) for one in table["sources"]]
    return [
        replace(body, parts=tuple(_part_from_table(one, sources) for one in each["parts"]))
        for body, each in zip(bodies, table["bodies"], strict=True)
    ]


def parts_to_tables(body: Body) -> list[dict[str, Any]]:
    """The parts of a body for a scenario file, each with its own shape or surface; default placements are left out."""
    return [_part_for_file(part) for part in body.parts]


def _part_for_file(part: Part) -> dict[str, Any]:
    if isinstance(part.source, Shape):
        sizes = {name: to_plain_values(size) for name, size in part.source.sizes.items()}
        table: dict[str, Any] = {"shape": {"kind": part.source.name, **sizes}}
    else:
        surface = part.source.surface(3)
        table = {"vertices": to_plain_values(surface.vertices), "faces": to_plain_values(surface.faces)}
    standard = Part(part.source)
    placement = {key: getattr(part, key) for key in PLACEMENT_KEYS}
    changed = {key: value for key, value in placement.items() if not np.array_equal(value, getattr(standard, key))}
    return {**table, **{key: to_plain_values(value) for key, value in changed.items()}}


def _part_to_table(part: Part, source: int) -> dict[str, Any]:
    return {"source": source, **{key: to_plain_values(getattr(part, key)) for key in PLACEMENT_KEYS}}


def _part_from_table(table: Mapping[str, Any], sources: Sequence[Any]) -> Part:
    linear, offset = (np.array(table[key], dtype=np.float64) for key in ("linear", "offset"))
    return Part(sources[table["source"]], linear, offset, table["is_hole"], table["is_mixed"])


def _source_to_table(source: Any) -> dict[str, Any]:
    """A shape by its name and sizes, a mesh by its arrays."""
    if isinstance(source, Shape):
        return {"shape": source.name, "sizes": {name: to_plain_values(size) for name, size in source.sizes.items()}}
    if isinstance(source, CellMesh):
        kinds, cells = [kind for kind, _ in source.blocks], [numbers for _, numbers in source.blocks]
        table = {"nodes": source.nodes, "kinds": kinds, "cells": cells, "outside": list(source.outside)}
        names, regions = list(source.fields), list(source.regions)
        table |= {"field_names": names, "fields": [np.asarray(source.fields[name]) for name in names]}
        return table | {"region_names": regions, "regions": [np.asarray(source.regions[name]) for name in regions]}
    return {"vertices": source.vertices, "faces": source.faces}


def _source_from_table(table: Mapping[str, Any]) -> Any:
    if "shape" in table:
        return Shape(table["shape"], {name: np.array(size, dtype=float) for name, size in table["sizes"].items()})
    if "nodes" in table:
        blocks = zip(table["kinds"], table["cells"], strict=True)
        fields, regions = (
            dict(zip(table.get(f"{what}_names", ()), table.get(f"{what}s", ()), strict=True))
            for what in ("field", "region")
        )
        return CellMesh(table["nodes"], tuple(blocks), tuple(table["outside"]), fields, regions)
    return Surface(table["vertices"], table["faces"])
