"""A loop ready to run on GPUs: what it needs goes up, the kernel runs, what it has written comes back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import count
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from polhode.integrate.loops.layout import KernelFields
from polhode.ir.loops import Loop, loop, pack_record
from polhode.ir.passes import SINGLE, STRICT
from polhode.ir.program import Advance
from polhode.ir.targets.gpu import KernelText, kernel_text

SHARED_UNITS = 2**17
"""Fewer units than this are not divided: they would not fill several GPUs."""
LARGEST_PINNED = 2**32
"""Samples of more bytes than this come into ordinary memory, which takes longer."""

_turns = count()


def gpus() -> Sequence[Any]:
    """The GPUs of this machine."""
    from polhode.integrate.loops.cuda import devices

    return devices()


class KernelProgram:
    """A loop function (record, first, last), of which there may be variants for different records, as a kernel.

    The record says what it has to know about its arrays (`KernelFields`).
    """

    is_compiled = True

    def __init__(self, variants: Sequence[Loop], precision: str, is_inlined: bool, blocks: int) -> None:
        self.variants, self.precision, self.is_inlined, self.blocks = variants, precision, is_inlined, blocks
        self._texts: dict[Any, KernelText] = {}
        self._lock = RLock()

    @property
    def real(self) -> Any:
        """The kind of numbers on the GPU."""
        return np.float32 if self.precision == SINGLE else np.float64

    def text(self, record: Any) -> KernelText:
        """The kernel for records like this one."""
        fields = KernelFields.of(type(record))
        extents = {name: (None, *getattr(record, name).shape[1:]) for name in fields.known_extents}
        key = (record.variant, *extents.items())
        with self._lock:
            if key not in self._texts:
                function = self.variants[record.variant]
                own = [name for name in fields.own if getattr(record, name).size]
                self._texts[key] = kernel_text(
                    function, record, extents, own, self.precision, self.is_inlined, self.blocks
                )
            return self._texts[key]

    def digest(self, record: Any) -> str:
        """SHA-256 of the text of loops and laws."""
        text = self.text(record)
        return sha256("\0".join((text.loops, text.laws)).encode()).hexdigest()

    def new_output(self, shape: tuple[int, ...], kind: Any = np.float64) -> Any:
        """Room for the samples that a kernel writes, which GPUs reach directly unless it is very large."""
        if np.dtype(kind).itemsize * math.prod(shape) > LARGEST_PINNED:
            return np.empty(shape, kind)
        return gpus()[0].pinned(shape, kind)

    def bind(self, record: Any) -> Advance:
        """The loop for the arrays and numbers of a record."""

        def advance(first: int, last: int) -> None:
            self.run(record, first, last)

        return advance

    def collect(self, record: Any, new_log: Callable[[], tuple[Any, Any]], first: int, last: int) -> list[Any]:
        """Advance these units, and return the rows that they have logged."""
        log, found = new_log()
        return self.run(record._replace(log=log, found=found), first, last)

    def run(self, record: Any, first: int, last: int) -> list[Any]:
        """Advance these units, shared among the GPUs, each as many at once as its memory holds."""
        text = self.text(record)
        return share_units(gpus(), first, last, partial(self._run_on, record, text))

    def _run_on(self, record: Any, text: KernelText, device: Any, first: int, last: int) -> list[Any]:
        code = device.load(text)
        with device.room.claim(_bytes_of_unit(record), last - first) as most:
            stream = device.stream()
            try:
                return [
                    _Batch(self, device, stream, record, start, min(start + most, last)).run(code)
                    for start in range(first, last, most)
                ]
            finally:
                device.release(stream)


def share_units(devices: Sequence[Any], first: int, last: int, work: Callable[[Any, int, int], list[Any]]) -> list[Any]:
    """Call work(device, first, last) for the units of each GPU, at the same time; what it returns, in order.

    Few units go to one GPU, the next one in turn: other threads run others.
    """
    number = max(1, min(len(devices), (last - first) // SHARED_UNITS))
    cuts = np.linspace(first, last, number + 1).astype(int).tolist()
    turn = next(_turns) % len(devices) if number < len(devices) else 0
    parts = [(devices[(turn + i) % len(devices)], cuts[i], cuts[i + 1]) for i in range(number)]

    def work_on(part: tuple[Any, int, int]) -> list[Any]:
        part[0].activate()  # of this thread
        return work(*part)

    if len(parts) == 1:
        return work_on(parts[0])
    with ThreadPoolExecutor(max(len(parts), 1)) as pool:
        return [each for found in pool.map(work_on, parts) for each in found]


def _bytes_of_unit(record: Any) -> int:
    fields = KernelFields.of(type(record))
    size = sum(int(getattr(record, name).nbytes) for name in fields.own)
    for name, axis in fields.unit_axes.items():
        array = getattr(record, name)
        size += int(array.nbytes) // max(array.shape[axis], 1)
    return size


class _Batch:
    """Some units of a record on a GPU."""

    def __init__(self, program: KernelProgram, device: Any, stream: Any, record: Any, first: int, last: int) -> None:
        self.real, self.device, self.stream, self.record = program.real, device, stream, record
        self.units, self.count, self.fields = slice(first, last), last - first, KernelFields.of(type(record))
        self.arrays: list[Any] = []

    def run(self, code: Any) -> Any:
        """Up, run, and down; the rows that were logged."""
        record, device, stream = self.record, self.device, self.stream
        up = {name: self._upload(name, value) for name, value in record._asdict().items()}
        words = pack_record(record._replace(**up))
        on_device = self._to_device(words)
        device.launch(code, on_device, self.count, stream)
        for name in self.fields.written:
            self._download(up[name], self._part(name))
        logged = self._logged(up) if any(getattr(record, name).size for name in self.fields.own) else None
        device.synchronize(stream)
        for array in self.arrays:
            array.free()
        return logged

    def _part(self, name: str) -> Any:
        """The units of an array."""
        return getattr(self.record, name)[(slice(None),) * self.fields.unit_axes[name] + (self.units,)]

    def _upload(self, name: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._upload("", part) for part in value)
        if not isinstance(value, np.ndarray):
            return value
        if name in self.fields.own:
            return self._own_of_each(value)
        value = self._part(name) if name in self.fields.unit_axes else value
        kind = self.real if value.dtype.kind == "f" else value.dtype
        if name == "out" and not self.record.is_begun:
            return self._allocate(value.shape, kind)
        return self._to_device(np.ascontiguousarray(value, dtype=kind))

    def _own_of_each(self, value: Any) -> Any:
        """An array for each unit, known by the shape of one: counters begin at zero, numbers are written first."""
        shape = (self.count, *value.shape)
        is_counter = value.dtype.kind == "i"
        every = self._to_device(np.zeros(shape, value.dtype)) if is_counter else self._allocate(shape, value.dtype)
        every.shape = value.shape
        return every

    def _allocate(self, shape: tuple[int, ...], kind: Any) -> Any:
        self.arrays.append(self.device.allocate(shape, kind))
        return self.arrays[-1]

    def _to_device(self, array: Any) -> Any:
        """A copy on the GPU."""
        copy = self._allocate(array.shape, array.dtype)
        self.device.upload(copy, array, self.stream)
        self.device.synchronize(self.stream)  # the array may be a temporary one
        return copy

    def _download(self, source: Any, target: Any) -> None:
        if target.flags.c_contiguous and target.dtype == source.dtype:
            self.device.download(target, source, self.stream)
            return
        room = np.empty(target.shape, source.dtype)
        self.device.download(room, source, self.stream)
        self.device.synchronize(self.stream)
        target[...] = room

    def _logged(self, up: dict[str, Any]) -> Any:
        """The rows of all units, in their order, with the numbers of the units among all."""
        (rows,), kind = self.record.log.shape, self.record.log.dtype
        found = np.zeros(self.count, dtype=np.int64)
        self._download(up["found"], found)
        self.device.synchronize(self.stream)
        if not found.any():
            return np.zeros(0, kind)
        log = np.empty((self.count, rows), kind)
        self._download(up["log"], log)
        self.device.synchronize(self.stream)
        logged: Any = log[np.arange(rows) < found[:, None]]
        logged["clock"] += self.units.start
        return logged


class SpreadRun(NamedTuple):
    """What the kernel takes that makes a buffer of its columns."""

    buffer: Any
    common: Any
    """A row of the buffer."""
    places: Any
    """Of the numbers of which each unit has its own..."""
    own: Any
    """... (places, units)."""

    @property
    def variant(self) -> int:
        """Which of the kernels takes it."""
        return 0


@loop
def _spread(run: SpreadRun, first: int, last: int) -> None:
    for u in range(first, last):
        for i in range(len(run.common)):
            run.buffer[u, i] = run.common[i]
        for i in range(len(run.places)):
            run.buffer[u, run.places[i]] = run.own[i, u]


SPREAD = {8: KernelProgram((_spread,), STRICT, True, 1), 4: KernelProgram((_spread,), SINGLE, True, 1)}
"""The kernel by the bytes of a number."""
