"""What goes with what, found by running it: python docs/capabilities.py writes the record and the page from it.

Every part of a scenario has an answer that can be written down by hand; every way to compute a scenario has to find it,
or to say in a sentence why it cannot. `reference/capabilities.json` is the record: tests run every crossing again
(tests/docs/test_capabilities.py), and the pages are made of nothing else (`capabilities_page.py`).
"""

import csv
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import cos, exp, pi, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import polhode as ph
from polhode.errors import PolhodeError
from polhode.integrate.loops import kernel_program

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).parent / "reference" / "capabilities.json"
CLOSE = 1e-6
"""The relative error that a way is allowed, with steps of 0.002 s or an rtol of 1e-9."""
STEP, RTOL = 0.002, 1e-9
G = 9.80665
WORKS = "works"


class Part(NamedTuple):
    """What a scenario may contain, and a number that it must give."""

    name: str
    make: Callable[[], dict[str, Any]]
    number: Callable[[Any], float]
    expected: float
    formula: str
    """Where the expected number comes from."""


# Parts ----------------------------------------------------------------------------------------------------------------
def body(inertia: tuple[float, float, float] = (0.3, 0.3, 0.5)) -> ph.Body:
    return ph.Body(mass=2.0, inertia=inertia)


@ph.force
def rope(t, state, body, params):
    return tuple(-params[0] * x for x in state.position), (0.0, 0.0, 0.0)


@ph.force
def bumper(t, state, body, params):
    x = state.position[0]
    return (0.0 if x < 0 else -params[0] * x, 0.0, 0.0), (0.0, 0.0, 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2]


def bounce(t, state, body, params):
    return (0.0, 0.0, -2 * state.linear_momentum[2]), (0.0, 0.0, 0.0)


def last(motion: Any) -> Any:
    """The final state, of the first body or member."""
    final = motion.final
    return final[0] if isinstance(final, list) else final


def position(axis: int) -> Callable[[Any], float]:
    return lambda motion: float(np.ravel(last(motion).position[..., axis])[0])


def velocity(axis: int) -> Callable[[Any], float]:
    return lambda motion: float(np.ravel(last(motion).velocity[..., axis])[0])


def rate(axis: int) -> Callable[[Any], float]:
    return lambda motion: float(np.ravel(last(motion).angular_velocity_body[..., axis])[0])


def falling_ball() -> dict[str, Any]:
    return {
        "body": ph.shapes.sphere(0.1, mass=1.0),
        "state": ph.State(position=(0, 0, 0.1 + G / 8)),
        "forces": [ph.forces.gravity()],
        "duration": 0.75,
    }


