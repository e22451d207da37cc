"""The picture of a part: hidden surfaces against rays cast one by one, balls against disks, labels against numbers."""

from __future__ import annotations

import re
import warnings
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
import trimesh
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import assert_refused
from polhode.errors import InertiaError
from polhode.plot.part import axis_camera, corner_camera, part_picture
from polhode.plot.projection import Camera
from polhode.plot.rasterizer import SUPERSAMPLING, render_mesh


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    """Small pictures: the tests look at numbers."""
    monkeypatch.setattr("polhode.plot.part.PIXELS", 200)


def soup(seed, count):
    """Triangles anywhere, through each other."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(3 * count, 3))
    return corners, np.arange(3 * count).reshape(-1, 3)


def nearest_along_rays(corners, faces, seen, at):
    """The greatest depth over points (N, 2) of the paper, each ray met with each triangle's plane; -inf for none."""
    depth = np.full(len(at), -np.inf)
    for a, b, c in corners[faces]:
        # at = a + s (b - a) + t (c - a) + depth * eye, solved for s, t and depth
        matrix = np.column_stack((b - a, c - a, -seen.eye))
        s, t, d = np.linalg.solve(matrix, (at @ np.stack((seen.right, seen.up)) - a).T)
        hit = (s >= 0) & (t >= 0) & (s + t <= 1)
        depth = np.where(hit, np.maximum(depth, d), depth)
    return depth


def pixel_middles(drawn):
    height, width = drawn.depth.shape
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    return drawn.low + (np.stack((columns, rows), axis=-1).reshape(-1, 2) + 0.5) * drawn.pixel


@pytest.mark.parametrize("seed", range(4))
def test_hidden_surfaces_against_rays_cast_one_by_one(seed):
    corners, faces = soup(seed, 60)
    turn = Rotation.random(random_state=seed).as_matrix()
    seen = Camera(*turn)
    drawn = render_mesh(corners, faces, seen, "#ece5d6", 60)
    expected = nearest_along_rays(corners, faces, seen, pixel_middles(drawn)).reshape(drawn.depth.shape)
    same = np.isclose(drawn.depth, expected, rtol=0, atol=1e-9) | (np.isinf(drawn.depth) & np.isinf(expected))
    # Only where an edge runs through the middle of a pixel may the two decide otherwise.
    assert same.mean() > 0.9999


def test_closed_surfaces_seen_with_and_without_their_back_are_the_same():
    """A closed surface's back is left out; if a face is missing nothing is, and through the hole the inside is seen."""
    ball = trimesh.creation.icosphere(subdivisions=2)
    seen = corner_camera()
    closed = render_mesh(ball.vertices, ball.faces, seen, "#ece5d6", 80)
    behind = np.argmin(ball.triangles_center @ seen.eye)
    opened = render_mesh(ball.vertices, np.delete(ball.faces, behind, axis=0), seen, "#ece5d6", 80)
    assert np.array_equal(closed.depth, opened.depth)
    front = np.argmax(ball.triangles_center @ seen.eye)
    holed = render_mesh(ball.vertices, np.delete(ball.faces, front, axis=0), seen, "#ece5d6", 80)
    assert (holed.depth < closed.depth - 1.5).sum() > 10
    assert np.array_equal(np.isinf(holed.depth), np.isinf(closed.depth))


def test_a_ball_covers_a_disk_and_is_as_near_as_its_radius():
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.3)
    drawn = render_mesh(ball.vertices, ball.faces, corner_camera(), "#ece5d6", 400)
    covered = np.isfinite(drawn.depth).sum() * drawn.pixel**2
    assert covered == pytest.approx(np.pi * 0.09, rel=2e-3)
    assert drawn.depth.max() == pytest.approx(0.3, rel=1e-3)
    assert drawn.image.shape[0] * SUPERSAMPLING == drawn.depth.shape[0]
    assert drawn.image.min() >= 0
    assert drawn.image.max() <= 1


@pytest.mark.parametrize("power", [-30, 30])
def test_dust_and_asteroids_are_drawn_alike_to_the_bit(power):
    torus = trimesh.creation.torus(1.0, 0.3)
    usual = render_mesh(torus.vertices, torus.faces, corner_camera(), "#ece5d6", 100)
    other = render_mesh(torus.vertices * 2.0**power, torus.faces, corner_camera(), "#ece5d6", 100)
    assert np.array_equal(usual.image, other.image)
    assert np.array_equal(usual.depth * 2.0**power, other.depth)


