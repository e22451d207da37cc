"""The GPUs of this machine, through NVIDIA's own bindings of the driver (extra [gpu]): memory, copies, kernels."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

import numpy as np

from polhode.errors import GpuError
from polhode.installation import install_hint
from polhode.integrate.loops.gpu_room import RoomForUnits
from polhode.ir.targets.gpu import NAME, THREADS, KernelText, ptx

KERNELS_KEPT = 64
PINNED_KEPT = 2**33
"""Bytes of memory that GPUs reach directly which are kept for the next arrays; no other program can use them."""
LARGEST_GRID = 2**31 - 1
_LOCK = RLock()


@cache
def _driver() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError:
        raise GpuError(
            f"engine='gpu' needs NVIDIA's Python bindings: {install_hint('gpu')}. engine='cpu' needs none and "
            "computes the same numbers as precision='strict'"
        ) from None
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:  # no driver on this machine
        status = error
    if status != driver.CUresult.CUDA_SUCCESS:
        raise GpuError(
            f"engine='gpu' found no usable NVIDIA GPU on this machine ({getattr(status, 'name', status)}): is its "
            "driver installed (does nvidia-smi list it)? engine='cpu' needs none and computes the same "
            "numbers as precision='strict'"
        )
    return driver


def call(function: str, *arguments: Any) -> Any:
    """Call a function of the driver; return its result, or raise an error with its name."""
    driver = _driver()
    status, *results = getattr(driver, function)(*arguments)
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise GpuError("the memory of the GPU is full: give a smaller chunk_members, or end what else runs on it")
    if status != driver.CUresult.CUDA_SUCCESS:
        raise GpuError(f"the GPU's driver reports {status.name} in {function}")
    return results[0] if results else None


@cache
def devices() -> tuple[Device, ...]:
    """All GPUs of this machine; an error with what to do if there is none."""
    _driver()
    found = tuple(Device(i) for i in range(call("cuDeviceGetCount")))
    if not found:
        raise GpuError("engine='gpu' found no NVIDIA GPU on this machine: use engine='cpu'")
    return found


class DeviceArray:
    """An array in the memory of a GPU, kept for the next one when it is freed or nobody holds it."""

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        size = _rounded(math.prod(shape) * self.dtype.itemsize)
        self.address = device.take_block(size)
        self._free = weakref.finalize(self, device.return_block, size, self.address)
        self._free.atexit = False

    def free(self) -> None:
        """Free it now; nothing may use it any more."""
        self._free()


def _rounded(size: int) -> int:
    """The size of a block of memory: one of eight between powers of two, so that many arrays fit into one."""
    grain = max(1 << max(size.bit_length() - 4, 0), 512)
    return -(-max(size, 1) // grain) * grain


class LoadedKernel:
    """The machine code of a kernel on a GPU, unloaded when nobody holds it: other threads may still run it."""

    def __init__(self, device: Device, kernel: KernelText) -> None:
        module = call("cuModuleLoadData", ptx(kernel, device.chip).encode() + b"\0")
        weakref.finalize(self, device.unload, module).atexit = False
        self.function = call("cuModuleGetFunction", module, NAME.encode())


class Device:
    """One GPU: its kernels, its memory, and copies to and from it."""

    def __init__(self, index: int) -> None:
        driver = _driver()
        self._device = call("cuDeviceGet", index)
        self._context = call("cuDevicePrimaryCtxRetain", self._device)
        self.name = call("cuDeviceGetName", 256, self._device).split(b"\0")[0].decode()
        major, minor = (
            call(
                "cuDeviceGetAttribute",
                getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}"),
                self._device,
            )
            for part in ("MAJOR", "MINOR")
        )
        self.chip = f"sm_{major}{minor}"
        self.room = RoomForUnits(self.usable_memory)
        self._kernels: OrderedDict[KernelText, LoadedKernel] = OrderedDict()
        self._pinned: list[tuple[int, int]] = []
        """(size, address) of memory that is kept, in the order in which it was returned."""
        self._blocks: dict[int, list[int]] = {}
        self._taken = 0
        self._streams: list[Any] = []

    def activate(self) -> None:
        """Make it the GPU of this thread."""
        call("cuCtxSetCurrent", self._context)

    @contextmanager
    def _briefly_active(self) -> Iterator[None]:
        """Make it the GPU of this thread, which may be at work on another: what nobody holds is freed at any moment."""
        call("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            call("cuCtxPopCurrent")

    def usable_memory(self) -> int:
        """The memory in bytes that is free, or that arrays have or had."""
        self.activate()
        with _LOCK:
            kept = sum(size * len(blocks) for size, blocks in list(self._blocks.items()))
            return int(call("cuMemGetInfo")) + kept + self._taken

    def stream(self) -> Any:
        """A queue of work, which `release` takes back."""
        with _LOCK:
            if self._streams:
                return self._streams.pop()
        self.activate()
        return call("cuStreamCreate", 1)  # not in step with the default queue

    def release(self, stream: Any) -> None:
        """Wait for a queue, and keep it for the next use."""
        self.synchronize(stream)
        with _LOCK:
            self._streams.append(stream)

    def synchronize(self, stream: Any) -> None:
        """Wait for all that was put into a queue."""
        self.activate()
        call("cuStreamSynchronize", stream)

    def record(self, stream: Any) -> Any:
        """A mark in a queue, for which one other queue can wait."""
        event = call("cuEventCreate", 0)
        call("cuEventRecord", event, stream)
        return event

    def wait(self, stream: Any, mark: Any) -> None:
        """Let a queue wait for a mark of another."""
        call("cuStreamWaitEvent", stream, mark, 0)
        call("cuEventDestroy", mark)  # the queue remembers it

    def take_block(self, size: int) -> int:
        """The address of a block of memory: one that was returned, or a new one."""
        self.activate()
        with _LOCK:
            if known := self._blocks.get(size):
                address = known.pop()
            else:
                try:
                    address = int(call("cuMemAlloc", size))
                except GpuError:
                    unused, self._blocks = self._blocks, {}
                    for block in (block for each in unused.values() for block in each):
                        call("cuMemFree", block)
                    address = int(call("cuMemAlloc", size))
            self._taken += size
            return address

    def return_block(self, size: int, address: int) -> None:
        """Keep a block for the next array."""
        with _LOCK:
            self._blocks.setdefault(size, []).append(address)
            self._taken -= size

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """A new array, of any content."""
        return DeviceArray(self, shape, dtype)

    def upload(self, target: DeviceArray, array: Any, stream: Any, offset: int = 0) -> None:
        """Copy a contiguous array to the GPU."""
        if array.nbytes:
            call("cuMemcpyHtoDAsync", target.address + offset, array.ctypes.data, array.nbytes, stream)

    def download(self, array: Any, source: DeviceArray, stream: Any, offset: int = 0) -> None:
        """Copy from the GPU into a contiguous array."""
        if array.nbytes:
            call("cuMemcpyDtoHAsync", array.ctypes.data, source.address + offset, array.nbytes, stream)

    def pinned(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
        """An array in memory that the GPU reads and writes directly; kept for the next one when nobody holds it.

        Where the system gives no more of such memory it is an ordinary array, whose copies take longer.
        """
        size = _rounded(math.prod(shape) * np.dtype(dtype).itemsize)
        with _LOCK:
            known = next((each for each in reversed(self._pinned) if each[0] == size), None)
            if known is not None:
                self._pinned.remove(known)
        address = None if known is None else known[1]
        if address is None:
            self.activate()
            try:
                address = int(call("cuMemAllocHost", size))
            except GpuError:
                return np.empty(shape, dtype)
        memory = (ctypes.c_char * size).from_address(address)
        weakref.finalize(memory, self.return_pinned, size, address).atexit = False
        return np.frombuffer(memoryview(memory), dtype=dtype, count=math.prod(shape)).reshape(shape)

    def return_pinned(self, size: int, address: int) -> None:
        """Keep memory of an array that nobody holds for the next one; if that is too much, the oldest is freed."""
        freed = []
        with _LOCK:
            self._pinned.append((size, address))
            while sum(each for each, _ in self._pinned) > PINNED_KEPT:
                freed.append(self._pinned.pop(0)[1])
        with self._briefly_active():
            for one in freed:
                call("cuMemFreeHost", one)

    def load(self, kernel: KernelText) -> LoadedKernel:
        """The machine code of a kernel on this GPU; hold it until the kernel has run."""
        with _LOCK:
            if kernel not in self._kernels:
                self.activate()
                self._kernels[kernel] = LoadedKernel(self, kernel)
                while len(self._kernels) > KERNELS_KEPT:
                    self._kernels.popitem(last=False)
            self._kernels.move_to_end(kernel)
            return self._kernels[kernel]

    def unload(self, module: Any) -> None:
        """Free machine code."""
        with self._briefly_active():
            call("cuModuleUnload", module)

    def launch(self, code: LoadedKernel, record: DeviceArray, units: int, stream: Any) -> None:
        """Run a kernel, one thread for each unit."""
        blocks = -(-units // THREADS)
        if blocks > LARGEST_GRID:
            raise GpuError(f"{units} units are too many for one kernel: give a smaller chunk_members")
        arguments = ((record.address, units), (ctypes.c_void_p, ctypes.c_int64))
        call("cuLaunchKernel", code.function, blocks, 1, 1, THREADS, 1, 1, 0, stream, arguments, 0)
