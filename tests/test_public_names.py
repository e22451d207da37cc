"""The public face: explicit signatures, pointers from other packages' words, no homonyms."""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import pytest

import polhode as ph
from polhode.errors import PolhodeError

SOURCE = Path(ph.__file__).parent
BODY = ph.particle(1.0)


def public_functions():
    for name in ph.__all__:
        value = getattr(ph, name)
        if inspect.ismodule(value):
            for inner in getattr(value, "__all__", [n for n in vars(value) if not n.startswith("_")]):
                member = getattr(value, inner)
                if callable(member) and getattr(member, "__module__", "").startswith("polhode"):
                    yield f"{name}.{inner}", member
        elif callable(value):
            yield name, value


def is_explicit(name, function):
    """Errors take what exceptions take; `uncertainty` passes the arguments of the function that it is given."""
    return name != "uncertainty" and not (inspect.isclass(function) and issubclass(function, Exception))


@pytest.mark.parametrize(("name", "function"), [each for each in public_functions() if is_explicit(*each)])
def test_every_argument_of_a_public_function_is_named(name, function):
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_no_two_public_classes_share_a_name():
    homes = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(SOURCE).as_posix())
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.mark.parametrize(
    ("attempt", "ours"),
    [
        (lambda: ph.simulate(BODY, duration=1.0, dt=0.1), "'step'"),
        (lambda: ph.simulate(BODY, t_end=1.0), "'duration'"),
        (lambda: ph.simulate(BODY, duration=1.0, t_eval=[0.5]), "'output_times'"),
        (lambda: ph.ensemble(BODY, duration=1.0, dt=0.1), "'step'"),
        (lambda: ph.Scenario(BODY, duration=1.0, dt=0.1), "'step'"),
        (lambda: ph.simulate(BODY, duration=1.0, method="RK45"), "'dop853'"),
        (lambda: ph.State(omega=(0, 0, 1)), "'angular_velocity'"),
        (lambda: ph.State(quat=(1, 0, 0, 0)), "'quaternion_wxyz'"),
        (lambda: ph.State().replace(omega=(0, 0, 1)), "'angular_velocity'"),
        (lambda: ph.Body(mass=1.0, inertia_tensor=(1, 1, 1)), "'inertia'"),
        (lambda: ph.Body(mass=1.0, inertia=(1, 1, 1), centre_of_mass=(0, 0, 0)), "'center_of_mass'"),
        (lambda: ph.shapes.cube, "'box'"),
        (lambda: ph.pow, "'power'"),
        (lambda: ph.arctan2, "'atan2'"),
        (lambda: ph.where, "'if_less'"),
    ],
)
def test_words_of_other_packages_point_to_ours(attempt, ours):
    with pytest.raises((PolhodeError, AttributeError), match=f"here it is called {ours}"):
        attempt()
