"""The buffer of a run: pack all its numbers in the memory layout of the loops, and unpack samples.

Bodies are counted through: those of a system, the members of an ensemble, or the bodies of the first member, then of
the second, and so on.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from polhode.integrate.loops.layout import Layout
from polhode.integrate.loops.stages import Pair
from polhode.integrate.prepare import Plan, group_like_pairs
from polhode.scenario import force_evaluation
from polhode.scenario.force import flatten_leaves
from polhode.scenario.scenario import Scenario
from polhode.validation import Array

CACHE_LINE = 64
CACHED_NUMBERS = 2**16
"""Numbers that are packed together, so that the cache holds them until all of a body are there."""


class Packing(NamedTuple):
    """How the bodies of a run lie in its buffer."""

    layout: Layout
    systems: int
    """The number of systems, each a unit; 1 for independent bodies."""
    bodies: int
    """The bodies of a system; or all independent bodies."""
    size: int
    """The numbers of a block in the buffer."""

    @property
    def blocks(self) -> int:
        """The blocks of a system."""
        return -(-self.bodies // self.layout.lanes)

    def buffer_shape(self, is_system: bool) -> tuple[int, int]:
        """The rows of the buffer, one for each unit, and the numbers in each."""
        return (self.systems, self.blocks * self.size) if is_system else (self.blocks, self.size)

    def to_lanes(self, values: Array) -> Array:
        """Numbers of all bodies, (..., bodies), as (..., systems, blocks, lanes); unused lanes repeat the last body."""
        each = values.reshape(*values.shape[:-1], self.systems, self.bodies)
        unused = self.blocks * self.layout.lanes - self.bodies
        if unused:
            each = np.concatenate([each, np.repeat(each[..., -1:], unused, axis=-1)], axis=-1)
        return each.reshape(*values.shape[:-1], self.systems, self.blocks, self.layout.lanes)

    def blocks_of(self, buffer: Array) -> Array:
        """A buffer as (systems, blocks, numbers)."""
        return buffer.reshape(self.systems, self.blocks, self.size)

    def unpack(self, out: Array) -> Array:
        """The samples in the output of a loop, (times, bodies, columns)."""
        rows, lanes = self.layout.sample_size // self.layout.lanes, self.layout.lanes
        by_body = out.reshape(len(out), self.systems, self.blocks, rows, lanes).swapaxes(3, 4)
        each = by_body.reshape(len(out), self.systems, self.blocks * lanes, rows)[:, :, : self.bodies]
        return each.reshape(len(out), self.systems * self.bodies, rows)

    def samples_of(self, buffer: Array) -> Array:
        """The current samples in the buffer, (bodies, columns), as a copy."""
        samples: Array = self.unpack(self.output_of(buffer))[0].copy()
        return samples

    def output_of(self, buffer: Array) -> Array:
        """The samples in the buffer, in the shape of one output of a loop."""
        return buffer.reshape(-1, self.size)[:, : self.layout.sample_size].reshape(1, -1)

    def write_state(self, buffer: Array, samples: Array) -> None:
        """Write samples (bodies, columns) to the buffer, except the attitude drift."""
        for row, values in enumerate(samples.T[: self.layout.drift // self.layout.lanes]):
            self.write_values(buffer, row * self.layout.lanes, values)

    def write_values(self, buffer: Array, place: int, values: Any) -> None:
        """Write one number of every body."""
        each = np.ascontiguousarray(np.broadcast_to(values, (self.systems * self.bodies,)))
        self.blocks_of(buffer)[:, :, place : place + self.layout.lanes] = self.to_lanes(each)


def packing_of(scenario: Scenario, plan: Plan) -> Packing:
    """How the bodies of a scenario lie in the buffer of a plan."""
    if plan.is_system:
        return Packing(plan.layout, scenario.members or 1, len(scenario.bodies), plan.unit_size)
    return Packing(plan.layout, 1, scenario.count, plan.unit_size)


def _numbers_of(scenario: Scenario, layout: Layout) -> list[Any]:
    """All numbers of a body in the order of the buffer: floats, or arrays over members."""
    problem = scenario.problem
    work = ((0.0,),) if len(layout.state) > len(problem.start) else ()
    least = problem.error_floor if layout.least else ()
    nests = (problem.start + work, 0.0, tuple(problem.constants), problem.load_params, problem.event_params, least)
    return flatten_leaves(nests)


class Columns(NamedTuple):
    """The numbers of members that run alone: those that all share, and those of which each has its own."""

    common: Array
    """A row of the buffer."""
    places: Array
    """Where in it are the others..."""
    own: list[Array]
    """... and what they are, member by member."""


def pack_columns(scenario: Scenario, packing: Packing) -> Columns:
    """The numbers of an ensemble of single bodies, in blocks of one lane: a buffer before it is spread."""
    values = _numbers_of(scenario, packing.layout)
    common = np.zeros(packing.size)
    places = [row for row, value in enumerate(values) if np.ndim(value) > 0]
    for row, value in enumerate(values):
        if np.ndim(value) == 0:
            common[row] = value
    own = [np.ascontiguousarray(values[row], dtype=np.float64).ravel() for row in places]
    return Columns(common, np.array(places, dtype=np.int64), own)


def pack_buffer(scenario: Scenario, packing: Packing, is_system: bool) -> Array:
    """Pack all numbers of a run into a buffer, one row for each unit."""
    layout = packing.layout
    values = _numbers_of(scenario, layout)
    rows, lanes = packing.size // layout.lanes, layout.lanes
    if scenario.members is None and not scenario.is_system:
        buffer = np.zeros((1, rows))
        buffer[0, : len(values)] = values
        return buffer
    cut = _aligned_room((packing.systems, packing.blocks, rows, lanes))
    cut[:, :, len(values) :] = 0.0
    same = [row for row, value in enumerate(values) if np.ndim(value) == 0]
    cut[:, :, same] = np.array([values[row] for row in same])[:, None]
    different = {
        row: packing.to_lanes(np.broadcast_to(value, scenario.shape).ravel())
        for row, value in enumerate(values)
        if np.ndim(value) > 0
    }
    portion = max(1, CACHED_NUMBERS // (rows * lanes))
    for start in range(0, packing.blocks, portion):
        blocks = slice(start, start + portion)
        for row, each in different.items():
            cut[:, blocks, row] = each[:, blocks]
    if layout.member is not None:
        cut[:, :, layout.member // lanes] = np.arange(packing.systems)[:, None, None]
    return cut.reshape(packing.systems, -1) if is_system else cut.reshape(packing.blocks, rows * lanes)


def _aligned_room(shape: tuple[int, ...]) -> Array:
    """Room for numbers that begins at a multiple of a cache line, so that no vector of the loops crosses one."""
    size = math.prod(shape)
    room = np.empty(size + CACHE_LINE // 8)
    skip = -room.ctypes.data % CACHE_LINE // 8
    return room[skip : skip + size].reshape(shape)


def pack_pairs(scenario: Scenario) -> tuple[Any, ...]:
    """For each group of like pair forces: the pairs of bodies, the parameters of each pair, and how many a member has.

    That is 0 if all members have the same.
    """
    result = []
    for _, _, forces in group_like_pairs(scenario.of_kind("pair")):
        each = [
            (pair, flatten_leaves(f.params))
            for f in forces
            for pair in force_evaluation.body_pairs(f, len(scenario.bodies))
        ]
        joins = np.array([pair for pair, _ in each], dtype=Pair.dtype)
        leaves = [number for _, numbers in each for number in numbers]
        numbers = np.stack(np.broadcast_arrays(*leaves), axis=-1) if leaves else np.zeros(0)
        stride = numbers.shape[-1] if numbers.ndim > 1 else 0
        result.append((joins, np.ascontiguousarray(numbers, dtype=np.float64).ravel(), stride))
    return tuple(result)
