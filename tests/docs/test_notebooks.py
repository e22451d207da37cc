"""The notebooks of the documentation run, say what they said when they were stored, and show pictures."""

import re
import runpy
from pathlib import Path

import nbformat
import numpy as np
import pytest

import polhode as ph

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
MAKE = runpy.run_path(str(FOLDER / "make.py"))
NAMES = ("free-rotation", "gyroscopes", "mass-properties", "precision")
LARGEST_PICTURE, LARGEST_NOTEBOOK = 80_000, 500_000
MACHINE = re.compile(r"/home/|/root/|/tmp/|/Users/|[A-Z]:\\\\|site-packages|\.pyenv|\.venv")


def stored(name):
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def test_there_are_four():
    assert tuple(path.stem for path in MAKE["paths"]()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_says_again_what_is_stored(name):
    """Judge: a fresh kernel, and the stored texts."""
    assert MAKE["texts"](MAKE["executed"](FOLDER / f"{name}.ipynb")) == MAKE["texts"](stored(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_notebook_is_complete_and_small(name):
    notebook = stored(name)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.outputs for cell in code[1:])
    pictures = MAKE["pictures"](notebook)
    assert len(pictures) >= 2
    assert max(len(picture) for picture in pictures) < LARGEST_PICTURE
    assert (FOLDER / f"{name}.ipynb").stat().st_size < LARGEST_NOTEBOOK


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_notebook_names_no_machine(name):
    notebook = stored(name)
    assert notebook.metadata == MAKE["METADATA"]
    assert not any(cell.metadata for cell in notebook.cells)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert {output.get("name", "stdout") for output in outputs} == {"stdout"}
    assert not any(output.output_type == "error" for output in outputs)
    assert not MACHINE.search("".join(MAKE["texts"](notebook)))


@pytest.mark.parametrize("name", NAMES)
def test_a_lecture_explains_each_thing_it_does(name):
    """Words before code, formulas among them, and something to change at the end."""
    cells = stored(name).cells
    kinds = [cell.cell_type for cell in cells]
    assert kinds[:2] == ["markdown", "code"]
    words = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert any("$$" in text for text in words)
    assert "## Try it yourself" in words[-1]
    assert kinds.count("code") <= 14
    assert kinds.count("markdown") >= 8


def test_free_rotation_the_nudge_grows_as_the_printed_rate_says():
    """Judge: e^(lambda t), which the growth leaves by the part of the start that decays, and by rounding in print."""
    said = "".join(MAKE["texts"](stored("free-rotation")))
    ((rate, grown),) = re.findall(r"unstable, e\^λt = ([\d.]+); after 6 s the nudge is ([\d.]+) times as large", said)
    assert float(grown) == pytest.approx(float(rate), rel=0.01)


def test_mass_properties_no_moment_about_another_point_is_smaller():
    """The sentence before I' = I + m (d^2 - d d^T).  Judge: the tensor's increase along and across d."""
    part, d = ph.shapes.box((1, 2, 3), mass=2.0), np.array((0.3, -0.4, 1.2))
    increase = part.inertia_about(part.center_of_mass + d) - part.inertia_about(part.center_of_mass)
    assert d @ increase @ d == pytest.approx(0, abs=1e-13)
    assert np.linalg.eigvalsh(increase) == pytest.approx([0, 2 * d @ d, 2 * d @ d], abs=1e-13)
    words = "".join(cell.source for cell in stored("mass-properties").cells if cell.cell_type == "markdown")
    assert "no moment is smaller, and only the one about the line along $\\mathbf d$ stays" in words


def test_precision_says_no_more_about_long_runs_than_it_shows():
    """Judge: the stored text of the run of 2000 s, whose second half is no worse than the first."""
    words = "".join(cell.source for cell in stored("precision").cells if cell.cell_type == "markdown")
    assert "in the 2000 s below its energy error does not grow" in words
    halves = re.findall(
        r"splitting\d +energy off by (\S+) in the first half, (\S+) in the second",
        "".join(MAKE["texts"](stored("precision"))),
    )
    assert len(halves) == 2
    assert all(float(second) <= 1.05 * float(first) for first, second in halves)
