"""Every model of the gallery shows its number, at its defaults and elsewhere; its knobs have ends."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

import polhode as ph
from polhode.errors import InputError
from polhode.gallery import MODELS

OTHERS = {
    "dzhanibekov": ({"spin": 3.0, "nudge": 0.3}, {"spin": 20.0, "nudge": 0.01}),
    "free-fall-with-drag": (
        {"mass": 100.0, "drag": 20.0, "speed": 60.0, "duration": 10.0},
        {"mass": 20.0, "drag": 0.05, "duration": 3.0},
    ),
    "two-bodies-on-a-spring": (
        {"mass_a": 5.0, "mass_b": 0.5, "stiffness": 300.0, "stretch": 0.1, "drift": -2.0},
        {"mass_a": 0.02, "mass_b": 50.0, "stretch": 0.5},
    ),
}


def test_every_model_has_other_parameters_here():
    assert set(OTHERS) == set(MODELS)


@pytest.mark.parametrize(("name", "given"), [(name, given) for name in MODELS for given in ({}, *OTHERS[name])])
def test_model_shows_its_number(name, given):
    model = MODELS[name]
    values = model.values(**given)
    motion = ph.simulate(model.scenario(**values))
    shown = model.number(motion, **values)
    assert shown.holds, f"{shown.label}: found {shown.found}, expected {shown.expected}"
    assert shown.tolerance < 1e-6 * abs(shown.expected)
    assert shown.unit
    assert shown.source


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dzhanibekov", 3.0284221),
        # V^2/g ln cosh(g t/V) with V^2 = M g/c: 320 ln cosh(sqrt(g c/M) 20)
        ("free-fall-with-drag", 320 * math.log(math.cosh(math.sqrt(9.80665 / 320) * 20))),
        ("two-bodies-on-a-spring", 2 * math.pi * math.sqrt(2 / 3 / 20)),
    ],
)
def test_default_numbers_by_hand(name, expected):
    model = MODELS[name]
    values = model.values()
    shown = model.number(ph.simulate(model.scenario(**values)), **values)
    assert shown.found == pytest.approx(expected, abs=6e-8)


def test_a_wrong_motion_does_not_show_the_number():
    """The number is found in the motion: another spin gives another."""
    model = MODELS["dzhanibekov"]
    motion = ph.simulate(model.scenario(spin=5.01, nudge=0.1))
    assert not model.number(motion, **model.values()).holds


@pytest.mark.parametrize("name", MODELS)
def test_model_is_complete(name):
    model = MODELS[name]
    assert model.name == name
    assert 4 <= len(model.explanation.splitlines()) <= 6
    assert model.title
    assert model.source
    for p in model.parameters:
        assert p.low <= p.default <= p.high
        assert p.unit
        assert p.help
    assert model.described()["parameters"][0]["name"] == model.parameters[0].name


@pytest.mark.parametrize("name", MODELS)
def test_a_parameter_outside_its_range_gets_a_sentence(name):
    for p in MODELS[name].parameters:
        for bad in (p.low - 1.0, p.high + 1.0, math.nan, math.inf):
            with pytest.raises(InputError, match=rf"{p.name} = .* is outside its range: choose from"):
                MODELS[name].values(**{p.name: bad})
    with pytest.raises(InputError, match="must be a number"):
        MODELS[name].values(**{MODELS[name].parameters[0].name: "fast"})


def test_unknown_names_get_the_nearest_known():
    with pytest.raises(InputError, match="did you mean 'dzhanibekov'"):
        MODELS["dzanibekov"]
    with pytest.raises(InputError, match="did you mean 'spin'"):
        MODELS["dzhanibekov"].values(spn=3)


def test_the_registry_imports_nothing_heavy():
    code = (
        "import sys; from polhode.gallery import MODELS; [MODELS[name] for name in MODELS];"
        "heavy = {'numba', 'matplotlib', 'xarray', 'scipy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", MODELS)
def test_model_draws_its_picture(name, tmp_path):
    model = MODELS[name]
    values = model.values()
    figure = model.picture(ph.simulate(model.scenario(**values)), **values)
    figure.savefig(tmp_path / "picture.png", dpi=40)
    assert (tmp_path / "picture.png").stat().st_size > 5000
    for axes in figure.axes:
        if axes.axison:
            assert axes.get_ylabel(), axes.get_title()
