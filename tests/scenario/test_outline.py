"""The outline of a body against sampled surfaces, closed forms and trimesh: the hull that touches is the body's own."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.errors import ScenarioError
from polhode.massprops.geometry import Part, Surface
from polhode.scenario.outline import outline_of, outline_size, outline_support

S = ph.shapes
TURN = Rotation.from_rotvec((0.3, -0.7, 1.1))
DIRECTIONS = np.random.default_rng(15).normal(size=(200, 3))
DIRECTIONS[:6] = np.concatenate((np.eye(3), -np.eye(3)))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)

phi = np.linspace(0, 2 * np.pi, 2881)
RIM = np.stack((np.cos(phi), np.sin(phi), 0 * phi), axis=-1)
POLAR, AROUND = np.meshgrid(np.linspace(0, np.pi, 721), phi[::4], indexing="ij")
BALL = np.stack((np.sin(POLAR) * np.cos(AROUND), np.sin(POLAR) * np.sin(AROUND), np.cos(POLAR)), axis=-1).reshape(-1, 3)
TUBE = np.linspace(0, 2 * np.pi, 361)[:, None, None]


def up(z):
    return np.array((0.0, 0.0, z))


CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
EDGES = np.array([(2.0, 0.0, 0.0), (2.0, 2.0, 0.0), (0.5, 0.0, 1.5)])
FOUR = np.array([(0.0, 0, 0), (4, 0, 0), (0, 3, 0), (0.5, 0, 2)])
BASE = np.array([(0.0, 0), (2, 0), (1, 0.3), (0, 2)])
SHAPES = {  # a body, points of its surface in the coordinates that its docstring names, and the kinds of its features
    "box": (S.box((1, 2, 3), mass=1.0), CORNERS * (0.5, 1.0, 1.5), [0] * 8),
    "sphere": (S.sphere(1.5, mass=1.0), 1.5 * BALL, [0]),
    "spherical_shell": (S.spherical_shell(1.5, mass=1.0, inner_radius=1.0), 1.5 * BALL, [0]),
    "ellipsoid": (S.ellipsoid((1, 2, 3), mass=1.0), BALL * (1, 2, 3), [2]),
    "cylinder": (S.cylinder(1, 3, mass=1.0), np.concatenate((RIM - up(1.5), RIM + up(1.5))), [1, 1]),
    "tube": (S.tube(1, 0.5, 3, mass=1.0), np.concatenate((RIM - up(1.5), RIM + up(1.5))), [1, 1]),
    "cone": (S.cone(1, 2, mass=1.0), np.concatenate((RIM - up(0.5), [up(1.5)])), [0, 1]),
    "frustum": (S.frustum(2, 1, 7, mass=1.0), np.concatenate((2 * RIM - up(2.75), RIM + up(4.25))), [1, 1]),
    "capsule": (S.capsule(0.5, 2, mass=1.0), np.concatenate((0.5 * BALL - up(1), 0.5 * BALL + up(1))), [0, 0]),
    "torus": (
        S.torus(1, 0.25, mass=1.0),
        ((1 + 0.25 * np.cos(TUBE)) * RIM[::8] + 0.25 * np.sin(TUBE) * up(1)).reshape(-1, 3),
        [1],
    ),
    "thin_disk": (S.thin_disk(1.25, mass=1.0), 1.25 * RIM, [1]),
    "ring": (S.ring(1.25, mass=1.0), 1.25 * RIM, [1]),
    "thin_rod": (S.thin_rod(2, 0.1, mass=1.0), np.concatenate((0.1 * RIM - up(1), 0.1 * RIM + up(1))), [1, 1]),
    "thin_sheet": (S.thin_sheet((1, 2), mass=1.0), CORNERS * (0.5, 1.0, 0.0), [0] * 4),
    "parallelepiped": (S.parallelepiped(EDGES, mass=1.0), (CORNERS + 1) / 2 @ EDGES, [0] * 8),
    "tetrahedron": (S.tetrahedron(FOUR, mass=1.0), FOUR, [0] * 4),
    "prism": (
        S.prism(BASE, 1.5, mass=1.0),
        np.concatenate([np.column_stack((BASE, np.full(4, z))) for z in (0.0, 1.5)]),
        [0] * 6,  # one corner of the base lies inside its hull
    ),
}


def assert_supports(body, points):
    """The hull of sampled points lies inside the outline's, and as near as its samples, at most a degree apart."""
    found = outline_support(outline_of(body), DIRECTIONS)
    sampled = (DIRECTIONS @ (points - body.center_of_mass).T).max(axis=1)
    size = np.abs(points).max()
    assert (found - sampled).min() > -1e-12 * size
    assert (found - sampled).max() < 1e-4 * size


