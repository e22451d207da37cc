"""A motion seen from a turning frame, and a body's nodes: against laws of that frame, and against derivatives."""

from __future__ import annotations

from itertools import pairwise
from math import log2

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import InputError

f = ph.forces
# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")

G = 9.80665
RATE = np.array((0.3, -0.5, 1.1))
PIVOT = np.array((0.4, -1.0, 0.2))
BODY = ph.Body(mass=2.0, inertia=np.array([[2.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 3.0]]))
START = ph.State(
    position=(1.3, -0.2, 1.5),
    orientation=Rotation.from_rotvec((0.3, 0.5, -0.2)),
    velocity=(1.0, 0.5, 2.0),
    angular_velocity_body=(1.5, 2.0, -1.0),
    time=0.5,
)
FORCES = [f.gravity(), f.linear_drag(0.4), f.torque((1.0, 0.2, 0.1))]


def thrown(step=0.05, **settings):
    return ph.simulate(
        BODY, START, FORCES, duration=1.0, step=step, method="rk4", engine="python", **{"output_step": step, **settings}
    )


def test_projectile_against_scipy_in_the_turning_frame():
    """Newton's law there has a centrifugal and a Coriolis force, and a weight whose direction goes round."""
    motion = ph.simulate(BODY, START, [f.gravity()], duration=1.5, method="exact", output_step=0.25)
    seen = motion.seen_from(RATE, PIVOT)

    def rates(t, y):
        weight = Rotation.from_rotvec(-RATE * t).apply((0.0, 0.0, -G))
        fictitious = -2 * np.cross(RATE, y[3:]) - np.cross(RATE, np.cross(RATE, y[:3]))
        return np.concatenate((y[3:], weight + fictitious))

    start = np.concatenate((seen.position[0], seen.velocity[0]))
    reference = solve_ivp(rates, (0.5, 2.0), start, "DOP853", t_eval=motion.times, rtol=1e-13, atol=1e-13)
    assert seen.position == pytest.approx(reference.y[:3].T, abs=1e-11)
    assert seen.velocity == pytest.approx(reference.y[3:].T, abs=1e-11)
    slopes = np.array([rates(t, y)[3:] for t, y in zip(reference.t, reference.y.T, strict=True)])
    assert seen.acceleration == pytest.approx(slopes, abs=1e-10)


def test_projectile_against_sympys_derivatives():
    t, w, r, u, g = sympy.symbols("t w r u g", positive=True)
    world = sympy.Matrix((r, w * r * t, u * t - g * t**2 / 2))
    c, s = sympy.cos(w * t), sympy.sin(w * t)
    there = sympy.Matrix([[c, s, 0], [-s, c, 0], [0, 0, 1]]) * world
    numbers = {w: 1.25, r: 2.0, u: 10.0, g: 9.8}
    motion = ph.simulate(
        ph.particle(1.0),
        ph.State(position=(2.0, 0.0, 0.0), velocity=(0.0, 2.5, 10.0)),
        [f.gravity(9.8)],
        duration=2.0,
        output_step=0.5,
        method="exact",
    )
    seen = motion.seen_from((0.0, 0.0, 1.25))
    for k, values in enumerate((seen.position, seen.velocity, seen.acceleration)):
        closed = sympy.lambdify(t, sympy.diff(there, t, k).subs(numbers))
        assert values == pytest.approx(np.array([closed(at).ravel() for at in motion.times]), abs=1e-12)


