"""Models of functions: `@ph.model`."""

from __future__ import annotations

import pickle

import pytest

import polhode as ph
from polhode.errors import InputError


@ph.model(title="A thrown stone", source="by hand")
def thrown_stone(
    speed=ph.Knob(5.0, 0.0, 20.0, "m/s", "upward"),
    mass=ph.Knob(1.0, 0.1, 10.0, "kg"),
):
    """It rises,

    and falls.
    """
    start = ph.State(velocity=(0, 0, speed))
    return ph.Scenario(ph.particle(mass), start, [ph.forces.gravity()], duration=1.0, method="exact")


def test_a_model_is_described_by_its_function():
    assert (thrown_stone.name, thrown_stone.title) == ("thrown-stone", "A thrown stone")
    assert thrown_stone.explanation == "It rises,\n\nand falls."
    assert [knob.name for knob in thrown_stone.parameters] == ["speed", "mass"]
    assert isinstance(thrown_stone, ph.Model)


def test_calling_it_simulates_with_these_values():
    motion = thrown_stone(8.0, mass=3.0)
    assert motion.final.position[2] == pytest.approx(8.0 - 9.80665 / 2, rel=1e-12)
    assert motion.model_run.values == {"speed": 8.0, "mass": 3.0}
    assert motion.model_run.model is thrown_stone
    with pytest.raises(InputError, match="speed = 30 m/s is outside its range"):
        thrown_stone(speed=30.0)
    with pytest.raises(InputError, match="2 parameters, but 3 values"):
        thrown_stone(1.0, 1.0, 1.0)


def test_a_motion_of_a_model_can_be_pickled_without_the_model():
    again = pickle.loads(pickle.dumps(thrown_stone(8.0)))
    assert again.model_run is None
    assert again.final.position[2] == thrown_stone(8.0).final.position[2]


def test_several_scenarios_by_name():
    @ph.model
    def two(speed=ph.Knob(5.0, 0.0, 20.0)):
        return {
            "once": thrown_stone.scenario(speed=speed, mass=1.0),
            "twice": thrown_stone.scenario(speed=2 * speed, mass=1.0),
        }

    motions = two(speed=3.0)
    assert list(motions) == ["once", "twice"]
    assert motions["twice"].model_run.run == "twice"


def test_every_argument_needs_a_knob():
    with pytest.raises(InputError, match="the argument speed has no default: give it a knob"):
        ph.model(lambda speed: None)
    with pytest.raises(InputError, match="has the default 3"):
        ph.model(lambda speed=3: None)
    with pytest.raises(InputError, match="already uses the name 'run'"):
        ph.model(lambda run=ph.Knob(1, 0, 2): None)
    with pytest.raises(InputError, match=r"must return a ph\.Scenario"):
        ph.model(lambda speed=ph.Knob(1, 0, 2): None)()
    with pytest.raises(InputError, match="not of 3"):
        ph.model(3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((5.0, 6.0, 9.0), "a knob starts at 5, outside its range from 6 to 9"),
        ((5.0, 9.0, 6.0), "low must be less than high"),
        (("5", 1.0, 9.0), "default of a knob must be a finite number"),
        ((5.0, 1.0, float("inf")), "high of a knob must be a finite number"),
        ((5.0, 1.0, 9.0, 3), "unit of a knob must be a string"),
    ],
)
def test_a_knob_that_makes_no_sense_is_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        ph.Knob(*given)


def test_gallery_models_can_be_called_too():
    from polhode.gallery import MODELS

    assert MODELS["thin-rod"]().model_run.model is MODELS["thin-rod"]
