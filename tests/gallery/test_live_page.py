"""Models as programs for pages, run by Node, against `ph.simulate`: the same bits."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from live_programs import computed
from polhode.errors import InputError
from polhode.gallery import MODELS
from polhode.gallery.lesson import Lesson, TryThis
from polhode.gallery.live_page import live_page, program_of
from polhode.solve.live_numbers import KnobError, verified_values

LARGEST_PAGE = 1_200_000


def simulated(model, run, values) -> ph.Motion:
    made = model.scenario(**values)
    scenario = made[run.name] if isinstance(made, dict) else made
    if scenario.method == "auto":
        chosen = run.scenario
        scenario = replace(scenario, method=chosen.method, rtol=chosen.rtol, formulation=chosen.formulation)
    return ph.simulate(scenario)


def assert_same_bits(model, program, run: int, values, folder) -> None:
    times, columns = computed(program, run, values, folder)
    motion = simulated(model, program.runs[run], values)
    assert times.tolist() == motion.times.tolist()
    q = motion.quaternion_wxyz
    expected = {
        "position": motion.position,
        "velocity": motion.velocity,
        "quaternion": q / np.linalg.norm(q, axis=-1, keepdims=True),
        "angular_velocity": motion.angular_velocity,
        "linear_momentum": motion.linear_momentum,
        "attitude_drift": motion.attitude_drift,
    }
    for name, values_of in expected.items():
        assert np.array_equal(columns[name].ravel(), np.ravel(values_of)), name


@pytest.mark.parametrize(
    "name",
    [
        *("rotating-frame", "boxes", "two-bodies-on-a-spring", "dzhanibekov", "gyroscope", "affine-3d", "drift"),
        *("gyroscope-analytic", "pushed-sphere", "quaternion-rotation", "satellite-orbit", "toutatis"),
    ],
)
def test_the_program_has_the_bits_of_simulate(name, tmp_path):
    model = MODELS[name]
    program = program_of(model, model.values())
    assert not program.fixed
    points = verified_values(program.knobs, model.values())
    for i, point in enumerate((points[0], points[1], points[2], points[-1])):  # the defaults, corners, and a random one
        assert_same_bits(model, program, i % len(program.runs), point, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", ["dzhanibekov", "gyroscope"])
def test_the_program_has_the_bits_of_simulate_at_many_values(name, tmp_path):
    model = MODELS[name]
    program, random = program_of(model, model.values()), np.random.default_rng(7)
    for i in range(40):
        values = {p.name: float(random.uniform(p.low, p.high)) for p in model.parameters}
        assert_same_bits(model, program, i % len(program.runs), values, tmp_path)


def test_forces_and_energies_have_the_bits_of_the_motion(tmp_path):
    model = MODELS["gyroscope"]
    program, values = program_of(model, model.values()), model.values()
    _, columns = computed(program, 2, values, tmp_path)
    motion = simulated(model, program.runs[2], values)
    assert np.array_equal(columns["reaction"], motion.reaction_force)
    assert np.array_equal(columns["energy_potential"][:, 0], motion.potential_energy)
    assert np.array_equal(columns["energy_total"][:, 0], motion.energy)


def test_live_pages_are_small_and_hold_no_foreign_address():
    for name in ("dzhanibekov", "gyroscope"):
        page = live_page(MODELS[name], MODELS[name].values())
        assert len(page.encode()) <= LARGEST_PAGE
        assert "worker-src blob:" in page
        assert "connect-src" not in page


@ph.model
def spun(
    spin=ph.Knob(3.0, 1.0, 5.0, "rad/s"),
    tilt=ph.Knob(0.2, 0.0, 1.0, "rad"),
    frames=ph.Knob(10.0, 5.0, 20.0),
    push=ph.Knob(0.1, 0.0, 1.0, "N m"),
):
    """Every kind of knob: one that is followed, and three that are not."""

    @ph.force
    def steady(t, state, body, params):
        return (0.0, 0.0, 0.0), (0.0, 0.0, push)

    start = ph.State(
        quaternion_wxyz=(np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0), angular_velocity_body=(0.1, spin, 0.0)
    )
    box = ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)
    return ph.Scenario(box, start, [steady()], duration=1.0, method="rk4", step=0.01, output_step=1.0 / int(frames))


def test_knobs_that_cannot_be_followed_say_why(tmp_path):
    program = program_of(spun, spun.values())
    assert [knob.name for knob in program.knobs] == ["spin"]
    assert "numpy.cos" in program.fixed["tilt"]
    assert program.fixed["frames"].startswith("the number of outputs depends on it")
    assert "a function of a force reads it" in program.fixed["push"]
    assert_same_bits(spun, program, 0, spun.values(spin=4.321), tmp_path)
    with pytest.raises(KnobError, match=r"tilt cannot be a live knob of spun: .*numpy\.cos"):
        program_of(spun, spun.values(), ["spin", "tilt"])


def test_contacts_say_that_a_page_cannot_compute_them():
    with pytest.raises(KnobError, match="falling-box has no live page: a scenario with contacts cannot be exported"):
        live_page(MODELS["falling-box"], MODELS["falling-box"].values())


def test_a_motion_without_a_model_has_no_knobs(tmp_path):
    motion = ph.simulate(ph.particle(1.0), duration=1.0, method="exact")
    with pytest.raises(InputError, match="was not made by a model"):
        motion.export_html(tmp_path / "a.html", knobs=True)


def test_a_motion_of_a_model_is_exported_with_its_knobs(tmp_path):
    path = tmp_path / "spun.html"
    spun(spin=2.0).export_html(path, knobs=["spin"])
    assert "polhode-program" in path.read_text()


def test_steps_that_need_a_knob_that_is_fixed_are_left_out():
    @ph.model
    def rod(spin=ph.Knob(3.0, 0.0, 9.0), length=ph.Knob(1.0, 0.5, 2.0)):
        start = ph.State(angular_velocity_body=(0.1, spin, 0.2))
        return ph.Scenario(ph.shapes.box((0.1, 0.2, length), mass=1.0), start, duration=1.0, method="dop853")

    lesson = Lesson(steps=(TryThis("slow", values={"spin": 1.0}), TryThis("long", values={"length": 2.0})))
    model = replace(rod, lesson=lesson)
    for knobs, texts in ((["spin"], ["slow"]), (["spin", "length"], ["slow", "long"])):
        page = live_page(model, model.values(), knobs=knobs)
        data = json.loads(page.split('id="polhode-program" type="application/json">')[1].split("</script>")[0])
        assert [step["text"] for step in data["model"]["lesson"]["steps"]] == texts
    page = live_page(model, model.values(length=2.0), knobs=["spin"])
    data = json.loads(page.split('id="polhode-program" type="application/json">')[1].split("</script>")[0])
    assert [step["text"] for step in data["model"]["lesson"]["steps"]] == ["long"]