def test_what_is_seen_against_central_differences_of_order_two():
    errors = []
    for step in (0.05, 0.025, 0.0125):
        seen = thrown(step).seen_from(RATE, PIVOT)
        turns = Rotation.from_quat(seen.quaternion_wxyz, scalar_first=True)
        found = (
            (np.diff(seen.position[::2], axis=0) / (2 * step), seen.velocity[1:-1:2]),
            (np.diff(seen.velocity[::2], axis=0) / (2 * step), seen.acceleration[1:-1:2]),
            ((turns[2::2] * turns[:-2:2].inv()).as_rotvec() / (2 * step), seen.angular_velocity[1:-1:2]),
        )
        errors.append([np.abs(slope - value).max() for slope, value in found])
    for coarse, fine in pairwise(errors):
        assert all(1.9 < log2(a / b) < 2.1 for a, b in zip(coarse, fine, strict=True))


def test_energy_with_the_centrifugal_potential_is_conserved():
    """A platform about the vertical: v'^2/2 + g z - Omega^2 rho^2/2 has no work done on it by Coriolis' force."""
    motion = ph.simulate(BODY, START, [f.gravity()], duration=2.0, output_step=0.1, method="exact")
    seen = motion.seen_from((0.0, 0.0, 1.7))
    x, v = seen.position, seen.velocity
    jacobi = (v**2).sum(axis=1) / 2 + G * x[:, 2] - 1.7**2 * (x[:, :2] ** 2).sum(axis=1) / 2
    assert jacobi == pytest.approx(np.full_like(jacobi, jacobi[0]), rel=1e-13)


def test_attitude_against_scipys_rotations():
    motion = thrown()
    seen = motion.seen_from(RATE, PIVOT)
    frame = Rotation.from_rotvec(RATE * motion.times[:, None])
    turns = frame.inv() * Rotation.from_quat(motion.quaternion_wxyz, scalar_first=True)
    assert (turns * Rotation.from_quat(seen.quaternion_wxyz, scalar_first=True).inv()).magnitude().max() < 1e-15
    assert seen.angular_velocity == pytest.approx(frame.inv().apply(motion.angular_velocity - RATE), abs=1e-14)
    assert seen.times is motion.times


def test_a_frame_that_does_not_turn_shows_the_world():
    motion = thrown()
    seen = motion.seen_from((0, 0, 0))
    for name in ("position", "velocity", "acceleration", "quaternion_wxyz", "angular_velocity"):
        assert np.array_equal(getattr(seen, name), getattr(motion, name))


def test_a_body_that_turns_with_the_frame_rests_there():
    """Carried round a fixed axle: the motion of [Christian 2011, section 17.4] from the block's own frame."""
    motion = ph.simulate(
        ph.shapes.box((1, 1, 1), mass=1.0),
        ph.State(angular_velocity=RATE),
        duration=3.0,
        method="exact",
        output_step=0.5,
    )
    seen = motion.seen_from(RATE)
    assert seen.angular_velocity == pytest.approx(np.zeros((7, 3)), abs=1e-15)
    assert np.abs(seen.quaternion_wxyz[:, 1:]).max() < 1e-15


def show_the_same(several, single):
    """Body by body, or member by member, against motions of one body each."""
    for i, one in enumerate(single):
        many, alone = several.seen_from(RATE, PIVOT), one.seen_from(RATE, PIVOT)
        for name in ("position", "velocity", "acceleration", "quaternion_wxyz", "angular_velocity"):
            assert getattr(many, name)[:, i] == pytest.approx(getattr(alone, name), abs=1e-13), name
        points = [(0.1, 0.2, 0.3), (1.0, 0.0, 0.0)]
        assert several.displacements(points)[:, i] == pytest.approx(one.displacements(points), abs=1e-14)
        assert several.acceleration[:, i] == pytest.approx(one.acceleration, abs=1e-13)


SETTINGS = {"duration": 0.5, "step": 0.1, "output_step": 0.1, "method": "rk4", "engine": "python"}
OTHER = START.replace(velocity=(0.0, -1.0, 0.5), angular_velocity_body=(0.0, 1.0, 0.2))


