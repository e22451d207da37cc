"""Steps of one length on GPUs: the state stays there, and samples come back while the next ones are computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from polhode.integrate.buffer import Columns, pack_columns
from polhode.integrate.integrator import FixedSteps
from polhode.integrate.loops import kernel_program
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.loops.kernel_program import SPREAD, KernelProgram, SpreadRun, share_units
from polhode.ir.loops import pack_record
from polhode.validation import Array

PIECE_BYTES = 2**28
"""Samples that are computed before they are copied."""
PIECES = 2
"""While one is copied, the next is computed."""
BATCH_UNITS = 2**20
"""Units that are on a GPU at once, where it has room for so many."""


class GpuFixedSteps(FixedSteps):
    """The members of an ensemble, in batches; a single run goes in portions, as on the CPU."""

    def _new_rows(self, count: int) -> Array:
        if self.scenario.members is None:
            return super()._new_rows(count)
        program = self.plan.program
        assert isinstance(program, KernelProgram)
        rows: Array = program.new_output((count, *self._row_shape), program.real)
        return rows

    def _first_buffer(self) -> Array:
        """A buffer that has not been packed stays so: its columns go to the GPU, which spreads them."""
        if "buffer" in vars(self) or self.run.is_system or self.scenario.members is None:
            self.columns_to_spread: Columns | None = None
            return self.buffer
        self.columns_to_spread = pack_columns(self.scenario, self.packing)
        return np.broadcast_to(0.0, (self.units, self.width))

    def _take_steps(self, record: FixedRun) -> Array:
        if self.scenario.members is None:
            return super()._take_steps(record)
        program = self.plan.program
        assert isinstance(program, KernelProgram)
        run = record._replace(stop=int(np.searchsorted(record.stop_k, record.k)))
        share_units(kernel_program.gpus(), 0, self.units, partial(self._run_on, program, run))
        self.steps += run.k_end - run.k
        return np.asarray(run.out, dtype=np.float64)

    def _run_on(self, program: KernelProgram, run: FixedRun, device: Any, first: int, last: int) -> list[None]:
        """All steps of some units on one GPU."""
        code, units = device.load(program.text(run)), min(BATCH_UNITS, last - first)
        number = np.dtype(program.real).itemsize
        sample = run.out.shape[2] * number
        rows = min(max(1, PIECE_BYTES // (units * sample)), len(run.stop_k))
        spread = 0 if self.columns_to_spread is None else len(self.columns_to_spread.own)
        with device.room.claim((run.buffer.shape[1] + spread) * number + PIECES * rows * sample, units) as most:
            queue = _Queue(device)
            try:
                for start in range(first, last, most):
                    end = min(start + most, last)
                    _run_batch(queue, code, program.real, run, self.columns_to_spread, slice(start, end), rows)
                    if self.report is not None and first == 0:
                        self.report(self.scenario.start_time + self.scenario.duration * end / last)
            finally:
                queue.finish()
        return []


class _Queue:
    """Work for a GPU: kernels in one queue, copies back in another, pieces of samples in turn."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.kernels, self.copies = device.stream(), device.stream()
        self.pieces: list[Any] = [None] * PIECES
        self.copied: list[Any] = [None] * PIECES
        self.turn = 0

    def next_piece(self, shape: tuple[int, ...], kind: Any) -> Any:
        """Room for samples; the kernel after this waits until what lay there has been copied."""
        self.turn = (self.turn + 1) % PIECES
        size = int(np.prod(shape))
        known = self.pieces[self.turn]
        if self.copied[self.turn] is not None:
            self.device.wait(self.kernels, self.copied[self.turn])
            self.copied[self.turn] = None
        if known is None or np.prod(known.shape) < size:
            if known is not None:
                self.device.synchronize(self.copies)
                self.device.synchronize(self.kernels)
                known.free()
            known = self.pieces[self.turn] = self.device.allocate((size,), kind)
        return known

    def copy_back(self, piece: Any, out: Any) -> None:
        """Copy a piece into the rows of an array, once the kernel has written it."""
        self.device.wait(self.copies, self.device.record(self.kernels))
        offset = 0
        for row in out:
            self.device.download(row, piece, self.copies, offset)
            offset += row.nbytes
        self.copied[self.turn] = self.device.record(self.copies)

    def finish(self) -> None:
        """Wait for everything, and free all room."""
        for mark in self.copied:
            if mark is not None:
                self.device.wait(self.kernels, mark)
        self.device.release(self.kernels)
        self.device.release(self.copies)
        for piece in self.pieces:
            if piece is not None:
                piece.free()


def _run_batch(
    queue: _Queue, code: Any, real: Any, run: FixedRun, columns: Columns | None, units: slice, rows: int
) -> None:
    """All steps of the units of a batch, `rows` of their samples at a time."""
    device, stream = queue.device, queue.kernels
    kept = []

    def to_device(array: Any) -> Any:
        copy = device.allocate(array.shape, array.dtype)
        device.upload(copy, array, stream)
        kept.append((copy, array))
        return copy

    def shared(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(shared(part) for part in value)
        if not isinstance(value, np.ndarray):
            return value
        return to_device(np.ascontiguousarray(value, real if value.dtype.kind == "f" else value.dtype))

    count, width = units.stop - units.start, run.out.shape[2]
    if columns is None:
        buffer = to_device(np.ascontiguousarray(run.buffer[units], real))
    else:
        buffer = _spread(queue, real, columns, units, to_device)
        kept.append((buffer, None))
    pairs = shared(run.pairs)
    k = run.k
    for s in range(run.stop, len(run.stop_k), rows):
        wanted = slice(s, min(s + rows, len(run.stop_k)))
        shape = (wanted.stop - s, count, width)
        piece = queue.next_piece(shape, real)
        k_end = int(run.stop_k[wanted.stop - 1])
        part = run._replace(
            buffer=buffer, pairs=pairs, k=k, k_end=k_end, stop=0, out=_Shaped(piece.address, shape),
            stop_k=to_device(run.stop_k[wanted]), stop_rest=shared(run.stop_rest[wanted]),
        )  # fmt: skip
        device.launch(code, to_device(pack_record(part)), count, stream)
        queue.copy_back(piece, run.out[wanted, units])
        k = k_end
    device.synchronize(stream)
    for copy, _ in kept:
        copy.free()


def _spread(queue: _Queue, real: Any, columns: Columns, units: slice, to_device: Callable[[Any], Any]) -> Any:
    """The buffer of some units on a GPU, made there: copying what all share would take longer than most runs."""
    device, count = queue.device, units.stop - units.start
    buffer = device.allocate((count, len(columns.common)), real)
    own = device.allocate((len(columns.own), count), real)
    for i, column in enumerate(columns.own):
        part = np.ascontiguousarray(column[units], real)
        device.upload(own, part, queue.kernels, i * part.nbytes)
        if part.base is None:  # a temporary copy, of numbers of 32 bits
            device.synchronize(queue.kernels)
    like = SpreadRun(*(np.empty((0,) * n, kind) for n, kind in ((2, real), (1, real), (1, np.int64), (2, real))))
    code = device.load(SPREAD[np.dtype(real).itemsize].text(like))
    run = SpreadRun(buffer, to_device(columns.common.astype(real)), to_device(columns.places), own)
    device.launch(code, to_device(pack_record(run)), count, queue.kernels)
    device.synchronize(queue.kernels)
    own.free()
    return buffer


class _Shaped:
    """A part of an array on a GPU, by another shape."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.address, self.shape = address, shape
