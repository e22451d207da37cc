"""A GPU made of this computer's processor: the emitted kernels, compiled for it, and memory that is its own."""

from __future__ import annotations

import ctypes
import math

import numpy as np

from polhode.integrate.loops.gpu_room import RoomForUnits
from polhode.integrate.loops.kernel_program import SPREAD
from polhode.ir.targets import gpu, native


class HostArray:
    """Memory that only a kernel and copies reach."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.memory = np.full(max(math.prod(shape) * self.dtype.itemsize, 8), 0xA5, dtype=np.uint8)
        self.address = self.memory.ctypes.data

    def free(self):
        self.memory = None


class HostGpu:
    """What `polhode.integrate.loops.cuda.Device` offers, on the processor."""

    name, chip = "this computer", "sm_90"

    def __init__(self, free=2**32):
        self.free, self.codes, self.launched, self.streams = free, {}, [], 0
        self.spreads = {}
        """The kernels that make buffers of columns, which are not counted."""
        self.room = RoomForUnits(lambda: self.free)

    def activate(self):
        pass

    def stream(self):
        self.streams += 1
        return object()

    def release(self, _stream):
        self.streams -= 1

    def synchronize(self, stream):
        pass

    def record(self, _stream):
        return object()

    def wait(self, stream, mark):
        pass

    def allocate(self, shape, dtype):
        return HostArray(shape, dtype)

    def upload(self, target, array, _stream, offset=0):
        assert array.flags.c_contiguous
        assert offset + array.nbytes <= len(target.memory)
        ctypes.memmove(target.address + offset, array.ctypes.data, array.nbytes)

    def download(self, array, source, _stream, offset=0):
        assert array.flags.c_contiguous
        assert offset + array.nbytes <= len(source.memory)
        ctypes.memmove(array.ctypes.data, source.address + offset, array.nbytes)

    def pinned(self, shape, dtype=np.float64):
        return np.empty(shape, dtype)

    def load(self, kernel):
        spreads = any(kernel in program._texts.values() for program in SPREAD.values())
        codes = self.spreads if spreads else self.codes
        if kernel not in codes:
            codes[kernel] = native.MachineCode(host_object(kernel), "advance_units")
        return codes[kernel]

    def launch(self, code, record, units, _stream):
        if code not in self.spreads.values():
            self.launched.append(units)
        code(record.address, 0, units)


def _exact_functions() -> list[str]:
    """The same two on a processor that has no rough ones."""
    lines = []
    for kind, suffix, _ in gpu._REALS:
        root = f"  %s = call {kind} @llvm.sqrt.{suffix}({kind} %x)\n  %r = fdiv {kind} 1.0, %s"
        lines.append(f"declare {kind} @llvm.sqrt.{suffix}({kind})")
        lines.append(gpu._FUNCTION.format(kind, f"rcp.{suffix}", f"  %r = fdiv {kind} 1.0, %x"))
        lines.append(gpu._FUNCTION.format(kind, f"rsqrt.{suffix}", root))
    return lines


def host_object(kernel: gpu.KernelText) -> bytes:
    """Machine code of this computer of a function advance_units(record, first, last): the threads one after another."""
    import llvmlite.binding as llvm

    machine = native.target_machine()
    entry = "\n".join(
        [
            *_exact_functions(),
            f"declare void @advance({gpu._ADVANCE})",
            "define void @thread(ptr noalias %record, i64 %unit) noinline {",
            gpu._room_for_words(kernel),
            *gpu._advance_unit(kernel),
            "  ret void",
            "}",
            "define void @advance_units(ptr %record, i64 %first, i64 %last) {",
            "entry:",
            "  br label %head",
            "head:",
            "  %unit = phi i64 [ %first, %entry ], [ %following, %body ]",
            "  %more = icmp slt i64 %unit, %last",
            "  br i1 %more, label %body, label %done",
            "body:",
            "  call void @thread(ptr %record, i64 %unit)",
            "  %following = add i64 %unit, 1",
            "  br label %head",
            "done:",
            "  ret void",
            "}",
        ]
    )
    module = gpu._optimized_module(kernel, entry, machine, llvm.get_default_triple(), "advance_units")
    code: bytes = machine.emit_object(module)
    return code
