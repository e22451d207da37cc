"""The public face: explicit signatures, pointers from other packages' words, no homonyms."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import cloudpickle
import pytest

import polhode as ph
from polhode.errors import PolhodeError

SOURCE = Path(ph.__file__).parent
BODY = ph.particle(1.0)


def public_values(space=ph, path=()):
    """Every public name with its value, those of public namespaces included."""
    for name in space.__all__:
        value = getattr(space, name)
        yield ".".join((*path, name)), value
        if inspect.ismodule(value):
            yield from public_values(value, (*path, name))


def public_functions():
    for name, value in public_values():
        if callable(value) and getattr(value, "__module__", "").startswith("polhode"):
            yield name, value


def is_explicit(name, function):
    """Errors take what exceptions take; `uncertainty` passes the arguments of the function that it is given."""
    return name != "uncertainty" and not (inspect.isclass(function) and issubclass(function, Exception))


@pytest.mark.parametrize(("name", "function"), [each for each in public_functions() if is_explicit(*each)])
def test_every_argument_of_a_public_function_is_named(name, function):
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def public_namespaces():
    return {name: value for name, value in public_values() if inspect.ismodule(value)}


@pytest.mark.parametrize("name", ["", *public_namespaces()])
def test_a_public_namespace_shows_what_is_public_and_nothing_else(name):
    """Of the package itself, Python's import system makes its modules attributes: those are no leak."""
    space = public_namespaces().get(name, ph)
    assert set(dir(space)) == set(space.__all__)
    values = {one: getattr(space, one) for one in space.__all__}
    assert not [
        one for one, value in values.items() if getattr(value, "__module__", "polhode").split(".")[0] != "polhode"
    ]
    leaks = {one for one in vars(space) if not one.startswith("_")} - set(space.__all__)
    assert not [one for one in leaks if space is not ph or not inspect.ismodule(getattr(ph, one))]


def imported_names():
    """What the modules behind the public namespaces, and this one, import or define without making it public."""
    for name, space in public_namespaces().items():
        behind = vars(sys.modules[space.__wrapped__.__name__])
        yield from ((name, one) for one in behind if one not in space.__all__ and not one.startswith("__"))


def test_nothing_that_a_public_module_imports_can_be_reached_through_it():
    names = [*imported_names(), ("forces", "as_leaf"), ("air", "nearest"), ("reference", "import_module")]
    assert len(names) > 100
    reached = [f"{name}.{one}" for name, one in names if hasattr(public_namespaces()[name], one)]
    assert reached == []


def test_every_public_name_is_in_the_reference():
    text = (Path(__file__).parents[1] / "docs" / "reference" / "api.rst").read_text(encoding="utf-8")
    words = {word.removeprefix("ph.") for word in re.findall(r"[\w.]*\w", text)} | {"__version__"}
    shown = [value for name, value in public_values() if name in words]
    missing = [name for name, value in public_values() if not any(value is one for one in shown)]
    assert [name for name in missing if not inspect.ismodule(public_namespaces().get(name))] == []


def test_whoever_imports_a_public_module_first_users_see_its_public_names():
    code = "import polhode.rotations, polhode.reference.fall, polhode as ph; print(hasattr(ph.rotations, 'np'))"
    code += "; print(hasattr(ph.reference.fall, 'np')); from polhode.rotations import matrix; print(matrix.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "matrix"]


def test_a_public_namespace_can_be_sent_to_another_process():
    for space in public_namespaces().values():
        assert pickle.loads(pickle.dumps(space)) is space
        assert cloudpickle.loads(cloudpickle.dumps(space)) is space


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
        (lambda: ph.simulate(BODY, duration=1.0, method="RK45"), "'rk45'"),
        (lambda: ph.simulate(BODY, duration=1.0, method="RK23"), "'bs3'"),
        (lambda: ph.simulate(BODY, duration=1.0, method="DOP853"), "'dop853'"),
        (lambda: ph.simulate(BODY, duration=1.0, method="Radau"), "'dop853'"),
        (lambda: ph.simulate(BODY, duration=1.0, method="Tsit5"), "'tsit5'"),
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
