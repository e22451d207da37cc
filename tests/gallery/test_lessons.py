"""The lessons of the gallery: steps that can be done, formulas that can be read, sources that exist."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from polhode.errors import InputError
from polhode.gallery import MODELS
from polhode.gallery.lesson import Formula, Lesson, TryThis, bibliography, describe_reference
from polhode.web.stage import SWITCHES

FRONT = Path(__file__).parents[2] / "front" / "src"


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_lesson_whose_steps_can_be_done(name):
    model = MODELS[name]
    lesson = model.lesson
    assert lesson is not None
    assert 1 <= len(lesson.formulas) <= 3
    assert 2 <= len(lesson.steps) <= 4
    assert lesson.references
    described = lesson.describe()
    assert all(formula["mathml"].startswith("<math") and formula["words"] for formula in described["formulas"])
    assert len({(step.run, step.time, tuple(step.values.items()), step.switches) for step in lesson.steps}) == len(
        lesson.steps
    ), "two steps show the same"
    for step in lesson.steps:
        values = model.values(**step.values)
        assert set(step.switches) | set(step.off) <= set(SWITCHES)
        assert step.text.endswith((".", "?"))
        scenarios = model.scenario(**values)
        by_name = scenarios if isinstance(scenarios, Mapping) else {"": scenarios}
        assert step.run == "" or step.run in by_name, (step.run, list(by_name))
        scenario = by_name[step.run or next(iter(by_name))]
        if step.time is not None:
            assert scenario.times[0] <= step.time <= scenario.times[-1]


def test_a_step_names_switches_of_the_page():
    text = (FRONT / "options.ts").read_text(encoding="utf-8")
    listed = re.findall(r"^  (\w+): (?:true|false),$", text, re.MULTILINE)
    assert set(SWITCHES) <= set(listed) - {"dark"}


def test_a_step_plays_unless_it_stops_at_a_time():
    assert TryThis("a").describe()["play"] is True
    assert TryThis("a", time=1.0).describe()["play"] is False
    assert TryThis("a", time=1.0, play=True).describe()["play"] is True


def test_a_source_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="Moffatt 2000"):
        describe_reference("Moffat 2000, p. 3")


def test_an_entry_of_the_bibliography_is_told_with_its_place_and_doi():
    told = describe_reference("Moffatt 2000, p. 833")
    assert told == {
        "text": "H. K. Moffatt, Euler's disk and its finite-time singularity, Nature 404, 833, 2000, p. 833",
        "doi": "10.1038/35009017",
    }
    assert all(entry["title"] for entry in bibliography().values())


def test_a_lesson_can_be_compared_and_hashed():
    one, other = (Lesson((Formula("a"),), (TryThis("b", {"spin": 3.0}),)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
