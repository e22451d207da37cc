"""Loops as WebAssembly and as objects for other processors, against the same loops on this CPU: the same words."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from captured_calls import capturing
from compiled_calls import Count, Job, run_in_chromium, run_in_node, run_in_qemu, run_in_wasmtime, wasm_module
from polhode.gallery import MODELS
from polhode.ir.targets import native
from polhode.ir.targets.objects import MACHINES, WASM32, WASM32_SIMD, object_for

BOX, GRAVITY = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), ph.forces.gravity()


@ph.force
def swirl(t, state, body, params):
    """A sine, a root and a remainder."""
    x, y, _ = state.position
    push = params[0] * math.sin(params[1] * t) / math.sqrt(1.0 + x * x + y * y)
    return (-push * y, push * x, 0.3 * math.fmod(t, 0.7)), (0.01 * math.cos(t), 0.0, 0.0)


@ph.event
def landing(t, state, body, params):
    return state.position[2]


def by_rk4():
    spins = np.array((0.1, 5.0, 0.1)) * (1.0 + 0.003 * np.arange(11))[:, None]
    start = ph.State(velocity=(1.0, 0.0, 5.0), angular_velocity_body=spins)
    ph.ensemble(BOX, start, [GRAVITY, swirl(0.5, 3.0)], duration=1.0, step=1e-2, method="rk4", threads=1)


def by_dop853_with_an_event():
    start = ph.State(position=(1.0, 0.0, 2.0), velocity=(1.0, 0.0, 9.0), angular_velocity_body=(0.1, 5.0, 0.1))
    forces = [GRAVITY, swirl(2.0, 3.0)]
    ph.simulate(BOX, start, forces, duration=5.0, method="dop853", output_step=0.05, events=[landing()], threads=1)


def in_closed_form():
    start = ph.State(velocity=(0.0, 0.0, 5.0), angular_velocity_body=(0.1, 5.0, 0.1))
    ph.simulate(BOX, start, [GRAVITY], duration=5.0, method="exact", output_step=0.05, threads=1)


def of_a_die_on_a_floor():
    die = ph.shapes.box((0.016, 0.016, 0.016), mass=0.005)
    start = ph.State(position=(0, 0, 0.15), velocity=(1, 0.1, 0), angular_velocity_body=(9.0, 15.0, -12.0))
    floor = ph.floor(restitution=0.5, friction=0.3)
    ph.simulate(die, start, [GRAVITY], duration=0.5, output_step=0.01, contacts=[floor], threads=1)


def of_two_bodies_in_contact():
    low, high = ph.shapes.box((0.2, 0.2, 0.1), mass=1.0), ph.shapes.box((0.1, 0.12, 0.08), mass=0.3)
    start = [
        ph.State(position=(0.0, 0.0, 0.05)),
        ph.State(position=(0.03, 0.01, 0.2), quaternion_wxyz=(0.9, 0.1, 0.3, 0.0), angular_velocity_body=(1, 2, 0.5)),
    ]
    surfaces = [ph.floor(restitution=0.3, friction=0.4), ph.between_bodies(restitution=0.3, friction=0.4)]
    ph.simulate([low, high], start, [GRAVITY], duration=0.3, output_step=0.01, contacts=surfaces, threads=1)


RUNS = (by_rk4, by_dop853_with_an_event, in_closed_form, of_a_die_on_a_floor, of_two_bodies_in_contact)


def jobs_of(run, folder: Path, name: str) -> list[Job]:
    """A job for each program of a run; programs of the same text are one."""
    with capturing() as found:
        run()
    return [Job.of(each.texts, each.calls, folder / f"{name}-{i}") for i, each in enumerate(found) if each.calls]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_a_call_in_webassembly_against_the_same_call_on_this_cpu(run, tmp_path):
    jobs = jobs_of(run, tmp_path, "run")
    for machine in (WASM32, WASM32_SIMD):
        counts = run_in_node(jobs, [wasm_module(job, machine) for job in jobs], tmp_path)
        assert all(count.words > 0 for count in counts)
        assert [(count.different, count.nans) for count in counts] == [(0, 0)] * len(jobs)


def test_a_constant_that_is_off_by_one_bit_changes_words(tmp_path):
    """The comparison sees it."""
    (job,) = jobs_of(by_dop853_with_an_event, tmp_path, "run")
    loops, laws = job.texts(1)
    place = list(re.finditer(r"0x3F[0-9A-F]{14}", laws))[-1]
    changed = laws[: place.start()] + f"0x{int(place[0], 16) ^ 1:016X}" + laws[place.end() :]
    off = job._replace(texts=lambda width: (loops, changed))
    (count,) = run_in_node([off], [wasm_module(off)], tmp_path)
    assert count.different > 0


def test_machine_code_of_this_cpu_after_emissions_against_before():
    """LLVM's WebAssembly target changes an option of the whole process, which is set back."""
    with capturing() as found:
        in_closed_form()
        of_a_die_on_a_floor()
    texts = found[1].texts(native.vector_width())
    before = native._compile(*texts)
    for machine in (WASM32, WASM32_SIMD, *MACHINES.values()):
        object_for(found[0].texts(machine.width), machine)
    assert native._compile(*texts) == before


# All models of the gallery --------------------------------------------------------------------------------------------
def run_gallery(model):
    MODELS[model].run(**MODELS[model].values())


@pytest.fixture(scope="module")
def gallery(tmp_path_factory) -> list[Job]:
    """A job for each program of the gallery, with all calls of every run at the models' first values."""
    folder, by_text = tmp_path_factory.mktemp("gallery"), {}
    for model in MODELS:
        with capturing() as found:
            run_gallery(model)
        assert any(each.calls for each in found), f"{model} calls no program"
        for each in found:
            if each.calls:
                by_text.setdefault(each.texts(1), (each.texts, []))[1].extend(each.calls)
    return [Job.of(*one, folder / f"program-{i}") for i, one in enumerate(by_text.values())]


@pytest.fixture(scope="module")
def gallery_modules(gallery):
    return [wasm_module(job) for job in gallery]


def assert_same_words(counts: list[Count], gallery: list[Job]) -> None:
    total = Count(*(sum(each) for each in zip(*counts, strict=True)))
    print(f"{len(gallery)} programs, {sum(len(job.calls) for job in gallery)} calls: {total}")
    assert total.words == sum(call.size for job in gallery for call in job.calls) > 0
    assert total.different == total.nans == 0


@pytest.mark.long
def test_the_gallery_in_node_against_this_cpu(gallery, gallery_modules):
    assert_same_words(run_in_node(gallery, gallery_modules, gallery[0].place.parent), gallery)


@pytest.mark.long
def test_the_gallery_in_chromium_against_this_cpu(gallery, gallery_modules):
    assert_same_words(run_in_chromium(gallery, gallery_modules, gallery[0].place.parent), gallery)


@pytest.mark.long
def test_the_gallery_in_wasmtime_against_this_cpu(gallery, gallery_modules):
    assert_same_words(run_in_wasmtime(gallery, gallery_modules), gallery)


@pytest.mark.long
@pytest.mark.parametrize("name", ["aarch64", "riscv64"])
def test_the_gallery_under_qemu_against_this_cpu(name, gallery):
    assert_same_words(run_in_qemu(name, gallery), gallery)
