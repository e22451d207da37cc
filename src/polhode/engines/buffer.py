"""The buffer of a run: pack all its numbers in the memory layout of the kernels, and unpack samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.backends.layout import Layout
from polhode.backends.prepare import Plan, group_like_pairs
from polhode.model import force_evaluation
from polhode.model.force import flatten_leaves
from polhode.model.scenario import Scenario
from polhode.validation import Array


def pack_buffer(scenario: Scenario, plan: Plan) -> Array:
    """Pack all numbers of a run into a buffer, one row for each unit."""
    layout = plan.layout
    start = scenario.problem.start
    work = ((0.0,),) if len(layout.state) > len(start) else ()
    event_params = scenario.problem.event_params
    least = scenario.problem.error_floor if layout.least else ()
    nests = (start + work, 0.0, tuple(scenario.problem.constants), scenario.problem.load_params, event_params, least)
    values = flatten_leaves(nests)
    rows, lanes = layout.size // layout.lanes, layout.lanes
    if scenario.members is None and not scenario.is_system:
        buffer = np.zeros((1, rows))
        buffer[0, : len(values)] = values
        return buffer
    count = scenario.count
    blocks = -(-count // lanes)
    table = np.zeros((rows, blocks * lanes))
    for row, value in enumerate(values):
        table[row, :count] = value
        table[row, count:] = table[row, count - 1]  # unused lanes repeat the last body
    cut = np.ascontiguousarray(table.reshape(rows, blocks, lanes).swapaxes(0, 1))
    return cut.reshape(1, -1) if plan.is_system else cut.reshape(blocks, -1)


def unpack_samples(out: Array, layout: Layout, count: int) -> Array:
    """The samples in the output of a kernel, (times, bodies, columns)."""
    rows = layout.sample_size // layout.lanes
    blocks = int(np.prod(out.shape[1:])) // layout.sample_size
    by_body = out.reshape(len(out), blocks, rows, layout.lanes).swapaxes(2, 3)
    return by_body.reshape(len(out), blocks * layout.lanes, rows)[:, :count]


def current_samples(buffer: Array, layout: Layout, count: int) -> Array:
    """The current samples in the buffer, (bodies, columns), as a copy."""
    samples: Array = unpack_samples(buffer_samples(buffer, layout), layout, count)[0].copy()
    return samples


def buffer_samples(buffer: Array, layout: Layout) -> Array:
    """The samples in the buffer, in the shape of one output of the kernels."""
    return buffer.reshape(-1, layout.size)[:, : layout.sample_size].reshape(1, -1)


def write_state(buffer: Array, layout: Layout, samples: Array) -> None:
    """Write samples (bodies, columns) back to the buffer, except the attitude drift."""
    for row, values in enumerate(samples.T[: layout.drift // layout.lanes]):
        write_values(buffer, layout, row * layout.lanes, values, len(samples))


def write_values(buffer: Array, layout: Layout, place: int, values: Any, count: int) -> None:
    """Write one number of every body; unused lanes repeat the last."""
    blocks = buffer.reshape(-1, layout.size)
    each = np.broadcast_to(values, (count,))
    padded = np.append(each, np.repeat(each[-1], len(blocks) * layout.lanes - len(each)))
    blocks[:, place : place + layout.lanes] = padded.reshape(-1, layout.lanes)


def pack_pairs(scenario: Scenario) -> tuple[Any, ...]:
    """For each group of like pair forces: the pairs of bodies, and the parameters of each pair."""
    result = []
    for _, _, forces in group_like_pairs(scenario.of_kind("pair")):
        each = [
            (pair, flatten_leaves(f.params))
            for f in forces
            for pair in force_evaluation.body_pairs(f, len(scenario.bodies))
        ]
        joins = np.array([pair for pair, _ in each], dtype=np.int64).reshape(-1, 2)
        result.append((joins, np.array([numbers for _, numbers in each], dtype=np.float64).ravel()))
    return tuple(result)
