"""How fast steps are made: this engine on one thread and on all, NumPy, and MuJoCo, in one run, side by side."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import mujoco_throughput, numpy_throughput
from polhode import __version__
from polhode.integrate.integrator import FixedSteps
from polhode.integrate.loops.fixed_steps import FixedRun
from polhode.integrate.run_plan import RunPlan
from polhode.massprops.body import Body
from polhode.scenario.forces import STANDARD_GRAVITY, gravity, quadratic_drag
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.solve.simulate import simulate
from polhode.validation import Array

OURS = "polhode, 1 thread"
STEP = numpy_throughput.STEP
LONG_ENOUGH_S = 0.3
"""A repeat takes at least about this long, unless the number of steps is given."""
LONG_RUN_STEPS = 1_000_000


@dataclass
class TimedStepper:
    """Something that advances `bodies` bodies, and says how long a number of steps took, in s."""

    name: str
    bodies: int
    seconds: Callable[[int], float]
    steps: int = 1
    times: list[float] = field(default_factory=list)
    """Of each repeat, in ns per body and step."""

    def warm_up(self, steps: int | None) -> None:
        """Compile, and find out how many steps fill a repeat."""
        self.seconds(1)
        self.steps = steps or max(2, int(LONG_ENOUGH_S / (self.seconds(2) / 2)))
        self.seconds(self.steps)

    def repeat(self) -> None:
        """One more time."""
        self.times.append(self.seconds(self.steps) / (self.steps * self.bodies) * 1e9)

    @property
    def best(self) -> float:
        """The shortest time: what remains when the machine does nothing else."""
        return min(self.times)


def time_steps(function: Callable[[int], Any]) -> Callable[[int], float]:
    """A function that says how long `function` took."""

    def seconds(steps: int) -> float:
        began = perf_counter()
        function(steps)
        return perf_counter() - began

    return seconds


def measure_throughput(
    bodies: Sequence[int], steps: int | None = None, repeats: int = 7, report: Callable[[str], Any] = lambda text: None
) -> dict[str, Any]:
    """All figures: the machine, the versions, nanoseconds per body and step, ratios."""
    with ExitStack() as stack:
        contenders = _make_steppers(bodies, stack)
        for contender in contenders:
            report(f"warming up: {contender.name}, {contender.bodies} bodies")
            contender.warm_up(steps)
        long_run = _long_scenario()
        one_body = time_steps(lambda _: simulate(long_run))
        one_body(0)
        seconds = []
        for i in range(repeats):
            report(f"repeat {i + 1} of {repeats}")
            for contender in contenders:
                contender.repeat()
            seconds.append(one_body(0))
    return {
        "what": "RK4, double precision, independent bodies, gravity and quadratic drag (mujoco: gravity only)",
        "unit": "ns per body and step, best of the repeats",
        "repeats": repeats,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine_info(),
        "versions": package_versions(),
        "figures": [
            {"name": c.name, "bodies": c.bodies, "steps": c.steps, "best": c.best, "all": c.times} for c in contenders
        ],
        "ratios": speed_ratios(contenders),
        "one_body": {"steps": LONG_RUN_STEPS, "output_every": 1000, "seconds": min(seconds), "all": seconds},
        "largest_difference_from_numpy": difference_from_numpy(),
    }


def _make_steppers(bodies: Sequence[int], stack: ExitStack) -> list[TimedStepper]:
    threads = os.cpu_count() or 1
    found = []
    for count in dict.fromkeys(bodies):
        scenario = sample_scenario(count)
        found.append(TimedStepper(OURS, count, time_steps(engine_stepper(scenario, 1)[0])))
        if threads > 1:
            found.append(
                TimedStepper(f"polhode, {threads} threads", count, time_steps(engine_stepper(scenario, threads)[0]))
            )
        for kind, name in (("textbook", "numpy"), ("tuned", "numpy, tuned by hand")):
            process = numpy_throughput.NumpyProcess(kind, count)
            stack.callback(process.close)
            found.append(TimedStepper(name, count, process.seconds))
    if mujoco_throughput.is_installed():
        for count in (mujoco_throughput.BODIES_PER_MODEL, 1):
            name = f"mujoco, {count} {'bodies' if count > 1 else 'body'} a model"
            found.append(
                TimedStepper(name, count, time_steps(mujoco_throughput.make_stepper(count, STEP, STANDARD_GRAVITY)))
            )
    return found


def sample_scenario(count: int) -> Scenario:
    """That many different bodies with different starts, the same as NumPy's."""
    bodies, y = numpy_throughput.sample_bodies(count)
    return Scenario(
        Body(bodies.mass, bodies.moments.T[..., None] * np.eye(3)),
        State(velocity=(y[7:10] / bodies.mass).T, angular_velocity_body=(y[10:13] / bodies.moments).T),
        [gravity(), quadratic_drag(bodies.drag)],
        duration=1.0,
        step=STEP,
        output_times=[1.0],
        method="rk4",
    )


