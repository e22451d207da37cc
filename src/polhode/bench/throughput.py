"""How fast steps are made: this engine on one thread and on all, NumPy, and MuJoCo, in one run, side by side."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from polhode import __version__
from polhode.bench import mujoco_rk4, numpy_rk4
from polhode.body import Body
from polhode.checks import Array
from polhode.engines.prepare import packed, prepared, structure_of, unpacked
from polhode.forces import STANDARD_GRAVITY, gravity, quadratic_drag
from polhode.scenario import Scenario
from polhode.simulation import simulate
from polhode.state import State

STEP = 1e-3
LONG_ENOUGH_S = 0.1
"""A repeat takes at least about this long, unless the number of steps is given."""
LONG_RUN = 1_000_000


@dataclass
class Contender:
    """Something that advances `bodies` bodies by any number of steps; its times, in ns per body and step."""

    name: str
    bodies: int
    advance: Callable[[int], Any]
    steps: int = 1
    times: list[float] = field(default_factory=list)

    def warm_up(self, steps: int | None) -> None:
        """Compile, and find out how many steps fill a repeat."""
        self.advance(1)
        began = perf_counter()
        self.advance(2)
        per_step = (perf_counter() - began) / 2
        self.steps = steps or max(2, int(LONG_ENOUGH_S / per_step))
        self.advance(self.steps)

    def repeat(self) -> None:
        """One more time."""
        began = perf_counter()
        self.advance(self.steps)
        self.times.append((perf_counter() - began) / (self.steps * self.bodies) * 1e9)

    @property
    def best(self) -> float:
        """The shortest time: what remains when the machine does nothing else."""
        return min(self.times)


def measured(
    bodies: Sequence[int], steps: int | None = None, repeats: int = 7, report: Callable[[str], Any] = lambda text: None
) -> dict[str, Any]:
    """All figures: the machine, the versions, nanoseconds per body and step, ratios."""
    threads = os.cpu_count() or 1
    contenders = []
    for count in bodies:
        scenario, numpy_bodies, y = sample(count)
        contenders.append(Contender("polhode, 1 thread", count, engine(scenario, 1)))
        if threads > 1:
            contenders.append(Contender(f"polhode, {threads} threads", count, engine(scenario, threads)))
        contenders.append(Contender("numpy", count, _in_numpy(y, numpy_bodies)))
    if mujoco_rk4.is_installed():
        for count in (mujoco_rk4.BODIES, 1):
            name = f"mujoco, 1 thread, {count} {'bodies' if count > 1 else 'body'} a model"
            contenders.append(Contender(name, count, mujoco_rk4.stepper(count, STEP, STANDARD_GRAVITY)))
    for contender in contenders:
        report(f"warming up: {contender.name}, {contender.bodies} bodies")
        contender.warm_up(steps)
    long_run = _long_run()
    simulate(long_run)
    seconds = []
    for i in range(repeats):
        report(f"repeat {i + 1} of {repeats}")
        for contender in contenders:
            contender.repeat()
        began = perf_counter()
        simulate(long_run)
        seconds.append(perf_counter() - began)
    return {
        "what": "RK4, double precision, independent bodies, gravity and quadratic drag (mujoco: gravity only)",
        "unit": "ns per body and step, best of the repeats",
        "repeats": repeats,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "figures": [
            {"name": c.name, "bodies": c.bodies, "steps": c.steps, "best": c.best, "all": c.times} for c in contenders
        ],
        "ratios": ratios(contenders),
        "one_body": {"steps": LONG_RUN, "outputs": 1001, "seconds": min(seconds), "all": seconds},
        "largest_difference_from_numpy": difference_from_numpy(),
    }


def sample(count: int) -> tuple[Scenario, numpy_rk4.Bodies, Array]:
    """That many different bodies with different starts: as a scenario, and as NumPy's constants and state."""
    random = np.random.default_rng(0)
    mass, drag = random.uniform(5, 15, count), random.uniform(0.05, 0.2, count)
    moments = np.array((0.81, 0.68, 0.14)) * (mass / 10)[:, None]
    velocity, spin = random.normal(0, 10, (count, 3)), random.normal(0, 3, (count, 3))
    tensors = moments[..., None] * np.eye(3)
    scenario = Scenario(
        Body(mass, tensors),
        State(velocity=velocity, angular_velocity_body=spin),
        [gravity(), quadratic_drag(drag)],
        duration=1.0,
        step=STEP,
        output_times=[1.0],
        method="rk4",
    )
    y = np.zeros((13, count))
    y[3] = 1.0
    y[7:10], y[10:13] = velocity.T * mass, (moments * spin).T
    return scenario, numpy_rk4.Bodies(mass, moments.T.copy(), drag, np.array((0, 0, -STANDARD_GRAVITY))), y


