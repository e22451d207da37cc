"""Bad input is refused with a sentence that says what is wrong, what was found and what to do."""

from __future__ import annotations

import math
import pkgutil

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import BODY, INF, NAN, START, assert_refused, checked, scenario, two
from polhode.errors import ForceError, InertiaError, InputError, ScenarioError, StateError

ROUND = (1.0, 1.0, 1.0)
f = ph.forces


def with_keyword(t, state, body, params, *, gain=2.0):
    return (gain, 0.0, 0.0), (0.0, 0.0, 0.0)


def reads_two(t, state, body, params):
    push, turn = params
    return (push, 0.0, 0.0), (turn, 0.0, 0.0)


def undecorated(t, state, body, params):
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


FINITE = "must be finite"
BODIES = {
    "mass negative": (lambda: ph.Body(-1.0, ROUND), InertiaError, "mass must be greater than 0 kg", "-1"),
    "mass zero": (lambda: ph.Body(0.0, ROUND), InertiaError, "mass must be greater than 0 kg", "is 0"),
    "mass nan": (lambda: ph.Body(NAN, ROUND), InertiaError, "mass", FINITE, "nan"),
    "mass infinite": (lambda: ph.Body(INF, ROUND), InertiaError, "mass", FINITE, "inf"),
    "mass a text": (lambda: ph.Body("ten", ROUND), InertiaError, "mass must be a number", "'ten'"),
    "mass a text of digits": (lambda: ph.Body("10", ROUND), InertiaError, "mass must be a number", "'10'"),
    "mass None": (lambda: ph.Body(None, ROUND), InertiaError, "mass must be a number", "None"),
    "mass a truth value": (lambda: ph.Body(True, ROUND), InertiaError, "mass must be a number", "True"),
    "mass of one bad member": (lambda: ph.Body([1.0] * 20 + [-3.0], ROUND), InertiaError, "-3.0 at index [20]"),
    "particle without mass": (lambda: ph.particle(0.0), InertiaError, "mass must be greater than 0 kg"),
    "moment zero": (lambda: ph.Body(1.0, (0.0, 1.0, 1.0)), InertiaError, "not all greater than 0", "ph.particle"),
    "moment negative": (lambda: ph.Body(1.0, (-1.0, 1.0, 1.0)), InertiaError, "-1, 1, 1 kg m2", "Check the signs"),
    "tensor not positive": (
        lambda: ph.Body(1.0, [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        InertiaError,
        "not all greater than 0",
        "products of inertia",
    ),
    "moments of no solid": (
        lambda: ph.Body(1.0, (1.0, 2.0, 5.0)),
        InertiaError,
        "1, 2, 5 kg m2 belong to no solid",
        "exceeds the sum",
        "allow_unphysical=True",
    ),
    "tensor of no solid": (lambda: ph.Body(1.0, np.diag([1.0, 2.0, 3.01])), InertiaError, "belong to no solid"),
    "tensor not symmetric": (
        lambda: ph.Body(1.0, [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        InertiaError,
        "not symmetric",
        "differ by 0.1 kg m2",
        "missing sign",
    ),
    "two moments": (lambda: ph.Body(1.0, (1.0, 2.0)), InertiaError, "three principal moments or a 3 x 3 tensor"),
    "one moment": (lambda: ph.Body(1.0, 5.0), InertiaError, "three principal moments or a 3 x 3 tensor", "5.0"),
    "tensor 4 x 4": (lambda: ph.Body(1.0, np.eye(4)), InertiaError, "three principal moments or a 3 x 3 tensor"),
    "tensor ragged": (lambda: ph.Body(1.0, [[1.0, 2.0], [3.0]]), InertiaError, "3 x 3 tensor", "[3.0]"),
    "inertia a text": (lambda: ph.Body(1.0, "round"), InertiaError, "3 x 3 tensor", "'round'"),
    "inertia nan": (lambda: ph.Body(1.0, (NAN, 1.0, 1.0)), InertiaError, "inertia", FINITE, "nan"),
    "tensor infinite": (lambda: ph.Body(1.0, np.diag([INF, 1.0, 1.0])), InertiaError, "inertia", FINITE, "inf"),
    "center of mass nan": (
        lambda: ph.Body(1.0, ROUND, center_of_mass=(NAN, 0, 0)),
        InertiaError,
        "center_of_mass",
        FINITE,
    ),
    "members of body differ": (
        lambda: ph.Body([1.0, 2.0], np.ones((4, 3))),
        InputError,
        "different lengths, [2, 4]",
        "same number",
    ),
    "flag a text": (lambda: ph.Body(1.0, ROUND, allow_unphysical="no"), InertiaError, "True or False", "'no'"),
}

STATES = {
    "quaternion zero": (
        lambda: ph.State(quaternion_wxyz=(0, 0, 0, 0)),
        StateError,
        "(0, 0, 0, 0) is not a rotation",
        "(1, 0, 0, 0)",
    ),
    "quaternion nan": (lambda: ph.State(quaternion_wxyz=(NAN, 0, 0, 1)), StateError, "quaternion_wxyz", FINITE, "nan"),
    "quaternion infinite": (lambda: ph.State(quaternion_wxyz=(INF, 0, 0, 1)), StateError, "quaternion_wxyz", FINITE),
    "quaternion of three": (lambda: ph.State(quaternion_wxyz=(1, 0, 0)), StateError, "4 numbers", "(3,)"),
    "orientation a tuple": (
        lambda: ph.State(orientation=(1, 0, 0, 0)),
        StateError,
        "scipy.spatial.transform.Rotation",
        "(1, 0, 0, 0)",
        "quaternion_wxyz",
    ),
    "orientation twice": (
        lambda: ph.State(orientation=Rotation.identity(), quaternion_wxyz=(1, 0, 0, 0)),
        StateError,
        "both given",
        "give one",
    ),
    "angular velocity twice": (
        lambda: ph.State(angular_velocity=(1, 0, 0), angular_velocity_body=(1, 0, 0)),
        StateError,
        "world axes",
        "body axes",
        "both given",
    ),
    "position nan": (lambda: ph.State(position=(NAN, 0, 0)), StateError, "position", FINITE, "nan"),
    "position of two": (lambda: ph.State(position=(0, 0)), StateError, "position must be 3 numbers", "(2,)"),
    "position a text": (lambda: ph.State(position="here"), StateError, "position must be 3 numbers", "'here'"),
    "velocity infinite": (lambda: ph.State(velocity=(0, INF, 0)), StateError, "velocity", FINITE, "inf"),
    "body rate nan": (lambda: ph.State(angular_velocity_body=(0, 0, NAN)), StateError, "angular_velocity_body", FINITE),
    "world rate nan": (lambda: ph.State(angular_velocity=(0, 0, NAN)), StateError, "angular_velocity must", "nan"),
    "time nan": (lambda: ph.State(time=NAN), StateError, "time", FINITE),
    "time of each member": (lambda: ph.State(time=[0.0, 1.0]), StateError, "time must be one number", "(2,)"),
    "members of state differ": (
        lambda: ph.State(position=np.zeros((3, 3)), velocity=np.zeros((4, 3))),
        InputError,
        "different lengths, [3, 4]",
    ),
    "no member": (lambda: ph.State(position=np.zeros((0, 3))), StateError, "length 0", "at least one member"),
    "array formulation": (
        lambda: START.to_array(BODY, "momentum_matrx"),
        ScenarioError,
        "'momentum_matrx'",
        "did you mean 'momentum_matrix'?",
    ),
    "derivative too short": (lambda: scenario().derivative(0.0, np.zeros(12)), InputError, "13 or 18", "(12,)"),
}

FORCES = {
    "g nan": (lambda: f.gravity(NAN), ForceError, "g must be finite"),
    "g a text": (lambda: f.gravity("down"), ForceError, "g must be a number", "'down'"),
    "g of two": (lambda: f.gravity((0, 9.8)), ForceError, "(0, 9.8) is two numbers", "(x, y, z)", "members"),
    "gm nan": (lambda: f.point_gravity(NAN), ForceError, "gm must be finite"),
    "center nan": (lambda: f.point_gravity(1.0, (0, NAN, 0)), ForceError, "center must be finite"),
    "drag negative": (lambda: f.linear_drag(-1.0), ForceError, "c must not be negative", "-1.0", "add energy"),
    "drag nan": (lambda: f.quadratic_drag(NAN), ForceError, "c must be finite"),
    "wind a number": (lambda: f.quadratic_drag(1.0, wind=5.0), ForceError, "wind must be 3 numbers", "()"),
    "wind nan": (lambda: f.linear_drag(1.0, wind=(NAN, 0, 0)), ForceError, "wind must be finite"),
    "rotational drag negative": (lambda: f.rotational_drag(-2.0), ForceError, "must not be negative"),
    "force nan": (lambda: f.force_at((NAN, 0, 0)), ForceError, "force must be finite"),
    "force at two points": (lambda: f.force_at((1, 0, 0), (0, 0, 1), point=(0, 0, 0)), ForceError, "not at both"),
    "force axes": (lambda: f.force_at((1, 0, 0), axes="local"), ForceError, "'local'", "'world'", "'body'"),
    "torque nan": (lambda: f.torque((0, 0, NAN)), ForceError, "torque must be finite"),
    "torque axes": (lambda: f.torque((0, 0, 1), axes="principal"), ForceError, "'principal'", "'body'"),
    "thruster nowhere": (lambda: f.thruster((0, 0, 0), (0, 0, 0), 1.0), ForceError, "direction_body", "zero"),
    "thrust nan": (lambda: f.thruster((0, 0, 0), (1, 0, 0), NAN), ForceError, "thrust must be finite"),
    "thruster start nan": (lambda: f.thruster((0, 0, 0), (1, 0, 0), 1.0, NAN), ForceError, "start of a thruster"),
    "thruster start a text": (lambda: f.thruster((0, 0, 0), (1, 0, 0), 1.0, "soon"), ForceError, "start", "'soon'"),
    "thruster backwards": (
        lambda: f.thruster((0, 0, 0), (1, 0, 0), 1.0, 2.0, 1.0),
        ForceError,
        "stops before it starts",
        "start 2.0 s, stop 1.0 s",
    ),
    "thruster members": (
        lambda: f.thruster((0, 0, 0), (1, 0, 0), np.ones(5), stop=np.ones(4)),
        InputError,
        "different lengths, [4, 5]",
    ),
    "stiffness negative": (lambda: f.spring(-1.0, (0, 0, 0)), ForceError, "stiffness must not be negative"),
    "damping nan": (lambda: f.spring(1.0, (0, 0, 0), damping=NAN), ForceError, "damping must be finite"),
    "anchor nan": (lambda: f.spring(1.0, (NAN, 0, 0)), ForceError, "anchor must be finite"),
    "spring to itself": (
        lambda: f.spring_between(1, 1, 2.0),
        ForceError,
        "between two bodies",
        "both ends are on body 1",
    ),
    "spring between halves": (lambda: f.spring_between(0.5, 1, 2.0), ForceError, "by their indices", "0.5"),
    "spring between names": (lambda: f.spring_between("a", "b", 2.0), ForceError, "by their indices", "'a'"),
    "G nan": (lambda: f.mutual_gravity(NAN), ForceError, "G must be finite"),
    "impulse nan": (lambda: f.impulse((NAN, 0, 0), 1.0), ForceError, "impulse must be finite"),
    "impulse never": (lambda: f.impulse((1, 0, 0), NAN), ForceError, "time must be finite"),
    "on half a body": (lambda: f.gravity().on(1.5), ForceError, "gravity", "by their indices", "1.5"),
    "on a name": (lambda: f.gravity().on("moon"), ForceError, "by their indices", "'moon'"),
    "on nobody": (lambda: f.gravity().on(), ForceError, "names no body"),
    "on a body twice": (lambda: f.gravity().on(0, 1, 0), ForceError, "gravity names body 0 more than once"),
    "event on a body twice": (lambda: ph.event(undecorated)().on(1, 1), ForceError, "body 1 more than once"),
    "pair on": (lambda: f.spring_between(0, 1, 2.0).on(0), ForceError, "acts between two bodies"),
    "on body 5 of two": (lambda: two([f.gravity().on(5)]), ForceError, "body 5", "numbered 0 to 1"),
    "pair with one body": (lambda: scenario(forces=[f.spring_between(0, 1, 2.0)]), ForceError, "at least two", "list"),
    "attraction of one body": (lambda: scenario(forces=[f.mutual_gravity()]), ForceError, "mutual_gravity", "two"),
    "pair with body 7": (lambda: two([f.spring_between(0, 7, 2.0)]), ForceError, "body 7", "numbered 0 to 1"),
    "function undecorated": (lambda: scenario(forces=[undecorated]), ForceError, "undecorated", "@ph.force"),
    "maker not called": (lambda: scenario(forces=[f.gravity]), ForceError, "gravity(...)", "call it"),
    "force a text": (lambda: scenario(forces=["gravity"]), ForceError, "'gravity' is not a force", "ph.forces"),
    "force alone": (lambda: scenario(forces=f.gravity()), ScenarioError, "must be a list", "gravity alone"),
    "decorator on a number": (lambda: ph.force(5), ForceError, "goes before a function", "5"),
    "decorator on a builtin": (lambda: ph.force(max), ForceError, "Python function", "(t, state, body, params)"),
    "decorator axes": (lambda: ph.force(axes="local")(undecorated), ForceError, "'local'", "'world'", "'body'"),
    "too few arguments": (lambda: ph.force(lambda t, state: 0), ForceError, "takes 2 arguments", "takes 4", "params"),
    "keyword-only argument": (
        lambda: ph.force(with_keyword),
        ForceError,
        "with_keyword takes 'gain' by keyword only",
        "params",
    ),
    "keyword-only argument of an event": (lambda: ph.event(with_keyword), ScenarioError, "'gain' by keyword only"),
    "parameters missing": (
        lambda: ph.simulate(scenario(forces=[ph.force(reads_two)])),
        ForceError,
        "reads_two fails at the start",
        "not enough values to unpack",
        "It was made with 0 parameters",
        "reads_two(...)",
    ),
    "a parameter missing": (
        lambda: ph.simulate(scenario(forces=[ph.force(reads_two)(1.0)])),
        ForceError,
        "It was made with 1 parameter:",
    ),
    "pair arguments": (lambda: ph.pair_force(undecorated), ForceError, "takes 4 arguments", "takes 6", "body_b"),
    "parameter nan": (lambda: ph.force(undecorated)(NAN), ForceError, "parameter 1 of undecorated", "finite"),
    "parameter a text": (lambda: ph.force(undecorated)(1.0, "a"), ForceError, "parameter 2 of undecorated", "'a'"),
}


@checked(BODIES)
def test_a_body_that_cannot_be_is_refused(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


@checked(STATES)
def test_a_start_that_is_none_is_refused(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


@checked(FORCES)
def test_a_force_that_cannot_act_is_refused(attempt, kind, phrases):
    assert_refused(attempt, kind, phrases)


def test_flat_bodies_pass_and_rounding_is_no_offence():
    """A sheet has I3 = I1 + I2 exactly; its tensor, summed over turned points, has it but for rounding."""
    random = np.random.default_rng(17)
    for scale in 10.0 ** random.uniform(-12, 12, 2000):
        points = random.normal(size=(12, 3)) * (scale, scale * 10.0 ** random.uniform(-3, 0), 0.0)
        points = Rotation.random(random_state=random).apply(points - points.mean(axis=0))
        tensor = (points**2).sum() * np.eye(3) - points.T @ points
        a, b, c = np.sort(ph.Body(1.0, tensor).principal_moments)
        assert abs(a + b - c) <= 1e-12 * c
    assert ph.Body(1.0, (1.0, 2.0, 3.0)).principal_moments.tolist() == [1.0, 2.0, 3.0]
    assert ph.Body(1.0, (0.1, 0.2, 0.1 + 0.2)).principal_moments.tolist() == [0.1, 0.2, 0.1 + 0.2]


def test_moments_of_no_solid_pass_when_asked_for():
    assert ph.Body(1.0, (1.0, 2.0, 5.0), allow_unphysical=True).principal_moments.tolist() == [1.0, 2.0, 5.0]
    with pytest.raises(InertiaError, match="not all greater than 0"):
        ph.Body(1.0, (-1.0, 2.0, 5.0), allow_unphysical=True)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_a_quaternion_of_any_length_is_its_rotation(size):
    q = ph.State(quaternion_wxyz=(size, 0.0, 0.0, -size)).quaternion_wxyz
    assert q == pytest.approx([math.sqrt(0.5), 0.0, 0.0, -math.sqrt(0.5)], abs=4e-16)


def test_an_unknown_force_gets_the_nearest_known():
    with pytest.raises(AttributeError, match="has no 'gravty': did you mean 'gravity'"):
        f.gravty(9.81)


def test_no_module_hides_a_public_name():
    """Importing a submodule makes it an attribute of the package: none may be called like something public."""
    modules = {info.name for info in pkgutil.iter_modules(ph.__path__)}
    assert modules & set(ph.__all__) == {"affine", "reference", "rotations"}  # which are public as packages
