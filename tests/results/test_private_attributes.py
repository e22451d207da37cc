"""What begins with an underscore in a trajectory or a motion is read by its own module alone."""

from __future__ import annotations

import ast
from pathlib import Path

import polhode
from polhode.results.motion import Motion
from polhode.results.trajectory import Trajectory

SOURCES = Path(polhode.__file__).parent
PRIVATE = {name for name in (*vars(Trajectory), *vars(Motion)) if name.startswith("_") and not name.endswith("_")}


def foreign_reads(tree: ast.AST) -> set[str]:
    """Private names of a motion that are read from anything but `self`."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in PRIVATE
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }


def test_no_module_reads_private_attributes_of_a_motion():
    assert {"_state_of", "_at_points"} <= PRIVATE
    found = {path.relative_to(SOURCES): foreign_reads(ast.parse(path.read_text())) for path in SOURCES.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


def test_private_reads_are_found():
    assert foreign_reads(ast.parse("motion._state_of(1)")) == {"_state_of"}
