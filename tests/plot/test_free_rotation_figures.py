"""The pictures of free rotation: what they draw has the geometry that the theory gives."""

import itertools
import warnings

import mpmath
import numpy as np
import pytest
from matplotlib.figure import Figure

import polhode as ph
from polhode.errors import InputError
from polhode.gallery.closed_forms.precession_and_wobble import wobble_rate_squared
from polhode.massprops.appearance import appearance_of
from polhode.plot import free_rotation_sheet
from polhode.plot.depth_order import ScenePiece, sort_by_depth
from polhode.plot.free_rotation_data import extract_free_rotation
from polhode.plot.free_rotation_figures import NO_SOLID, draw_in_body, draw_in_space
from polhode.plot.poinsot_construction import draw_herpolhode, draw_poinsot, herpolhode_path
from polhode.plot.rolling_cones import cone_axes, draw_cones
from polhode.plot.scene import Scene, world_camera
from polhode.plot.style import styled_figure
from polhode.reference.poinsot import cones, herpolhode_radii

ASYMMETRIC = ((2.0, 3.0, 4.0), (0.3, 0.2, 1.0))
BEFORE_THE_SEPARATRIX = ((2.0, 3.0, 4.0), (1.0, 0.3, 0.1))
OBLATE = ((2.0, 2.0, 3.0), (0.5, 0.2, 1.0))
PROLATE = ((3.0, 3.0, 1.0), (0.5, 0.2, -2.0))
SIDEWAYS = ((1.0, 3.0, 3.0), (2.0, 0.5, 0.2))
ALL = (ASYMMETRIC, BEFORE_THE_SEPARATRIX, OBLATE, PROLATE, SIDEWAYS)


def motion_of(moments, rates, duration=20.0, **options):
    body = ph.Body(1.0, moments, **options)
    return ph.simulate(
        body, ph.State(angular_velocity_body=rates), duration=duration, output_step=duration / 500, method="exact"
    )


# The theory, against the motion itself -----------------------------------------------------------------------------
@pytest.mark.parametrize(("moments", "rates"), ALL)
def test_the_plane_touches_the_ellipsoid_at_omega_and_stays_where_it_is(moments, rates):
    body = extract_free_rotation(motion_of(moments, rates))
    along_l = body.along_l
    level = body.moments / body.twice_energy
    assert (level * body.rates**2).sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    gradients = np.einsum("nij,nj->ni", body.turns, level * body.rates)
    assert np.cross(gradients, along_l) == pytest.approx(0.0, abs=1e-12)
    distance = np.dot(moments, np.square(rates)) / np.linalg.norm(np.multiply(moments, rates))  # 2 E/L
    assert body.rates_world @ along_l == pytest.approx(distance, rel=1e-12)
    assert body.plane_distance == pytest.approx(distance, rel=1e-14)


@pytest.mark.parametrize(("moments", "rates"), ALL)
def test_the_herpolhode_runs_between_its_two_circles_and_reaches_both(moments, rates):
    inner, outer = herpolhode_radii(moments, rates)
    distances = np.linalg.norm(herpolhode_path(extract_free_rotation(motion_of(moments, rates, 60.0))), axis=1)
    assert distances.min() >= inner * (1 - 1e-10)
    assert distances.max() <= outer * (1 + 1e-10)
    assert (distances.min(), distances.max()) == pytest.approx((inner, outer), rel=2e-3)


def test_herpolhode_radii_against_fifty_digits():
    """The extremes of w^2 - (2 E/L)^2 where w_1 = 0 or w_2 = 0, solved from E and L by mpmath."""
    with mpmath.workdps(50):
        moments, rates = [mpmath.mpf(i) for i in (2, 3, 4)], [mpmath.mpf(w) for w in ("0.3", "0.2", "1")]
        twice = sum(i * w**2 for i, w in zip(moments, rates, strict=True))
        square = sum((i * w) ** 2 for i, w in zip(moments, rates, strict=True))
        radii = []
        for absent in (0, 1):
            a, b = (i for i in range(3) if i != absent)
            system = mpmath.matrix([[moments[a], moments[b]], [moments[a] ** 2, moments[b] ** 2]])
            squares = mpmath.lu_solve(system, mpmath.matrix([twice, square]))
            radii.append(mpmath.sqrt(squares[0] + squares[1] - twice**2 / square))
        expected = sorted(map(float, radii))
    assert herpolhode_radii((2, 3, 4), (0.3, 0.2, 1.0)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("moments", "rates", "axis"), [(*OBLATE, 2), (*PROLATE, 2), (*SIDEWAYS, 0)])