PLANET = ph.earth.SPHERE
ORBIT = PLANET.radius + 4e5
PARTS = [
    Part(
        "free rotation",
        lambda: {"body": body(), "state": ph.State(angular_velocity_body=(0.4, 0.0, 3.0)), "duration": 1.0},
        rate(0),
        0.4 * cos(2.0),
        "w1 cos((I3 - I1) w3 t/I1)",
    ),
    Part(
        "uniform gravity",
        lambda: {
            "body": body(), "state": ph.State(velocity=(0, 0, 8.0)), "forces": [ph.forces.gravity()], "duration": 1.0,
        },
        position(2),
        8.0 - G / 2,
        "v t - g t^2/2",
    ),
    Part(
        "forces of the library",
        lambda: {
            "body": body(), "state": ph.State(velocity=(3.0, 0, 0)), "forces": [ph.forces.linear_drag(1.5)],
            "duration": 1.0,
        },
        velocity(0),
        3.0 * exp(-0.75),
        "v exp(-c t/m)",
    ),
    Part(
        "a force of your own",
        lambda: {
            "body": body(), "state": ph.State(position=(1.0, 0, 0)), "forces": [rope(8.0)], "duration": 1.0,
        },
        position(0),
        cos(2.0),
        "x cos(sqrt(k/m) t)",
    ),
    Part(
        "a force with `if`",
        lambda: {
            "body": body(), "state": ph.State(position=(-1.0, 0, 0), velocity=(2.0, 0, 0)), "forces": [bumper(8.0)],
            "duration": 0.5 + pi / 2 + 0.25,
        },
        velocity(0),
        -2.0,
        "half a swing at the bumper turns the velocity around",
    ),
    Part(
        "thrusts, windows, impulses",
        lambda: {
            "body": body(),
            "forces": [
                ph.forces.thruster((0, 0, 0), (1, 0, 0), 4.0, pulses=[(0.1, 0.3), (0.5, 0.6)]),
                ph.forces.impulse((1.0, 0, 0), 0.7),
            ],
            "duration": 1.0,
        },
        velocity(0),
        (4.0 * 0.3 + 1.0) / 2.0,
        "(F t + J)/m",
    ),
    Part(
        "events",
        lambda: {
            "body": body(), "state": ph.State(position=(0, 0, G / 8)), "forces": [ph.forces.gravity()],
            "events": [landing(change=bounce, direction=-1)], "duration": 0.75,
        },
        position(2),
        G / 8 - G / 32,
        "thrown back up at sqrt(2 h/g)",
    ),
    Part(
        "systems of bodies",
        lambda: {
            "body": [ph.particle(1.0), ph.particle(1.0)],
            "state": [ph.State(position=(-1.0, 0, 0)), ph.State(position=(1.0, 0, 0))],
            "forces": [ph.forces.spring_between(0, 1, 2.0)],
            "duration": 1.0,
        },
        position(0),
        -cos(2.0),
        "-x cos(sqrt(2 k/m) t)",
    ),
    Part(
        "a pivot",
        lambda: {
            "body": body(), "pivot": (-0.5, 0, 0), "state": ph.State(position=(0.5, 0, 0)),
            "forces": [ph.forces.torque((0, 0, 2.0))], "duration": 1.0,
        },
        rate(2),
        2.0 / (0.5 + 2.0 * 0.25),
        "torque t/(I + m d^2)",
    ),
    Part(
        "rotors",
        lambda: {"body": body(), "rotors": [ph.rotor((0, 0, 1), 0.1, torque=0.2)], "duration": 1.0},
        rate(2),
        -0.2 / (0.5 - 0.1),
        "-torque t/(I - J)",
    ),
    Part(
        "mass that changes",
        lambda: {
            "body": body(), "duration": 1.0,
            "mass_course": ph.mass_course(
                (0.0, 1.0), (2.0, 1.0), inertia=((0.3, 0.3, 0.5), (0.15, 0.15, 0.25)), exhaust_velocity=(-5.0, 0, 0),
            ),
        },
        velocity(0),
        5.0 * 0.6931471805599453,
        "u ln(m0/m) [Tsiolkovsky 1903]",
    ),
    Part(
        "added mass",
        lambda: {
            "body": body(), "added_mass": np.diag([1.0, 2.0, 3.0, 0.1, 0.1, 0.1]),
            "forces": [ph.forces.force_at((6.0, 0, 0))], "duration": 1.0,
        },
        velocity(0),
        6.0 / (2.0 + 1.0),
        "F t/(m + a)",
    ),
    Part(
        "contact with planes",
        lambda: falling_ball() | {"contacts": [ph.floor(restitution=0.5)]},
        position(2),
        0.1 + G / 2 * 0.25 * 0.5 - G / 2 * 0.25**2 * 1.0,
        "a ball that keeps half of its speed",
    ),
    Part(
        "contact between bodies",
        lambda: {
            "body": [ph.shapes.sphere(0.1, mass=1.0), ph.shapes.sphere(0.1, mass=3.0)],
            "state": [ph.State(velocity=(2.0, 0, 0)), ph.State(position=(1.0, 0, 0))],
            "contacts": [ph.between_bodies(restitution=1.0)],
            "duration": 1.0,
        },
        velocity(0),
        -1.0,
        "(m1 - m2) v/(m1 + m2)",
    ),
    Part(
        "gravity of an Earth",
        lambda: {
            "body": body(), "state": ph.State(position=(ORBIT, 0, 0), velocity=(0, sqrt(PLANET.gm / ORBIT), 0)),
            "forces": [ph.forces.earth_gravity(PLANET, degree=0)], "duration": 20.0,
        },
        position(0),
        ORBIT * cos(20.0 * sqrt(PLANET.gm / ORBIT**3)),
        "a circular orbit",
    ),
    Part(
        "air and aerodynamic coefficients",
        lambda: {
            "body": body(), "state": ph.State(velocity=(30.0, 0, 0)), "duration": 1.0,
            "forces": [ph.forces.aerodynamics(0.1, {"CD": 0.8}, air=ph.air.constant(1.25))],
        },
        velocity(0),
        30.0 / (1 + 1.25 * 0.1 * 0.8 / (2 * 2.0) * 30.0),
        "v/(1 + rho A C v t/(2 m))",
    ),
]  # fmt: skip
BY_NAME = {part.name: part for part in PARTS}


