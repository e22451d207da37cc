"""The memory and the kernels of a GPU that is not there: a driver of our own counts what it has given out."""

# ruff: noqa: N802, the functions have the names of NVIDIA's

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from types import SimpleNamespace

import numpy as np
import pytest

from polhode.integrate.loops import cuda
from polhode.integrate.loops.gpu_room import LARGEST_SHARE, USED, RoomForUnits
from polhode.ir.targets.gpu import KernelText

KERNELS = [KernelText(f"loop {i}", "", 1, (), 1) for i in range(4)]


class CountingDriver:
    """The functions of NVIDIA's driver that memory and kernels need."""

    CUresult = SimpleNamespace(
        CUDA_SUCCESS="success", CUDA_ERROR_OUT_OF_MEMORY=SimpleNamespace(name="CUDA_ERROR_OUT_OF_MEMORY")
    )
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=9, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=0
    )

    def __init__(self, memory=2**20, host_memory=2**20):
        self.memory, self.host_memory = memory, host_memory
        self.given, self.pinned, self.modules, self.contexts = {}, {}, [], []

    def __getattr__(self, name):
        return lambda *_: (self.CUresult.CUDA_SUCCESS, 9)

    def cuDeviceGetName(self, *_):
        return self.CUresult.CUDA_SUCCESS, b"a GPU\0"

    def cuCtxPushCurrent(self, context):
        self.contexts.append(context)
        return (self.CUresult.CUDA_SUCCESS,)

    def cuCtxPopCurrent(self):
        return self.CUresult.CUDA_SUCCESS, self.contexts.pop()

    def cuMemGetInfo(self):
        return self.CUresult.CUDA_SUCCESS, self.memory - sum(self.given.values()), self.memory

    def cuMemAlloc(self, size):
        if sum(self.given.values()) + size > self.memory:
            return self.CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        address = max(self.given, default=0) + 1
        self.given[address] = size
        return self.CUresult.CUDA_SUCCESS, address

    def cuMemFree(self, address):
        del self.given[address]
        return (self.CUresult.CUDA_SUCCESS,)

    def cuMemAllocHost(self, size):
        if sum(len(memory) for memory in self.pinned.values()) + size > self.host_memory:
            return self.CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        memory = (ctypes.c_char * size)()
        self.pinned[ctypes.addressof(memory)] = memory
        return self.CUresult.CUDA_SUCCESS, ctypes.addressof(memory)

    def cuMemFreeHost(self, address):
        assert self.contexts
        del self.pinned[address]
        return (self.CUresult.CUDA_SUCCESS,)

    def cuModuleLoadData(self, text):
        self.modules.append(text)
        return self.CUresult.CUDA_SUCCESS, text

    def cuModuleUnload(self, text):
        assert self.contexts
        self.modules.remove(text)
        return (self.CUresult.CUDA_SUCCESS,)


@pytest.fixture
def driver(monkeypatch):
    found = CountingDriver()
    monkeypatch.setattr(cuda, "_driver", lambda: found)
    monkeypatch.setattr(cuda, "ptx", lambda kernel, chip: f"{kernel.loops} for {chip}")
    return found


def test_returned_blocks_are_used_again_and_given_up_for_others(driver):
    device = cuda.Device(0)
    first = device.allocate((1000,), np.float64)
    address = first.address
    assert device.usable_memory() == driver.memory
    first.free()
    again = device.allocate((1000,), np.float64)
    assert again.address == address
    del again  # nobody holds it
    assert device.usable_memory() == driver.memory
    device.allocate((driver.memory,), np.uint8)
    assert list(driver.given.values()) == [driver.memory]


def test_a_full_gpu_is_told_in_a_sentence(driver):
    device = cuda.Device(0)
    with pytest.raises(cuda.GpuError, match="chunk_members"):
        device.allocate((driver.memory + 1,), np.uint8)


def test_memory_that_gpus_reach_is_not_kept_without_end(driver, monkeypatch):
    monkeypatch.setattr(cuda, "PINNED_KEPT", 10_000)
    device = cuda.Device(0)
    arrays = [device.pinned((size,)) for size in range(100, 1000, 100)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [set(array) for array in arrays] == [{float(i)} for i in range(len(arrays))]
    part = arrays[-1][5:7]
    arrays.clear()
    del array
    kept = sum(len(memory) for memory in driver.pinned.values())
    assert kept <= 10_000 + part.base.nbytes + 1024
    assert part.tolist() == [8.0, 8.0]
    unused = {address: memory for address, memory in driver.pinned.items() if address != part.base.ctypes.data}
    assert len(unused) > 1
    again = [device.pinned((len(memory),), np.uint8) for memory in unused.values()]
    assert {array.ctypes.data for array in again} == set(unused)
    assert not driver.contexts


def test_without_memory_that_gpus_reach_there_is_ordinary_memory(driver):
    array = cuda.Device(0).pinned((driver.host_memory,), np.float64)
    assert array.shape == (driver.host_memory,)
    assert not driver.pinned


def test_a_kernel_is_unloaded_once_nobody_runs_it(driver, monkeypatch):
    monkeypatch.setattr(cuda, "KERNELS_KEPT", 2)
    device = cuda.Device(0)
    running = device.load(KERNELS[0])
    for kernel in KERNELS[1:]:
        device.load(kernel)
    assert [text.split(b" for")[0] for text in driver.modules] == [b"loop 0", b"loop 2", b"loop 3"]
    del running
    assert [text.split(b" for")[0] for text in driver.modules] == [b"loop 2", b"loop 3"]
    assert device.load(KERNELS[3]) is device.load(KERNELS[3])


def test_threads_wait_for_room():
    """All ask at the same instant, and together they would take more than there is."""
    room, together, lock = RoomForUnits(lambda: 1000), Barrier(8), Lock()
    now, most = [0], [0]

    def work(_):
        together.wait(10)
        with room.claim(10, 100) as units:
            with lock:
                now[0] += 10 * units
                most[0] = max(most[0], now[0])
            np.linalg.norm(np.ones(10_000))
            with lock:
                now[0] -= 10 * units
        return units

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    assert found == [int(LARGEST_SHARE * 1000 / 10)] * 8
    assert most[0] <= USED * 1000


def test_room_is_left_after_an_error_and_one_unit_always_has_some():
    room = RoomForUnits(lambda: 100)
    with pytest.raises(ZeroDivisionError), room.claim(1, 1000) as units:
        raise ZeroDivisionError
    assert units == 40
    with room.claim(10**9, 5) as units:
        assert units == 1
    with room.claim(0, 0) as units:
        assert units == 1
