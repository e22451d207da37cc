"""How fast a GPU is: equal steps beside a kernel written by hand, adaptive steps and the closed form beside one core.

The speed of a kernel is that of the kernel alone, by the GPU's own clock, its numbers in place; the whole call of
`ph.ensemble`, from arrays to a motion, is given beside it.  nvcc compiles the kernel written by hand.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.throughput import machine_info, package_versions
from polhode.ensembles.ensemble import ensemble
from polhode.integrate.driver import integrator_for
from polhode.integrate.loops import cuda
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.loops.kernel_program import KernelProgram
from polhode.integrate.run_plan import RunPlan
from polhode.ir.loops import pack_record
from polhode.ir.passes import PRECISIONS
from polhode.massprops.body import Body
from polhode.scenario.forces import gravity, quadratic_drag
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State

BODIES, STEPS, STEP = 4_194_304, 1000, 1e-3
REPEATS = 5
ON_CORE = 8192
"""Members that one core computes beside the GPU."""
HAND_WRITTEN = Path(__file__).with_name("hand_written_rk4.cu")
FORCES = (gravity(), quadratic_drag(0.1))
BODY = Body(mass=1.3, inertia=(1.0, 2.0, 2.5))


def measure_gpu(report: Callable[[str], Any] = lambda text: None, bodies: int = BODIES) -> dict[str, Any]:
    """All figures."""
    device = cuda.devices()[0]
    found: dict[str, Any] = {
        "what": f"RK4, gravity and quadratic drag, {bodies} bodies x {STEPS} steps, each with its own numbers",
        "gpu": device.name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_info(),
        "versions": package_versions(),
    }
    report("kernels written by hand")
    found["by_hand"] = measure_by_hand(bodies)
    for precision in PRECISIONS:
        report(f"{precision} kernel")
        found[precision] = measure_kernel(device, precision, bodies)
    report("bits of the CPU")
    found["bits"] = compare_bits(65_536)
    report("first call in a new process")
    found["first_call"] = measure_first_call()
    report("transfers")
    found["transfer"] = measure_transfers(device, bodies)
    report("whole calls")
    found["whole_calls"] = [measure_call(n) for n in (65_536, 1_048_576, bodies)]
    for name, settings in ADAPTIVE.items():
        report(name)
        found[name] = compare_with_a_core(**settings)
    return found


def sample_state(members: int) -> State:
    """Starts that differ."""
    random = np.random.default_rng(17)
    velocity, spin = random.normal(size=(members, 3)), random.normal(size=(members, 3))
    return State(velocity=velocity, angular_velocity_body=spin)


# Kernels --------------------------------------------------------------------------------------------------------------
def measure_by_hand(bodies: int) -> dict[str, float] | None:
    """Body-steps a second of the kernels written by hand; None without nvcc."""
    if shutil.which("nvcc") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "by_hand")
        subprocess.run(["nvcc", "-O3", "-arch=native", "-o", program, str(HAND_WRITTEN)], check=True)
        done = subprocess.run([program, str(bodies), str(STEPS)], check=True, capture_output=True, text=True)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def measure_kernel(device: cuda.Device, precision: str, bodies: int) -> dict[str, float]:
    """Body-steps a second of the emitted kernel, the best of some repeats."""
    scenario = Scenario(
        BODY, sample_state(4096), FORCES, duration=STEPS * STEP, step=STEP, method="rk4", engine="gpu",
        precision=precision, output_times=[STEPS * STEP],
    )  # fmt: skip
    integrator = integrator_for(RunPlan(scenario, counts_work=False))
    program, size = integrator.plan.program, integrator.layout.sample_size
    assert isinstance(program, KernelProgram)
    start = np.tile(integrator.buffer, (bodies // 4096, 1)).astype(program.real)
    stop_k, rest = np.array([STEPS]), np.zeros(1, program.real)
    run = FixedRun(start, (), 0.0, STEP, 0, STEPS, stop_k, rest, 0, np.empty((1, 1, size), program.real))
    began = perf_counter()
    code = device.load(program.text(run))
    ready = perf_counter() - began
    stream = device.stream()

    def to_device(array: Any) -> Any:
        copy = device.allocate(array.shape, array.dtype)
        device.upload(copy, array, stream)
        device.synchronize(stream)
        return copy

    out = device.allocate((1, bodies, size), program.real)
    there = {"stop_k": to_device(stop_k), "stop_rest": to_device(rest), "out": out, "buffer": to_device(start)}
    record = to_device(pack_record(run._replace(**there)))
    seconds = []
    for _ in range(REPEATS):
        device.upload(there["buffer"], start, stream)
        device.synchronize(stream)
        seconds.append(time_kernel(lambda: device.launch(code, record, bodies, stream), device, stream))
    return {"steps_per_second": bodies * STEPS / min(seconds), "ready_s": ready}


def time_kernel(launch: Callable[[], None], device: cuda.Device, stream: Any) -> float:
    """Seconds of one kernel, by the GPU's clock."""
    marks = [cuda.call("cuEventCreate", 0) for _ in range(2)]
    cuda.call("cuEventRecord", marks[0], stream)
    launch()
    cuda.call("cuEventRecord", marks[1], stream)
    device.synchronize(stream)
    milliseconds = float(cuda.call("cuEventElapsedTime", *marks))
    for mark in marks:
        cuda.call("cuEventDestroy", mark)
    return milliseconds * 1e-3


