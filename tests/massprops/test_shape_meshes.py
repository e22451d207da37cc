"""The triangles of shapes against their formulas: closed, outward, and nearer with the square of the segments."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from shape_cases import CASES, CORNERS, L_SHAPE, NAMES, SKEW, SPIKY, SWAPPED, integrated, near, shape

ONE_SIDED = {"thin_disk", "thin_sheet"}
s = ph.shapes

CURVED = {
    "sphere": s.sphere(1.3, density=1.0),
    "ellipsoid": s.ellipsoid((1.0, 2.0, 0.4), density=1.0),
    "half-ellipsoid": s.half_ellipsoid((1.0, 2.0, 0.4), density=1.0),
    "cylinder": s.cylinder(1.0, 3.0, density=1.0),
    "cone": s.cone(1.0, 3.0, density=1.0),
    "frustum": s.frustum(2.0, 0.5, 3.0, density=1.0),
    "capsule": s.capsule(1.0, 3.0, density=1.0),
    "torus": s.torus(2.0, 0.5, density=1.0),
    "horn torus": s.torus(2.0, 2.0, density=1.0),
    "tube": s.tube(2.0, 1.5, 3.0, density=1.0),
    "shell": s.spherical_shell(2.0, 1.5, density=1.0),
    "rod": s.thin_rod(3.0, 0.1, density=1.0),
}
POLYHEDRA = {
    "box": s.box((1.0, 2.0, 0.3), density=1.0),
    "tetrahedron": s.tetrahedron(CORNERS, density=1.0),
    "tetrahedron, left-handed": s.tetrahedron(SWAPPED, density=1.0),
    "parallelepiped": s.parallelepiped(SKEW, density=1.0),
    "parallelepiped, left-handed": s.parallelepiped(SKEW[::-1], density=1.0),
    "L": s.prism(L_SHAPE, 2.0, density=1.0),
    "star": s.prism(SPIKY, 2.0, density=1.0),
    "star, clockwise": s.prism(SPIKY[::-1], 2.0, density=1.0),
}


def summed(mesh):
    """Volume, center, and the tensor of unit density about it, by signed tetrahedra."""
    origin = mesh.vertices.mean(axis=0)
    three = (mesh.vertices - origin)[mesh.faces]
    parts = np.linalg.det(three) / 6
    center = parts @ three.sum(axis=1) / (4 * parts.sum())
    three = three - center
    parts, sums = np.linalg.det(three) / 6, three.sum(axis=1)
    squares = np.einsum("t,tki,tkj->ij", parts, three, three) + np.einsum("t,ti,tj->ij", parts, sums, sums)
    return parts.sum(), origin + center, np.eye(3) * np.trace(squares) / 20 - squares / 20


@pytest.mark.parametrize("body", CURVED.values(), ids=CURVED)
def test_curved_meshes_come_nearer_with_the_square_of_the_segments(body):
    errors = []
    for segments in (32, 64, 128):
        volume, center, tensor = summed(body.mesh(segments))
        size = np.cbrt(body.volume)
        errors.append(
            [
                (body.volume - volume) / body.volume,
                *np.abs(center - body.center_of_mass) / size,
                *np.abs(body.inertia_body - tensor)[np.triu_indices(3)] / body.inertia_body.max(),
                (body.area - body.mesh(segments).area) / body.area,
            ]
        )
    errors = np.array(errors)
    assert errors[0, 0] > 0
    # What symmetry or straight generators make exact has no order.
    curved = errors[0] > 1e-12
    assert curved.sum() >= 4
    assert (errors[:, ~curved] < 1e-12).all()
    orders = np.log2(errors[:-1, curved] / errors[1:, curved])
    assert ((orders > 1.9) & (orders < 2.1)).all()


@pytest.mark.parametrize("body", POLYHEDRA.values(), ids=POLYHEDRA)
@pytest.mark.parametrize("segments", [3, 48])
def test_meshes_of_polyhedra_are_exact(body, segments):
    mesh = body.mesh(segments)
    volume, center, tensor = summed(mesh)
    assert volume == near(body.volume, 1e-14)
    assert mesh.area == near(body.area, 1e-14)
    assert center == pytest.approx(body.center_of_mass, abs=1e-14)
    assert tensor == pytest.approx(body.inertia_body, abs=1e-14 * body.inertia_body.max())


@pytest.mark.parametrize("segments", [3, 4, 7, 48])
@pytest.mark.parametrize(("name", "sizes"), CASES, ids=NAMES)
def test_meshes_against_trimeshs_checks(name, sizes, segments):
    """Closed, consistent, facing outwards; no vertex twice, none unused, no triangle without area."""
    mesh = shape(name, sizes, mass=1.0).mesh(segments)
    assert mesh.is_winding_consistent
    assert len(np.unique(mesh.vertices, axis=0)) == len(mesh.vertices)
    assert len(np.unique(mesh.faces)) == len(mesh.vertices)
    assert mesh.area_faces.min() > 0
    if name in ONE_SIDED:
        assert (mesh.face_normals == (0, 0, 1)).all()
    else:
        assert mesh.is_watertight
        assert summed(mesh)[0] > 0


def test_vertices_lie_on_the_true_surface():
    x, y, z = s.ellipsoid((1.0, 2.0, 0.4), mass=1.0).mesh(20).vertices.T
    assert x**2 + (y / 2) ** 2 + (z / 0.4) ** 2 == near(np.ones(len(x)), 1e-14)
    x, y, z = s.torus(2.0, 0.5, mass=1.0).mesh(20).vertices.T
    assert np.hypot(np.hypot(x, y) - 2, z) == near(np.full(len(x), 0.5), 1e-14)
    x, y, z = s.capsule(1.0, 3.0, mass=1.0).mesh(20).vertices.T
    assert np.hypot(np.hypot(x, y), np.maximum(np.abs(z) - 1.5, 0)) == near(np.ones(len(x)), 1e-14)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("half_ellipsoid", {"semi_axes": (1.0, 2.0, 0.4)}),
        ("cylinder", {"radius": 1.0, "height": 3.0}),
        ("cone", {"radius": 1.0, "height": 3.0}),
        ("frustum", {"bottom_radius": 2.0, "top_radius": 0.5, "height": 3.0}),
        ("frustum", {"bottom_radius": 0.5, "top_radius": 2.0, "height": 3.0}),
        ("tube", {"outer_radius": 2.0, "inner_radius": 1.0, "height": 3.0}),
    ],
)
def test_bases_lie_where_the_integrated_center_says(name, sizes):
    """The map begins with its base at z = 0; the mesh has its center of mass at the origin."""
    _, center, _ = integrated(name, sizes)
    assert shape(name, sizes, mass=1.0).mesh().bounds[0, 2] == near(-center[2], 1e-13)


def test_segments_go_round_a_full_circle():
    assert len(s.cylinder(1.0, 1.0, mass=1.0).mesh(10).vertices) == 22
    assert len(s.sphere(1.0, mass=1.0).mesh(10).vertices) == 2 + 4 * 10
    assert len(s.torus(2.0, 1.0, mass=1.0).mesh(10).vertices) == 100
    assert len(s.thin_disk(1.0, mass=1.0).mesh(np.int64(10)).faces) == 10


def test_lines_are_drawn_with_a_hundredth():
    ring, rod = s.ring(2.0, mass=1.0).mesh(48), s.thin_rod(3.0, 0.0, mass=1.0).mesh(48)
    assert ring.extents == near([4.04, 4.04, 0.04], 1e-14)
    assert rod.extents == near([0.06, 0.06, 3.0], 1e-14)


def test_random_polygons_are_filled_exactly():
    """Stars of random radii, by the area along the rim; triangles that overlap, or leave a gap, would show."""
    rng = np.random.default_rng(8)
    for _ in range(25):
        n = rng.integers(5, 30)
        angle = 2 * np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
        base = rng.uniform(0.1, 1, n)[:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
        x, y = base.T
        area = (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2
        for corners in (base, base[::-1], base + 1e3):
            mesh = s.prism(corners, 1.0, mass=1.0).mesh()
            caps = mesh.area_faces[np.abs(mesh.face_normals[:, 2]) > 0.5]
            assert len(caps) == 2 * (n - 2)
            assert caps.sum() == near(2 * area, 1e-11)
            assert mesh.is_watertight


def test_corners_on_straight_edges_stay_corners():
    """A square with corners halfway (and turned, so that rounding bends its edges): no triangle without area."""
    square = np.array([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)], float)
    for angle in np.linspace(0, 1, 20):
        turn = np.array(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))))
        mesh = s.prism(square @ turn, 1.0, mass=1.0).mesh()
        assert mesh.is_watertight
        assert mesh.area_faces.min() == near(0.5, 1e-12)
