"""A volume mesh as read, in a common form for all file formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polhode.massprops.geometry import Indices
from polhode.validation import Array


@dataclass(frozen=True, eq=False)
class VolumeMesh:
    """Nodes, cells, fields and regions; cell indices count volume cells, block after block."""

    nodes: Array
    """All nodes of the file, in its order and unit, (N, 3)."""
    blocks: tuple[tuple[str, Indices], ...]
    """Volume cells: (type, node indices)."""
    fields: Mapping[str, Array] = field(default_factory=dict)
    """Cell fields by name, one row per cell."""
    regions: Mapping[str | int, Indices] = field(default_factory=dict)
    """Regions by name and by number: the cells in each."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Numbers of cells without volume, by type."""
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of volume cells."""
        return sum(len(cells) for _, cells in self.blocks)
