"""The page of quantities is made from the table."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_quantities_is_that_of_the_table(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    import quantities_page

    assert quantities_page.PAGE.read_text(encoding="utf-8") == quantities_page.page(), "run docs/quantities_page.py"
