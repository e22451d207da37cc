"""docs/reference/errata.md names, for every slip of the texts, a test that exists."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "reference" / "errata.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
TEXTS = ("Baraff 1997", "Hydra 2017", "Slides", "Tops report", "Christian 2011")


def sections():
    """Each text's rows, as lists of cells."""
    for part in PAGE.split("\n## ")[1:]:
        rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
        if rows:
            yield part.splitlines()[0], [[cell.strip() for cell in row] for row in rows[2:]]


def defined(path):
    """The functions of a test file."""
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_test_that_the_page_names_exists():
    named = NAMED.findall(PAGE)
    files = {path: defined(path) for path, _ in named}
    assert [f"{path}::{name}" for path, name in named if name not in files[path]] == []
    assert len(named) > 70


def test_every_row_says_where_and_what_and_names_a_test():
    found = dict(sections())
    assert tuple(found) == TEXTS
    for text, rows in found.items():
        for row in rows:
            assert len(row) == 4, (text, row)
            assert all(row[:3]), (text, row)
            assert NAMED.search(row[3]), (text, row)


def test_every_test_of_a_slip_is_on_the_page():
    named = set(NAMED.findall(PAGE))
    files = [path.relative_to(TESTS).as_posix() for path in TESTS.glob("literature/test_errata_*.py")]
    written = {(path, name) for path in files for name in defined(path)}
    slips = {(path, name) for path, name in written if name.startswith("test_") and "helpers" not in name}
    assert slips - named == set()
