"""A small ensemble with known numbers, written to a store; as a program, a process that can be killed.

python chunk_producer.py STORE CHUNKS     resume the store and write what is missing
python chunk_producer.py --kill-at-every-step FOLDER STRIDE
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from polhode.archive.layout import ArraySpec
from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.store import EnsembleStore

TIMES = np.linspace(0.0, 1.0, 3)
COLUMNS = 2
SUMMARY = {"values": np.linspace(0.0, 7.0, 29)}


def plan_of(chunks: int) -> ChunkPlan:
    """Chunks of one block; the last one is not full."""
    return ChunkPlan(4096 * (chunks - 1) + 1000, 4096)


def arrays_of(plan: ChunkPlan) -> dict[str, ArraySpec]:
    return {
        "samples": ArraySpec((len(TIMES), plan.members, COLUMNS), ("time", "member", "number")),
        "input_mass": ArraySpec((plan.members,), ("member",)),
    }


def values_of(plan: ChunkPlan, k: int) -> dict[str, Any]:
    """Every number says where it belongs: time + member / 1e6 + column."""
    members = np.arange(*plan.range_of(k))
    samples = TIMES[:, None, None] + members[:, None] / 1e6 + np.arange(COLUMNS)
    return {"samples": np.sin(samples), "input_mass": 1.0 + members / 7}


def attached_of(k: int) -> dict[str, Any]:
    return {"partial/mean/sum": np.full(3, float(k)), "names": np.array([f"chunk {k}"])}


def read_arrays(store: EnsembleStore, k: int) -> dict[str, Any]:
    """All numbers of a chunk."""
    members = np.arange(*store.plan.range_of(k))
    return {name: store.read_members(name, members) for name in store.manifest.arrays}


def create(path: Path, plan: ChunkPlan, resume: bool = False, **about: Any) -> EnsembleStore:
    about = {"seed": 7, "scenario": {"duration": 1.0}, "code": "0123"} | about
    return EnsembleStore.create(path, about, plan, arrays_of(plan), common={"time": (("time",), TIMES)}, resume=resume)


def produce(path: Path, chunks: int, resume: bool = True) -> None:
    """Write what is missing."""
    plan = plan_of(chunks)
    with create(path, plan, resume) as store:
        for k in store.pending():
            store.write_chunk(k, values_of(plan, k), {"steps": k}, attached_of(k))
        store.write_extra("summary", {"mean": 0.5, **SUMMARY})


def content_of(path: Path) -> dict[str, bytes]:
    """All files of a store, byte for byte."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def _count_down(steps: int) -> None:
    """Kill this process at the n-th step of its work on files, before or after it is done."""
    left = [steps]

    def watch(function: Any) -> Any:
        def watched(*arguments: Any, **options: Any) -> Any:
            _tick(left)
            result = function(*arguments, **options)
            _tick(left)
            return result

        return watched

    for name in ("open", "fsync", "replace", "rename", "mkdir", "unlink", "rmdir"):
        setattr(os, name, watch(getattr(os, name)))
    for name in ("open", "replace", "rename", "mkdir", "unlink", "rmdir"):
        setattr(Path, name, watch(getattr(Path, name)))


def _tick(left: list[int]) -> None:
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def kill_at_every_step(folder: Path, stride: int) -> int:
    """Write a store of two chunks, killed at one step or another, and resumed; return how many steps there are."""
    plan = plan_of(2)
    produce(folder / "reference.zarr", 2)
    reference, step = content_of(folder / "reference.zarr"), 1 - stride
    while True:
        step += stride
        path = folder / f"{step}.zarr"
        child = os.fork()
        if child == 0:
            _count_down(step)
            produce(path, 2)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if path.exists():
            with EnsembleStore.open(path) as store:
                for k in set(range(2)) - set(store.pending()):
                    arrays = read_arrays(store, k)
                    assert all(np.array_equal(arrays[name], v) for name, v in values_of(plan, k).items()), step
                assert all("missing" in damage.reason for damage in store.find_damage()), step
        produce(path, 2)
        assert content_of(path) == reference, f"step {step}"
        left = [file.name for file in folder.iterdir() if file.name.startswith((f"{step}.", f".{step}."))]
        assert left == [path.name], f"step {step} left {left}"
        if os.waitstatus_to_exitcode(status) == 0:
            return step


if __name__ == "__main__":
    if sys.argv[1] == "--kill-at-every-step":
        print(kill_at_every_step(Path(sys.argv[2]), int(sys.argv[3])))
    else:
        print("ready", flush=True)
        produce(Path(sys.argv[1]), int(sys.argv[2]))