def test_a_hole_through_a_plate_shows_what_is_behind_it():
    """A drilled plate over a floor, seen from above: the floor through the hole, the plate's top around it."""
    plate = ph.shapes.box((2.0, 2.0, 0.4), density=1.0)
    drilled = plate.subtract(ph.shapes.cylinder(0.5, 0.4, density=1.0)).join(
        ph.shapes.box((1.0, 1.0, 0.2), density=1.0).move((0, 0, -1))
    )
    mesh = drilled.mesh(segments=96)
    seen = Camera(*np.eye(3))
    drawn = render_mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces), seen, "#ece5d6", 200, with_holes=True)
    at = pixel_middles(drawn)
    depth, radius = drawn.depth.ravel(), np.hypot(*at.T)
    on_plate = np.abs(at).max(axis=1) < 0.999
    assert depth[on_plate & (radius > 0.501)] == pytest.approx(0.2)
    on_floor = np.abs(at).max(axis=1) < 0.499
    assert depth[on_floor & (radius < 0.498)] == pytest.approx(-0.9)
    # From a corner the ray through the middle passes clean through; the wall of the far side is seen at its own depth.
    seen = corner_camera()
    drawn = render_mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces), seen, "#ece5d6", 200, with_holes=True)
    wall = np.array([(-0.5 * seen.eye[0], -0.5 * seen.eye[1], 0.0)]) / np.hypot(*seen.eye[:2])
    assert drawn.depth_at(seen.flat(wall)) == pytest.approx(wall @ seen.eye, abs=0.02)
    assert drawn.depth_at(np.zeros((1, 2)))[0] == -np.inf


def bracket():
    """An L of two boxes, turned, far from the origin."""
    foot = ph.shapes.box((0.06, 0.04, 0.008), density=2700.0)
    wall = ph.shapes.box((0.008, 0.04, 0.072), density=2700.0).move((-0.026, 0.0, 0.04))
    turn = Rotation.from_euler("xyz", (0.2, -0.1, 0.3))
    return foot.join(wall).turn(turn).move((1e3, -2e3, 5e2))


def texts(figure):
    return [text.get_text() for panel in figure.axes for text in panel.texts if text.get_text()]


def test_the_labels_tell_the_moments_and_the_caption_the_rest():
    body = bracket()
    figure = part_picture(body, name="bracket")
    power = 10.0 ** np.floor(np.log10(body.principal_moments.max()))
    told = [float(text.split("=")[1]) * power for text in texts(figure) if "=" in text]
    assert told == pytest.approx(body.principal_moments.tolist(), rel=1e-3)
    assert figure.get_suptitle() == "bracket"
    (caption,) = [text.get_text() for text in figure.texts if text.get_text() != "bracket"]
    assert f"mass {body.mass:.6g} kg" in caption
    assert "density 2700 kg/m³" in caption
    assert "mm" in caption
    largest = int(body.principal_moments.argmax()) + 1
    assert figure.axes[1].get_title(loc="left") == f"seen along axis {largest}, that of the largest moment"


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e9])
def test_both_views_have_one_scale_hold_everything_and_mark_the_centre(size):
    body = bracket().move((-1e3, 2e3, -5e2)).scale(size)
    for panel in part_picture(body).axes:
        box = panel.get_position(original=True)
        inches = panel.figure.get_size_inches() * (box.width, box.height)
        spans = np.array((np.ptp(panel.get_xlim()), np.ptp(panel.get_ylim())))
        across, upwards = spans / inches
        assert across == pytest.approx(upwards, rel=1e-9)
        left, right, bottom, top = panel.images[0].get_extent()
        assert panel.get_xlim()[0] < left < right < panel.get_xlim()[1]
        assert panel.get_ylim()[0] < bottom < top < panel.get_ylim()[1]
        assert any(isinstance(patch, Circle) and patch.center == (0.0, 0.0) for patch in panel.patches)