def test_systems_and_ensembles_show_what_their_bodies_show_alone():
    single = [ph.simulate(BODY, state, FORCES, **SETTINGS) for state in (START, OTHER)]
    show_the_same(ph.simulate([BODY, BODY], [START, OTHER], FORCES, **SETTINGS), single)
    both = START.replace(
        velocity=np.array((START.velocity, OTHER.velocity)),
        angular_velocity_body=np.array((START.angular_velocity_body, OTHER.angular_velocity_body)),
    )
    show_the_same(ph.ensemble(BODY, both, FORCES, **SETTINGS), single)


@ph.force
def pull(t, state, body, params):
    x, y, z = state.position
    return (-3 * x * t, -3 * y, ph.if_less(0.0, z, -3 * z, 0.0)), (0.0, 0.0, 0.0)


@pytest.mark.parametrize("axis", [None, "body", "member"])
def test_acceleration_under_a_users_force_against_the_velocitys_slope(axis):
    given = {None: (BODY, START), "body": ([BODY, BODY], [START, OTHER])}.get(axis)
    slow = {**SETTINGS, "step": 1e-3, "duration": 0.01, "output_step": 1e-3}
    if axis == "member":
        both = START.replace(velocity=np.array((START.velocity, OTHER.velocity)))
        motion = ph.ensemble(BODY, both, [pull()], **slow)
    else:
        motion = ph.simulate(*given, [pull()], **slow)
    slope = (motion.velocity[2:] - motion.velocity[:-2]) / 2e-3
    assert motion.acceleration[1:-1] == pytest.approx(slope, abs=1e-5)


def test_acceleration_about_a_pivot_against_the_velocitys_slope():
    held = START.replace(velocity=(0.0, 0.0, 0.0))
    errors = []
    for step in (0.02, 0.01, 0.005):
        motion = ph.simulate(
            BODY, held, [f.gravity()], pivot=(0.1, 0.2, -0.5), **{**SETTINGS, "step": step, "output_step": step}
        )
        slope = np.diff(motion.velocity[::2], axis=0) / (2 * step)
        errors.append(np.abs(motion.acceleration[1:-1:2] - slope).max())
    assert all(1.8 < log2(a / b) < 2.1 for a, b in pairwise(errors)), errors
    weight = np.array((0.0, 0.0, -2.0 * G))
    assert motion.reaction_force == pytest.approx(2.0 * motion.acceleration - weight, abs=1e-12)


def test_a_vector_of_two_numbers_gets_a_sentence():
    with pytest.raises(InputError, match=r"angular_velocity must be 3 numbers, but has the shape \(2,\)$"):
        thrown().seen_from((1.0, 2.0))
    with pytest.raises(InputError, match="origin"):
        thrown().seen_from(RATE, (1.0, np.nan, 0.0))
    with pytest.raises(InputError, match="angular_velocity must be 3 numbers, not 'z'"):
        thrown().seen_from("z")


@pytest.mark.parametrize("many", [np.eye(3), np.ones((2, 3)), np.ones((21, 3)), np.ones((1, 1, 3))])
@pytest.mark.parametrize("members", [None, 2, 3])
def test_there_is_one_frame_at_a_time(members, many):
    """Not one for each member, nor one for each time: neither where the numbers of them would happen to agree."""
    if members is None:
        motion = thrown()
    else:
        several = START.replace(velocity=np.ones((members, 3)))
        motion = ph.ensemble(BODY, several, FORCES, **SETTINGS)
    for name, frame in (("angular_velocity", (many,)), ("origin", (RATE, many))):
        with pytest.raises(InputError, match=rf"{name} must be 3 numbers, .* give one frame at a time"):
            motion.seen_from(*frame)
    with pytest.raises(InputError, match=r"point must be 3 numbers, .* give one point at a time"):
        motion.angular_momentum_about(many)


