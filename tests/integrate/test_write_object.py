"""Modules and objects that `ph.write_source` has written, in Node and in C, against `ph.simulate`: the same bits."""

from __future__ import annotations

import base64
import json
import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from compiled_calls import emulator, node, page_of
from polhode.errors import FileError, InputError, ScenarioError

BOX, GRAVITY = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), ph.forces.gravity()
THROWN = ph.State(position=(0, 0, 2), velocity=(1, 0, 5), angular_velocity_body=(0.1, 5, 0.1))
SPINS = ph.State(velocity=(1, 0, 5), angular_velocity_body=np.linspace((0.1, 5, 0.1), (0.2, 6, 0.1), 11))
THRUSTER = ph.forces.thruster((0.1, 0, -1), (0, 0.2, 1), 5.0, start=0.33, stop=0.71)
DOCS = Path(__file__).parents[2] / "docs" / "howto" / "other-languages.md"


@ph.event
def landing(t, state, body, params):
    return state.position[2]


@ph.event
def apex(t, state, body, params):
    return state.velocity[2]


def single(method="dop853", forces=(GRAVITY,), body=BOX, state=THROWN, duration=1.0, **more):
    return ph.Scenario(body, state, forces, duration=duration, method=method, **{"output_step": 0.1, **more})


def stacked():
    low, high = ph.shapes.box((0.2, 0.2, 0.1), mass=1.0), ph.shapes.box((0.1, 0.12, 0.08), mass=0.3)
    states = [ph.State(position=(0, 0, 0.05)), ph.State(position=(0.03, 0.01, 0.2), angular_velocity_body=(1, 2, 0.5))]
    surfaces = [ph.floor(restitution=0.3, friction=0.4), ph.between_bodies(restitution=0.3, friction=0.4)]
    return single("auto", body=[low, high], state=states, duration=0.3, contacts=surfaces)


def die():
    start = ph.State(position=(0, 0, 0.15), velocity=(1, 0.1, 0), angular_velocity_body=(9.0, 15.0, -12.0))
    floor = ph.floor(restitution=0.5, friction=0.3)
    return single("auto", body=ph.shapes.box((0.016,) * 3, mass=0.005), state=start, duration=0.5, contacts=[floor])


DRAG = ph.forces.linear_drag(np.linspace(0, 1, 11))
SYSTEM = (GRAVITY, ph.forces.spring_between(0, 1, 20.0, damping=0.2, length=1.0))
SCENARIOS = {
    "rk4": lambda: single("rk4", (GRAVITY, ph.forces.quadratic_drag(0.5)), step=0.013),
    "auto, which cuts the run": lambda: single("auto", (GRAVITY, ph.forces.quadratic_drag(0.5))),
    "dop853 with a window": lambda: single(forces=(GRAVITY, THRUSTER)),
    "members with a window": lambda: single(forces=(GRAVITY, THRUSTER, DRAG), state=SPINS),
    "members by rk4": lambda: single("rk4", (GRAVITY, DRAG), state=SPINS, step=0.01),
    "closed form with an impulse first": lambda: single("exact", (GRAVITY, ph.forces.impulse((1, 0, 2), 0.0))),
    "a stop": lambda: single(events=[landing(), apex(action="record")], duration=3.0),
    "a stop on a grid of steps, in a window": lambda: single(
        "rk4", (GRAVITY, THRUSTER), events=[landing()], duration=3.0, step=0.013
    ),
    "a system": lambda: single("rk4", SYSTEM, [BOX, BOX], [THROWN, ph.State()], step=0.01),
    "a rotor": lambda: single(rotors=[ph.rotor((0, 0, 1), 0.1, torque=0.3)]),
    "a die": die,
    "two bodies in contact": stacked,
}


def run_of(scenario):
    return ph.simulate(scenario) if scenario.members is None else ph.ensemble(scenario)


def assert_same_bits(samples, motion):
    """Up to the stop; what comes after it is NaN."""
    expected = motion.run_result.samples
    expected = np.ascontiguousarray(expected.reshape(len(expected), -1, expected.shape[-1]))
    reached = int(np.isin(motion.times, motion.scenario.times).sum())
    found = samples.reshape(-1, *expected.shape[1:])
    assert found[:reached].view(np.int64).tolist() == expected[:reached].view(np.int64).tolist()
    assert len(found) == len(motion.scenario.times)
    assert np.isnan(found[reached:]).all()


PRINTING = """
import { load } from "./motion.mjs";
const { times, samples, columns, log, failure } = (await load()).run();
const numbers = Buffer.from(samples.buffer).toString("base64");
console.log(JSON.stringify({ times: [...times], numbers, columns, log: log.map((row) => [...row]), failure }));
"""