def engine_stepper(scenario: Scenario, threads: int) -> tuple[Callable[[int], None], Callable[[], Array]]:
    """The loop of this engine on that many threads, without packing and output; and the state, (bodies, numbers)."""
    integrator = FixedSteps(RunPlan(scenario, counts_work=False), threads)
    cuts = np.linspace(0, len(integrator.buffer), threads + 1).astype(int).tolist()
    out = np.empty((0, len(integrator.buffer), integrator.layout.sample_size))
    pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def advance(steps: int) -> None:
        run = FixedRun(integrator.buffer, (), 0.0, STEP, 0, steps, np.empty(0, dtype=np.int64), np.empty(0), 0, out)
        part = integrator.plan.program.bind(run)
        if pool is None:
            part(0, len(integrator.buffer))
        else:
            list(pool.map(part, cuts[:-1], cuts[1:]))

    return advance, lambda: integrator.samples[:, integrator.columns.state]


def difference_from_numpy(count: int = 100, steps: int = 50) -> float:
    """The largest relative difference of the states that both codes find: they compute the same motion."""
    advance, state = engine_stepper(sample_scenario(count), 1)
    advance(steps)
    ours = state().T
    theirs = numpy_throughput.advance_sample("textbook", count, steps)
    return float((np.abs(ours - theirs).max(axis=1) / np.abs(theirs).max(axis=1)).max())


def _long_scenario() -> Scenario:
    return Scenario(
        Body(10.0, (0.81, 0.68, 0.14)),
        State(velocity=(3.0, 0.0, 10.0), angular_velocity_body=(0.1, 5.0, 0.1)),
        [gravity(), quadratic_drag(0.1)],
        duration=LONG_RUN_STEPS * STEP,
        step=STEP,
        output_step=1000 * STEP,
        method="rk4",
    )


def speed_ratios(contenders: Sequence[TimedStepper]) -> dict[str, dict[str, float]]:
    """How many times faster this engine is on one thread, for each number of bodies."""
    ours = {c.bodies: c.best for c in contenders if c.name == OURS}
    found: dict[str, dict[str, float]] = {}
    for c in contenders:
        if c.name.startswith("numpy"):
            found.setdefault(f"than {c.name}", {})[str(c.bodies)] = c.best / ours[c.bodies]
        elif c.name.startswith("mujoco"):
            found[f"than {c.name}"] = {str(count): c.best / best for count, best in ours.items()}
    return found


def machine_info() -> dict[str, Any]:
    """What ran it."""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
    except OSError:
        pass  # not Linux: the platform's own word must do
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.system()}


def package_versions() -> dict[str, str]:
    """Of everything compared."""
    import llvmlite

    return {
        "polhode": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "llvmlite": str(llvmlite.__version__),
        "mujoco": mujoco_throughput.version() if mujoco_throughput.is_installed() else mujoco_throughput.INSTALL,
    }


def format_throughput_table(result: dict[str, Any]) -> str:
    """The figures for people."""
    counts = list(dict.fromkeys(f["bodies"] for f in result["figures"] if f["name"] == OURS))
    by_name: dict[str, dict[int, float]] = {}
    for f in result["figures"]:
        each = counts if f["name"].startswith("mujoco") else [f["bodies"]]
        by_name.setdefault(f["name"], {}).update(dict.fromkeys(each, f["best"]))
    rows = [("ns per body and step", *(f"{count:,} bodies" for count in counts))]
    rows += [(f"  {name}", *(f"{figures[count]:.1f}" for count in counts)) for name, figures in by_name.items()]
    rows += [("times faster, on one thread", *("" for _ in counts))]
    rows += [(f"  {than}", *(f"{r[str(count)]:.1f}" for count in counts)) for than, r in result["ratios"].items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(counts) + 1)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    one, mujoco, where = result["one_body"], result["versions"]["mujoco"], result["machine"]
    return "\n".join(
        [
            result["what"],
            f"best of {result['repeats']} repeats, {where['processor']}, {where['cores']} cores",
            "",
            *(line.rstrip() for line in lines),
            "",
            f"one body, {one['steps']:,} steps, output every {one['output_every']}: {one['seconds']:.3f} s",
            f"largest relative difference from numpy after 50 steps: {result['largest_difference_from_numpy']:.1e}",
            *([f"mujoco: {mujoco}"] if mujoco == mujoco_throughput.INSTALL else []),
        ]
    )
