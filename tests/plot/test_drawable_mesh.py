"""The surface of a body for drawing: splitting conserves its area, and sharp edges are those of the body."""

import numpy as np
import pytest

import polhode as ph
from polhode.plot.drawable_mesh import SUBDIVISION, build_drawable_mesh, split_by_plane


def area(triangles):
    return (
        np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1).sum() / 2
    )


@pytest.mark.parametrize("sides", [(1.0, 2.0, 3.0), (1e-6, 1e-6, 1e-3), (5e8, 1e7, 2e8)])
def test_a_box_keeps_its_area_and_has_twelve_edges(sides):
    """References: 2 (ab + bc + ca), and 4 (a + b + c), the length of all edges."""
    a, b, c = sides
    skin = build_drawable_mesh(ph.shapes.box(sides, mass=1.0), 48)
    assert area(skin.triangles) == pytest.approx(2 * (a * b + b * c + c * a), rel=1e-12)
    lengths = np.linalg.norm(skin.edges[:, 1] - skin.edges[:, 0], axis=1)
    assert lengths.sum() == pytest.approx(4 * (a + b + c), rel=1e-12)
    assert lengths.max() <= max(sides) / SUBDIVISION
    assert not skin.two_sided


def test_a_ball_has_no_edge_and_a_sheet_has_a_rim():
    assert len(build_drawable_mesh(ph.shapes.sphere(1.0, mass=1.0), 48).edges) == 0
    sheet = build_drawable_mesh(ph.shapes.thin_sheet((2.0, 3.0), mass=1.0), 48)
    assert sheet.two_sided
    assert np.linalg.norm(sheet.edges[:, 1] - sheet.edges[:, 0], axis=1).sum() == pytest.approx(10.0, rel=1e-12)


def test_the_center_of_mass_is_the_origin():
    cone = ph.shapes.cone(1.0, 2.0, mass=1.0)
    assert build_drawable_mesh(cone, 48).triangles[..., 2].min() == pytest.approx(-0.5, abs=1e-12)


def test_halves_meet_at_the_plane_and_lose_nothing():
    triangles = np.random.default_rng(1).normal(size=(400, 3, 3))
    triangles[0, 0, 1] = triangles[1, 1, 1] = triangles[1, 2, 1] = 0.0
    cut, border, normals = split_by_plane(triangles, 1)
    assert np.abs(border[..., 1]).max() < 1e-14
    assert len(border) == len(normals)
    assert area(cut) == pytest.approx(area(triangles), rel=1e-12)
    assert not ((cut[..., 1].min(axis=1) < -1e-14) & (cut[..., 1].max(axis=1) > 1e-14)).any()


def test_the_border_of_a_box_s_halves_goes_round_it():
    """Reference: 2 (a + c), the girth at the middle."""
    halves = split_by_plane(build_drawable_mesh(ph.shapes.box((1.0, 2.0, 3.0), mass=1.0), 48).triangles, 1)
    length = np.linalg.norm(halves.border[:, 1] - halves.border[:, 0], axis=1).sum()
    faces = 1 if length < 9 else 2  # an edge in the plane belongs to the faces on both sides
    assert length == pytest.approx(faces * 2 * (1.0 + 3.0), rel=1e-12)
