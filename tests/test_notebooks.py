"""The notebooks of the documentation run, say what they said when they were stored, and show pictures."""

import re
import runpy
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
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
