"""The models of impact and contact beside other computations; and errors planted in them are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.gallery import MODELS, buttered_toast, eulers_disk, falling_box, sliding_block, thrown_die, tippe_top

G = 9.80665


def run(name, **given):
    """Values and motions of a model."""
    model = MODELS[name]
    values = model.values(**given)
    return values, model.run(**values)


def missed(name, **given):
    """The labels that do not hold."""
    values, motions = run(name, **given)
    return {number.label for number in MODELS[name].numbers(motions, **values) if not number.holds}


# The tippe top ------------------------------------------------------------------------------------------------------
def tippe_top_by_scipy(spin, friction, tilt, end, about_own_axis=False):
    """Tilt in degrees of a ball of 10 g with a disk of 4 g inside while it slides: Newton and Euler in vectors."""
    radius, below = 0.02, 0.010
    mass, depth = 0.014, 0.004 * below / 0.014
    ball, apart = 0.4 * 0.010 * radius**2, 0.010 * 0.004 / 0.014 * below**2
    across = ball + 0.004 * (3 * 0.012**2 + 0.003**2) / 12 + apart
    along = ball + 0.004 * 0.012**2 / 2
    up = np.array((0.0, 0.0, 1.0))

    def rate(_, y):
        axis, w, v = y[:3] / np.linalg.norm(y[:3]), y[3:6], y[6:9]
        inertia = across * np.eye(3) + (along - across) * np.outer(axis, axis)
        arm = depth * axis - radius * up
        slip = v + np.cross(w, arm)
        slip[2] = 0.0
        direction = up - friction * slip / np.linalg.norm(slip)

        def accelerations(support):
            turn = np.linalg.solve(inertia, np.cross(arm, support * direction) - np.cross(w, inertia @ w))
            bend = np.cross(turn, axis) + np.cross(w, np.cross(w, axis))
            push = support * direction / mass - G * up
            return turn, push, push[2] + depth * bend[2]  # the last vanishes in contact

        none, one = accelerations(0.0)[2], accelerations(1.0)[2]
        turn, push, _ = accelerations(-none / (one - none))
        return np.concatenate((np.cross(w, axis), turn, push))

    a = np.radians(tilt)
    axis = np.array((0.0, -np.sin(a), np.cos(a)))
    start = np.concatenate((axis, spin * (axis if about_own_axis else up), np.zeros(3)))
    x, y, z = solve_ivp(rate, (0.0, end), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:3, -1]
    return np.degrees(np.arctan2(np.hypot(x, y), z))


@pytest.mark.parametrize(
    ("spin", "friction", "tilt", "name", "frame"),
    [
        (150.0, 0.1, 6.0, tippe_top.VERTICAL, 100),
        (120.0, 0.15, 30.0, tippe_top.VERTICAL, 100),
        (150.0, 0.1, 40.0, tippe_top.OWN, 40),
        (150.0, 0.03, 20.0, tippe_top.OWN, 80),
    ],
)
def test_the_tilt_of_the_tippe_top_as_by_scipy(spin, friction, tilt, name, frame):
    """It rises from one start and falls back from the other."""
    motion = run("tippe-top", spin=spin, friction=friction, tilt=tilt)[1][name]
    assert set(motion.contact_state[1:frame]) == {"sliding"}
    found = tippe_top._tilts(motion)[frame]
    judged = tippe_top_by_scipy(spin, friction, tilt, motion.times[frame], name == tippe_top.OWN)
    assert found == pytest.approx(judged, abs=1e-5)
    assert (found > tilt) == (name == tippe_top.VERTICAL)


def test_the_start_decides_whether_the_tippe_top_turns_over():
    _, motions = run("tippe-top")
    over, back = motions[tippe_top.VERTICAL], motions[tippe_top.OWN]
    assert over.rotation_matrix[-1, 2, 2] < np.cos(np.radians(150))
    assert over.position[-1, 2] - over.position[0, 2] > 1.8 * 0.02 / 7
    assert back.rotation_matrix[:, 2, 2].min() > np.cos(np.radians(6.1))


def test_with_little_spin_and_much_friction_the_tippe_top_does_not_rise():
    _, motions = run("tippe-top", spin=100.0, friction=0.3, tilt=6.0)
    assert motions[tippe_top.VERTICAL].rotation_matrix[:, 2, 2].min() > np.cos(np.radians(10))


# Falling boxes ------------------------------------------------------------------------------------------------------
def test_the_ratios_are_within_their_standard_errors():
    _, motions = run("falling-box")
    for name, expected in ((falling_box.PLANE, 1.0), (falling_box.SPACE, 2.0)):
        found = falling_box.mean_energies(motions[name])
        assert abs(found.ratio - expected) < 4 * found.error
        assert found.error < 0.02 * expected


def test_boxes_in_a_plane_stay_in_it():
    _, motions = run("falling-box")
    plane = motions[falling_box.PLANE]
    assert not plane.quaternion_wxyz[..., [1, 3]].any()
    assert not plane.position[..., 1].any()


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_mean_over_all_states_against_random_states(dimensions):
    """Random positions and attitudes, weighted by the area of the momenta that have the rest of the energy."""
    random, height, sides = np.random.default_rng(3), 0.8, np.array((0.1, 0.2, 0.3))
    if dimensions == 2:
        angle = random.uniform(0, 2 * np.pi, 400_000)
        lowest = (0.2 * np.abs(np.cos(angle)) + 0.3 * np.abs(np.sin(angle))) / 2
        weight = np.ones_like(angle)
    else:
        turn = Rotation.random(400_000, random).as_matrix()
        lowest = np.abs(turn[:, 2] * sides).sum(axis=1) / 2
        moments = (sides @ sides - sides**2) / 12
        inverse = np.einsum("nij,j,nkj->nik", turn, 1 / moments, turn)[:, :2, :2]
        weight = 1 / np.sqrt(np.linalg.det(inverse))  # the area of horizontal L of a given energy
    z = random.uniform(0, height, len(lowest))
    kinetic = G * (height - z)
    weight = weight * (z > lowest) * kinetic ** (dimensions / 2 - 1)
    mean = (weight * kinetic).sum() / weight.sum()
    assert falling_box.microcanonical_mean(height, 0.3, dimensions) == pytest.approx(mean, rel=4e-3)


def test_a_floor_that_takes_energy_is_noticed(monkeypatch):
    monkeypatch.setattr(falling_box, "floor", lambda restitution: ph.floor(restitution=0.999))
    assert "largest relative change of energy, 3D" in missed("falling-box")


# Dice ---------------------------------------------------------------------------------------------------------------
def test_the_faces_against_scipys_chi_square():
    _, motions = run("thrown-die", throws=600)
    counts = thrown_die.count_faces(motions[thrown_die.ALL])
    judged = stats.chisquare(counts)
    assert thrown_die.chi_square(counts) == pytest.approx(judged.statistic, rel=1e-12)
    assert judged.pvalue > 1e-3
    assert stats.chi2.sf(thrown_die.CHI_SQUARE_LIMIT, 5) == pytest.approx(1e-3, rel=1e-3)


def test_the_same_throws_give_the_same_faces_on_any_number_of_threads():
    throws = thrown_die.scenario(60, 0.4, 0.3)[thrown_die.ALL]
    one, two = (ph.ensemble(throws, threads=n).rotation_matrix for n in (1, 2))
    assert np.array_equal(one, two)


def test_the_watched_die_is_the_first_of_all():
    _, motions = run("thrown-die", throws=60)
    assert thrown_die.points_on_top(motions[thrown_die.ONE]) == thrown_die.points_on_top(motions[thrown_die.ALL])[0]


def test_a_loaded_die_is_noticed(monkeypatch):
    lead = ph.shapes.sphere(0.001, 0.01).move((0.0, 0.0, -0.006))
    monkeypatch.setattr(thrown_die, "box", lambda sides, mass: ph.shapes.box(sides, mass).join(lead))
    assert "chi-square of the faces" in missed("thrown-die")


# Euler's disk -------------------------------------------------------------------------------------------------------
def test_a_ring_is_not_eulers_disk(monkeypatch):
    """Its moment about a diameter is M a^2/2."""
    monkeypatch.setattr(eulers_disk, "thin_disk", ph.shapes.ring)
    assert {"rate of steady rolling", "mean of that relation as it falls, smooth floor"} <= missed("eulers-disk")


def test_the_rate_grows_as_the_disk_falls():
    _, motions = run("eulers-disk")
    for name in (eulers_disk.ROUGH, eulers_disk.SMOOTH):
        tilt, rate, _ = eulers_disk.tilt_and_rates(motions[name])
        assert tilt[-1] < 0.1 * tilt[0]
        assert rate[-1] > 2.5 * rate[0]


# The block and the toast --------------------------------------------------------------------------------------------
def test_another_friction_is_noticed(monkeypatch):
    monkeypatch.setattr(sliding_block, "slope", lambda angle, friction: ph.slope(angle, friction=1.000001 * friction))
    assert {"acceleration", "friction over normal force"} <= missed("sliding-block")


def test_toast_from_ordinary_tables_lands_on_its_butter():
    """Half a turn below 1 m, a whole one from 3 m; in between they differ."""
    _, motions = run("buttered-toast")
    down = buttered_toast.butter_down(motions[buttered_toast.ALL]).reshape(len(buttered_toast.HEIGHTS), -1)
    assert down[buttered_toast.HEIGHTS < 0.9].mean() > 0.95
    assert down[-1].mean() < 0.4


def test_a_toast_with_another_spin_is_noticed(monkeypatch):
    true = buttered_toast._initial_state
    with monkeypatch.context() as patch:
        patch.setattr(buttered_toast, "_initial_state", lambda slip: true(slip._replace(rate=1.000001 * slip.rate)))
        _, motions = run("buttered-toast")
    assert not any(number.holds for number in MODELS["buttered-toast"].numbers(motions, 0.75, 0.05, 45.0))
