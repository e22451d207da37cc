"""Partial results merged in one fixed order, whatever the order in which they were computed.

Blocks of members are the leaves of a binary tree that is aligned to the member numbers: a node of level l has 2**l
blocks, and its number times 2**l is its first block.  What is left over at the end is merged from the right.  A chunk
of 2**j blocks is a node of that tree, and the last chunk, which may be shorter, is merged by the same rule; so chunks
of every such size, computed in any order, give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from polhode.errors import InputError

Partial: TypeAlias = dict[str, np.ndarray[Any, Any]]
"""What a reduction knows about some consecutive members: arrays by name, nothing else, so that it can be stored."""
Merge: TypeAlias = Callable[[Partial, Partial], Partial]


class MergeTree:
    """Merges partial results, added in any order, as one binary tree.

    It keeps no more nodes than needed: one for each level if they come in order.

    Parameters
    ----------
    merge : callable
        Of two partial results, the left one with the smaller member numbers.

    Examples
    --------
    >>> import numpy as np
    >>> tree = MergeTree(lambda left, right: {"text": np.char.add(np.char.add("(", left["text"]), right["text"] + ")")})
    >>> for k in (4, 0, 2, 1, 3):
    ...     tree.add(k, {"text": np.array(str(k))})
    >>> str(tree.total()["text"])
    '(((01)(23))4)'
    """

    def __init__(self, merge: Merge) -> None:
        self._merge = merge
        self._nodes: dict[tuple[int, int], Partial | None] = {}
        self._added: set[int] = set()

    def add(self, k: int, partial: Partial | None) -> None:
        """Add the partial result of block (or chunk) k; None if there is none, as of a chunk that could not be read."""
        if k in self._added or k < 0:
            raise InputError(f"block {k} of a reduction was added before" if k >= 0 else f"there is no block {k}")
        self._added.add(k)
        level, i = 0, k
        while (level, i ^ 1) in self._nodes:
            other = self._nodes.pop((level, i ^ 1))
            partial = self._join(partial, other) if i % 2 == 0 else self._join(other, partial)
            level, i = level + 1, i // 2
        self._nodes[level, i] = partial

    def total(self) -> Partial | None:
        """Everything merged; None if nothing was added.  More may be added afterwards.

        Examples
        --------
        >>> MergeTree(lambda left, right: left).total() is None
        True
        """
        if self._added and len(self._added) <= max(self._added):
            missing = next(k for k in range(max(self._added)) if k not in self._added)
            raise InputError(f"block {missing} of a reduction is missing, of {max(self._added) + 1}: add None for it")
        total: Partial | None = None
        for level, i in sorted(self._nodes, key=lambda node: -(node[1] << node[0])):  # from the right
            total = self._join(self._nodes[level, i], total)
        return total

    def _join(self, left: Partial | None, right: Partial | None) -> Partial | None:
        if left is None or right is None:
            return right if left is None else left
        return self._merge(left, right)
