"""A volume mesh as it was read: the one form that every file is brought into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polhode.massprops.geometry import Indices
from polhode.validation import Array


@dataclass(frozen=True, eq=False)
class VolumeMesh:
    """Nodes, cells, and what is known about the cells; a cell's number counts the volume cells, block after block."""

    nodes: Array
    """All nodes of the file, in its order and unit, (N, 3)."""
    blocks: tuple[tuple[str, Indices], ...]
    """Volume cells: (kind, nodes' numbers from 0)."""
    fields: Mapping[str, Array] = field(default_factory=dict)
    """Fields of the cells by name, one row for each cell."""
    regions: Mapping[str | int, Indices] = field(default_factory=dict)
    """Regions by name and by number: the cells in each."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Cells without volume, by kind: how many."""
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many volume cells."""
        return sum(len(cells) for _, cells in self.blocks)
