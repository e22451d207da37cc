"""Every model passes its checks, at its defaults and elsewhere; its parameters have ranges."""

from __future__ import annotations

import json
import math
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from gallery_cases import CASES
from polhode.errors import InputError
from polhode.gallery import MODELS, THEMES
from polhode.gallery.gallery_model import ReferenceCheck

COARSEST, FIRST = 0.05, 1e-6
"""Largest relative tolerances, of any check and of the first check of a model."""
ERRORS_OF_METHODS = {"drift", "symmetric-top", "force-vs-torque", "gyroscope-euler-angles"}
"""Models whose first check is, for some parameters, the error of a method or a small difference."""
RANDOM = {"chi-square of the faces"}
"""Checks of random numbers whose spread is as large as their mean."""


@cache
def played(name, given=()):
    """Values, motions and checks of a model run."""
    model = MODELS[name]
    values = model.values(**dict(given))
    motions = model.run(**values)
    return values, motions, model.numbers(motions, **values)


def test_every_model_has_its_case():
    assert set(CASES) == set(MODELS)
    assert all(len(case.others) >= 2 and case.by_hand for case in CASES.values())


@pytest.mark.parametrize(
    ("name", "given"),
    [(name, tuple(given.items())) for name, case in CASES.items() for given in ({}, *case.others)],
)
def test_model_shows_its_numbers(name, given):
    numbers = played(name, given)[2]
    assert name in ERRORS_OF_METHODS or numbers[0].tolerance < FIRST * abs(numbers[0].expected or numbers[0].size)
    for shown in numbers:
        assert shown.holds, f"{shown.label}: found {shown.found}, expected {shown.expected}"
        assert shown.label in RANDOM or shown.tolerance <= COARSEST * abs(shown.expected or shown.size)
        assert shown.unit
        assert shown.source
        assert json.loads(json.dumps({**vars(shown), "holds": shown.holds}))["holds"] is True
    assert len({shown.label for shown in numbers}) == len(numbers)


@pytest.mark.parametrize("name", CASES)
def test_default_numbers_by_hand(name):
    found = {shown.label: shown for shown in played(name)[2]}
    for label, (value, off) in CASES[name].by_hand.items():
        assert found[label].found == pytest.approx(value, rel=0, abs=off), label
        assert found[label].expected == pytest.approx(value, rel=0, abs=off), label


def test_a_wrong_motion_does_not_show_the_number():
    """The number is found in the motion: another spin gives another."""
    model = MODELS["dzhanibekov"]
    motion = model.run(spin=5.01, nudge=0.1)
    assert not model.numbers(motion, **model.values())[0].holds


def test_a_number_that_is_not_a_number_does_not_hold():
    assert not ReferenceCheck("x", "m", math.nan, 1.0, 0.1, "nowhere").holds


@pytest.mark.parametrize("name", MODELS)
def test_model_is_complete(name):
    model = MODELS[name]
    assert model.name == name
    assert 4 <= len(model.explanation.splitlines()) <= 6
    assert model.title
    assert model.source
    assert model.theme in THEMES
    for p in model.parameters:
        assert p.low <= p.default <= p.high
        assert p.unit
        assert p.help
    assert model.describe()["parameters"][0]["name"] == model.parameters[0].name


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
        "heavy = {'llvmlite', 'matplotlib', 'xarray', 'scipy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", MODELS)
def test_model_draws_its_picture(name, tmp_path):
    values, motions, _ = played(name)
    figure = MODELS[name].picture(motions, **values)
    figure.savefig(tmp_path / "picture.png", dpi=40)
    assert (tmp_path / "picture.png").stat().st_size > 5000
    for axes in figure.axes:
        if axes.axison:
            assert axes.get_ylabel(), axes.get_title()


def test_the_gallery_page_is_made_of_the_models_as_they_are():
    """`python docs/gallery_page.py` writes it; it has the texts, parameters, checks and picture of every model."""
    docs = Path(__file__).parents[2] / "docs"
    maker = runpy.run_path(str(docs / "gallery_page.py"))
    assert (docs / "reference" / "gallery.md").read_text(encoding="utf-8") == maker["page"](
        {name: played(name)[2] for name in MODELS}
    )
    assert {path.stem for path in (docs / "pictures" / "gallery").glob("*.png")} == set(MODELS)
