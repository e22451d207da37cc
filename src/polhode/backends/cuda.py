"""The GPUs of this machine, through NVIDIA's own bindings of the driver (extra [gpu]): memory, copies, kernels."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections import OrderedDict
from functools import cache
from threading import RLock
from typing import Any

import numpy as np

from polhode.backends.kernel import NAME, THREADS, KernelText, ptx
from polhode.errors import GpuError

KERNELS_KEPT = 64
LARGEST_GRID = 2**31 - 1
_LOCK = RLock()


@cache
def _driver() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError:
        raise GpuError(
            "engine='gpu' needs NVIDIA's Python bindings: pip install 'polhode[gpu]'. With engine='cpu' the same "
            "numbers are computed on this machine's processor"
        ) from None
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:  # no driver on this machine
        status = error
    if status != driver.CUresult.CUDA_SUCCESS:
        raise GpuError(
            f"engine='gpu' found no usable NVIDIA GPU on this machine ({getattr(status, 'name', status)}): is its "
            "driver installed (does nvidia-smi list it)? With engine='cpu' the same numbers are computed on the "
            "processor"
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
        self._kernels: OrderedDict[KernelText, tuple[Any, Any]] = OrderedDict()
        self._pinned: dict[int, list[int]] = {}
        self._blocks: dict[int, list[int]] = {}
        self._streams: list[Any] = []

    def activate(self) -> None:
        """Make it the GPU of this thread."""
        call("cuCtxSetCurrent", self._context)

    def free_memory(self) -> int:
        """Free memory in bytes, with what is kept for new arrays."""
        self.activate()
        with _LOCK:
            kept = sum(size * len(blocks) for size, blocks in self._blocks.items())
        return int(_driver().cuMemGetInfo()[1]) + kept

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
                return known.pop()
            try:
                return int(call("cuMemAlloc", size))
            except GpuError:
                for address in (address for each in self._blocks.values() for address in each):
                    call("cuMemFree", address)
                self._blocks.clear()
                return int(call("cuMemAlloc", size))

    def return_block(self, size: int, address: int) -> None:
        """Keep a block for the next array."""
        with _LOCK:
            self._blocks.setdefault(size, []).append(address)

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
        """An array in memory that the GPU reads and writes directly; kept for the next one when nobody holds it."""
        size = _rounded(math.prod(shape) * np.dtype(dtype).itemsize)
        with _LOCK:
            known = self._pinned.setdefault(size, [])
            address = known.pop() if known else None
        if address is None:
            self.activate()
            address = int(call("cuMemAllocHost", size))
        memory = (ctypes.c_char * size).from_address(address)
        weakref.finalize(memory, self._pinned[size].append, address).atexit = False
        return np.frombuffer(memoryview(memory), dtype=dtype, count=math.prod(shape)).reshape(shape)

    def load(self, kernel: KernelText) -> Any:
        """The machine code of a kernel on this GPU."""
        with _LOCK:
            if kernel not in self._kernels:
                self.activate()
                module = call("cuModuleLoadData", ptx(kernel, self.chip).encode() + b"\0")
                self._kernels[kernel] = (module, call("cuModuleGetFunction", module, NAME.encode()))
                while len(self._kernels) > KERNELS_KEPT:
                    call("cuModuleUnload", self._kernels.popitem(last=False)[1][0])
            self._kernels.move_to_end(kernel)
            return self._kernels[kernel][1]

    def launch(self, code: Any, record: DeviceArray, units: int, stream: Any) -> None:
        """Run a kernel, one thread for each unit."""
        blocks = -(-units // THREADS)
        if blocks > LARGEST_GRID:
            raise GpuError(f"{units} units are too many for one kernel: give a smaller chunk_members")
        arguments = ((record.address, units), (ctypes.c_void_p, ctypes.c_int64))
        call("cuLaunchKernel", code, blocks, 1, 1, THREADS, 1, 1, 0, stream, arguments, 0)
