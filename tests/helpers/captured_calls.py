"""What real runs on the CPU call: the texts of their programs, and memory before and after each call.

The seam is Program.bind: (record) -> advance(first, last).  Memory that nobody has written is filled with a pattern,
and the machine code of the run is called once more with that image: memory that is used again may hold the right
numbers already, and would hide what is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest

from polhode.ir.program import Program
from polhode.solve.memory_image import ALIGNMENT, image_of
from polhode.solve.write_object import RESULTS

PATTERN = int(np.frombuffer(b"\xa5" * 8, dtype=np.int64)[0])


class Call(NamedTuple):
    """A call of a program; addresses in memory count from its beginning.

    Memory has `size` words; what is behind the words that are given is the pattern.
    """

    size: int
    addresses: list[int]
    first: int
    last: int
    before: Any
    after: Any

    def content(self) -> bytes:
        """All of it, for programs in other languages."""
        head = [self.size, len(self.addresses), len(self.before), len(self.after), self.first, self.last]
        parts = (head, self.addresses, self.before, self.after)
        return b"".join(np.array(part, dtype=np.int64).tobytes() for part in parts)


class Captured:
    """A program, and its calls."""

    def __init__(self, program: Program, record: Any) -> None:
        self._program, self._record, self.calls = program, record, []
        self._texts: dict[int, tuple[str, str]] = {}

    def texts(self, width: int) -> tuple[str, str]:
        if width not in self._texts:
            self._texts[width] = self._program.text(self._record, width)
        return self._texts[width]


def replay(advance: Callable[[int, int, int], None], call: Call) -> Any:
    """What a function of this process leaves of an image, in words."""
    room = np.empty(call.size + ALIGNMENT // 8, dtype=np.int64)
    start = -room.ctypes.data % ALIGNMENT // 8
    memory = room[start : start + call.size]
    load(memory, call, memory.ctypes.data)
    advance(memory.ctypes.data, call.first, call.last)
    memory[call.addresses] -= memory.ctypes.data
    return memory


def load(memory: Any, call: Call, base: int) -> None:
    """Fill memory, which begins at address `base`, with the image of a call."""
    memory[:] = PATTERN
    memory[: len(call.before)] = call.before
    memory[call.addresses] += base


@contextmanager
def capturing() -> Iterator[list[Captured]]:
    """All programs that are called meanwhile, with their calls."""
    found: dict[int, Captured] = {}
    everything: list[Captured] = []
    plain = Program.bind

    def bind(self: Program, record: Any) -> Any:
        advance = plain(self, record)
        if not self.is_compiled:
            return advance
        if id(self) not in found:
            found[id(self)] = Captured(self, record)
            everything.append(found[id(self)])

        def watched(first: int, last: int) -> None:
            image = image_of([record], RESULTS)
            call = Call(image.size // 8, image.addresses, first, last, image.data, None)
            after = replay(self._machine_code(record), call)
            written = int(np.flatnonzero(after != PATTERN)[-1]) + 1
            found[id(self)].calls.append(call._replace(after=after[:written].copy()))
            advance(first, last)

        return watched

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "bind", bind)
        yield everything


class Count(NamedTuple):
    """Words of memory that were compared, how many differ, and how many are other NaNs."""

    words: int
    different: int
    nans: int


def compare(memory: Any, call: Call) -> Count:
    """Memory after a call, without its base, against that of the CPU."""
    head, rest = memory[: len(call.after)], memory[len(call.after) :]
    wrong = head != call.after
    nans = np.isnan(head[wrong].view(np.float64)) & np.isnan(call.after[wrong].view(np.float64))
    return Count(call.size, int(wrong.sum() - nans.sum() + (rest != PATTERN).sum()), int(nans.sum()))
