"""Bounding boxes, point sampling and the exact integral side by side, against closed forms and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from mesh_cases import CLOSED, make, together
from polhode.errors import InputError, MeshError
from polhode.massprops.geometry import Surface
from polhode.massprops.surface.ray_winding import cast_rays, intersect_vertical_rays, winding_numbers

NAMES = ["axis-aligned bounding box", "oriented bounding box", "point sampling", "exact boundary integral"]


def surface(mesh):
    return Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def turned(mesh, seed=0):
    vertices = Rotation.random(rng=np.random.default_rng(seed)).apply(np.asarray(mesh.vertices)) + (3.0, -1.0, 2.0)
    return trimesh.Trimesh(vertices, mesh.faces, process=False)


def test_all_three_agree_on_a_box_along_the_axes():
    ways = ph.compare(make.box((1, 2, 3)), density=2.0)
    assert [way.name for way in ways] == NAMES
    truth = ph.shapes.box((1, 2, 3), density=2.0)
    for way in ways:
        error = 0 if way.standard_error is None else 6 * way.standard_error["inertia_body"].max()
        assert way.inertia_body == pytest.approx(truth.inertia_body, abs=1e-12 + error)
        assert way.mass == pytest.approx(12.0, rel=1e-12)


def test_the_oriented_box_of_a_turned_box_is_that_box():
    aligned, oriented, _, exact = ph.compare(turned(make.box((1, 2, 3))), density=2.0)
    assert oriented.volume == pytest.approx(6.0, rel=1e-9)
    assert oriented.inertia_body == pytest.approx(exact.inertia_body, abs=1e-8)
    assert oriented.center_of_mass == pytest.approx(exact.center_of_mass, abs=1e-9)
    assert aligned.volume > 6.5


def test_the_boxes_hold_every_corner_of_a_fine_mesh():
    ball = make.icosphere(4)
    for way in ph.compare(turned(ball), density=1.0)[:2]:
        assert 7.0 < way.volume < 8.0 + 1e-12


@pytest.mark.parametrize("name", ["torus", "bracket", "ball with a void", "two pieces"])
@pytest.mark.parametrize("amount", [{"density": 3.0}, {"mass": 3.0}])
def test_sampling_errs_as_its_standard_error_says(name, amount):
    """Over 60 seeds the deviations, in standard errors, have a mean square near 1."""
    exact = ph.compare(CLOSED[name], **amount)[-1]
    seen = {key: [] for key in ("volume", "center_of_mass", "inertia_body", "mass")}
    for seed in range(60):
        way = ph.compare(CLOSED[name], points=2000, seed=seed, **amount)[2]
        for key, found in seen.items():
            error = np.asarray(way.standard_error[key])
            if np.all(error > 0):
                found.append(np.square((getattr(way, key) - getattr(exact, key)) / error))
    for key, found in seen.items():
        if key == "mass" and "mass" in amount:
            assert not found
        else:
            assert 0.6 < np.mean(found) < 1.6, key


def test_sampling_converges_with_the_root_of_its_points_and_repeats():
    errors = [ph.compare(CLOSED["torus"], density=1.0, points=n)[2].standard_error["volume"] for n in (1000, 16000)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    one, two = (ph.compare(CLOSED["torus"], density=1.0, points=1000, seed=5)[2] for _ in range(2))
    assert one.volume == two.volume
    assert one.volume != ph.compare(CLOSED["torus"], density=1.0, points=1000, seed=6)[2].volume


@pytest.mark.parametrize("thickness", [1e-2, 1e-4, 1e-6])
def test_a_slender_part_across_all_axes_is_sampled_in_its_own_box(thickness):
    """A rod with an L for its section: of the box along the axes it fills about its thickness squared."""
    section = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    upright = ph.shapes.prism([(x * thickness, y * thickness) for x, y in section], 1.0, density=1.0).mesh()
    slender = turned(upright, seed=3)
    aligned, oriented, sampled, exact = ph.compare(slender, density=1.0, points=20_000)
    assert oriented.volume < 4.1 * thickness**2 < 0.1 * aligned.volume
    assert exact.volume == pytest.approx(3 * thickness**2, rel=1e-6)
    assert abs(sampled.volume - exact.volume) < 5 * sampled.standard_error["volume"] < 0.1 * exact.volume
    off, error = sampled.inertia_body - exact.inertia_body, sampled.standard_error["inertia_body"]
    assert (np.abs(off) < 5 * error).all()
    assert (np.abs(sampled.center_of_mass - exact.center_of_mass) < 5 * sampled.standard_error["center_of_mass"]).all()


def test_sampling_in_a_turned_box_errs_as_its_standard_error_says():
    """As above, with the points in the oriented box: over 60 seeds the mean square of the deviations is near 1."""
    part = turned(CLOSED["bracket"], seed=2)
    aligned, oriented, _, exact = ph.compare(part, density=3.0)
    assert oriented.volume < 0.9 * aligned.volume
    ways = [ph.compare(part, density=3.0, points=2000, seed=seed)[2] for seed in range(60)]
    for key in ("volume", "center_of_mass", "inertia_body", "mass"):
        found = [np.square((getattr(way, key) - getattr(exact, key)) / way.standard_error[key]) for way in ways]
        assert 0.6 < np.mean(found) < 1.6, key


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint16])
def test_integers_of_any_type_are_accepted(kind):
    usual = ph.compare(CLOSED["box"], density=1.0, points=500, seed=7)[2]
    assert ph.compare(CLOSED["box"], density=1.0, points=kind(500), seed=kind(7))[2].volume == usual.volume


def test_bad_requests_are_refused_with_a_message():
    for points in (10, -1, 1e5, "many", None):
        with pytest.raises(InputError, match="points must be an integer of at least 100"):
            ph.compare(CLOSED["box"], density=1.0, points=points)
    for seed in (-1, 0.5, "x", None):
        with pytest.raises(InputError, match="seed must be an integer of at least 0"):
            ph.compare(CLOSED["box"], density=1.0, seed=seed)
    thin = together(make.icosphere(3), make.icosphere(3, radius=0.9999).copy())
    thin.faces[1280:] = thin.faces[1280:, ::-1]
    with pytest.raises(InputError, match=r"none of 100 points fell into the body, and 10 are needed.*points="):
        ph.compare(thin, density=1.0, points=100)
    with pytest.raises(MeshError, match="open"):
        ph.compare(trimesh.Trimesh(CLOSED["box"].vertices, CLOSED["box"].faces[1:], process=False), density=1.0)


# The lines underneath -----------------------------------------------------------------------------------------------
def test_winding_numbers_against_solid_angles():
    """[reference: a closed surface is seen under 4 pi times its winding number; van Oosterom and Strackee 1983]"""
    mesh = turned(together(make.icosphere(2), make.box((1.5, 1.5, 1.5))))
    rng = np.random.default_rng(4)
    places = rng.uniform(*mesh.bounds, (300, 3))
    a, b, c = (mesh.vertices[mesh.faces[:, k]] - places[:, None, :] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=-1) for v in (a, b, c))
    triple = np.einsum("pfi,pfi->pf", a, np.cross(b, c))
    dots = [np.einsum("pfi,pfi->pf", u, v) for u, v in ((a, b), (b, c), (c, a))]
    angle = 2 * np.arctan2(triple, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    assert np.array_equal(winding_numbers(surface(mesh), places), (angle.sum(axis=1) / (4 * np.pi)).round())


def test_lines_through_corners_and_edges_count_once():
    """Lines exactly through the corners and edges of a cube: in as often as out."""
    cube = make.box((2, 2, 2))
    line = np.linspace(-1, 1, 9)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    found = intersect_vertical_rays(np.asarray(cube.vertices), np.asarray(cube.faces), points)
    for k in range(len(points)):
        mine = found.sense[found.point == k]
        assert mine.sum() == 0
        assert len(mine) in (0, 2)


@pytest.mark.parametrize("name", CLOSED)
def test_ray_cast_volume_against_the_exact_integral(name):
    depths = cast_rays(surface(turned(CLOSED[name])))
    volume = (depths.winding * depths.length).sum() * depths.area
    assert volume == pytest.approx(ph.Body.from_mesh(CLOSED[name], mass=1.0).volume, rel=0.1)
    real = depths.length > 1e-9
    assert set(depths.winding[real]) <= {0.0, 1.0}