def test_a_frame_that_turns_too_fast_to_be_followed_gets_a_sentence():
    """Beyond 1/eps rad its angle is known to no digit; below, squares that are too large to be held are refused."""
    motion = thrown()
    for rate in ((0.0, 0.0, 1e200), (1e308, 1e308, 1e308), (0.0, 4e15, 0.0)):
        with pytest.raises(InputError, match="its orientation is unknown"):
            motion.seen_from(rate)
    assert np.isfinite(motion.seen_from((0.0, 0.0, 1e15)).acceleration).all()
    short = ph.simulate(ph.particle(1.0), ph.State(position=(2, 0, 0)), duration=1e-200, method="exact")
    seen = short.seen_from((0.0, 0.0, 1e200))  # by 1 rad in all
    assert seen.position[-1] == pytest.approx([2 * np.cos(1.0), -2 * np.sin(1.0), 0.0], rel=1e-15)
    assert seen.velocity[0].tolist() == [0, -2e200, 0]
    with pytest.raises(InputError, match="the motion in the frame overflows"):
        _ = seen.acceleration


def test_points_of_different_lengths_get_a_sentence():
    with pytest.raises(InputError, match="points_body must be 3 numbers a point, not"):
        thrown().points([(1, 2, 3), (1, 2)])


# Nodes ---------------------------------------------------------------------------------------------------------------
POINTS = np.array([(1.0, 2.0, 3.0), (-0.5, 0.1, 0.7), (0.0, 0.0, 0.0)])


@pytest.mark.parametrize("seed", range(8))
def test_a_body_at_rest_has_zero_displacement_exactly(seed):
    """Whatever its attitude; as printed, [Hydra 2017, eq. 4.25] would give every node its own place."""
    turn = Rotation.random(random_state=seed)
    resting = ph.simulate(BODY, ph.State((0.3, 1e3, -2.0), turn, time=1.0), duration=1.0, step=0.05, engine="python")
    assert not resting.displacements(POINTS).any()


@pytest.mark.parametrize("output", [{"output_step": 0.05}, {"output_times": [0.7, 1.5]}])
def test_displacements_are_differences_of_places_since_the_start(output):
    motion = thrown(**{"output_step": None, **output})
    first = START.to_world(POINTS)
    assert motion.displacements(POINTS) == pytest.approx(motion.points(POINTS) - first, abs=1e-14)
    assert motion.displacements(POINTS[1]) == pytest.approx(motion.displacements(POINTS)[:, 1], abs=0)


def test_small_turns_keep_their_digits_against_the_closed_form():
    """1e-9 rad about z moves (1, 0, 0) by (-angle^2/2, angle, 0): differences of places would lose the first."""
    spin = ph.State(orientation=Rotation.from_rotvec((0.0, 0.0, 0.4)), angular_velocity=(0.0, 0.0, 1e-9))
    motion = ph.simulate(ph.shapes.sphere(1.0, mass=1.0), spin, duration=1.0, output_times=[1.0], method="exact")
    c, s = np.cos(0.4), np.sin(0.4)
    moved = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ motion.displacements((1.0, 0.0, 0.0))[0]
    assert moved[1] == pytest.approx(1e-9, rel=1e-6, abs=0)
    assert abs(moved[0]) < 1e-17


@pytest.mark.parametrize(("angle", "counts"), [(1e-15, False), (1e-14, True)])
def test_a_turn_within_rounding_counts_as_none(angle, counts):
    """As the docstring says: up to about 2e-15 rad since the start.  Reference: the arc, angle times radius."""
    spin = ph.State(angular_velocity=(0.0, 0.0, angle), velocity=(0.0, 0.0, 1e-20))
    motion = ph.simulate(ph.shapes.box((1, 2, 3), mass=1.0), spin, duration=1.0, output_times=[1.0], method="exact")
    moved = motion.displacements((1e3, 0.0, 0.0))[0]
    assert moved[1] == pytest.approx(1e3 * angle if counts else 0.0, rel=0.1, abs=0)
    assert moved[2] == 1e-20  # the displacement of the center of mass is counted in full