def test_cameras_are_right_handed():
    axes = Rotation.random(random_state=3).as_matrix()
    for seen in (corner_camera(), *(axis_camera(axes, axis) for axis in range(3))):
        assert np.allclose(np.stack(seen) @ np.stack(seen).T, np.eye(3), atol=1e-15)
        assert np.linalg.det(np.stack(seen)) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_it_can_be_saved(tmp_path, kind):
    part_picture(ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)).savefig(tmp_path / f"box.{kind}")
    assert (tmp_path / f"box.{kind}").stat().st_size > 10_000


def test_a_sheet_without_thickness_and_an_unphysical_top_can_be_drawn():
    sheet = trimesh.Trimesh([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)], process=False)
    flat = ph.Body(mass=1.0, inertia=(1 / 12, 4 / 12, 5 / 12), center_of_mass=(1.0, 0.5, 0.0))
    assert len(part_picture(flat, sheet).axes) == 2
    top = ph.Body(mass=1.0, inertia=(2.0, 2.0, 8.0), allow_unphysical=True)
    assert part_picture(top, sheet).axes[1].get_legend() is None


BRICK = ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)


@pytest.mark.parametrize("name", ["a$b$c.stl", "$x^2$", "$\\frac{.stl", "{}_^\\", "100%.stl"])
def test_names_with_dollars_are_shown_letter_by_letter(tmp_path, name):
    """The judge is the SVG, which holds its texts as they are set."""
    figure = part_picture(BRICK, name=name)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(tmp_path / "a.svg")
    shown = [
        "".join(text.itertext()) for text in ElementTree.parse(tmp_path / "a.svg").iter() if text.tag.endswith("}text")
    ]
    assert name in shown
    assert figure.get_suptitle() == name


@pytest.mark.parametrize("letter", "Wi")
def test_long_names_lose_their_middle_and_fit_on_the_sheet(letter):
    figure = part_picture(BRICK, name=letter * 300 + "-the-end.stl")
    assert figure.get_suptitle().startswith(3 * letter)
    assert figure.get_suptitle().endswith("-the-end.stl")
    assert "…" in figure.get_suptitle()
    title = next(text for text in figure.texts if text.get_text() == figure.get_suptitle())
    assert 0.8 * figure.bbox.x1 < title.get_window_extent(FigureCanvasAgg(figure).get_renderer()).x1 <= figure.bbox.x1
    assert part_picture(BRICK, name="x" * 60).get_suptitle() == "x" * 60


def test_letters_that_the_font_lacks_are_marked_without_a_warning(tmp_path):
    figure = part_picture(BRICK, name="Ä部品\udcff\n.stl")
    assert figure.get_suptitle() == "Ä\ufffd\ufffd\ufffd\ufffd.stl"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("png", "svg", "pdf"):
            figure.savefig(tmp_path / f"a.{kind}")


@pytest.mark.parametrize(
    "volume", [9.99999e-5, 9.99994e-5, 1e-4, 1.2345e-7, 3.3e-3, 0.5, 9.99999, 99999.6, 1.5e9, 1e-30]
)
def test_numbers_with_powers_are_normalised(volume):
    """The judge reads them back."""
    side = volume ** (1 / 3)
    caption = part_picture(ph.shapes.box((side,) * 3, mass=1.0)).texts[-1].get_text()
    said = re.search(r"volume (\S+)(?: · 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))? m³", caption)
    mantissa, power = float(said[1]), int((said[2] or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    assert mantissa * 10.0**power == pytest.approx(volume, rel=5.1e-5)
    assert 1 <= mantissa < 10 or said[2] is None
    assert "e" not in said[1]


def test_moments_with_powers_are_normalised():
    """Three moments just below a power of ten."""
    labels = texts(part_picture(ph.shapes.box((1.0,) * 3, mass=6 * 9.99999e-7)))
    assert [label for label in labels if "=" in label] == ["I₁ = 1", "I₂ = 1", "I₃ = 1"]


def test_what_has_no_shape_is_refused():
    body = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
    assert_refused(lambda: part_picture(body), InertiaError, ("no shape to draw", "ellipsoid_semi_axes"))
    nothing = trimesh.Trimesh(np.zeros((3, 3)), np.zeros((0, 3), dtype=int), process=False)
    assert_refused(lambda: part_picture(body, nothing), InertiaError, ("no faces to draw",))
    point = trimesh.Trimesh(np.zeros((3, 3)), [(0, 1, 2)], process=False)
    assert_refused(lambda: part_picture(body, point), InertiaError, ("all at one place",))
