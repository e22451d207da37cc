"""What the documentation says that works, and does not: every crossing runs, and the pages say what came of it.

A part's number is written down by hand from elementary mechanics; where a crossing is refused, the sentence on the page
is the one that is raised. `python docs/capabilities.py`, then `python docs/limits_page.py`, write both anew.
"""

import json
import re
import runpy
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = runpy.run_path(str(DOCS / "limits_page.py"))
CAPABILITIES = PAGES["CAPABILITIES"]
RECORD = json.loads(CAPABILITIES["RECORD"].read_text(encoding="utf-8"))
NEEDS = {"taylor": "heyoka", "FMU": "fmpy"}
TOOLS = {"C source": "cc", "FMU": "cc", "WebAssembly": "node"}


def skip_without(way):
    if way in NEEDS and find_spec(NEEDS[way]) is None:
        pytest.skip(f"{NEEDS[way]} is not installed")
    if way in TOOLS and shutil.which(TOOLS[way]) is None:
        pytest.skip(f"{TOOLS[way]} is not there")


@pytest.mark.parametrize("way", CAPABILITIES["ALL_WAYS"])
@pytest.mark.parametrize("part", CAPABILITIES["BY_NAME"])
def test_every_part_by_every_way_is_as_the_page_says(part, way):
    skip_without(way)
    assert CAPABILITIES["outcome"](part, way) == RECORD["alone"][part][way]


@pytest.mark.parametrize(("first", "second"), CAPABILITIES["PAIRS"], ids=" + ".join)
def test_every_two_parts_together_are_as_the_page_says(first, second):
    assert CAPABILITIES["outcome_together"](first, second) == RECORD["together"][f"{first} + {second}"]


def test_the_record_has_every_crossing_and_nothing_else():
    assert list(RECORD["alone"]) == list(CAPABILITIES["BY_NAME"])
    assert all(list(row) == list(CAPABILITIES["ALL_WAYS"]) for row in RECORD["alone"].values())
    assert list(RECORD["together"]) == [f"{a} + {b}" for a, b in CAPABILITIES["PAIRS"]]


def test_the_tables_are_made_of_the_record():
    assert PAGES["TABLES"].read_text(encoding="utf-8") == PAGES["tables_page"](RECORD)


def test_every_limit_is_shown_and_its_sentence_is_the_one_on_the_page():
    assert PAGES["LIMITS"].read_text(encoding="utf-8") == PAGES["limits_page"]()


def test_what_works_nearly_everywhere_is_not_denied():
    """The page denied a mass that changes, aerodynamics, atmospheres, harmonics and GPUs when all were there."""
    for part in (
        "mass that changes",
        "added mass",
        "rotors",
        "air and aerodynamic coefficients",
        "gravity of an Earth",
    ):
        for way in ("auto", "dop853", "GPU", "ensemble", "stepper", "resumed run", "archive"):
            assert RECORD["alone"][part][way] == CAPABILITIES["WORKS"]


MEASURED = runpy.run_path(str(DOCS / "measured.py"))


@pytest.mark.parametrize("path", MEASURED["PAGES"], ids=lambda path: path.stem)
def test_measured_numbers_are_those_of_the_stored_records(path):
    """Otherwise run docs/measured.py."""
    text = path.read_text(encoding="utf-8")
    assert {found[1] for found in MEASURED["BLOCK"].findall(text)} == set(MEASURED["BLOCKS"])
    assert MEASURED["up_to_date"](text) == text


@pytest.mark.parametrize("name", MEASURED["BLOCKS"])
def test_a_record_says_what_made_it(name):
    record = MEASURED["record_of"](name)
    assert record["command"].startswith("python docs/measured.py")
    assert record["machine"]["processor"]
    assert record["versions"]["polhode"]


OF_USERS = [path for folder in ("howto", "explanation", "reference") for path in sorted((DOCS / folder).glob("*.md"))]


@pytest.mark.parametrize("path", [ROOT / "README.md", DOCS / "tutorial.md", *OF_USERS], ids=lambda path: path.stem)
def test_what_needs_a_clone_says_so(path):
    """Files of examples/, and benchmarks, are not in the installed package."""
    for section in re.split(r"(?m)^#+ ", path.read_text(encoding="utf-8")):
        if re.search(r"examples/\w|python -m benchmarks|polhode bench|python docs/measured", section):
            assert "clone" in section, section[:80]
