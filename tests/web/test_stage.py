"""Stages: what they say of themselves, what they refuse, and that every model has one for each of its motions."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InputError
from polhode.gallery import MODELS
from polhode.quantities.page import PANELS, SINGLE_ANGLES, list_panels, page_text
from polhode.web import props
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record
from polhode.web.stage import SWITCHES, Stage, StageCamera, ThirdFrame

FRONT = Path(__file__).parents[2] / "front/src"
KINDS = [kind for kind in vars(props).values() if isinstance(kind, type) and issubclass(kind, props.Prop) and kind.kind]


def test_the_page_knows_every_kind_of_prop_and_each_of_its_fields():
    text = (FRONT / "view/stage.ts").read_text(encoding="utf-8")
    (base,) = re.findall(r"interface PropBase \{(.*?)\n\}", text, re.DOTALL)
    (table,) = re.findall(r"interface PropKinds \{(.*?)\n\}", text, re.DOTALL)
    common = set(re.findall(r"^  (\w+):", base, re.MULTILINE))
    known = {name: set(re.findall(r"(\w+):", inner)) for name, inner in re.findall(r"^  (\w+): \{(.*)\};", table, re.M)}
    ours = {kind.kind: {props.to_camel_case(f.name) for f in fields(kind)} - common for kind in KINDS}
    assert known == ours


def test_the_switches_of_a_stage_are_those_of_the_page():
    text = (FRONT / "options.ts").read_text(encoding="utf-8")
    (table,) = re.findall(r"interface Options \{(.*?)\n\}", text, re.DOTALL)
    assert set(re.findall(r"^  (\w+): boolean;", table, re.MULTILINE)) - {"turning", "dark"} == set(SWITCHES)


def test_the_page_has_the_table_of_quantities_and_its_panels():
    written = (FRONT / "plots/quantities.json").read_text(encoding="utf-8")
    rewrite = "python -m polhode.quantities.page front/src/plots/quantities.json"
    assert written == page_text(), f"{rewrite} writes it anew"
    text = (FRONT / "plots/panel-list.ts").read_text(encoding="utf-8")
    (angles,) = re.findall(r"const ONE_ANGLE.*?= \{(.*?)\};", text)
    assert set(re.findall(r"(\w+):", angles)) == set(SINGLE_ANGLES)
    assert set(PANELS) | set(SINGLE_ANGLES) <= set(list_panels())


def test_a_motion_of_a_model_is_recorded_with_the_stage_of_the_model():
    motion = MODELS["gyroscope"](theta=50.0)["slow"]
    expected = MODELS["gyroscope"].stage_of(MODELS["gyroscope"].values(theta=50.0), "slow").describe()
    assert [prop["kind"] for prop in expected["props"]] == ["axle", "stand"]
    assert record_motion(motion).meta["stage"] == expected
    assert record_motion(motion, stage=Stage()).meta["stage"] == Stage().describe()


def test_a_stage_is_in_the_record_as_plain_numbers():
    stage = Stage(
        camera=StageCamera(target=np.array((1, 2, 3))),
        props=(props.Polyline(np.eye(3)),),
        floor=-0.5,
        frame=ThirdFrame("platform", (0, 0, 1)),
    )
    motion = ph.simulate(ph.particle(1.0), duration=1.0, method="exact")
    header = encode_record(record_motion(motion, stage=stage))
    length = int.from_bytes(header[:4], "little")
    found = json.loads(header[4 : 4 + length])["meta"]["stage"]
    assert found == json.loads(json.dumps(stage.describe()))
    assert found["camera"]["target"] == [1, 2, 3]
    assert found["props"][0]["points"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert (found["floor"], found["frame"]["angularVelocity"]) == (-0.5, [0, 0, 1])


def test_a_stage_refuses_switches_that_the_page_does_not_have_and_numbers_that_are_not_finite():
    with pytest.raises(InputError, match="no switch 'omgea': did you mean 'omega'"):
        Stage(switches=("omgea",))
    with pytest.raises(InputError, match="no panel 'angular_velocty': did you mean 'angular_velocity'"):
        Stage(panels=("position", "angular_velocty"))
    with pytest.raises(InputError, match="either on or off at first, not both: L"):
        Stage(switches=("L",), off=("L",))
    with pytest.raises(InputError, match="finite numbers only"):
        Stage(props=(props.Ball((0, 0, np.nan), 1.0),)).describe()


@pytest.mark.parametrize("name", MODELS)
def test_every_motion_of_a_model_has_a_stage_at_the_ends_of_every_knob(name):
    model = MODELS[name]
    for parameter in model.parameters:
        for value in (parameter.low, parameter.high):
            values = model.values(**{parameter.name: value})
            assert model.stage_of(values).describe()["props"] is not None
    scenarios = model.scenario(**model.values())
    for run in scenarios if isinstance(scenarios, dict) else ():
        assert model.stage_of(model.values(), run).shows
    assert model.stage_of(model.values()).shows, "a sentence for readers who cannot see it"
