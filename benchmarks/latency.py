"""What a user waits for: first runs, an ensemble whose members stop by themselves, steppers and environments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from benchmarks.environment import format_environment, measure_environment
from benchmarks.event_ensemble import measure_landings
from benchmarks.first_run import measure_first_runs
from benchmarks.stepper import measure_stepper
from benchmarks.throughput import machine_info, package_versions

ENVIRONMENTS = 4096
"""Of a vector."""


def measure_latency(
    repeats: int, stones: int, advances: int, report: Callable[[str], Any] = lambda text: None
) -> dict[str, Any]:
    """All figures."""
    first_runs = measure_first_runs(repeats, report)
    report(f"{stones} stones that land")
    landings = measure_landings(stones, repeats)
    report("a stepper, and environments")
    return {
        "repeats": repeats,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_info(),
        "versions": package_versions(),
        "first_runs": first_runs,
        "landings": landings,
        "stepper": measure_stepper(advances, repeats),
        "environment": measure_environment(ENVIRONMENTS, advances, repeats),
    }


def format_latency(result: dict[str, Any]) -> str:
    """The figures for people."""
    where, landings = result["machine"], result["landings"]
    lines = [f"best of {result['repeats']} repeats, {where['processor']}, {where['cores']} cores", ""]
    lines.append(f"{'the first run in a process, s':<32} {'new':>6} {'cached':>8} {'wanted':>12}")
    for name, row in result["first_runs"].items():
        wanted = " / ".join(f"{row[key]:g}" for key in ("wanted_new", "wanted_cached") if row[key] is not None)
        lines.append(f"  {name:<30} {row['new']:6.2f} {row['cached']:8.2f} {wanted:>12}")
    lines += [
        "",
        f"{landings['stones']:,} stones that land: {landings['seconds']:.3f} s on one thread, "
        f"{landings['microseconds_per_stone']:.1f} us each, {landings['times_faster']:.0f} times faster than one by one"
        + (", with the same bits" if landings["same_bits"] else ", BUT WITH OTHER BITS"),
        "",
        f"{'Stepper.advance by one step, us':<32} {'all':>6} {'step':>8} {'beyond it':>12} {'with new loads':>16} "
        f"{'save':>6} {'restore':>8}",
    ]
    for name, row in result["stepper"].items():
        beyond = f"{row['beyond']:12.2f} {row['with_loads_beyond']:16.2f} {row['save']:6.2f} {row['restore']:8.2f}"
        lines.append(f"  {name:<30} {row['advance']:6.2f} {row['step']:8.2f} {beyond}")
    if result["environment"] is not None:
        lines += ["", *format_environment(result["environment"])]
    return "\n".join(lines)
