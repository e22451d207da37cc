"""One fixed tree, whatever the chunks and the order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from merged_blocks import merge_blocks
from polhode.ensembles.merge_tree import MergeTree
from polhode.errors import InputError


def leaf(k):
    return {"text": np.array(str(k))}


def bracket(left, right):
    return {"text": np.array(f"({left['text']} {right['text']})")}


def tree_by_definition(low, high):
    """The tree over leaves low to high, split after the largest power of two below their number.  [RFC 6962]"""
    if high - low == 1:
        return str(low)
    half = 1
    while 2 * half < high - low:
        half *= 2
    return f"({tree_by_definition(low, low + half)} {tree_by_definition(low + half, high)})"


@pytest.mark.parametrize("blocks", [*range(1, 18), 31, 32, 33, 100])
def test_the_tree_is_that_of_its_definition(blocks):
    assert str(merge_blocks(bracket, map(leaf, range(blocks)))["text"]) == tree_by_definition(0, blocks)


@pytest.mark.parametrize("blocks", [1, 2, 5, 6, 7, 8, 13, 64, 65])
@pytest.mark.parametrize("chunk", [1, 2, 4, 8, 16, 128])
def test_chunks_of_every_size_give_the_same_tree(blocks, chunk):
    chunks = [merge_blocks(bracket, map(leaf, range(i, min(i + chunk, blocks)))) for i in range(0, blocks, chunk)]
    assert str(merge_blocks(bracket, chunks)["text"]) == tree_by_definition(0, blocks)


def test_every_order_of_five_blocks():
    for order in itertools.permutations(range(5)):
        tree = MergeTree(bracket)
        for k in order:
            tree.add(k, leaf(k))
        assert str(tree.total()["text"]) == tree_by_definition(0, 5)


def test_random_orders_of_many_blocks():
    rng = np.random.default_rng(2)
    for blocks in (37, 128, 200):
        tree = MergeTree(bracket)
        for k in rng.permutation(blocks).tolist():
            tree.add(k, leaf(k))
        assert str(tree.total()["text"]) == tree_by_definition(0, blocks)


def test_few_nodes_are_kept_in_order():
    tree = MergeTree(bracket)
    for k in range(1000):
        tree.add(k, leaf(k))
        assert len(tree._nodes) <= 10


def test_a_chunk_that_is_not_there_is_left_out():
    tree = MergeTree(bracket)
    for k, one in enumerate((leaf(0), None, leaf(2), None, None)):
        tree.add(k, one)
    assert str(tree.total()["text"]) == "(0 2)"


def test_gaps_and_repetitions_are_refused():
    tree = MergeTree(bracket)
    tree.add(0, leaf(0))
    tree.add(3, leaf(3))
    with pytest.raises(InputError, match="block 1 of a reduction is missing"):
        tree.total()
    with pytest.raises(InputError, match="added before"):
        tree.add(3, leaf(3))
