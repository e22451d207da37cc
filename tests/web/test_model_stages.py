"""What the stages of some models show, against the motions and measurements themselves."""

from collections.abc import Mapping

import numpy as np
import pytest

import polhode as ph
from polhode.gallery import MODELS
from polhode.gallery.toutatis import radar_observations
from polhode.massprops.appearance import appearance_of
from polhode.web.motion_record import record_motion
from polhode.web.stage import Stage


def _runs(model):
    scenarios = model.scenario(**model.values())
    return list(scenarios) if isinstance(scenarios, Mapping) else [""]


@pytest.mark.parametrize("name", MODELS)
def test_the_stage_of_no_motion_by_name_is_that_of_the_first(name):
    model = MODELS[name]
    assert model.stage_of(model.values()).describe() == model.stage_of(model.values(), _runs(model)[0]).describe()


def test_grabs_of_forces_name_forces_of_the_motion():
    for name in MODELS:
        model = MODELS[name]
        named = [grab.force for grab in model.stage_of(model.values()).grabs if grab.what == "force"]
        if not named:
            continue
        motion = model.run(**model.values())
        record = record_motion(next(iter(motion.values())) if isinstance(motion, Mapping) else motion)
        assert set(named) <= {force["name"] for force in record.meta["forces"]}


def test_the_dots_of_radar_are_where_the_motion_has_its_long_axis():
    model = MODELS["toutatis"]
    (cloud,) = model.stage_of(model.values(), "forty days").props
    motion = model.run(**model.values())["forty days"]
    assert np.array_equal(cloud.times, radar_observations().times[:-1])
    axes = np.array([motion.at(t).to_world((0.0, 0.0, 1.0), kind="vector") for t in cloud.times])
    dots = np.array(cloud.points)
    cosines = (axes * dots).sum(axis=-1) / np.linalg.norm(dots, axis=-1)
    # The attitudes agree within 15.9 degrees, so an axis of theirs does.
    assert np.degrees(np.arccos(cosines)).max() < 15.9


def test_a_likeness_is_drawn_in_place_of_an_ellipsoid_and_of_nothing_else():
    likeness = ph.shapes.box((1.0, 2.0, 3.0), mass=1.0)
    for body, kind in (
        (ph.Body(mass=1.0, inertia=(1.0, 1.0, 1.5)), "likeness"),
        (ph.shapes.sphere(1.0, mass=1.0), "shape"),
    ):
        motion = ph.simulate(body, ph.State(angular_velocity_body=(1, 2, 3)), duration=1.0, output_step=0.1)
        record = record_motion(motion, stage=Stage(likeness=likeness))
        (appearance,) = record.meta["appearances"]
        drawn = appearance_of(likeness if kind == "likeness" else body)
        assert appearance["kind"] == kind
        assert appearance["size"] == pytest.approx(drawn.size)
        assert np.array_equal(record.arrays["vertices_0"], drawn.surface.vertices)