@pytest.mark.parametrize(("body", "points", "kinds"), SHAPES.values(), ids=SHAPES.keys())
def test_against_sampled_surfaces(body, points, kinds):
    assert outline_of(body)[:, 0].tolist() == kinds
    assert_supports(body, points)
    far = np.linalg.norm(points - body.center_of_mass, axis=1).max()
    assert outline_size(outline_of(body)) == pytest.approx(far, rel=1e-4)


def test_every_shape_is_among_these():
    assert {*SHAPES, "half_ellipsoid"} == set(ph.shapes.__all__)


@pytest.mark.parametrize(("body", "points", "kinds"), SHAPES.values(), ids=SHAPES.keys())
def test_moved_turned_and_mirrored_bodies_against_mapped_points(body, points, kinds):
    moved = body.turn(TURN).move((0.3, -0.2, 0.5))
    assert outline_of(moved)[:, 0].tolist() == kinds
    assert_supports(moved, TURN.apply(points) + (0.3, -0.2, 0.5))
    n = np.array((1.0, 2.0, 2.0)) / 3
    mirrored = points - 2 * (points @ n)[:, None] * n
    assert_supports(body.mirror((1, 2, 2)), mirrored)
    assert_supports(body.scale(3.0, keep="mass").turn(TURN), TURN.apply(3 * points))


@pytest.mark.parametrize(("body", "points", "kinds"), SHAPES.values(), ids=SHAPES.keys())
def test_stretched_bodies_against_mapped_points_or_refused(body, points, kinds):
    round_about_z = 1 in kinds
    along = body.scale((2, 2, 3), keep="mass").turn(TURN)
    if body is SHAPES["torus"][0]:  # the circle of its tube becomes an ellipse
        with pytest.raises(ScenarioError, match="no longer round"):
            outline_of(along)
    else:
        assert_supports(along, TURN.apply(points * (2, 2, 3)))
    across = body.turn(TURN).scale((2, 1, 3), keep="mass")
    if round_about_z:
        with pytest.raises(ScenarioError, match=r"no longer round.*Body.from_mesh\(body.mesh"):
            outline_of(across)
    else:
        assert_supports(across, TURN.apply(points) * (2, 1, 3))


def test_a_turned_and_stretched_ellipsoid_against_mpmath():
    """max u.r over A B is |(A B)^T u|, in 40 digits."""
    body = S.ellipsoid((0.3, 1.1, 2.7), mass=1.0).turn(TURN).scale((2, 1, 3), keep="mass")
    linear = np.diag((2.0, 1, 3)) @ TURN.as_matrix() @ np.diag((0.3, 1.1, 2.7))
    with mpmath.workdps(40):
        for u in DIRECTIONS[:20]:
            exact = mpmath.norm(mpmath.matrix(linear.T.tolist()) * mpmath.matrix(u.tolist()))
            assert float(outline_support(outline_of(body), u) / exact) == pytest.approx(1.0, abs=1e-14)


def test_half_an_ellipsoid_is_refused():
    with pytest.raises(ScenarioError, match=r"half an ellipsoid.*Body.from_mesh\(body.mesh\(segments=48\)"):
        outline_of(S.half_ellipsoid((1, 1, 1), mass=1.0))


def test_a_particle_is_a_point_at_its_center_of_mass():
    outline = outline_of(ph.particle(2.0).move((1, 2, 3)))
    assert outline.shape == (1, 13)
    assert not outline[0, :9].any()
    assert outline_size(outline) == 0.0


# Meshes and several parts -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_a_finely_divided_box_has_eight_corners(seed):
    """Points inside faces and edges are not corners, whatever rounding does to them, far from the origin too."""
    mesh = trimesh.creation.box((1, 2, 3)).subdivide().subdivide().subdivide()
    mesh.vertices = Rotation.random(random_state=seed).apply(mesh.vertices) + (100, 200, 300)
    outline = outline_of(ph.Body.from_mesh(mesh, mass=1.0))
    assert len(outline) == 8
    assert np.linalg.norm(outline[:, 1:4], axis=1) == pytest.approx(np.sqrt(3.5), rel=1e-10)


def test_a_mesh_against_the_hull_of_trimesh():
    mesh = trimesh.util.concatenate(
        (trimesh.creation.icosphere(2), trimesh.creation.cylinder(0.3, 4, sections=17, transform=None))
    )
    body = replace(S.sphere(1.0, mass=1.0), parts=(Part(Surface(mesh.vertices, mesh.faces)),))
    corners = outline_of(body)[:, 1:4]
    exact = mesh.convex_hull.vertices
    assert sorted(map(tuple, corners.round(9))) == sorted(map(tuple, np.unique(exact.round(9), axis=0)))


