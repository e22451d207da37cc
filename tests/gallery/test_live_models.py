"""Which knobs of the gallery are live on a page: all but those listed here, with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polhode.gallery import MODELS
from polhode.gallery.live_page import program_of
from polhode.solve.live_numbers import KnobError

FIXED = {
    "cubesat": {"panels": "the number of bodies, forces or parameters"},
    "gyroscope-euler-angles": {"step": "the number of outputs depends on it"},
    "methane": {"separation": "cannot be followed"},
}
"""Models of which some knobs are live: those that are not."""
NOT_LIVE = {
    "attitude-control": "rotors",
    "buttered-toast": "contacts",
    "eulers-disk": "contacts",
    "falling-box": "contacts",
    "rocket-ascent": "a mass that changes",
    "sliding-block": "contacts",
    "thrown-die": "contacts",
    "tippe-top": "contacts",
}


def test_37_of_48_models_are_live_with_all_knobs():
    assert (len(MODELS), len(MODELS) - len(FIXED) - len(NOT_LIVE), len(FIXED)) == (48, 37, 3)


def test_the_documentation_lists_them():
    text = (Path(__file__).parents[2] / "docs" / "reference" / "interactive.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (all knobs|some knobs|none: [^|]*?) \(\d+\) \| (.*) \|$", text, re.MULTILINE))
    named = {kind: set(re.findall("|".join(sorted(MODELS, key=len, reverse=True)), row)) for kind, row in rows.items()}
    assert named.pop("all knobs") == set(MODELS) - set(FIXED) - set(NOT_LIVE)
    assert named.pop("some knobs") == set(FIXED)
    assert set().union(*named.values()) == set(NOT_LIVE)


@pytest.mark.parametrize("name", sorted(NOT_LIVE))
def test_a_model_that_is_not_live_says_why(name):
    with pytest.raises(KnobError, match=NOT_LIVE[name]):
        program_of(MODELS[name], MODELS[name].values())


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(MODELS) - set(NOT_LIVE)))
def test_all_other_knobs_are_live(name):
    program = program_of(MODELS[name], MODELS[name].values())
    assert set(program.fixed) == set(FIXED.get(name, {}))
    for knob, reason in FIXED.get(name, {}).items():
        assert reason in program.fixed[knob]