def test_the_cones_touch_along_omega_at_all_times(moments, rates, axis):
    """Half-angles by formula; w, L and the axis in one plane, L on the other side of w for a flat body."""
    motion = motion_of(moments, rates)
    found = cones(moments, rates, axis)
    is_flat = moments[axis] > moments[axis - 1]
    assert (found.body > found.tilt) == is_flat
    for time in np.linspace(0.0, 20.0, 7):
        along_l, symmetry, along_w = cone_axes(motion, time)
        assert np.arccos(symmetry @ along_w) == pytest.approx(found.body, abs=1e-9)
        assert np.arccos(along_l @ along_w) == pytest.approx(found.space, abs=1e-8)
        assert np.arccos(along_l @ symmetry) == pytest.approx(found.tilt, abs=1e-8)
        assert np.linalg.det((along_l, symmetry, along_w)) == pytest.approx(0.0, abs=1e-9)
        assert (np.cross(along_l, along_w) @ np.cross(along_l, symmetry) < 0) == is_flat


def test_half_angles_are_those_of_the_angular_velocity_and_its_momentum():
    w, momentum = np.array(OBLATE[1]), np.array(OBLATE[0]) * OBLATE[1]
    found = cones(*OBLATE, 2)
    assert np.cos(found.body) == pytest.approx(w[2] / np.linalg.norm(w), rel=1e-14)
    assert np.cos(found.space) == pytest.approx(w @ momentum / np.linalg.norm(w) / np.linalg.norm(momentum), rel=1e-14)


def test_small_wobbles_are_the_limit_of_jacobis_period():
    moments = (2.0, 8.0, 4.0)
    for axis, rates in ((1, (0.0, 1.0, 1e-5)), (0, (1.0, 0.0, 1e-5))):
        period = ph.reference.AsymmetricTop(moments, rates).period
        assert wobble_rate_squared(moments, axis) == pytest.approx((2 * np.pi / period) ** 2, rel=1e-8)
    assert wobble_rate_squared(moments, 2) == -0.5


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_very_slow_and_very_fast_rotations_have_the_same_geometry(size):
    """Reference: the same motion at rates of about 1."""
    for moments, rates in ALL:
        other = tuple(size * w for w in rates)
        heavier = tuple(j / size for j in moments)
        assert np.array(herpolhode_radii(heavier, other)) / size == pytest.approx(
            herpolhode_radii(moments, rates), rel=1e-12, abs=0
        )
    assert cones(OBLATE[0], tuple(size * w for w in OBLATE[1]), 2).tilt == pytest.approx(cones(*OBLATE, 2).tilt)
    assert wobble_rate_squared(tuple(size * j for j in ASYMMETRIC[0]), 1) == pytest.approx(
        wobble_rate_squared(ASYMMETRIC[0], 1)
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cones(*OBLATE, axis=3), "axis must be an integer from 0 to 2, not 3"),
        (lambda: cones(*OBLATE, axis="z"), "axis must be an integer from 0 to 2, not 'z'"),
        (lambda: cones(*ASYMMETRIC, axis=2), "only a body that is symmetric"),
        (lambda: wobble_rate_squared((2.0, 3.0, 4.0), axis=5), "axis must be an integer from 0 to 2, not 5"),
        (
            lambda: herpolhode_radii([(2.0, 3.0, 4.0)], (1.0, 0.0, 0.0)),
            r"moments must be 3 numbers, .*: give one body at a time",
        ),
        (
            lambda: herpolhode_radii((2.0, 3.0), (1.0, 0.0, 0.0)),
            r"moments must be 3 numbers, but has the shape \(2,\)",
        ),
        (lambda: herpolhode_radii((2.0, 3.0, 0.0), (1.0, 0.0, 0.0)), "moments must be greater than 0 kg m2"),
        (lambda: herpolhode_radii((2.0, 3.0, 4.0), (0.0, 0.0, 0.0)), "a body at rest"),
    ],
)
def test_what_has_no_such_geometry_gets_a_sentence(make, words):
    with pytest.raises(InputError, match=words):
        make()