# Ways -----------------------------------------------------------------------------------------------------------------
def scenario_of(part: Part, method: str, **more: Any) -> ph.Scenario:
    given = part.make() | {"method": method, **more}
    if method in ("rk4", "leapfrog", "splitting4"):
        given |= {"step": given["duration"] / round(given["duration"] / STEP)}
    if method in ("auto", "dop853", "tsit5", "taylor"):
        given |= {"rtol": RTOL}
    return ph.Scenario(**given)


def by_method(method: str, **more: Any) -> Callable[[Part], float]:
    return lambda part: part.number(ph.simulate(scenario_of(part, method, **more)))


def two_members(part: Part, method: str, **more: Any) -> ph.Scenario:
    """The scenario twice, side by side."""
    given = part.make()
    state = given.get("state", ph.State())
    first = state[0] if isinstance(state, list) else state
    doubled = first.replace(velocity=np.stack((first.velocity, first.velocity)))
    return scenario_of(
        Part(part.name, lambda: given | {"state": [doubled, *state[1:]] if isinstance(state, list) else doubled},
             part.number, part.expected, part.formula),
        method, **more,
    )  # fmt: skip


def as_ensemble(part: Part) -> float:
    return part.number(ph.ensemble(two_members(part, "auto")))


@contextmanager
def gpu_of_this_computer() -> Iterator[None]:
    """Kernels compiled for the processor; what is refused, and every bit, is as on a GPU."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from host_gpu import HostGpu

    device, found = HostGpu(), kernel_program.gpus
    kernel_program.gpus = lambda: [device]
    try:
        yield
    finally:
        kernel_program.gpus = found
        sys.path.pop(0)


def on_gpu(part: Part) -> float:
    with gpu_of_this_computer():
        return part.number(ph.ensemble(two_members(part, "dop853", engine="gpu")))


def by_stepper(part: Part) -> float:
    """In two advances, the second after going back to its start."""
    given = {name: value for name, value in part.make().items() if name != "duration"}
    duration = part.make()["duration"]
    stepper = ph.Stepper(**given, method="dop853", rtol=RTOL)
    stepper.advance_to(0.6 * duration)
    token = stepper.save()
    stepper.advance_to(duration)
    stepper.restore(token)
    stepper.advance_to(duration)
    stepper.record()
    return part.number(stepper.recorded)


def by_scenario_file(part: Part) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        scenario_of(part, "auto").to_toml(path)
        return part.number(ph.simulate(ph.Scenario.from_toml(path)))


def by_archive(part: Part) -> float:
    with tempfile.TemporaryDirectory() as folder:
        ph.simulate(scenario_of(part, "auto")).save(Path(folder) / "motion.zarr")
        return part.number(ph.load(Path(folder) / "motion.zarr"))


def resumed(part: Part) -> float:
    """A single run with checkpoints on disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.zarr"
        ph.simulate(scenario_of(part, "dop853"), store=path)
        return part.number(ph.simulate(scenario_of(part, "dop853"), store=path, resume=True))


def as_c(part: Part) -> float:
    """The program's last line has the bits of the motion, whose number is looked at."""
    scenario = scenario_of(part, "dop853", output_times=[part.make()["duration"]])
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "motion.c", Path(folder) / "motion"
        ph.write_source(scenario, "c", source)
        subprocess.run(["cc", "-O2", "-ffp-contract=off", source, "-o", program, "-lm"], check=True)
        printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    motion = ph.simulate(scenario)
    count = motion.run_result.samples.shape[1]
    rows = [[float(number) for number in row[2:]] for row in list(csv.reader(printed.splitlines()))[-count:]]
    assert rows == motion.run_result.samples[-1][:, : len(rows[0])].tolist(), "the program has other bits"
    return part.number(motion)


