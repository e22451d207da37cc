"""The partial results of consecutive blocks as one."""

from __future__ import annotations

from collections.abc import Iterable

from polhode.ensembles.merge_tree import Merge, MergeTree, Partial


def merge_blocks(merge: Merge, partials: Iterable[Partial | None]) -> Partial | None:
    """Partial results of consecutive blocks (or of chunks of 2**j blocks, the last one shorter) as one."""
    tree = MergeTree(merge)
    for k, partial in enumerate(partials):
        tree.add(k, partial)
    return tree.total()