def compare_bits(members: int) -> dict[str, Any]:
    """How many numbers of an ensemble have the CPU's bits; and how far the others are."""
    scenario = Scenario(
        BODY, sample_state(members), FORCES, duration=STEPS * STEP, step=STEP, method="rk4", output_times=[0.5, 1.0]
    )
    cpu = ensemble(scenario).run_result.samples
    found = {}
    for precision in PRECISIONS:
        gpu = ensemble(replace(scenario, engine="gpu", precision=precision)).run_result.samples
        found[precision] = {
            "numbers": gpu.size,
            "equal": int((gpu.view(np.int64) == cpu.view(np.int64)).sum()),
            "largest_difference": float(np.abs(gpu - cpu)[..., :-1].max()),
        }
    return found


# Calls ----------------------------------------------------------------------------------------------------------------
_FIRST_CALL = """
import time
from benchmarks.gpu_throughput import BODY, FORCES, sample_state
from polhode.integrate.loops import cuda
from polhode.ensembles.ensemble import ensemble
began = time.perf_counter()
cuda.devices()
opened = time.perf_counter()
launch, marks = cuda.Device.launch, []
def launched(*arguments):
    marks.append(time.perf_counter())
    launch(*arguments)
cuda.Device.launch = launched
state = sample_state(4096)
called = time.perf_counter()
ensemble(BODY, state, FORCES, duration=1.0, step=1e-3, method="rk4", engine="gpu")
print(opened - began, marks[0] - called)
"""