def as_wasm(part: Part) -> float:
    """The module runs in Node, with the bits of the motion."""
    scenario = scenario_of(part, "dop853", output_times=[part.make()["duration"]])
    with tempfile.TemporaryDirectory() as folder:
        ph.write_source(scenario, "wasm", Path(folder) / "motion.wasm")
        code = (
            'import { load } from "./motion.mjs"; const run = (await load()).run();'
            "console.log(JSON.stringify([...run.samples].slice(-run.columns.length * RUN.bodies)));"
        ).replace("{ load }", "{ load, RUN }")
        done = subprocess.run(
            ["node", "--input-type=module", "-e", code], cwd=folder, capture_output=True, text=True, check=True
        )
    motion = ph.simulate(scenario)
    expected = motion.run_result.samples[-1]
    found = np.array(json.loads(done.stdout)).reshape(len(expected), -1)
    assert (found == expected[:, : found.shape[1]]).all(), "the module has other bits"
    return part.number(motion)


def as_fmu(part: Part) -> float:
    """FMPy finds the place and the rotation that the motion has."""
    from fmpy import simulate_fmu

    scenario = scenario_of(part, "dop853")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.fmu"
        ph.write_fmu(scenario, path, "3.0", compiled=True)
        names = ["body1.position", "body1.velocity"] if scenario.is_system else ["position", "velocity"]
        found = simulate_fmu(str(path), stop_time=scenario.duration, output_interval=scenario.duration, output=names)
    motion = ph.simulate(scenario)
    final = last(motion)
    for name, exact in zip(names, (final.position, final.velocity), strict=True):
        assert np.abs(found[name][-1] - exact).max() <= CLOSE * max(1.0, np.abs(exact).max()), f"{name} differs"
    return part.number(motion)


def as_page(part: Part) -> float:
    motion = ph.simulate(scenario_of(part, "auto"))
    with tempfile.TemporaryDirectory() as folder:
        motion.export_html(Path(folder) / "motion.html")
    return part.number(motion)


def as_live_page(part: Part) -> float:
    """The page computes the motion itself; that it has the same bits is tested in a browser for the gallery."""

    @ph.model
    def knobbed(drag: float = ph.Knob(1e-12, 0.0, 1.0, "kg/s")):
        given = part.make()
        return scenario_of(part, "dop853", forces=[*given.get("forces", ()), ph.forces.linear_drag(drag)])

    motion = knobbed()
    with tempfile.TemporaryDirectory() as folder:
        motion.export_html(Path(folder) / "motion.html", knobs=["drag"])
    return part.number(motion)


def in_every_formulation(part: Part) -> float:
    numbers = [
        part.number(ph.simulate(scenario_of(part, "dop853", formulation=formulation)))
        for formulation in ("momentum", "body_rates", "momentum_matrix", "quaternion_acceleration")
    ]
    return max(numbers, key=lambda number: abs(number - part.expected))


WAYS: dict[str, tuple[str, dict[str, Callable[[Part], float]]]] = {
    "methods": (
        "By each method",
        {
            "auto": by_method("auto"),
            "closed form": by_method("exact"),
            "fixed steps (rk4)": by_method("rk4"),
            "leapfrog": by_method("leapfrog"),
            "splitting4": by_method("splitting4"),
            "dop853": by_method("dop853"),
            "other pairs (tsit5)": by_method("tsit5"),
            "taylor": by_method("taylor"),
            "every formulation": in_every_formulation,
        },
    ),
    "engines": (
        "By each engine, and in each way to run",
        {
            "plain Python": by_method("dop853", engine="python"),
            "GPU": on_gpu,
            "ensemble": as_ensemble,
            "stepper": by_stepper,
            "resumed run": resumed,
        },
    ),
    "files": (
        "As a file, a program or a page",
        {
            "scenario file": by_scenario_file,
            "archive": by_archive,
            "C source": as_c,
            "WebAssembly": as_wasm,
            "FMU": as_fmu,
            "page": as_page,
            "live page": as_live_page,
        },
    ),
}
ALL_WAYS = {name: way for _, ways in WAYS.values() for name, way in ways.items()}