# What is drawn ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("moments", "rates"), [ASYMMETRIC, SIDEWAYS])
def test_a_sheet_for_any_free_motion(moments, rates, tmp_path):
    figure = free_rotation_sheet(motion_of(moments, rates, 8.0), "turns", time=1.0)
    figure.savefig(tmp_path / "sheet.png", dpi=50)
    assert (tmp_path / "sheet.png").stat().st_size > 5000
    assert figure.get_suptitle() == "turns"
    assert all(axes.get_ylabel() and axes.get_xlabel() for axes in figure.axes if axes.axison)
    titles = " ".join(axes.get_title(loc="left") for axes in figure.axes)
    assert ("cone" in titles) == (len(set(moments)) == 2)
    assert ("Poinsot" in titles) == (len(set(moments)) == 3)


def test_a_sphere_and_a_body_given_by_a_tensor():
    free_rotation_sheet(motion_of((2.0, 2.0, 2.0), (0.1, 0.0, 1.0)))
    tensor = [[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]]
    motion = motion_of(tensor, (1.0, 0.3, 1.0))
    free_rotation_sheet(motion)
    body = extract_free_rotation(motion)
    assert body.moments * body.rates == pytest.approx(np.einsum("nji,j->ni", body.turns, body.momentum), abs=1e-11)


