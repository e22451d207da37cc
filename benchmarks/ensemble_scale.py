"""How time and memory grow with the number of members: `ph.ensemble` in memory, and a sweep that keeps a reduction.

Every figure is that of a process of its own: its peak memory is that of the whole process, inputs and result included.
The time is that of the call, machine code ready.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.throughput import machine_info, package_versions

REFERENCE_MEMBERS = 4096
REFERENCE_S = 1.0
"""The reference is repeated for about so long; the best counts."""
STEP = 1e-3
LARGEST_MEMORY_MB = 600
"""Wanted of a million members in memory."""
LEAST_SPEED = 0.85
"""Wanted of a million members, as a part of the speed of the reference."""
LEAST_GAIN = 1.8
"""Wanted of two threads."""
IN_MEMORY, SWEEP = "in memory", "sweep, reduced"


def measure_ensemble_scale(
    members: Sequence[int],
    threads: Sequence[int],
    steps: int,
    kinds: Sequence[str] = (IN_MEMORY, SWEEP),
    report: Callable[[str], Any] = lambda text: None,
) -> dict[str, Any]:
    """All figures, each from a process of its own."""
    figures = []
    for count in dict.fromkeys((REFERENCE_MEMBERS, *members)):
        for kind in kinds if count != REFERENCE_MEMBERS else (IN_MEMORY,):
            for n in threads:
                report(f"{kind}: {count:,} members, {n} threads")
                figures.append(_measure_in_process(kind, count, n, steps))
    return {
        "what": f"RK4, {steps} steps, gravity and quadratic drag, final states; mass, moments, drag and start differ",
        "steps": steps,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_info(),
        "versions": package_versions(),
        "figures": figures,
    }


def _measure_in_process(kind: str, members: int, threads: int, steps: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.ensemble_scale", kind, str(members), str(threads), str(steps)]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def run_once(kind: str, members: int, threads: int, steps: int) -> dict[str, Any]:
    """Time one ensemble in this process, which does nothing else."""
    run = {IN_MEMORY: _run_in_memory, SWEEP: _run_sweep}[kind]
    run(64, threads, 2)()  # compiles
    timed = run(members, threads, steps)
    seconds = [timed()]
    while members == REFERENCE_MEMBERS and sum(seconds) < REFERENCE_S:
        seconds.append(timed())
    return {
        "kind": kind,
        "members": members,
        "threads": threads,
        "seconds": min(seconds),
        "ns": min(seconds) / (members * steps) * 1e9,
        "peak_mb": _peak_memory_mb(),
    }


def _run_in_memory(members: int, threads: int, steps: int) -> Callable[[], float]:
    import polhode as ph

    random = np.random.default_rng(17)
    body = ph.Body(random.uniform(1.0, 2.0, members), random.uniform(1.0, 1.9, (members, 3)))
    velocity, spin = (random.normal(0.0, 5.0, (members, 3)) for _ in range(2))
    start = ph.State(velocity=velocity, angular_velocity_body=spin)
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(random.uniform(0.0, 0.1, members))]
    settings: dict[str, Any] = {"duration": steps * STEP, "step": STEP, "method": "rk4", "threads": threads}

    def timed() -> float:
        began = perf_counter()
        ph.ensemble(body, start, forces, **settings, progress=False)
        return perf_counter() - began

    return timed


def _run_sweep(members: int, threads: int, steps: int) -> Callable[[], float]:
    import polhode as ph

    def build(draw: Any) -> Any:
        body = ph.Body(draw.uniform("mass", 1.0, 2.0), draw.uniform("moments", (1.0, 1.0, 1.0), (1.9, 1.9, 1.9)))
        velocity, spin = (draw.normal(name, (0.0, 0.0, 0.0), 5.0) for name in ("velocity", "spin"))
        forces = [ph.forces.gravity(), ph.forces.quadratic_drag(draw.uniform("drag", 0.0, 0.1))]
        start = ph.State(velocity=velocity, angular_velocity_body=spin)
        return ph.Scenario(body, start, forces, duration=steps * STEP, step=STEP, method="rk4")

    def timed() -> float:
        began = perf_counter()
        ph.sweep(build, members=members, seed=17, reduce=["mean:position"], threads=threads, progress=False)
        return perf_counter() - began

    return timed


def _peak_memory_mb() -> float:
    """Of this process, in MB; NaN where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def format_scale_table(result: dict[str, Any]) -> str:
    """The figures for people, and what was wanted."""
    figures, where = result["figures"], result["machine"]
    threads = list(dict.fromkeys(f["threads"] for f in figures))
    reference = {f["threads"]: f["ns"] for f in figures if f["members"] == REFERENCE_MEMBERS}
    lines = [result["what"], f"{where['processor']}, {where['cores']} cores", ""]
    head = f"{'':<16}{'members':>12}"
    lines.append(
        head + "".join(f"{f'{n} thread' + 's' * (n > 1):>12}{'ns/step':>9}{'speed':>7}{'peak MB':>9}" for n in threads)
    )
    for kind, members in dict.fromkeys((f["kind"], f["members"]) for f in figures):
        row = f"{kind:<16}{members:>12,}"
        for n in threads:
            f = next(f for f in figures if (f["kind"], f["members"], f["threads"]) == (kind, members, n))
            row += f"{f['seconds']:>10.2f} s{f['ns']:>9.2f}{reference[n] / f['ns']:>6.0%} {f['peak_mb']:>8.0f}"
        lines.append(row)
    lines += ["", f"speed: as a part of that of {REFERENCE_MEMBERS} members on as many threads", *_compare(result)]
    return "\n".join(lines)


def _compare(result: dict[str, Any]) -> list[str]:
    """What was wanted of a million members in memory."""
    found = {f["threads"]: f for f in result["figures"] if (f["kind"], f["members"]) == (IN_MEMORY, 1_000_000)}
    if not found:
        return []
    reference = {f["threads"]: f["ns"] for f in result["figures"] if f["members"] == REFERENCE_MEMBERS}
    peak = max(f["peak_mb"] for f in found.values())
    speed = min(reference[n] / f["ns"] for n, f in found.items())
    lines = [
        f"a million members: {peak:.0f} MB (wanted: at most {LARGEST_MEMORY_MB}), {speed:.0%} of the speed of "
        f"{REFERENCE_MEMBERS} (wanted: at least {LEAST_SPEED:.0%})"
    ]
    if 1 in found and 2 in found:
        gain = found[1]["seconds"] / found[2]["seconds"]
        lines.append(f"two threads: {gain:.2f} times one (wanted: at least {LEAST_GAIN})")
    return lines


if __name__ == "__main__":
    kind, *numbers = sys.argv[1:]
    print(json.dumps(run_once(kind, *map(int, numbers))))
