"""Python 3.12 made `sum` of floats more precise: in laws and tableaus it would have other bits than on 3.11."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import polhode as ph

SOURCE = Path(ph.__file__).parent


@pytest.mark.parametrize("folder", ["equations", "methods"])
def test_laws_and_tableaus_do_not_call_sum(folder):
    calls = [
        f"{path.name}:{node.lineno}"
        for path in (SOURCE / folder).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum"
    ]
    assert calls == []