def test_moments_of_no_solid_are_drawn_as_the_inertia_ellipsoid_with_a_remark():
    motion = motion_of((2.0, 2.0, 8.0), (1.0, 0.0, 1.0), allow_unphysical=True)
    body = motion.scenario.bodies[0]
    assert appearance_of(body).kind == "inertia ellipsoid"
    reach = np.abs(np.asarray(appearance_of(body).surface.vertices)).max(axis=0)
    assert reach == pytest.approx((1.0, 1.0, 0.5), rel=5e-3)
    for draw in (draw_in_space, draw_in_body):
        axes = Figure().subplots()
        draw(axes, motion)
        assert NO_SOLID in [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_body_without_a_shape_is_drawn_as_its_solid_ellipsoid():
    body = ph.Body(1.0, (2.0, 3.0, 4.0))
    assert np.abs(np.asarray(appearance_of(body).surface.vertices)).max(axis=0) == pytest.approx(
        body.ellipsoid_semi_axes, rel=5e-3
    )


@pytest.mark.parametrize("moments", [(1.0, 1.0, 2.0), (1.0, 2.0, 3.0)])
def test_a_flat_body_given_by_numbers_is_drawn_thin(moments, tmp_path):
    """A lamina has I3 = I1 + I2 and no thickness: its ellipsoid gets a hundredth of its length."""
    body = ph.Body(1.0, moments)
    semi = body.ellipsoid_semi_axes
    assert semi[2] == 0
    reach = np.abs(np.asarray(appearance_of(body).surface.vertices)).max(axis=0)
    assert reach == pytest.approx((*semi[:2], 0.01 * semi.max()), rel=5e-3)
    free_rotation_sheet(motion_of(moments, (0.5, 0.1, 1.0), 4.0)).savefig(tmp_path / "flat.png", dpi=40)


def test_the_sheet_says_along_which_axes_and_what_the_gray_line_is():
    """The titles lie beside each other; the tensor has entries off its diagonal, (2, 3, 4) has none."""
    tensor = [[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]]
    for inertia, words in ((tensor, "along the principal axes"), ((2.0, 3.0, 4.0), "body axes")):
        figure = free_rotation_sheet(motion_of(inertia, (1.0, 0.3, 1.0), 8.0))
        _, polhode, poinsot, rates, momenta, herpolhode, departures = figure.axes
        assert words in rates.get_title(loc="left")
        assert words in momenta.get_title(loc="left")
        assert ("principal" in polhode.get_title(loc="left")) == (inertia is tensor)
        for axes in (rates, momenta):
            assert "closed form" in [text.get_text() for text in axes.get_legend().get_texts()]
        figure.savefig("/dev/null", format="png")
        for row in ((polhode, poinsot), (rates, momenta, herpolhode, departures)):
            boxes = [axes._left_title.get_window_extent() for axes in row]
            assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


@pytest.mark.parametrize(
    ("moments", "rates", "words"),
    [((2.0, 2.0, 2.0), (0.1, 0.0, 1.0), "closed form, 0 rad/s"), ((1.0, 2.0, 2.5), (0.0, 3.0, 0.0), "0 and ")],
)
def test_a_herpolhode_of_a_point_is_not_rounding_at_full_scale(moments, rates, words):
    """Of a sphere, or about the middle axis itself, w stays: the tip is on L."""
    axes = Figure().subplots()
    draw_herpolhode(axes, motion_of(moments, rates))
    assert axes.get_legend().get_texts()[0].get_text().startswith(words)
    assert axes.get_xlim()[1] >= 1e-6 * np.linalg.norm(rates)


def test_a_small_herpolhode_is_enlarged_beside_the_ellipsoid():
    """The inset holds the outer circle: by the formula of the radii."""
    for rates, count in (((0.02, 0.01, 2.0), 1), ((0.3, 1.0, 1.0), 0)):
        axes = Figure(figsize=(4, 4)).subplots()
        draw_poinsot(axes, motion_of((2.0, 3.0, 4.0), rates))
        assert len(axes.child_axes) == count
        for inset in axes.child_axes:
            _, outer = herpolhode_radii((2.0, 3.0, 4.0), rates)
            assert 2 * outer < np.ptp(inset.get_xlim()) < 20 * outer


def test_what_is_no_free_rotation_of_one_body_is_rejected():
    rest = ph.simulate(ph.Body(1.0, (2.0, 3.0, 4.0)), duration=1.0, step=0.1, method="rk4")
    with pytest.raises(InputError, match="no rotation to draw"):
        free_rotation_sheet(rest)
    forces = [ph.forces.rotational_drag(0.5)]
    spin = ph.State(angular_velocity_body=(0.0, 0.0, 1.0))
    with pytest.raises(InputError, match="for free rotation"):
        draw_poinsot(
            None, ph.simulate(ph.Body(1.0, (2.0, 3.0, 4.0)), spin, forces, duration=5.0, step=0.1, method="rk4")
        )
    with pytest.raises(InputError, match="two equal principal moments"):
        draw_cones(None, motion_of(*ASYMMETRIC))
    with pytest.raises(InputError, match="shows one body"):
        draw_herpolhode(None, ph.simulate([ph.Body(1.0, (2.0, 3.0, 4.0))], [spin], duration=1.0, method="exact"))


# The order in which a scene is drawn --------------------------------------------------------------------------------
def triangle(depth, tilt=0.0):
    """A large triangle about the origin of the paper, `tilt` deeper on the right."""
    points = np.array(((-3.0, -3.0), (3.0, -3.0), (0.0, 4.0)))
    depths = depth - tilt * points[:, 0]
    return ScenePiece(float(depths.mean()), "face", points, None, depths)


def line(start, end, start_depth, end_depth):
    depths = np.array((start_depth, end_depth))
    return ScenePiece(float(depths.mean()), "line", np.array((start, end)), None, depths)


def test_a_line_is_drawn_after_a_face_that_it_passes_before_even_if_the_faces_middle_is_nearer():
    face = triangle(0.0, tilt=2.0)
    before = line((1.0, 0.0), (1.2, 0.0), -1.0, -1.0)  # there the face is at -2
    behind = line((-1.0, 0.0), (-1.2, 0.0), 1.0, 1.0)  # there it is at 2
    drawn = sort_by_depth([before, face, behind])
    assert drawn.index(behind) < drawn.index(face) < drawn.index(before)


def test_an_arrow_that_starts_in_a_body_is_hidden_up_to_its_skin():
    """A box of side 2 and an arrow along the line of sight's own slant: pieces inside come before the front faces."""
    scene = Scene(world_camera(0.6, 0.4))
    scene.body(ph.shapes.box((2.0, 2.0, 2.0), mass=1.0))
    scene.arrow((0.0, 0.0, 0.0), (0.0, -3.0, 0.0), "#000000")
    drawn = sort_by_depth(scene._pieces)
    shaft = [i for i, piece in enumerate(drawn) if piece.kind == "line" and piece.style[0] == "#000000"]
    faces = [i for i, piece in enumerate(drawn) if piece.kind == "face"]
    reach = np.linalg.norm(scene.camera.flat(np.array((0.0, -1.0, 0.0))))
    lengths = [np.linalg.norm(drawn[i].points.mean(axis=0)) / reach for i in shaft]
    assert min(lengths) < 0.5
    assert max(lengths) > 1.5
    for i in shaft:
        piece = drawn[i]
        middle = np.linalg.norm(piece.points.mean(axis=0))
        over = [j for j in faces if _holds(drawn[j].points, piece.points.mean(axis=0))]
        if middle < 0.97 * reach:
            assert all(i < j for j in over)
        elif middle > 1.03 * reach:
            assert all(i > j for j in over)


def test_a_scene_knows_what_it_hides():
    """A place is hidden if it lies behind a box or in it, and seen if it lies before it or beside it."""
    scene = Scene(world_camera(0.6, 0.4))
    scene.body(ph.shapes.box((2.0, 2.0, 2.0), mass=1.0))
    eye, right = scene.camera.eye, scene.camera.right
    assert [scene.hides(p) for p in (-3 * eye, 0 * eye, 3 * eye, 3 * right - 3 * eye)] == [True, True, False, False]


def _holds(corners, point):
    sides, arms = np.roll(corners, -1, axis=0) - corners, point - corners
    signs = np.sign(sides[:, 0] * arms[:, 1] - sides[:, 1] * arms[:, 0])
    return abs(signs.sum()) == 3


def test_words_at_the_tips_of_arrows_lie_within_the_axes():
    with styled_figure(6.0, 4.0) as figure:
        axes = figure.subplots()
        scene = Scene(world_camera())
        scene.arrow((0, 0, 0), (0, 0, 3), "#000000", "L")
        scene.arrow((0, 0, 0), (2, 0, 0), "#000000", "a longer name")
        scene.draw(axes, "a title")
    figure.savefig("/dev/null", format="png")
    room = axes.get_window_extent()
    for text in axes.texts:
        if text.get_text():
            box = text.get_window_extent()
            assert room.y0 <= box.y0 <= box.y1 <= room.y1
            assert room.x0 <= box.x0 <= box.x1 <= room.x1


def test_a_flat_body_is_seen_from_both_sides():
    for pitch in (0.5, -0.5):
        scene = Scene(world_camera(0.3, pitch))
        scene.body(ph.shapes.thin_disk(1.0, mass=1.0))
        assert any(piece.kind == "face" for piece in scene._pieces)
        assert sum(piece.kind == "line" for piece in scene._pieces) == 48


@pytest.mark.parametrize(
    ("body", "rates", "duration"),
    [
        (ph.shapes.box((0.16, 0.018, 0.008), mass=0.2), (0.1, 5.0, 0.1), 8.0),
        (ph.Body(mass=1.0, inertia=(1e-5, 2e-5, 2.5e-5)), (0.1, 5.0, 0.1), 8.0),
        (ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), (1.0, 15.0, 8.0), 30.0),
    ],
)
def test_the_sheet_holds_for_long_bodies_small_moments_and_few_outputs(body, rates, duration):
    """No panel lies on another, and the herpolhode stays between its circles although outputs are far apart."""
    motion = ph.simulate(body, ph.State(angular_velocity_body=rates), duration=duration)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = free_rotation_sheet(motion)
        figure.draw_without_rendering()
    boxes = [axes.get_position() for axes in figure.axes[:7]]
    assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
    path = extract_free_rotation(motion).rates_world
    inner, _ = herpolhode_radii(body.principal_moments, extract_free_rotation(motion).rates[0])
    chords = (path[1:] + path[:-1]) / 2
    along = motion.angular_momentum[0] / np.linalg.norm(motion.angular_momentum[0])
    across = np.linalg.norm(chords - np.outer(chords @ along, along), axis=1)
    assert across.min() > 0.99 * inner


@pytest.mark.parametrize("time", [-0.1, 8.1, np.nan])
def test_a_sheet_of_no_instant_of_the_motion_is_rejected(time):
    book = ph.shapes.box((0.03, 0.15, 0.22), mass=0.6)
    motion = ph.simulate(book, ph.State(angular_velocity_body=(0.1, 4.0, 0.1)), duration=8.0)
    with pytest.raises(ph.PolhodeError, match="time"):
        free_rotation_sheet(motion, time=time)