def run_module(scenario, folder, target=None, script=PRINTING):
    ph.write_source(scenario, "wasm", folder / "motion.wasm", target=target)
    (folder / "run.mjs").write_text(script)
    done = subprocess.run([node(), folder / "run.mjs"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_module_in_node_against_simulate(name, tmp_path):
    scenario = SCENARIOS[name]()
    motion = run_of(scenario)
    for target in (None, "simd") if scenario.members else (None,):
        answer = run_module(scenario, tmp_path, target)
        assert answer["times"] == scenario.times.tolist()
        assert answer["failure"] is None
        samples = np.frombuffer(base64.b64decode(answer["numbers"]))
        assert len(answer["columns"]) == motion.run_result.samples.shape[-1]
        assert_same_bits(samples, motion)
        if scenario.events:
            assert sorted(row[3] for row in answer["log"]) == [event.time for event in motion.run_result.crossings]
        if scenario.contacts:
            assert sorted(row[0] for row in answer["log"]) == motion.run_result.impacts["time"].tolist()


def test_a_module_in_chromium_against_simulate(tmp_path):
    scenario = SCENARIOS["dop853 with a window"]()
    ph.write_source(scenario, "wasm", tmp_path / "motion.wasm")
    run = 'async () => Array.from((await (await import("./motion.mjs")).load()).run().samples)'
    with page_of(tmp_path) as page:
        assert_same_bits(np.array(page.evaluate(run), dtype=float), run_of(scenario))


def test_numbers_of_a_module_can_be_changed_before_it_runs(tmp_path):
    script = """
    import { load, columns } from "./motion.mjs";
    const run = await load();
    const first = run.run().samples[columns.indexOf("x")];
    const changed = run.run((view) => { view("buffer")[columns.indexOf("x")] = 7; }).samples[0];
    console.log(JSON.stringify([first, changed, run.run().samples[0]]));
    """
    assert run_module(single(), tmp_path, script=script) == [0, 7, 0]


READING = """
#include <stdio.h>
#include <stdlib.h>
#include "motion.h"
int main(void) {
  void *memory = aligned_alloc(64, POLHODE_MEMORY);
  polhode_load(memory);
  polhode_run(memory, NULL);
  for (long s = 0; s < POLHODE_OUTPUTS; s++) {
    for (long b = 0; b < POLHODE_BODIES; b++) {
      for (long c = 0; c < POLHODE_COLUMNS; c++) {
        const double number = polhode_sample(memory, s, b, c);
        fwrite(&number, 8, 1, stdout);
      }
    }
  }
}
"""


def run_object(scenario, target, tools, folder):
    ph.write_source(scenario, "object", folder / "motion.o", target=target)
    (folder / "main.c").write_text(READING)
    compiler, *emulated = tools
    command = [compiler, "-O2", "-Wall", "-Werror", "-static", "main.c", "motion.o", "-o", "motion", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return np.frombuffer(subprocess.run([*emulated, "./motion"], check=True, capture_output=True, cwd=folder).stdout)


def this_machine() -> str:
    """The target that this machine runs."""
    if platform.machine() not in ("x86_64", "aarch64") or platform.system() != "Linux" or shutil.which("gcc") is None:
        pytest.skip("needs gcc on Linux")
    return platform.machine()


@pytest.mark.parametrize("name", ["auto, which cuts the run", "members with a window", "a stop", "a die"])
def test_an_object_in_c_against_simulate(name, tmp_path):
    scenario = SCENARIOS[name]()
    assert_same_bits(run_object(scenario, this_machine(), ("gcc",), tmp_path), run_of(scenario))


@pytest.mark.long
@pytest.mark.parametrize("target", ["aarch64", "riscv64"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_an_object_under_qemu_against_simulate(name, target, tmp_path):
    scenario = SCENARIOS[name]()
    assert_same_bits(run_object(scenario, target, emulator(target), tmp_path), run_of(scenario))


def documented(language: str, word: str) -> str:
    """The block of the documentation in a language that holds a word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(), re.DOTALL)
    return next(block for block in blocks if word in block)


def test_the_programs_of_the_documentation_against_simulate(tmp_path):
    forces = [GRAVITY, ph.forces.quadratic_drag(0.2)]
    scenario = single("rk4", forces, state=THROWN.replace(position=(0, 0, 20)), duration=2.0, step=0.01)
    height = run_of(scenario).position[-1][2]
    ph.write_source(scenario, "wasm", tmp_path / "throw.wasm")
    (tmp_path / "run.mjs").write_text(documented("js", "throw.mjs"))
    done = subprocess.run([node(), tmp_path / "run.mjs"], check=True, capture_output=True, text=True)
    assert float(done.stdout.splitlines()[-1].split()[2]) == height
    ph.write_source(scenario, "object", tmp_path / "throw.o", target=this_machine())
    (tmp_path / "main.c").write_text(documented("c", "throw.h"))
    subprocess.run(["gcc", "main.c", "throw.o", "-o", "throw", "-lm"], check=True, cwd=tmp_path)
    done = subprocess.run(["./throw"], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert float(done.stdout.splitlines()[-1].split()[2]) == height


REFUSED = {
    "impulse": (lambda: single(forces=(GRAVITY, ph.forces.impulse((1, 0, 0), 0.5))), "impulse inside its run, here at"),
    "impulse at the end": (lambda: single(forces=(ph.forces.impulse((1, 0, 0), 1.0),)), "impulse inside its run"),
    "window": (lambda: single("rk4", (GRAVITY, THRUSTER), step=0.01), "at 0.33 s, .* method='dop853'"),
    "taylor": (lambda: single("taylor"), "method 'taylor' cannot be exported"),
    "size": (lambda: single("rk4", state=ph.State(velocity=np.zeros((40_000, 3))), step=0.1), "export fewer members"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_module_cannot_hold_is_refused(name, tmp_path):
    make, message = REFUSED[name]
    with pytest.raises(ScenarioError, match=message):
        ph.write_source(make(), "wasm", tmp_path / "motion.wasm")


def test_targets_and_suffixes_are_checked(tmp_path):
    for language, target, message in (
        ("object", None, "must be one of 'aarch64', 'riscv64', 'x86_64'"),
        ("object", "z80", "'z80' is unknown"),
        ("wasm", "x86_64", "'scalar'"),
        ("c", "x86_64", "target is for 'wasm' and 'object'"),
        ("cobol", None, "language 'cobol' is unknown"),
    ):
        with pytest.raises(InputError, match=message):
            ph.write_source(single(), language, tmp_path / "motion.o", target=target)
    with pytest.raises(FileError, match="wasm"):
        ph.write_source(single(), "wasm", tmp_path / "motion.o")
