"""The public face: explicit signatures, pointers from other packages' words, no homonyms."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import cloudpickle
import pytest

import polhode as ph
from polhode.errors import PolhodeError, UnitWarning

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
        (lambda: ph.solve_ivp, "'simulate'"),
        (lambda: ph.RigidBody, "'Body'"),
        (lambda: ph.reaction_wheel, "'rotor'"),
        (lambda: ph.simulate(BODY, duration=1.0, step=0.1, method="rk2"), "'midpoint'"),
        (lambda: ph.simulate(BODY, duration=1.0, step=0.1, method="heun"), "'midpoint' .of the same order 2"),
        (lambda: ph.simulate(BODY, duration=1.0, method="heyoka"), "'taylor'"),
        (lambda: ph.simulate(BODY, duration=1.0, method="odeint"), "'auto'"),
        (lambda: ph.State(quat_xyzw=(0, 0, 0, 1)), "'quaternion_wxyz' .scalar first: move the last number to the f"),
        (lambda: ph.State(rpy=(0, 0, 1)), "'orientation' .in rad; Rotation.from_euler"),
        (lambda: ph.State.from_geodetic(lat=0.5), "'latitude'"),
        (lambda: ph.State.from_geodetic(longitude_deg=50), "'longitude' .in rad: np.radians converts degrees"),
        (lambda: ph.State.from_geodetic(altitude=5e3), "'height'"),
    ],
)
def test_words_of_other_packages_point_to_ours(attempt, ours):
    with pytest.raises((PolhodeError, AttributeError), match=f"here it is called {ours}"):
        attempt()


MOTION = ph.simulate(BODY, duration=1.0)
SEVERAL = ph.ensemble(BODY, ph.State(velocity=[(0, 0, 1.0), (0, 0, 2.0)]), duration=1.0, reduce=["mean:position"])
STEPPER = ph.Stepper(BODY, method="rk4", step=0.1)


@pytest.mark.parametrize(
    ("owner", "word", "ours"),
    [
        *((MOTION, "omega", ours) for ours in ("'angular_velocity' (world axes; angular_velocity_body: body axes)",)),
        *((MOTION, word, "'times'") for word in ("t", "time")),
        *((MOTION, word, "'quaternion_wxyz'") for word in ("q", "quat", "orientation", "xquat")),
        *((MOTION, word, "'position'") for word in ("x", "pos", "r", "qpos")),
        *((MOTION, word, "'velocity'") for word in ("v", "vel", "qvel")),
        (MOTION, "L", "'angular_momentum'"),
        (MOTION, "p", "'linear_momentum'"),
        (MOTION, "E", "'energy'"),
        (MOTION, "T", "'kinetic_energy'"),
        (MOTION, "a", "'acceleration'"),
        (MOTION, "R", "'rotation_matrix'"),
        (MOTION, "rpy", "'yaw_pitch_roll'"),
        (MOTION, "y", "'dataset'"),
        (MOTION, "sol", "'at' (motion.at(t) is the state at any time)"),
        (MOTION, "t_events", "'crossings'"),
        (MOTION, "nfev", "'steps'"),
        (MOTION, "success", "'audit'"),
        (MOTION, "to_pandas", "'to_dataframe'"),
        (MOTION, "animate", "'film'"),
        (MOTION.final, "omega", "'angular_velocity'"),
        (MOTION.final, "x", "'position'"),
        (MOTION.final, "t", "'time'"),
        (MOTION.final, "R", "'orientation'"),
        (ph.State(), "quat_xyzw", "'quaternion_wxyz'"),
        (BODY, "com", "'center_of_mass'"),
        (BODY, "I", "'inertia'"),
        (BODY, "m", "'mass'"),
        (SEVERAL, "to_xarray", "'dataset'"),
        (STEPPER, "t", "'time'"),
        (BODY.constants(), "m", "'mass'"),
    ],
)
def test_attributes_by_the_words_of_other_packages(owner, word, ours):
    with pytest.raises(AttributeError, match=re.escape(f"has no {word!r}: here it is called {ours}")):
        getattr(owner, word)


def test_a_force_that_asks_for_an_unknown_word_is_told_ours():
    @ph.force
    def damper(t, state, body, params):
        return (0.0, 0.0, 0.0), tuple(-w for w in state.omega)

    with pytest.raises(Exception, match="here it is called 'angular_velocity'"):
        ph.simulate(BODY, forces=[damper()], duration=1.0)


def test_an_attribute_that_fails_shows_its_own_error():
    """And not that there is no such attribute."""
    broken = ph.simulate(BODY, duration=1.0)
    broken.scenario = None
    with pytest.raises(AttributeError, match="NoneType"):
        _ = broken.energy


def test_an_unknown_attribute_is_answered_with_the_nearest_one():
    with pytest.raises(
        AttributeError, match=r"a Motion has no 'angular_velocities': did you mean 'angular_velocity'\?$"
    ):
        _ = MOTION.angular_velocities
    assert not hasattr(MOTION, "__array__")
    assert pickle.loads(pickle.dumps(MOTION)).times.tolist() == MOTION.times.tolist()


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: ph.simulate(BODY, duration=1.0, joints=[]),
        lambda: ph.simulate(BODY, duration=1.0, constraints=[]),
        lambda: ph.Scenario(BODY, duration=1.0, joint=None),
        lambda: ph.hinge,
        lambda: ph.revolute,
        lambda: ph.ball,
        lambda: ph.weld,
    ],
)
def test_joints_are_answered_with_what_can_be_done(attempt):
    with pytest.raises((PolhodeError, AttributeError), match=r"there are no joints yet\. pivot= .*spring_between"):
        attempt()


def test_degrees_are_noticed_where_they_can_be():
    """A latitude of 45 rad, a slope of 30 rad, a keyword; an attitude of more than a turn gets a warning."""
    with pytest.raises(PolhodeError, match=r"Is it in degrees\? Use np\.radians"):
        ph.State.from_geodetic(latitude=45.0)
    with pytest.raises(PolhodeError, match="if that is in degrees"):
        ph.slope(30.0)
    with pytest.raises(PolhodeError, match=r"angles are in rad: np\.radians converts degrees"):
        ph.State.from_geodetic(0.5, degrees=True)
    with pytest.warns(UnitWarning, match=r"is 90 rad.*Is it in degrees\?") as warned:
        ph.State.from_geodetic(0.5, yaw_pitch_roll=(90.0, 0.0, 0.0))
    assert warned[0].filename == __file__
    with pytest.warns(UnitWarning, match="is 5 rad"):
        ph.rotations.from_yaw_pitch_roll((0.1, 0.2), (1.0, 5.0), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.rotations.from_yaw_pitch_roll((0.1, 20.0), (0.5, -1.5), 0.0)