def engine(scenario: Scenario, threads: int) -> Callable[[int], Array]:
    """The prepared loop of this engine on so many threads, without packing and output; gives the state."""
    plan = prepared(structure_of(scenario, counts_work=False))
    buffer = packed(scenario, plan)
    cuts = np.linspace(0, len(buffer), threads + 1).astype(int).tolist()
    no_stops, no_rests = np.empty(0, dtype=np.int64), np.empty(0)
    out = np.empty((0, len(buffer), plan.layout.kept))
    pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def part(first: int, last: int, steps: int) -> None:
        plan.advance(buffer, (), first, last, 0.0, STEP, 0, steps, no_stops, no_rests, 0, out)

    def advance(steps: int) -> Array:
        if pool is None:
            part(0, len(buffer), steps)
        else:
            list(pool.map(part, cuts[:-1], cuts[1:], [steps] * threads))
        kept = buffer.reshape(1, -1, plan.layout.size)[..., : plan.layout.kept]
        return unpacked(kept, plan.layout, scenario.count)[0]

    return advance


def _in_numpy(y: Array, bodies: numpy_rk4.Bodies) -> Callable[[int], Array]:
    state = y

    def advance(steps: int) -> Array:
        nonlocal state
        for _ in range(steps):
            state = numpy_rk4.step(state, STEP, bodies)
        return state

    return advance


def difference_from_numpy(count: int = 100, steps: int = 50) -> float:
    """The largest relative difference of the two codes' states: they compute the same motion."""
    scenario, bodies, y = sample(count)
    ours = engine(scenario, 1)(steps)[:, :13].T
    theirs = _in_numpy(y, bodies)(steps)
    return float((np.abs(ours - theirs).max(axis=1) / np.abs(theirs).max(axis=1)).max())


def _long_run() -> Scenario:
    return Scenario(
        Body(10.0, (0.81, 0.68, 0.14)),
        State(velocity=(3.0, 0.0, 10.0), angular_velocity_body=(0.1, 5.0, 0.1)),
        [gravity(), quadratic_drag(0.1)],
        duration=LONG_RUN * STEP,
        step=STEP,
        output_step=1000 * STEP,
        method="rk4",
    )


def ratios(contenders: Sequence[Contender]) -> dict[str, Any]:
    """How many times faster this engine is on one thread."""
    ours = {c.bodies: c.best for c in contenders if c.name == "polhode, 1 thread"}
    result: dict[str, Any] = {
        "than numpy": {str(c.bodies): c.best / ours[c.bodies] for c in contenders if c.name == "numpy"}
    }
    for c in contenders:
        if c.name.startswith("mujoco"):
            result[f"than {c.name}"] = {str(count): c.best / best for count, best in ours.items()}
    return result


def machine() -> dict[str, Any]:
    """What ran it."""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
    except OSError:
        pass
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.system()}


def versions() -> dict[str, str]:
    """Of everything compared."""
    import numba

    found = {
        "polhode": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": str(numba.__version__),
    }
    return {**found, "mujoco": mujoco_rk4.version() if mujoco_rk4.is_installed() else mujoco_rk4.INSTALL}


def table(result: dict[str, Any]) -> str:
    """The figures for people."""
    counts = sorted({f["bodies"] for f in result["figures"] if not f["name"].startswith("mujoco")})
    by_name: dict[str, dict[int, float]] = {}
    for f in result["figures"]:
        each = counts if f["name"].startswith("mujoco") else [f["bodies"]]
        by_name.setdefault(f["name"], {}).update(dict.fromkeys(each, f["best"]))
    rows = [("ns per body and step", *(f"{count:,} bodies" for count in counts))]
    rows += [(name, *(f"{figures[count]:.1f}" for count in counts)) for name, figures in by_name.items()]
    rows += [("", *("" for _ in counts)), ("times faster, on one thread", *("" for _ in counts))]
    rows += [(f"  {than}", *(f"{r[str(count)]:.1f}" for count in counts)) for than, r in result["ratios"].items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    ]
    one = result["one_body"]
    long_run = f"one body, {one['steps']:,} steps, output every 1000: {one['seconds']:.3f} s"
    mujoco = result["versions"]["mujoco"]
    notes = [] if mujoco != mujoco_rk4.INSTALL else [f"mujoco: {mujoco}"]
    head = f"{result['what']}\nbest of {result['repeats']}, {result['machine']['processor']}, {result['machine']['cores']} cores"
    agreement = f"largest relative difference from numpy after 50 steps: {result['largest_difference_from_numpy']:.1e}"
    return "\n".join([head, "", *lines, "", long_run, agreement, *notes])
