"""The picture of a part: hidden points against rays cast one by one, balls against disks, labels against numbers."""

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
from polhode.plot.drawable_mesh import build_drawable_mesh, face_normals
from polhode.plot.part import _are_hidden, axis_camera, corner_camera, part_picture
from polhode.plot.projection import Camera


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    """Coarse pictures: the tests look at numbers."""
    monkeypatch.setattr("polhode.plot.part.SUBDIVISION", 8.0)


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


@pytest.mark.parametrize("seed", range(4))
def test_hidden_points_against_rays_cast_one_by_one(seed):
    corners, faces = soup(seed, 60)
    camera = Camera(*Rotation.random(random_state=seed).as_matrix())
    points = np.random.default_rng(seed).normal(size=(3000, 3))
    nearest = nearest_along_rays(corners, faces, camera, camera.flat(points))
    hidden = _are_hidden(points, corners[faces], camera)
    size = np.ptp(corners @ np.stack(camera).T, axis=0).max()
    # Only where an edge passes, or a face lies just at the point, may the two decide otherwise.
    clear = np.abs(nearest - points @ camera.eye) > 3e-3 * size
    assert (hidden == (nearest > points @ camera.eye))[clear].mean() > 0.999


def visible_area(drawable, camera):
    """The area of the picture that faces turned to the viewer cover, where none covers another."""
    u, v = (drawable.triangles[:, i] - drawable.triangles[:, 0] for i in (1, 2))
    return (np.cross(u, v) @ camera.eye).clip(0.0, None).sum() / 2


def test_a_ball_covers_a_disk():
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.3)
    drawable = build_drawable_mesh(ball, 48)
    assert visible_area(drawable, corner_camera()) == pytest.approx(np.pi * 0.09, rel=2e-3)
    assert not drawable.two_sided
    opened = trimesh.Trimesh(ball.vertices, ball.faces[1:], process=False)
    assert build_drawable_mesh(opened, 48).two_sided


def test_a_million_faces_are_simplified_and_cover_the_same_disk():
    ball = trimesh.creation.icosphere(subdivisions=8, radius=0.3)
    drawable = build_drawable_mesh(ball, 48)
    assert len(drawable.triangles) < 400_000
    assert visible_area(drawable, corner_camera()) == pytest.approx(np.pi * 0.09, rel=5e-3)
    assert len(drawable.edges) == 0


def drilled_plate(radius):
    plate = ph.shapes.box((2.0, 2.0, 0.4), density=1.0)
    return plate.subtract(ph.shapes.cylinder(radius, 0.4, density=1.0).move((0.3, 0.2, 0.0)))


@pytest.mark.parametrize("radius", [0.5, 0.04])
def test_a_hole_through_a_plate_is_open(radius):
    """References: the areas of the plate's top, and of the cylinder's wall; the length of all edges."""
    drawable = build_drawable_mesh(drilled_plate(radius), 96, 30.0)
    assert visible_area(drawable, Camera(*np.eye(3))) == pytest.approx(4 - np.pi * radius**2, rel=2e-3)
    centers = drawable.triangles.mean(axis=1) + drilled_plate(radius).center_of_mass
    wall = np.isclose(np.hypot(centers[:, 0] - 0.3, centers[:, 1] - 0.2), radius, rtol=5e-3)
    wall &= np.abs(face_normals(drawable.triangles)[:, 2]) < 0.5
    u, v = (drawable.triangles[wall, i] - drawable.triangles[wall, 0] for i in (1, 2))
    assert np.linalg.norm(np.cross(u, v), axis=1).sum() / 2 == pytest.approx(2 * np.pi * radius * 0.4, rel=1e-2)
    lengths = np.linalg.norm(drawable.edges[:, 1] - drawable.edges[:, 0], axis=1)
    assert lengths.sum() == pytest.approx(16 + 1.6 + 4 * np.pi * radius, rel=1e-3)


def test_a_handle_closes_the_bore_that_it_fills():
    head, bore = ph.shapes.box((1.0, 0.4, 0.4), density=2.0), ph.shapes.cylinder(0.1, 0.4, density=2.0)
    hammer = head.subtract(bore).join(ph.shapes.cylinder(0.1, 2.0, density=1.0))
    assert visible_area(build_drawable_mesh(hammer, 48, 15.0), Camera(*np.eye(3))) == pytest.approx(0.4, rel=2e-3)


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
def test_both_views_have_one_scale_hold_everything_and_mark_the_center(size):
    body = bracket().move((-1e3, 2e3, -5e2)).scale(size)
    for panel in part_picture(body).axes:
        box = panel.get_position(original=True)
        inches = panel.figure.get_size_inches() * (box.width, box.height)
        spans = np.array((np.ptp(panel.get_xlim()), np.ptp(panel.get_ylim())))
        across, upwards = spans / inches
        assert across == pytest.approx(upwards, rel=1e-9)
        points = np.concatenate([path.vertices for path in panel.collections[0].get_paths()])
        (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
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
    """Reference: the text elements of the SVG."""
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
def test_numbers_with_powers_are_normalized(volume):
    """Reference: the numbers read back from the caption."""
    side = volume ** (1 / 3)
    caption = part_picture(ph.shapes.box((side,) * 3, mass=1.0)).texts[-1].get_text()
    said = re.search(r"volume (\S+)(?: · 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))? m³", caption)
    mantissa, power = float(said[1]), int((said[2] or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    assert mantissa * 10.0**power == pytest.approx(volume, rel=5.1e-5)
    assert 1 <= mantissa < 10 or said[2] is None
    assert "e" not in said[1]


def test_moments_with_powers_are_normalized():
    """Three moments just below a power of ten."""
    labels = texts(part_picture(ph.shapes.box((1.0,) * 3, mass=6 * 9.99999e-7)))
    assert [label for label in labels if "=" in label] == ["I₁ = 1", "I₂ = 1", "I₃ = 1"]


def test_what_has_no_shape_is_rejected():
    body = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
    assert_refused(lambda: part_picture(body), InertiaError, ("no geometry to draw", "ellipsoid_semi_axes"))
    nothing = trimesh.Trimesh(np.zeros((3, 3)), np.zeros((0, 3), dtype=int), process=False)
    assert_refused(lambda: part_picture(body, nothing), InertiaError, ("no faces to draw",))
    point = trimesh.Trimesh(np.zeros((3, 3)), [(0, 1, 2)], process=False)
    assert_refused(lambda: part_picture(body, point), InertiaError, ("all vertices of this part coincide",))
