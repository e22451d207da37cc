"""What a sweep of a billion members on a hundred machines costs, from figures measured on this machine.

`python -m benchmarks.sweep_plan` prints them; --quick for a try.  The page
docs/explanation/billion-members.md explains the arithmetic, and quotes what this prints.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import zlib
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import psutil

import polhode as ph
from polhode.ensembles.chunk_run import ChunkResult, RunSettings, run_chunk
from polhode.ensembles.chunk_work import ChunkWork
from polhode.ensembles.chunks import BLOCK_MEMBERS, ChunkPlan
from polhode.ensembles.dask_workers import Cluster, run_on_cluster
from polhode.ensembles.interrupts import interrupts
from polhode.ensembles.reductions import reduce_blocks
from polhode.ensembles.sampling.drawn_source import DrawnSource
from polhode.ensembles.stored_run import open_run_store, write_result

STEP = 0.01
GPU_BODY_STEPS = 29e9
"""Body-steps a second of one H200 with RK4 and the bits of the CPU; measured elsewhere, not by this script."""


class SweepPlan(NamedTuple):
    """The sweep that is planned."""

    members: int = 1_000_000_000
    machines: int = 100
    cores: int = 32
    """Of one machine."""
    steps: int = 1000
    outputs: int = 1
    chunk_members: int = 65_536


def build(draw: Any) -> ph.Scenario:
    """A body that falls through air, with uncertain mass properties, release and drag."""
    mass = draw.lognormal("mass", 1.0, 0.05)
    spin = draw.normal("spin", (0.0, 5.0, 0.0), 0.1)
    velocity = draw.normal("velocity", (20.0, 0.0, 5.0), 0.5)
    drag = draw.uniform("drag", 0.005, 0.015)
    body = ph.Body(mass, (1e-3, 1.2e-3, 1.5e-3))
    state = ph.State(velocity=velocity, angular_velocity_body=spin)
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(drag)]
    return ph.Scenario(body, state, forces, duration=DURATION[0], step=STEP, method="rk4", output_step=OUTPUTS[0])


DURATION: list[float] = [STEP * 1000]
OUTPUTS: list[Any] = [None]


def measure_speed(repeats: int, steps: int = 200, members: int = 65_536) -> dict[str, float]:
    """ns a body and step of a chunk on one thread, and ns a member to draw and build it, with each design."""
    DURATION[0], OUTPUTS[0] = steps * STEP, None
    found: dict[str, float] = {}
    for design in ("random", "latin_hypercube", "sobol"):
        source = DrawnSource(build, 2**30, seed=1, design=design)
        found[f"draw_ns_{design}"] = _best(repeats, lambda s=source: s.take(np.arange(members))) / members * 1e9  # type: ignore[misc]
    source = DrawnSource(build, 2**30, seed=1)
    settings = RunSettings(threads=1)
    seconds = _best(repeats, lambda: run_chunk(source, 0, members, settings)) - found["draw_ns_random"] * members * 1e-9
    return {**found, "step_ns": seconds / (members * steps) * 1e9}


def measure_store(repeats: int, outputs: int, folder: Path, members: int = 65_536) -> dict[str, float]:
    """Bytes a member in a store, files a chunk, and seconds to write a chunk, digest it and verify it."""
    DURATION[0], OUTPUTS[0] = max(outputs - 1, 1) * STEP, STEP if outputs > 1 else None
    source, plan = DrawnSource(build, 2 * members, seed=1), ChunkPlan(2 * members, members)
    result = run_chunk(source, 0, members, RunSettings(threads=1))
    changes = {"output_times": [DURATION[0]]} if outputs == 1 else {}
    run = open_run_store(folder / f"store-{outputs}.zarr", source, plan, about={}, changes=changes)
    empty = _count_files(run.store.path)
    write = _best(repeats, lambda: write_result(run, 0, result))
    files, size = (a - b for a, b in zip(_count_files(run.store.path), empty, strict=True))
    verify = _best(repeats, lambda: run.store.find_damage([0]))
    record = (run.store.path / "records" / "chunk-00000000").stat().st_size
    run.store.close()
    return {
        "bytes_per_member": size / members,
        "sample_bytes": result.run_result.samples.itemsize * result.run_result.samples.shape[-1],
        "files": files,
        "record_bytes": record,
        "write_s": write,
        "verify_s": verify,
        "sha256_bytes_per_s": _digest_rate(result),
        "deflated": _compressed_share(result),
    }


def measure_reductions(repeats: int, outputs: int, members: int = 65_536) -> dict[str, float]:
    """Seconds for the partial results of a chunk, and their size: mean and 3 quantiles of the position."""
    DURATION[0], OUTPUTS[0] = max(outputs - 1, 1) * STEP, STEP if outputs > 1 else None
    source = DrawnSource(build, 2 * members, seed=1)
    result = run_chunk(source, 0, members, RunSettings(threads=1))
    wanted = [ph.reductions.mean("position"), ph.reductions.quantiles("position", (0.05, 0.5, 0.95))]

    def reduce() -> list[Any]:
        return [*reduce_blocks(ph.Motion(result.scenario, result.run_result), wanted).values()]

    seconds = _best(repeats, reduce)
    size = sum(values.nbytes for total in reduce() for values in total.values())
    work = ChunkWork(source, ChunkPlan(2 * members, members), RunSettings(threads=1), tuple(wanted))
    return {"seconds": seconds, "bytes": size, "outputs": outputs, "task_bytes": len(cloudpickle.dumps(work))}


def measure_scheduler(tasks: int, workers: int) -> dict[str, float]:
    """Seconds and bytes that a task costs the scheduler, which here shares a process with the client."""
    process = psutil.Process()
    seen: list[tuple[float, int]] = []
    plan = ChunkPlan(tasks * BLOCK_MEMBERS, BLOCK_MEMBERS)
    with interrupts() as interrupt:
        for _ in run_on_cluster(lambda k: _do_nothing, range(tasks), plan, Cluster(workers=workers), interrupt):
            seen.append((perf_counter(), process.memory_info().rss))  # noqa: PERF401, one at a time
    skipped = tasks // 10
    (first, before), (last, after) = seen[skipped], seen[-1]
    return {
        "tasks": tasks,
        "seconds_per_task": (last - first) / (tasks - skipped - 1),
        "bytes_per_task": max(0, after - before) / (tasks - skipped - 1),
        "resident_bytes": after,
    }


def _do_nothing(chunk: int, report: Any) -> int:
    return chunk


def plan_costs(plan: SweepPlan, measured: dict[str, Any]) -> dict[str, float]:
    """The arithmetic: what the sweep costs, in s, bytes and files."""
    chunks = -(-plan.members // plan.chunk_members)
    store, finals = measured["store"]["trajectory"], measured["store"]["finals"]
    sample = store["sample_bytes"]
    member_bytes = finals["bytes_per_member"] + sample * (plan.outputs - 1)
    per_byte = {name: store[name] / (store["bytes_per_member"] * 65_536) for name in ("write_s", "verify_s")}
    total_bytes = plan.members * member_bytes
    cores = plan.machines * plan.cores
    member_s = plan.steps * measured["speed"]["step_ns"] * 1e-9 + measured["speed"]["draw_ns_random"] * 1e-9
    compute = plan.members * member_s / cores
    return {
        "chunks": chunks,
        "core_hours": plan.members * member_s / 3600,
        "compute_s": compute,
        "gpu_compute_s": plan.members * plan.steps / (GPU_BODY_STEPS * plan.machines),
        "draw_s_per_gpu_machine": plan.members
        / plan.machines
        * measured["speed"]["draw_ns_random"]
        * 1e-9
        / plan.cores,
        "bytes": total_bytes,
        "bytes_per_s_to_storage": total_bytes / compute,
        "write_cpu_s_per_core": total_bytes * per_byte["write_s"] / cores,
        "verify_s_one_process": total_bytes * per_byte["verify_s"],
        "files": chunks * finals["files"],
        "tasks_per_s": chunks / compute,
        "tasks_per_s_scheduler": 1 / measured["scheduler"]["seconds_per_task"],
        "scheduler_s": chunks * measured["scheduler"]["seconds_per_task"],
        "chunk_s": plan.chunk_members * member_s,
        "last_round_share": plan.chunk_members * member_s / compute,
        "records_bytes": chunks * finals["record_bytes"],
        "partials_bytes_finals": chunks * measured["reductions"]["finals"]["bytes"],
        "partials_bytes_100_outputs": chunks * measured["reductions"]["trajectory"]["bytes"],
        "tasks_bytes": chunks * measured["reductions"]["finals"]["task_bytes"],
    }


def measure_all(quick: bool = False) -> dict[str, Any]:
    """All figures of this machine."""
    repeats, tasks = (1, 300) if quick else (5, 10_000)
    with tempfile.TemporaryDirectory() as folder:
        return {
            "machine": {
                "cpu": platform.processor() or platform.machine(),
                "cores": os.cpu_count(),
                "python": sys.version,
            },
            "speed": measure_speed(repeats),
            "store": {
                "finals": measure_store(repeats, 1, Path(folder)),
                "trajectory": measure_store(repeats, 100, Path(folder)),
            },
            "reductions": {
                "finals": measure_reductions(repeats, 1),
                "trajectory": measure_reductions(repeats, 100),
            },
            "scheduler": measure_scheduler(tasks, os.cpu_count() or 1),
        }


def _best(repeats: int, function: Any) -> float:
    """The shortest of some times, in s, after one call that compiles."""
    function()
    times = []
    for _ in range(repeats):
        began = perf_counter()
        function()
        times.append(perf_counter() - began)
    return min(times)


def _count_files(path: Path) -> tuple[int, int]:
    sizes = [one.stat().st_size for one in path.rglob("*") if one.is_file()]
    return len(sizes), sum(sizes)


def _digest_rate(result: ChunkResult) -> float:
    data = np.ascontiguousarray(result.run_result.samples[:1])
    return float(data.nbytes / _best(5, lambda: sha256(data.data).hexdigest()))


def _compressed_share(result: ChunkResult) -> float:
    """What a general compressor leaves of the samples of a block, after bytes of equal weight were put together."""
    data = np.ascontiguousarray(result.run_result.samples[:, :BLOCK_MEMBERS])
    shuffled = data.view(np.uint8).reshape(-1, 8).T.tobytes()
    return len(zlib.compress(shuffled, 6)) / data.nbytes


def main() -> None:
    """Measure, and print figures and plans as JSON."""
    measured = measure_all("--quick" in sys.argv)
    plans = {
        "finals, CPU": SweepPlan(),
        "100 outputs, CPU": SweepPlan(outputs=100),
        "finals, chunks of a million": SweepPlan(chunk_members=2**20),
    }
    found = {"measured": measured, "plans": {name: plan_costs(plan, measured) for name, plan in plans.items()}}
    print(json.dumps(found, indent=1, default=float))


if __name__ == "__main__":
    main()