def measure_first_call() -> dict[str, float]:
    """In a new process: seconds until the driver is ready, and from the call until its kernel begins."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", _FIRST_CALL]
    environment = {**os.environ, "CUDA_CACHE_DISABLE": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root, env=environment)
    driver, kernel = (float(word) for word in done.stdout.split())
    return {"driver_s": driver, "call_to_kernel_s": kernel}


def measure_call(members: int) -> dict[str, float]:
    """The whole call of an ensemble with its final states."""
    state, seconds = sample_state(members), []
    for _ in range(3):
        began = perf_counter()
        ensemble(BODY, state, FORCES, duration=STEPS * STEP, step=STEP, method="rk4", engine="gpu", progress=False)
        seconds.append(perf_counter() - began)
    return {"members": members, "seconds": min(seconds), "steps_per_second": members * STEPS / min(seconds)}


def measure_transfers(device: cuda.Device, bodies: int) -> dict[str, float]:
    """The limit of copies to the host, and what arrives there of samples every ten steps, in bytes a second."""
    stream, room = device.stream(), device.pinned((2**27,))
    there = device.allocate(room.shape, room.dtype)
    limit = 0.0
    for _ in range(REPEATS):
        began = perf_counter()
        device.download(room, there, stream)
        device.synchronize(stream)
        limit = max(limit, room.nbytes / (perf_counter() - began))
    there.free()
    del room
    members = min(bodies, 262_144)
    scenario = Scenario(
        BODY, sample_state(members), FORCES, duration=STEPS * STEP, step=STEP, method="rk4", engine="gpu",
        output_step=10 * STEP,
    )  # fmt: skip
    rates = []
    for _ in range(REPEATS):
        integrator = integrator_for(RunPlan(scenario, counts_work=False))
        (segment,) = integrator.run.timeline.segments
        began = perf_counter()
        samples = integrator.integrate(segment)
        rates.append(samples.nbytes / (perf_counter() - began))
        del samples
    return {"limit": limit, "samples": max(rates), "samples_first": rates[0]}


ADAPTIVE: dict[str, dict[str, Any]] = {
    "dop853": {"method": "dop853", "forces": FORCES, "duration": 300.0, "members": 1_048_576},
    "dop853_short": {"method": "dop853", "forces": FORCES, "duration": 30.0, "members": 1_048_576},
    "closed_form": {"method": "exact", "forces": FORCES[:1], "duration": 10.0, "members": 1_048_576},
    "closed_form_outputs": {
        "method": "exact", "forces": FORCES[:1], "duration": 10.0, "members": 131_072, "output_step": 0.1,
    },
}  # fmt: skip


def compare_with_a_core(
    method: str, forces: Sequence[Any], duration: float, members: int, output_step: float | None = None
) -> dict[str, float]:
    """Seconds a member on the GPU, of kernels alone and of the whole call, and on one core, at the same tolerance."""
    settings: dict[str, Any] = {"duration": duration, "method": method, "output_step": output_step, "progress": False}
    state = sample_state(members)
    few = State(velocity=state.velocity[:ON_CORE], angular_velocity_body=state.angular_velocity_body[:ON_CORE])
    core = []
    for _ in range(3):
        began = perf_counter()
        expected = ensemble(BODY, few, forces, threads=1, **settings).run_result.samples
        core.append((perf_counter() - began) / ON_CORE)
    ensemble(BODY, state, forces, engine="gpu", **settings)
    began = perf_counter()
    samples = ensemble(BODY, state, forces, engine="gpu", **settings).run_result.samples
    whole = (perf_counter() - began) / members
    with timed_launches() as kernels:
        ensemble(BODY, state, forces, engine="gpu", threads=1, **settings)
    kernel = sum(kernels) / members
    return {
        "core_s": min(core),
        "kernel_s": kernel,
        "whole_call_s": whole,
        "ratio_kernel": min(core) / kernel,
        "ratio_whole_call": min(core) / whole,
        "has_equal_bits": bool(np.array_equal(samples[:, :ON_CORE], expected)),
    }


@contextmanager
def timed_launches() -> Iterator[list[float]]:
    """Seconds of each kernel that runs inside, by the GPU's clock."""
    seconds: list[float] = []
    plain = cuda.Device.launch

    def launch(device: cuda.Device, *arguments: Any) -> None:
        seconds.append(time_kernel(lambda: plain(device, *arguments), device, arguments[-1]))

    cuda.Device.launch = launch  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        cuda.Device.launch = plain  # type: ignore[method-assign]


def format_gpu(found: dict[str, Any]) -> str:
    """The figures as a table."""
    by_hand, lines = found["by_hand"], [found["gpu"], found["what"]]
    for name, speed in (by_hand or {}).items():
        lines.append(f"  by hand, {name.replace('_', ', '):22} {speed:9.3e} body-steps/s")
    for precision in PRECISIONS:
        figures, bits = found[precision], found["bits"][precision]
        beside = ""
        if by_hand is not None:
            same = by_hand["single_same" if precision == "single" else "double_same"]
            beside = f", {figures['steps_per_second'] / same:.1%} of the same by hand"
        lines.append(
            f"  emitted, {precision:21} {figures['steps_per_second']:9.3e} body-steps/s{beside}; kernel ready in "
            f"{figures['ready_s']:.2f} s; {bits['equal']} of {bits['numbers']} numbers have the CPU's bits, largest "
            f"difference {bits['largest_difference']:.1e}"
        )
    first, transfer = found["first_call"], found["transfer"]
    lines.append(
        f"first call of a new process: driver {first['driver_s']:.2f} s, then from the call to the kernel "
        f"{first['call_to_kernel_s']:.2f} s"
    )
    lines.append(
        f"samples every 10 steps to host memory: {transfer['samples'] / 1e9:.1f} GB/s "
        f"({transfer['samples_first'] / 1e9:.1f} the first time), limit of a copy {transfer['limit'] / 1e9:.1f} GB/s"
    )
    lines += [
        f"whole call, {call['members']:9,} members: {call['seconds']:.3f} s, {call['steps_per_second']:.2e} steps/s"
        for call in found["whole_calls"]
    ]
    for name in ADAPTIVE:
        figures = found[name]
        lines.append(
            f"{name}: {figures['core_s'] * 1e6:.3f} us a member on one core; kernel {figures['kernel_s'] * 1e6:.4f} us "
            f"({figures['ratio_kernel']:.0f} x), whole call {figures['whole_call_s'] * 1e6:.4f} us "
            f"({figures['ratio_whole_call']:.0f} x); equal bits: {figures['has_equal_bits']}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    found = measure_gpu(lambda text: print(text, file=sys.stderr, flush=True))
    print(format_gpu(found))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(found, indent=1))
