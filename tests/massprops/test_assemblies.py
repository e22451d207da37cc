"""Bodies from particles and bodies, against raw sums over points, closed forms and exact fractions."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from assembly_cases import SIZES, assert_alike, assert_same, raw_sums
from polhode.errors import MassWarning
from polhode.scenario.members import select_body_members

TURN = Rotation.from_euler("xyz", (0.4, -1.0, 2.0))


# Particles ------------------------------------------------------------------------------------------------------------
def test_particles_against_exact_fractions():
    rng = np.random.default_rng(1)
    masses, points = rng.integers(1, 9, 7), rng.integers(-50, 50, (7, 3))
    m, p = [Fraction(int(a)) for a in masses], [[Fraction(int(c), 8) for c in row] for row in points]
    mass = sum(m)
    center = [sum(a * row[i] for a, row in zip(m, p, strict=True)) / mass for i in range(3)]
    d = [[c - o for c, o in zip(row, center, strict=True)] for row in p]
    second = [[sum(a * r[i] * r[j] for a, r in zip(m, d, strict=True)) for j in range(3)] for i in range(3)]
    trace = second[0][0] + second[1][1] + second[2][2]
    tensor = [[float((i == j) * trace - second[i][j]) for j in range(3)] for i in range(3)]
    body = ph.Body.from_particles(masses, points / 8)
    assert_same(body, float(mass), [float(c) for c in center], np.array(tensor), 1e-15)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("away", [2.0**20, 2.0**37])
def test_a_cloud_far_away_keeps_its_digits(size, away):
    """A million and 10^11 sizes away.  The points lie on a grid that the distance does not round."""
    rng = np.random.default_rng(2)
    masses, points = rng.uniform(1, 2, 500), np.round(rng.normal(size=(500, 3)) * 2**12) / 2**12
    unit = 2.0 ** np.round(np.log2(size))
    far = np.array((1.0, -2.0, 4.0)) * away
    body = ph.Body.from_particles(masses, unit * (points + far))
    mass, center, tensor = raw_sums(masses, points)
    assert_same(body, mass, unit * (center + far), unit**2 * tensor, 1e-15)


@pytest.mark.parametrize("place", [0, 500])
def test_a_light_particle_far_away_costs_no_digits(place):
    """Wherever it stands in the list: nothing is measured from it."""
    rng = np.random.default_rng(8)
    masses, points = np.insert(rng.uniform(1, 2, 500), place, 1e-10), rng.normal(size=(500, 3)) / 3
    points = np.insert(points, place, (1e6, 0.3, -0.2), axis=0)
    assert_same(ph.Body.from_particles(masses, points), *raw_sums(masses, points), 1e-15)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_particles_in_a_row_are_a_line(size, far):
    direction = np.array((1.0, 2.0, -3.0)) / np.sqrt(14)
    points = size * (np.outer((-1.0, 0.25, 0.5, 3.0), direction) + far)
    line = ph.Body.from_particles((1, 2, 3, 4), points)
    assert line.is_line
    assert not line.is_particle
    assert line.notes == ()
    moments = np.sort(line.principal_moments)
    t = np.array((-1.0, 0.25, 0.5, 3.0))
    closed = size**2 * (np.dot((1, 2, 3, 4), t * t) - np.dot((1, 2, 3, 4), t) ** 2 / 10)
    assert moments[0] == 0.0
    assert moments[1:] == pytest.approx([closed] * 2, rel=1e-14 if far == 0.0 else 1e-9)
    along = line.principal_axes.as_matrix()[:, line.principal_moments.argmin()]
    assert abs(along @ direction) == pytest.approx(1.0, abs=1e-14)


def test_nearly_collinear_particles_give_a_note():
    """5e-9 of the length aside: the moment about the line is 2e-17 of the others, in any axes."""
    points = np.array([(0, 0, 0), (1, 0, 0), (2, 1e-8, 0)])
    for turn in (Rotation.identity(), TURN):
        body = ph.Body.from_particles((1, 1, 1), turn.apply(points))
        assert body.is_line
        assert "treated as a line" in body.notes[0]
    body = ph.Body.from_particles((1, 1, 1), TURN.apply(points * (1, 100, 1)))
    assert not body.is_line
    assert body.notes == ()


def test_one_particle_and_several_in_one_point_are_particles():
    alone = ph.Body.from_particles((2.0,), ((1, 2, 3),))
    assert alone.is_particle
    assert alone.center_of_mass.tolist() == [1.0, 2.0, 3.0]
    point = ph.particle(1.0).move((0.1, 0.2, 0.7)).join(ph.particle(3.0).move((0.3, 0.5, 0.8)).move((-0.2, -0.3, -0.1)))
    assert point.is_particle  # though the sums differ in their last digits
    assert point.mass == 4.0


def test_members_of_clouds_are_the_clouds_to_the_bit():
    rng = np.random.default_rng(3)
    masses, points = rng.uniform(1, 2, (5, 30)), rng.normal(size=(5, 30, 3))
    for m, p in ((masses, points), (masses[0], points), (masses, points[0])):
        together = ph.Body.from_particles(m, p)
        assert together.members == 5
        for i in range(5):
            alone = ph.Body.from_particles(m[i] if m.ndim > 1 else m, p[i] if p.ndim > 2 else p)
            member = select_body_members(together, i)
            for name in ("mass", "center_of_mass", "inertia_body", "principal_moments"):
                assert np.array_equal(getattr(member, name), getattr(alone, name)), name
    rows = ph.Body.from_particles((1.0, 3.0), points[:, :2])
    assert rows.is_line
    assert (np.sort(rows.principal_moments)[:, 0] == 0.0).all()


# Parallel axes, joining, taking away ----------------------------------------------------------------------------------
def test_parallel_axes_both_ways():
    """A box about its corner: m (b^2 + c^2)/3 and -m a b/4; and from there back to its center."""
    m, a, b, c = 2.0, 0.3, 0.5, 0.7
    box = ph.shapes.box((a, b, c), mass=m).move((a / 2, b / 2, c / 2))
    corner = [
        [m * (b * b + c * c) / 3, -m * a * b / 4, -m * a * c / 4],
        [-m * a * b / 4, m * (c * c + a * a) / 3, -m * b * c / 4],
        [-m * a * c / 4, -m * b * c / 4, m * (a * a + b * b) / 3],
    ]
    assert box.inertia_about((0, 0, 0)) == pytest.approx(np.array(corner), rel=1e-15)
    r = box.center_of_mass
    back = box.inertia_about((0, 0, 0)) - m * (r @ r * np.eye(3) - np.outer(r, r))
    assert back == pytest.approx(box.inertia_body, abs=1e-16)
    assert (box.inertia_about(r) == box.inertia_body).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("far", [0.0, 2.0**20])
def test_two_half_boxes_are_a_box(size, far):
    unit = 2.0 ** np.round(np.log2(size))
    half = ph.shapes.box((unit, 2 * unit, 1.5 * unit), density=3.0)
    place = unit * far * np.array((1, -2, 3))
    whole = half.move((0, 0, -0.75 * unit)).move(place).join(half.move((0, 0, 0.75 * unit)).move(place))
    assert_alike(whole, ph.shapes.box((unit, 2 * unit, 3 * unit), density=3.0).move(place), 1e-15)
    assert whole.area is None


def test_subtracting_undoes_joining():
    rng = np.random.default_rng(4)
    for _ in range(20):
        a, b, c = (
            ph.shapes.box(rng.uniform(0.5, 2, 3), density=rng.uniform(1, 5))
            .turn(Rotation.from_quat(rng.normal(size=4)))
            .move(v)
            for v in rng.normal(size=(3, 3))
        )
        assert_alike(a.join(b, c).subtract(b, c), a, 1e-13)
        assert_alike(a.join(b, c).subtract(c), b.join(a), 1e-13)
        assert_alike(a.join(b).join(c), c.join(a, b), 1e-14)
    row = ph.Body.from_particles((1, 2, 4), ((0, 0, 0), (1, 1, 1), (3, 3, 3)))
    left = row.subtract(ph.particle(4.0).move((3, 3, 3)))
    assert left.is_line
    assert left.principal_moments.max() == pytest.approx(2.0, rel=1e-14)
    assert ph.particle(3.0).subtract(ph.particle(1.0)).is_particle


def test_a_hollow_sphere_against_its_closed_form():
    """2/5 rho (4 pi / 3) (R^5 - r^5)."""
    shell = ph.shapes.sphere(1.0, density=2.0).subtract(ph.shapes.sphere(0.9, density=2.0))
    assert shell.principal_moments == pytest.approx([16 * np.pi / 15 * (1 - 0.9**5)] * 3, rel=1e-14)
    assert shell.volume == pytest.approx(4 * np.pi / 3 * (1 - 0.729), rel=1e-14)


PLATE = ph.shapes.box((0.1, 0.1, 0.01), density=2.0)
DRILL = ph.shapes.cylinder(0.005, 0.02, density=2.0)
SUSPICIOUS_HOLES = {
    "too long": (DRILL, "the hole extends 0.005 m beyond the body along z"),
    "outside": (DRILL.scale(0.2).move((0.07, 0, 0)), "the hole lies outside the body"),
    "denser": (DRILL.scale(0.2, keep="mass"), "the hole has density 250 kg/m3, the body 2 kg/m3"),
    "at the rim": (DRILL.scale((1, 1, 0.25)).move((0.046, 0, 0)), "extends 0.001 m beyond the body along x"),
    "by 1e-6": (DRILL.scale((1, 1, 0.5 + 1e-6)), "extends 1e-08 m beyond the body along z"),
}
HARMLESS = {
    "through": DRILL.scale((1, 1, 0.5)),
    "to the rim": DRILL.scale((1, 1, 0.25)).move((0.045, 0, 0)),
    "numbers alone": ph.Body(1e-6, (1e-12, 1e-12, 1e-12), volume=1e-7),
}


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("turn", [Rotation.identity(), TURN], ids=["straight", "turned"])
def test_holes_that_protrude_or_are_denser_warn(size, turn):
    """However the part is turned; round holes are tested by their true outline, not by a mesh."""

    def subtracted(hole):
        return PLATE.scale(size).turn(turn).subtract(hole.scale(size).turn(turn))

    for hole, sentence in SUSPICIOUS_HOLES.values():
        with pytest.warns(MassWarning) as caught:
            drilled = subtracted(hole)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert drilled.notes == (str(caught[0].message),)
        if size == 1.0 and turn.magnitude() == 0.0:
            assert sentence in drilled.notes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for hole in HARMLESS.values():
            assert subtracted(hole).notes == ()


def test_no_warning_where_densities_are_mixed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a, b = ph.shapes.box((1, 1, 1), density=1.0), ph.shapes.box((1, 1, 1), density=5.0).move((1, 0, 0))
        assert_alike(a.join(b).subtract(b), a, 1e-14)
        assert a.subtract(ph.particle(0.1)).notes == ()
        assert a.join(ph.particle(0.1)).subtract(a.scale(0.5)).notes == ()
    with pytest.warns(MassWarning, match="hole 2 has density 5 kg/m3, the body 1 kg/m3"):
        a.subtract(a.scale(0.1), b.move((-1, 0, 0)).scale(0.1))


@pytest.mark.parametrize("members", [2, 3])
def test_one_member_with_too_long_a_hole_warns(members):
    lengths = np.linspace(0.005, 0.012, members)
    with pytest.warns(MassWarning, match="extends 0.001 m beyond the body along z"):
        PLATE.subtract(ph.shapes.cylinder(0.005, lengths, density=2.0))


def test_what_is_known_of_the_whole():
    box, bare = ph.shapes.box((1, 1, 1), mass=1.0), ph.Body(1.0, (1, 1, 1), notes=("a note",))
    weighted = box.join(ph.particle(0.1).move((0, 0, 1)))
    assert weighted.volume == 1.0
    assert len(weighted.parts) == 1
    unknown = box.join(bare, bare)
    assert unknown.volume is None
    assert unknown.parts == ()
    assert unknown.notes == ("a note",)
    top = ph.Body(1.0, (1, 1, 3), allow_unphysical=True)
    assert top.join(box).allow_unphysical
    assert top.turn(TURN).allow_unphysical
    assert box.join() is box
    assert box.subtract() is box


# Ensembles ------------------------------------------------------------------------------------------------------------
OPERATIONS = {
    "move": lambda b: b.move((1, 2, 3)),
    "turn": lambda b: b.turn(TURN, (1, 0, 0)),
    "scale": lambda b: b.scale(3.0),
    "stretch": lambda b: b.scale((1, 2, 3)),
    "mirror": lambda b: b.mirror((1, 2, 0)),
    "join": lambda b: b.move((1, 0, 0)).join(ph.particle(1.0), b.turn(TURN)),
    "subtract": lambda b: b.subtract(ph.shapes.sphere(0.1, density=2.0)),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
@pytest.mark.parametrize("count", [2, 3])
def test_members_of_an_ensemble_are_the_same_to_the_bit_alone(operation, count):
    sides = np.random.default_rng(5).uniform(1, 2, (count, 3))
    together = operation(ph.shapes.box(sides, density=2.0))
    assert together.members == count
    for i in range(count):
        alone, member = operation(ph.shapes.box(sides[i], density=2.0)), select_body_members(together, i)
        for name in ("mass", "volume", "center_of_mass", "inertia_body", "principal_moments"):
            assert np.array_equal(getattr(member, name), getattr(alone, name)), name
        assert len(member.parts) == len(alone.parts)
        assert np.array_equal(together.inertia_about((1, 2, 3))[i], alone.inertia_about((1, 2, 3)))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_each_member_turns_and_grows_by_itself(count):
    rng = np.random.default_rng(6)
    sides, turns = rng.uniform(1, 2, (count, 3)), Rotation.from_quat(rng.normal(size=(count, 4)))
    factors = rng.uniform(1, 2, count)
    many = ph.shapes.box(sides, density=1.0)
    turned, grown = many.turn(turns, (1, 2, 3)), many.scale(factors)
    for i in range(count):
        alone = ph.shapes.box(sides[i], density=1.0)
        assert_alike(select_body_members(turned, i), alone.turn(turns[i], (1, 2, 3)), 1e-15)
        assert np.array_equal(turned.principal_moments[i], alone.turn(turns[i], (1, 2, 3)).principal_moments)
        grown_alone = alone.scale(factors if count == 3 else factors[i])  # three factors are those of the axes
        assert_alike(select_body_members(grown, i), grown_alone, 1e-14)


def test_each_member_may_go_its_own_way():
    by = np.arange(6.0).reshape(2, 3)
    box = ph.shapes.box((1, 2, 3), mass=1.0)
    moved = box.move(by).join(box.scale(by + 1)).mirror(by + 1, by)
    for i in range(2):
        alone = box.move(by[i]).join(box.scale(by[i] + 1)).mirror(by[i] + 1, by[i])
        assert_alike(select_body_members(moved, i), alone, 1e-15)
    assert moved.parts == ()