def outcome(part: str, way: str) -> str:
    """What happens: "works" where the number is right, or the sentence that refuses it."""
    of = BY_NAME[part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ALL_WAYS[way](of)
        except PolhodeError as error:
            return str(error)
    wrong = abs(found - of.expected) / abs(of.expected)
    if not wrong < (CLOSE if way != "leapfrog" else 1e-4):
        raise AssertionError(f"{part} by {way} gives {found!r} instead of {of.expected!r} ({of.formula})")
    return WORKS


# Parts together -------------------------------------------------------------------------------------------------------
BALL = ph.shapes.sphere(0.5, mass=10.0)
HIGH = ph.State(position=(0, 0, 1.0), velocity=(1.0, 0, 0), angular_velocity_body=(0.5, 0.3, 2.0))
TOGETHER: dict[str, dict[str, Any]] = {
    "a force of your own": {"forces": [rope(8.0)]},
    "thrusts, windows, impulses": {"forces": [ph.forces.thruster((0.1, 0, 0), (0, 1, 0), 4.0, pulses=[(0.1, 0.2)])]},
    "air and aerodynamic coefficients": {"forces": [ph.forces.aerodynamics(0.1, {"CD": 0.5, "CL": 0.1})]},
    "events": {"events": [landing(action="record")]},
    "systems of bodies": {"system": True, "forces": [ph.forces.spring_between(0, 1, 20.0)]},
    "a pivot": {"pivot": (0, 0, 0.5)},
    "rotors": {"rotors": [ph.rotor((0, 0, 1), 0.1, speed=20.0, torque=0.1)]},
    "mass that changes": {
        "mass_course": ph.mass_course(
            (0.0, 1.0), (10.0, 8.0), inertia=((1.0, 1.0, 1.0), (0.8, 0.8, 0.8)), exhaust_velocity=(0, 0, -50.0)
        )
    },
    "added mass": {"added_mass": np.diag([2.0, 3.0, 4.0, 0.1, 0.2, 0.3])},
    "contact with planes": {"contacts": [ph.floor(restitution=0.5, friction=0.3)]},
    "contact between bodies": {"system": True, "contacts": [ph.between_bodies(restitution=0.5)]},
}


def together(first: str, second: str) -> dict[str, Any]:
    """The arguments of a scenario with both parts."""
    parts = (TOGETHER[first], TOGETHER[second])
    given: dict[str, Any] = {"body": BALL, "state": HIGH, "duration": 0.6}
    for part in parts:
        for name, value in part.items():
            given[name] = given.get(name, []) + value if isinstance(value, list) else value
    given["forces"] = [ph.forces.gravity(), *given.get("forces", [])]
    if "pivot" in given:
        given["state"] = HIGH.replace(velocity=(0, 0, 0))
    if given.pop("system", False):
        given |= {"body": [BALL, BALL], "state": [HIGH, HIGH.replace(position=(1.2, 0, 1.0), velocity=(0, 0, 0))]}
        if "added_mass" in given:
            given["added_mass"] = [given["added_mass"], None]
    return given


def outcome_together(first: str, second: str) -> str:
    """Whether two parts go together: two methods, or two tolerances, must then find the same end."""
    finals = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            given = together(first, second)
            fine = {"method": "dop853", "rtol": 1e-11} if "contacts" in given else {"method": "rk4", "step": 1e-3}
            for settings in ({"rtol": RTOL}, fine):
                final = ph.simulate(**given, **settings).final
                finals += [
                    np.concatenate((state.position, state.velocity, state.angular_velocity_body))
                    for state in (final if isinstance(final, list) else [final])
                ]
        except PolhodeError as error:
            return str(error)
    half = len(finals) // 2
    if np.abs(np.subtract(finals[:half], finals[half:])).max() > 1e-5:
        raise AssertionError(f"{first} with {second}: {finals[:half]} or {finals[half:]}?")
    return WORKS


PAIRS = [(a, b) for i, a in enumerate(TOGETHER) for b in list(TOGETHER)[i + 1 :]]


def main(parts: list[str]) -> None:
    """Run all crossings, or those of the parts that are named, and write what came of them."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"alone": {}, "together": {}}
    wrong = []

    def run(place: dict[str, str], name: str, what: Callable[..., str], *crossing: str) -> None:
        try:
            place[name] = what(*crossing)
            print(f"{' / '.join(crossing)}: {place[name]}", flush=True)
        except Exception as error:
            wrong.append(f"{' / '.join(crossing)}: {type(error).__name__}: {error}")
            print(wrong[-1], flush=True)

    for part in BY_NAME:
        if not parts or part in parts:
            row = record["alone"].setdefault(part, {})
            for way in ALL_WAYS:
                run(row, way, outcome, part, way)
    for first, second in PAIRS:
        if not parts or {first, second} & set(parts):
            run(record["together"], f"{first} + {second}", outcome_together, first, second)
    if wrong:
        raise SystemExit("\n".join(["neither right nor refused:", *wrong]))
    record["alone"] = {part: record["alone"][part] for part in BY_NAME}
    record["together"] = {f"{a} + {b}": record["together"][f"{a} + {b}"] for a, b in PAIRS}
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