def test_a_body_of_several_parts_is_the_hull_of_all_but_its_holes():
    ball = S.sphere(0.5, mass=1.0).move((0, 0, 2))
    body = S.box((1, 1, 1), mass=1.0).join(ball).subtract(S.box((0.2, 0.2, 0.2), mass=0.01))
    points = np.concatenate((CORNERS / 2, 0.5 * BALL + up(2)))
    assert len(outline_of(body)) == 9
    assert_supports(body, points)


def test_shared_corners_and_circles_count_once():
    row = S.box((1, 1, 1), mass=1.0).join(S.box((1, 1, 1), mass=1.0).move((1, 0, 0)))
    assert outline_of(row)[:, 1].tolist() == [-1.0] * 4 + [1.0] * 4
    stack = S.cylinder(1, 1, mass=1.0).join(S.cylinder(1, 1, mass=1.0).move((0, 0, 1)))
    assert sorted(outline_of(stack)[:, 3]) == [-1.0, 0.0, 1.0]
    sheets = S.thin_sheet((1, 1), mass=1.0).join(S.thin_sheet((1, 1), mass=1.0).move((1, 0, 0)))
    assert len(outline_of(sheets)) == 4
    sticks = S.thin_rod(1, 0.0, mass=1.0).join(S.thin_rod(1, 0.0, mass=1.0).move((0, 0, 1)))
    assert sorted(outline_of(sticks)[:, 3]) == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("points", "what"),
    [([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], "plane"), ([(i, i, i) for i in range(4)], "line")],
)
def test_a_mesh_without_volume_is_refused(points, what):
    flat = Surface(np.array(points, dtype=float), np.array([(0, 1, 2), (0, 2, 3)]))
    with pytest.raises(ScenarioError, match=f"no volume: the 4 points of its mesh lie in one {what}"):
        outline_of(replace(S.box((1, 1, 1), mass=1.0), parts=(Part(flat),)))


def test_mass_properties_alone_are_refused():
    with pytest.raises(ScenarioError, match="contacts need a shape, but the body has mass properties only"):
        outline_of(ph.Body(mass=1.0, inertia=(1, 1, 1)))


# Members ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [
        lambda s: S.box(np.multiply.outer(s, (1, 2, 3)), mass=1.0),
        lambda s: S.sphere(s, mass=1.0),
        lambda s: S.ellipsoid(np.multiply.outer(s, (1, 2, 3)), mass=1.0),
        lambda s: S.cylinder(s, 2.0, mass=1.0),
        lambda s: S.cone(1.0, s, mass=1.0),
        lambda s: S.frustum(1.0, s, 2.0, mass=1.0),
        lambda s: S.capsule(0.5, s, mass=1.0),
        lambda s: S.torus(5.0, s, mass=1.0),
        lambda s: S.thin_rod(s, 0.1, mass=1.0),
        lambda s: S.thin_sheet(np.multiply.outer(s, (1, 2)), mass=1.0),
        lambda s: S.prism(BASE, s, mass=1.0),
        lambda s: S.prism(np.multiply.outer(s, BASE), 1.0, mass=1.0),
        lambda s: S.tetrahedron(np.multiply.outer(s, FOUR), mass=1.0),
        lambda s: S.parallelepiped(np.multiply.outer(s, EDGES), mass=1.0),
        lambda s: S.ellipsoid(np.multiply.outer(s, (1, 2, 3)), mass=1.0).turn(TURN).scale((1, 2, 4), keep="mass"),
        lambda s: S.sphere(s, mass=1.0).turn(TURN).scale((1, 2, 4), keep="mass"),
        lambda s: S.box((1, 1, 1), mass=1.0).join(S.sphere(0.5, mass=s).move((1, 0, 0))),
    ],
)
def test_members_have_the_outlines_of_their_bodies(make):
    sizes = np.array((1.0, 2.0, 2.5))
    together = outline_of(make(sizes))
    for member, size in enumerate(sizes):
        alone = outline_of(make(size))
        u = DIRECTIONS[:20]
        assert outline_support(together[member], u) == pytest.approx(outline_support(alone, u), rel=1e-13)
        assert outline_size(together)[member] == pytest.approx(outline_size(alone), rel=1e-13)


def test_members_that_differ_in_their_mass_share_an_outline():
    assert outline_of(S.box((1, 2, 3), mass=np.array((1.0, 2.0)))).shape == (8, 13)


def test_an_outline_is_computed_once_and_cannot_be_changed():
    body = S.box((1, 2, 3), mass=1.0)
    assert outline_of(body) is outline_of(body)
    with pytest.raises(ValueError, match="read-only"):
        outline_of(body)[0, 0] = 1.0
