"""Exported programs, compiled and run, against `ph.simulate` and `ph.ensemble`: equal to the last bit."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import FileError, ForceError, InputError, PolhodeError, ScenarioError
from polhode.ir import graph, numbers
from polhode.ir.targets.javascript import JAVASCRIPT
from polhode.ir.targets.languages import LANGUAGES
from polhode.ir.targets.source import SourceFunction, write_function
from polhode.methods.registry import METHODS
from polhode.solve.fmi.python_fmu import settle_for_python
from polhode.solve.write_source import source_of

COMMANDS = {name: language.command for name, language in LANGUAGES.items()}
COMMANDS["cuda"] = "g++ -O2 -ffp-contract=off -x c++ {0}.cu -o {0} -lm && ./{0}"
"""Those that a program itself names; CUDA C++ by an ordinary compiler, on the host."""

BODY = ph.Body(mass=2.0, inertia=[[1.0, 0.1, 0.0], [0.1, 2.0, 0.2], [0.0, 0.2, 2.5]])
START = ph.State(position=(1, 2, 3), velocity=(1, 0, 4), angular_velocity_body=(0.1, 3, 0.2))
GRAVITY, DRAG = ph.forces.gravity(), ph.forces.quadratic_drag(0.03)
ALPHA, LIFT = (-2.0, -0.5, 0.0, 0.7, 2.5), (0.1, -1.0, 0.3, 1.4, -0.2)


@ph.force
def wing(t, state, body, params):
    """Tables of constants, a table as a parameter, an `if`, and functions of math and NumPy."""
    gain, table = params
    v = np.array(state.velocity)
    angle = math.atan2(v[2], v[0]) + 0.1 * math.sin(3 * t)
    lift = np.interp(angle, ALPHA, LIFT) + np.interp(angle, ALPHA, table)
    if v[1] > 0.01:
        lift = lift * math.exp(-v[1]) + math.floor(10 * t) % 3
    push = gain * lift * np.cross(v, (0.0, 1.0, 0.0))
    return push, 0.01 * push


@ph.pair_force
def attraction(t, a, body_a, b, body_b, params):
    d = np.array(b.position) - np.array(a.position)
    push = params[0] * d / math.sqrt(1.0 + d @ d)
    return push, (0.0, 0.0, 0.1), np.cross(d, push)


def skip_without(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def compiler_of(language):
    return COMMANDS[language].split()[0]


def output_of(scenario, language, folder):
    """The header and the numbers that an exported program prints, compiled without a warning."""
    command = COMMANDS[language].format("motion")
    ph.write_source(scenario, language, folder / f"motion{LANGUAGES[language].suffixes[0]}")
    done = subprocess.run(["sh", "-c", command], check=True, cwd=folder, capture_output=True, text=True)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    return lines[0].split(","), np.array([[float(x) for x in line.split(",")] for line in lines[1:]])


def assert_same_bits(scenario, languages, folder):
    motion = ph.simulate(scenario) if scenario.members is None else ph.ensemble(scenario)
    samples = motion.run_result.samples
    expected = np.ascontiguousarray(samples.reshape(len(samples), -1, samples.shape[-1]))
    missing = [compiler_of(language) for language in languages if shutil.which(compiler_of(language)) is None]
    for language in languages:
        if compiler_of(language) in missing:
            continue
        header, rows = output_of(scenario, language, folder)
        assert len(header) == rows.shape[1]
        assert header[1] == ("body" if scenario.members is None or scenario.is_system else "member")
        found = rows.reshape(len(motion.times), -1, len(header))
        assert np.array_equal(found[:, 0, 0], motion.times)
        assert np.array_equal(found[0, :, 1], np.arange(expected.shape[1]))
        samples = np.ascontiguousarray(found[:, :, 2:])
        assert samples.view(np.int64).tolist() == expected.view(np.int64).tolist(), language
    if missing:
        pytest.skip(f"compared in the other languages; not installed: {', '.join(missing)}")


def single(method="rk4", forces=(GRAVITY, DRAG), body=BODY, state=START, step=0.013, duration=0.3, **more):
    if "output_times" not in more:
        more = {"output_step": 0.05, **more}
    return ph.Scenario(body, state, forces, method=method, step=step, duration=duration, **more)


FREE = [name for name, method in METHODS.items() if not method.is_taylor_series and not method.is_closed_form]


FORCED = (GRAVITY, DRAG, wing(0.3, (1, 2, 0, 4, 3)))


@pytest.mark.parametrize("method", FREE)
def test_every_method_against_simulate(method, tmp_path):
    languages = {"rk4": LANGUAGES, "dop853": LANGUAGES, "splitting2_exact": ("c", "rust", "javascript")}
    step = None if METHODS[method].is_adaptive else 0.013
    assert_same_bits(single(method, FORCED, step=step), languages.get(method, ("rust", "javascript")), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("method", FREE)
def test_every_method_in_c_against_simulate(method, tmp_path):
    step = None if METHODS[method].is_adaptive else 0.013
    assert_same_bits(single(method, FORCED, step=step), ("c", "cuda"), tmp_path)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize("formulation", ["momentum_matrix", "body_rates", "quaternion_acceleration", "euler_angles"])
def test_every_formulation_against_simulate(method, formulation, tmp_path):
    assert_same_bits(single(method, formulation=formulation), ["rust", "javascript"], tmp_path)


def test_without_renormalization_against_simulate(tmp_path):
    assert_same_bits(single(renormalize=False), ["rust", "javascript"], tmp_path)


FORCES = {
    "gravity": ph.forces.gravity((0.1, 0.2, -9.0)),
    "point gravity": ph.forces.point_gravity(30.0, (0.0, 0.0, -9.0)),
    "linear drag": ph.forces.linear_drag(0.2),
    "rotational drag": ph.forces.rotational_drag(0.2),
    "force at a point": ph.forces.force_at((1, 0, 2), (0.1, 0.2, 0.3), axes="body"),
    "torque": ph.forces.torque((0.1, 0.2, 0.3), axes="body"),
    "thruster": ph.forces.thruster((0.1, 0, -1), (0, 0.2, 1), 5.0, start=0.07, stop=0.21),
    "spring": ph.forces.spring(20.0, (0, 0, 5), (0.1, 0, 0), damping=0.3, length=1.0),
}


@pytest.mark.parametrize("pivot", [None, (0.1, -0.2, 0.5)])
@pytest.mark.parametrize("force", FORCES)
def test_every_force_against_simulate(force, pivot, tmp_path):
    state = START if pivot is None else ph.State(angular_velocity_body=(0.1, 3, 0.2))
    assert_same_bits(single("rk4", (FORCES[force],), state=state, pivot=pivot), ["rust", "javascript"], tmp_path)


SEGMENTED = (
    GRAVITY,
    FORCES["thruster"],
    ph.forces.impulse((0, 1, 2), 0.11, (0.2, 0.1, 0)),
    ph.forces.impulse((0.5, 0, 0), 0.0),
    ph.forces.impulse((0, 0, -3), 0.3, (0, 0.1, 0), axes="body"),
)


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("rk4", {}),
        ("rk4", {"output_times": [0.0, 0.11, 0.115, 0.25]}),
        ("splitting4", {"pivot": None}),
        ("dop853", {}),
        ("dop853", {"output_times": [0.02, 0.11, 0.25]}),
        ("dop853", {"output_times": [0.11, 0.3], "formulation": "euler_angles"}),
        ("rk45", {}),
        ("vern7", {"output_times": [0.02, 0.11, 0.25]}),
        ("dop853", {"pivot": (0.1, -0.2, 0.5), "state": ph.State(time=1e6, angular_velocity_body=(0.1, 3, 0.2))}),
    ],
)
def test_windows_impulses_and_breaks_against_simulate(method, more, tmp_path):
    late = more.get("state", START).time
    forces = SEGMENTED if late == 0 else (GRAVITY, ph.forces.impulse((0, 1, 2), late + 0.11, (0.2, 0.1, 0)))
    step = None if METHODS[method].is_adaptive else 0.013
    scenario = single(method, forces, step=step, breaks=[late + 0.17], **more)
    assert_same_bits(scenario, ["c", "rust", "javascript"] if not more else ["rust", "javascript"], tmp_path)


def test_the_closed_form_with_impulses_against_simulate(tmp_path):
    forces = [f for f in SEGMENTED if f.name != "thruster"]
    assert_same_bits(single("exact", forces, step=None), LANGUAGES, tmp_path)


def test_the_closed_form_of_auto_against_simulate(tmp_path):
    assert_same_bits(single("auto", (GRAVITY,), step=None, formulation="body_rates"), ["rust", "javascript"], tmp_path)


def test_auto_is_computed_once_to_find_its_method(tmp_path):
    assert_same_bits(single("auto", FORCED, step=None), ["rust", "javascript"], tmp_path)


BODIES = [ph.particle(1.0), BODY, ph.Body(mass=1.5, inertia=(1, 2, 2.5))]
STATES = [ph.State(), START, ph.State(position=(-2, 0, 1), angular_velocity_body=(2, 0.1, 0))]
PAIRS = (
    ph.forces.spring_between(0, 1, 20.0, damping=0.2, length=1.0),
    ph.forces.mutual_gravity(5.0),
    attraction(1, 2, 2.0),
)


@pytest.mark.parametrize("method", ["rk4", "leapfrog", "splitting4", "dop853"])
def test_systems_with_pair_forces_against_simulate(method, tmp_path):
    forces = (*PAIRS, GRAVITY.on(0, 2), FORCES["thruster"].on(1), ph.forces.impulse((0, 1, 2), 0.11).on(2))
    step = None if method == "dop853" else 0.013
    scenario = single(method, forces, BODIES, STATES, step)
    assert_same_bits(scenario, ["c", "rust", "javascript"] if method == "rk4" else ["rust", "javascript"], tmp_path)


@pytest.mark.parametrize("method", ["midpoint", "dop853", "exact"])
def test_bodies_that_do_not_act_on_each_other_against_simulate(method, tmp_path):
    forces = (GRAVITY, ph.forces.impulse((0, 1, 2), 0.11).on(2))
    step = 0.013 if method == "midpoint" else None
    assert_same_bits(single(method, forces, BODIES, STATES, step), ["rust", "javascript"], tmp_path)


@pytest.mark.parametrize("method", ["rk4", "dop853", "exact"])
def test_members_against_ensemble(method, tmp_path):
    body = ph.Body(mass=np.linspace(1, 2, 9), inertia=(1.0, 2.0, 2.5))
    state = ph.State(velocity=np.random.default_rng(1).normal(size=(9, 3)), angular_velocity_body=(0.1, 3, 0))
    forces = [GRAVITY, ph.forces.impulse((0, 1, 2), 0.11)]
    if method != "exact":
        forces += [ph.forces.linear_drag(np.linspace(0, 1, 9)), FORCES["thruster"]]
    step = 0.013 if method == "rk4" else None
    languages = LANGUAGES if method == "rk4" else ["rust", "javascript"]
    assert_same_bits(single(method, forces, body, state, step), languages, tmp_path)


def test_an_ensemble_of_systems_against_ensemble(tmp_path):
    """Members differ in the start of one body, in a spring, and in an impulse on one body."""
    state = ph.State(position=np.linspace((0, 0, 1), (0, 2, 1), 3), angular_velocity_body=(2, 0.1, 0))
    forces = [
        ph.forces.spring_between(0, 1, np.linspace(10, 30, 3), damping=0.2, length=1.0),
        ph.forces.mutual_gravity(5.0),
        FORCES["thruster"].on(1),
        ph.forces.impulse(np.linspace((0, 1, 2), (0, 2, 3), 3), 0.11).on(2),
    ]
    assert_same_bits(single("rk4", forces, BODIES, [*STATES[:2], state]), ["c", "rust", "javascript"], tmp_path)


def test_members_without_outputs_print_their_final_states(tmp_path):
    state = ph.State(velocity=[(0, 0, 1), (0, 0, 2)])
    assert_same_bits(single("rk4", (GRAVITY,), state=state, output_step=None), ["rust", "javascript"], tmp_path)


def test_the_step_alone_falls_as_a_stone_does(tmp_path):
    """Half of g t^2, in exact binary fractions: g = 8 m/s^2, four steps of 1/4 s, from the functions alone."""
    skip_without("node")
    scenario = ph.Scenario(
        ph.particle(2.0), forces=[ph.forces.gravity(8.0)], duration=1.0, step=0.25, method="midpoint"
    )
    program = source_of(scenario, "javascript")
    state, parameters = (rows[0].tolist() for rows in (program.initial_states, program.parameters))
    text = f"""{program.functions}
    const state = Float64Array.from({state}), parameters = Float64Array.from({parameters});
    for (let k = 0; k < 4; k++) polhode_step(state, parameters, k / 4, 1 / 4);
    console.log(state[2], state[9]);"""
    found = subprocess.run(["node", "-e", text], check=True, capture_output=True, text=True).stdout
    assert [float(x) for x in found.split()] == [-4.0, -16.0]


@pytest.mark.parametrize(("language", "fence"), [("c", "c"), ("rust", "rust"), ("javascript", "js")])
def test_the_examples_of_the_documentation_agree_with_simulate(language, fence, tmp_path):
    command, suffix = COMMANDS[language].format("own"), LANGUAGES[language].suffixes[0]
    skip_without(compiler_of(language))
    page = (Path(__file__).parents[2] / "docs/howto/other-languages.md").read_text(encoding="utf-8")
    (tmp_path / f"own{suffix}").write_text(page.split(f"```{fence}\n")[1].split("```")[0])
    thrown = ph.State(position=(0, 0, 20), velocity=(4, 0, 6), angular_velocity_body=(0.1, 5, 0.1))
    forces = [ph.forces.gravity(), ph.forces.quadratic_drag(0.2)]
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    scenario = ph.Scenario(box, thrown, forces, duration=2.0, step=0.01, method="rk4", output_times=[1.0])
    ph.write_source(scenario, language, tmp_path / f"throw{suffix}")
    done = subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    height, *words = done.stdout.split()
    assert " ".join(words) == "m high after 1 s"
    assert f"{float(height):.6g}" == f"{ph.simulate(scenario).position[0, 2]:.6g}"


def test_tables_with_zeros_of_both_signs_are_two():
    """1/0 and 1/-0 differ; equal floats must not share a table."""
    skip_without("node")
    with graph.tracing() as nodes:
        loads, stores = {}, {}
        out = numbers.Block(nodes, "state", loads, stores)
        x = out[0]
        out[1], out[2] = numbers.pick((0.0, 5.0), x), numbers.pick((-0.0, 5.0), x)
        trace = graph.Trace(nodes, loads, stores)
    text = write_function(SourceFunction("f", {"state": "out"}, trace, "Look up."), JAVASCRIPT)
    text += "\nconst state = new Float64Array(3); f(state); console.log(1 / state[1], 1 / state[2]);"
    found = subprocess.run(["node", "-e", text], check=True, capture_output=True, text=True).stdout
    assert found.split() == ["Infinity", "-Infinity"]


def test_the_layout_names_every_number(tmp_path):
    """The last number of each list is the last of its array."""
    scenario = single("dop853", (*PAIRS, GRAVITY, ph.forces.impulse((0, 1, 2), 0.11)), BODIES, STATES, None)
    program = source_of(scenario, "c")
    states, parameters = program.layout.split("// parameters")
    assert f"state, {program.initial_states.shape[1]} numbers" in states
    assert f"to {program.initial_states.shape[1] - 1} " in states.splitlines()[-1]
    assert parameters.startswith(f", {program.parameters.shape[1]} numbers")
    assert f"to {program.parameters.shape[1] - 1} " in parameters.splitlines()[-1]
    lines = [line for line in parameters.splitlines() if "number of the member" in line]
    assert [line.split()[1] for line in lines] == [str(int(parameters.split("body b at ")[1].split()[0]) - 1)]


def test_long_functions_are_cut_into_parts_of_bounded_length():
    """V8 optimizes no function of more than 60 kB of bytecode: at most about 1,000 statements each."""
    text = source_of(single("dop853", FORCED, step=None), "javascript").functions
    lengths = [part.count("\n") for part in text.split("\nfunction ")]
    assert max(lengths) < 2600
    assert len(lengths) > 5


# What is refused ------------------------------------------------------------------------------------------------------
@ph.event
def landing(t, state, body, params):
    return state.position[2]


@ph.force
def untraceable(t, state, body, params):
    return ([0.0, 1.0][int(state.position[0])], 0.0, 0.0), (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: single("dop853", step=None, events=[landing()]), ScenarioError, "leave out landing"),
        (lambda: single("taylor", step=None), ScenarioError, "use method='dop853'"),
        (lambda: single("rk4", (untraceable(),), engine="python"), ForceError, "untraceable cannot be compiled"),
        (
            lambda: single(forces=[ph.forces.impulse((0, 0, 1), [0.1, 0.2])]),
            ScenarioError,
            r"scenario\.take\(0\)",
        ),
        (
            lambda: single(
                forces=[ph.forces.mutual_gravity()],
                body=[BODY] * 60,
                state=[ph.State(position=(i, i * i, 0)) for i in range(60)],
            ),
            ScenarioError,
            "export a smaller system",
        ),
        (
            lambda: single(state=ph.State(velocity=np.ones((30_000, 3))), output_times=[0.3]),
            ScenarioError,
            "export fewer members",
        ),
    ],
)
def test_what_cannot_be_exported_says_why(make, error, words, tmp_path):
    with pytest.raises(error, match=words):
        ph.write_source(make(), "c", tmp_path / "motion.c")
    assert not list(tmp_path.iterdir())


def test_an_unknown_language_and_a_wrong_name_are_refused(tmp_path):
    with pytest.raises(
        InputError, match="language 'fortran' is unknown: known are c, cuda, javascript, object, rust, wasm"
    ):
        ph.write_source(single(), "fortran", tmp_path / "motion.f90")
    with pytest.raises(FileError, match=r"must end with \.c"):
        ph.write_source(single(), "c", tmp_path / "motion.cpp")
    assert issubclass(InputError, PolhodeError)


@pytest.mark.parametrize("precision", ["strict", "fused", "single"])
def test_scenarios_for_gpus_are_written_as_those_for_cpus(tmp_path, precision):
    """A program has the bits of the CPU whatever the engine; the same holds for FMUs."""
    texts = []
    for settings in ({}, {"engine": "gpu", "precision": precision}):
        scenario = ph.Scenario(BODY, START, [GRAVITY, DRAG], duration=0.1, step=0.01, method="rk4", **settings)
        ph.write_source(scenario, "c", tmp_path / "motion.c")
        texts.append((tmp_path / "motion.c").read_text())
        settled = settle_for_python(scenario)
        assert (settled.engine, settled.precision) == ("cpu", "strict")
        assert ph.write_fmu(scenario, tmp_path / "motion.fmu")
    assert texts[0] == texts[1]
