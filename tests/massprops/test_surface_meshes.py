"""Bodies within surfaces, against the same integrals in exact fractions, closed forms, and trimesh."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from mesh_cases import CLOSED, exact, make, misses, moved, together
from polhode.equations.surface_integrals import second_moments, volume_beneath
from polhode.errors import FileError, InertiaError, MassWarning, MeshError
from polhode.massprops.geometry import Surface
from polhode.massprops.surface.double_double import DoubleDouble, exact_difference
from polhode.massprops.surface.moment_integrals import integrate_enclosed_volume
from polhode.massprops.surface.surface_reader import merge_vertices

quiet = pytest.mark.filterwarnings("ignore::polhode.errors.MassWarning")


@quiet
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("away", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_polyhedra_anywhere_against_fractions(name, away, scale):
    """Turned at random, moved a million sizes away, of any size: to 1e-13 for exactly the given doubles."""
    rng = np.random.default_rng(len(name))
    mesh = CLOSED[name]
    vertices = Rotation.random(rng=rng).apply(np.asarray(mesh.vertices)) + rng.normal(size=3) * away
    mesh = trimesh.Trimesh(vertices * scale, mesh.faces, process=False)
    body = ph.Body.from_mesh(mesh, density=1.0, unit="m")
    mass, center, tensor = misses(body, mesh.vertices, mesh.faces)
    assert mass < 1e-13
    assert tensor < 1e-13
    assert center < max(1e-13, 4e-16 * away)


def test_polyhedra_along_the_axes_against_closed_forms():
    cube = make.box((2, 2, 2))
    far = trimesh.Trimesh(cube.vertices + (2.0**21, -(2.0**22), 2.0**20), cube.faces, process=False)
    body = ph.Body.from_mesh(far, density=3.0, unit="m")
    assert body.mass == 24.0
    assert body.center_of_mass.tolist() == [2.0**21, -(2.0**22), 2.0**20]
    assert body.inertia_body == pytest.approx(16 * np.eye(3), rel=1e-15, abs=1e-15)
    assert body.volume == 8.0
    assert body.area == 24.0
    # The trap: without centring, the same sums lose the tensor altogether.
    assert np.abs(far.moment_inertia / 8 * 24 - body.inertia_body).max() > 1.0


@quiet
@pytest.mark.parametrize("unit", ["mm", "in"])
def test_other_units_cost_no_digits(unit):
    """The numbers of the file are integrated, not those in meters, which are rounded."""
    meters = {"mm": 1e-3, "in": 0.0254}[unit]
    plate = make.box((1000, 2000, 0.003))
    for vertices, faces in (
        (make.box((2, 2, 2)).vertices + (3e6, 1e6 + 7, -2e6), make.box().faces),
        (Rotation.from_rotvec((0.3, 0.2, 0.1)).apply(plate.vertices) + 1000, plate.faces),
    ):
        body = ph.Body.from_mesh(trimesh.Trimesh(vertices, faces, process=False), density=1.0, unit=unit)
        volume, center, tensor = exact(vertices, faces)
        assert body.mass == pytest.approx(volume * meters**3, rel=1e-14, abs=0)
        assert body.center_of_mass == pytest.approx(center * meters, rel=1e-14, abs=0)
        assert np.abs(body.inertia_body - tensor * meters**5).max() < 1e-13 * np.abs(tensor).max() * meters**5


def test_random_star_shaped_polyhedra_against_fractions():
    rng = np.random.default_rng(5)
    for _ in range(3):
        ball = make.icosphere(1)
        vertices = ball.vertices * rng.uniform(0.2, 1.0, (len(ball.vertices), 1)) + rng.normal(size=3)
        body = ph.Body.from_mesh(trimesh.Trimesh(vertices, ball.faces, process=False), density=2.0)
        assert max(misses(body, vertices, ball.faces, 2.0)) < 1e-14
        off_diagonal = exact(vertices, ball.faces)[2][0, 1] * 2
        assert body.inertia_body[0, 1] == pytest.approx(off_diagonal, rel=1e-9)  # the sign, too


@pytest.mark.parametrize("wall", [1e-2, 1e-5, 1e-8])
def test_thin_walls_keep_their_digits(wall):
    """What cancels in a thin tube would cost log10(1/wall) digits in plain sums."""
    tube = ph.shapes.tube(1.0, 1 - wall, 3.0, density=1.0).mesh(24)
    vertices = Rotation.from_rotvec((0.3, -0.4, 0.5)).apply(np.asarray(tube.vertices))
    found = integrate_enclosed_volume(Surface(vertices, np.asarray(tube.faces)))
    volume, _, tensor = exact(vertices, tube.faces)
    assert abs(found.extent / volume - 1) < 1e-14
    assert np.abs(found.inertia - tensor).max() < 1e-14 * np.abs(tensor).max()


def test_laws_on_double_double_numbers_against_fractions():
    from fractions import Fraction

    rng = np.random.default_rng(0)
    a, b, c = 1e6 + rng.normal(size=(3, 3)) * (1.0, 1.0, 1e-6)
    for law in (volume_beneath, lambda *corners: second_moments(volume_beneath(*corners), *corners)[5]):
        twofold = law(*(tuple(exact_difference(np.array([x]), 0.0) for x in v) for v in (a, b, c)))
        truth = law(*(tuple(map(Fraction, v.tolist())) for v in (a, b, c)))
        found = Fraction(float(twofold.high[0])) + Fraction(float(twofold.low[0]))
        assert abs(float((found - truth) / truth)) < 1e-19
    many = DoubleDouble(rng.normal(size=1001) * 10.0 ** rng.integers(-8, 8, 1001), np.zeros(1001))
    whole = many.total()
    truth = sum(map(Fraction, many.high.tolist()))
    assert abs(float((Fraction(float(whole.high[0])) + Fraction(float(whole.low[0])) - truth) / truth)) < 1e-22


def test_a_fine_ball_converges_with_order_two_to_the_closed_form():
    errors = []
    for n in (2, 3, 4, 5):
        body = ph.Body.from_mesh(make.icosphere(n), density=1.0)
        errors.append(abs(body.principal_moments[0] / ph.shapes.sphere(1.0, density=1.0).principal_moments[0] - 1))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 1.9) & (orders < 2.1))


# Shells -------------------------------------------------------------------------------------------------------------
def test_shell_against_the_thin_limit_of_a_solid():
    """The moments of a box's walls: those of a hollow box, thinner and thinner about its middle, with order two."""
    sides = np.array((1.0, 2.0, 3.0))
    wall = ph.Body.from_mesh(make.box(sides), area_density=5.0)
    assert wall.mass == pytest.approx(22 * 5.0, rel=1e-14)
    assert wall.volume == 0.0
    errors = []
    for t in (1e-3, 1e-4, 1e-5):
        outer, inner = (ph.shapes.box(sides + s * t, density=5.0 / t) for s in (1, -1))
        hollow = outer.subtract(inner)
        errors.append(np.abs(hollow.inertia_body / hollow.mass - wall.inertia_body / wall.mass).max())
    orders = np.log10(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 1.95) & (orders < 2.05))


def test_shell_by_thickness_density_and_mass():
    box = make.box((1, 2, 3))
    by_area = ph.Body.from_mesh(box, area_density=4.0)
    by_thickness = ph.Body.from_mesh(box, density=2000.0, shell=2e-3)
    by_mass = ph.Body.from_mesh(box, mass=88.0, shell=2e-3)
    for body in (by_thickness, by_mass):
        assert body.inertia_body == pytest.approx(by_area.inertia_body, rel=1e-14)
        assert body.volume == pytest.approx(22 * 2e-3)
    assert any("assumed thin" in note for note in by_area.notes)
    with pytest.warns(MassWarning, match="the wall is 2 m thick, and the part 3 m long.*meant in another unit"):
        ph.Body.from_mesh(box, density=1.0, shell=2.0)


def test_an_open_sheet_has_a_shell_but_no_inside():
    sheet = trimesh.Trimesh([(0, 0, 0), (2, 0, 0), (2, 3, 0), (0, 3, 0)], [(0, 1, 2), (0, 2, 3)], process=False)
    body = ph.Body.from_mesh(sheet, area_density=1.0)
    like = ph.shapes.thin_sheet((2.0, 3.0), mass=6.0)
    assert body.inertia_body == pytest.approx(like.inertia_body, abs=1e-14)
    with pytest.raises(MeshError, match="4 edges are open"):
        ph.Body.from_mesh(sheet, density=1.0)


# Files --------------------------------------------------------------------------------------------------------------
FORMATS = {"stl": "stl", "stl_ascii": "stl", "obj": "obj", "ply": "ply", "off": "off", "glb": "glb", "3mf": "3mf"}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["bracket", "ball with a void", "two pieces"])
def test_every_format_gives_the_same_body(tmp_path, kind, name):
    path = tmp_path / f"part.{FORMATS[kind]}"
    content = CLOSED[name].export(file_type=kind)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    body, truth = ph.Body.from_mesh(path, density=7.0, unit="m" if kind != "3mf" else "mm"), None
    scale = 1e-3 if kind == "3mf" else 1.0
    truth = ph.Body.from_mesh(CLOSED[name], density=7.0)
    assert body.mass == pytest.approx(truth.mass * scale**3, rel=1e-6)
    assert body.inertia_body == pytest.approx(
        truth.inertia_body * scale**5, abs=1e-6 * truth.inertia_body.max() * scale**5
    )


def test_tiny_parts_in_files_are_not_merged(tmp_path):
    """trimesh joins corners nearer than 1e-8 by default: a part of a nanometer would be a point."""
    make.box((1e-9, 2e-9, 3e-9)).export(tmp_path / "grain.stl")
    body = ph.Body.from_mesh(tmp_path / "grain.stl", density=1.0)
    assert body.mass == pytest.approx(6e-27, rel=1e-6)


def test_units_by_argument_by_file_and_by_guess(tmp_path):
    box = make.box((20, 30, 40))
    box.export(tmp_path / "part.stl")
    with pytest.warns(MassWarning, match=r"part\.stl states no unit and was read in m: it is 20 x 30 x 40 m large"):
        assert ph.Body.from_mesh(tmp_path / "part.stl", density=1.0).volume == pytest.approx(24000)
    for unit, meters in {"mm": 1e-3, "in": 0.0254, "cm": 1e-2, "um": 1e-6, "ft": 0.3048, "km": 1e3, "m": 1.0}.items():
        body = ph.Body.from_mesh(tmp_path / "part.stl", density=1.0, unit=unit)
        assert body.volume == pytest.approx(24000 * meters**3)
        assert not body.notes
    box.export(tmp_path / "part.3mf")
    body = ph.Body.from_mesh(tmp_path / "part.3mf", density=1.0)
    assert body.volume == pytest.approx(24000e-9)
    assert body.notes == ("part.3mf states its unit: mm",)
    with pytest.warns(MassWarning, match="states its unit: mm, but is read in in, as requested"):
        ph.Body.from_mesh(tmp_path / "part.3mf", density=1.0, unit="in")
    with pytest.raises(ph.PolhodeError, match="did you mean 'mm'"):
        ph.Body.from_mesh(tmp_path / "part.stl", density=1.0, unit="mmm")


def test_corners_at_one_place_are_one_without_a_tolerance():
    rng = np.random.default_rng(3)
    ball = make.icosphere(2)
    places = np.asarray(ball.vertices)[np.asarray(ball.faces)].reshape(-1, 3)
    soup = Surface(places, np.arange(len(places)).reshape(-1, 3))
    joined = merge_vertices(soup)
    assert len(joined.vertices) == len(ball.vertices)
    assert np.array_equal(joined.vertices[joined.faces], places.reshape(-1, 3, 3))
    near = rng.normal(size=(50, 3))
    both = np.concatenate((near, np.nextafter(near, 2), -0.0 * near[:1], 0.0 * near[:1]))
    assert len(merge_vertices(Surface(both, np.arange(102).reshape(-1, 3))).vertices) == 101  # -0 is 0


def test_files_that_cannot_be_read_are_refused_with_a_message(tmp_path):
    cases = {
        "none.stl": (None, "there is no file"),
        "empty.stl": (b"", "cannot be read|contains no triangles"),
        "text.obj": (b"hello\n", "contains no triangles|cannot be read"),
        "what.xyzabc": (b"1 2 3", "cannot be read"),
        "points.ply": (
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
            b"end_header\n0 0 0\n",
            "contains no triangles",
        ),
    }
    for name, (content, sentence) in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(FileError, match=sentence):
            ph.Body.from_mesh(tmp_path / name, density=1.0)


@pytest.mark.parametrize("length", [1, 40, 83, 84, 100, 300, 683, 685])
def test_a_binary_stl_of_another_length_than_it_says_is_refused(tmp_path, length):
    content = CLOSED["box"].export(file_type="stl")
    assert len(content) == 684
    (tmp_path / "cut.stl").write_bytes((content + b"x")[:length])
    with pytest.raises(FileError, match=r"truncated|damaged") as caught:
        ph.Body.from_mesh(tmp_path / "cut.stl", density=1.0)
    assert "charset" not in str(caught.value)


def test_a_text_truncated_within_its_second_solid_is_refused(tmp_path):
    """trimesh reads the first solid and says nothing of the rest."""
    text = CLOSED["box"].export(file_type="stl_ascii")
    two = text + moved(CLOSED["box"], 5, 0, 0).export(file_type="stl_ascii")
    (tmp_path / "whole.stl").write_text(two)
    assert ph.Body.from_mesh(tmp_path / "whole.stl", density=1.0).mass == pytest.approx(12.0)
    (tmp_path / "cut.stl").write_text(two[: len(text) + 500])
    with pytest.raises(FileError, match="begins 17 facets, but only 12 lie in complete solids: it was truncated"):
        ph.Body.from_mesh(tmp_path / "cut.stl", density=1.0)


@pytest.mark.parametrize(("name", "options"), [("two.ply", {"encoding": "ascii"}), ("two.off", {})])
def test_a_text_truncated_after_its_first_solid_is_refused(tmp_path, name, options):
    """Every face that is left belongs to a whole solid; only the header knows that there were more."""
    content = together(CLOSED["box"], moved(CLOSED["box"], 5, 0, 0)).export(file_type=name[-3:], **options)
    content = content.decode() if isinstance(content, bytes) else content
    (tmp_path / name).write_text(content)
    assert ph.Body.from_mesh(tmp_path / name, density=1.0).mass == pytest.approx(12.0)
    (tmp_path / name).write_text("\n".join(content.rstrip().splitlines()[:-12]) + "\n")
    with pytest.raises(FileError, match="announces 40 lines of points and faces, but has 28: it was truncated"):
        ph.Body.from_mesh(tmp_path / name, density=1.0)


# Arguments ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "needs its mass .kg. or its density .kg/m3., exactly one of them; neither was given"),
        ({"density": 1.0, "mass": 1.0}, "both were given"),
        ({"density": -1.0}, "density must be greater than 0"),
        ({"mass": np.nan}, "mass must be finite"),
        ({"density": 1.0, "area_density": 1.0}, "both were given"),
        ({"area_density": 1.0, "shell": 0.1}, "give one"),
        ({"density": 1.0, "shell": 0.0}, "shell must be greater than 0 m"),
        ({"density": 1.0, "repair": "fil"}, "repair 'fil' is unknown: did you mean 'fill'"),
    ],
)
def test_bad_arguments_are_refused_with_a_message(arguments, sentence):
    with pytest.raises(InertiaError, match=sentence):
        ph.Body.from_mesh(CLOSED["box"], **arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"density": [1.0, 2.0]}, "density must be one number"),
        ({"density": 1.0, "shell": [1.0, 2.0]}, "shell must be one number"),
        ({"density": 1.0, "repair": 5}, "repair is one of flip, fill, hull, or several in a tuple, not 5"),
        ({"density": 1.0, "repair": ("hull", "flip")}, "it cannot be combined with other repairs"),
    ],
)
def test_odd_arguments_are_refused_with_a_message(arguments, sentence):
    with pytest.raises(ph.PolhodeError, match=sentence):
        ph.Body.from_mesh(CLOSED["box"], **arguments)
    assert ph.Body.from_mesh(CLOSED["box"], density=1.0, repair=None).mass == pytest.approx(6.0)


def test_sizes_that_cannot_be_multiplied_and_odd_paths(tmp_path):
    huge = trimesh.Trimesh(CLOSED["box"].vertices * 1e160, CLOSED["box"].faces, process=False)
    with pytest.raises(MeshError, match=r"has coordinates of 1.5e.160"):
        ph.Body.from_mesh(huge, density=1.0)
    with pytest.raises(FileError, match="cannot be read"):
        ph.Body.from_mesh(tmp_path / ("x" * 300 + ".stl"), density=1.0)
    with pytest.raises(FileError, match="is a directory"):
        ph.Body.from_mesh(tmp_path, density=1.0)
    yards = CLOSED["box"].copy()
    yards.units = "yards"
    with pytest.raises(FileError, match="states the unknown unit 'yards': pass unit="):
        ph.Body.from_mesh(yards, density=1.0)
    with pytest.warns(MassWarning, match="states its unit: yards, but is read in mm, as requested"):
        ph.Body.from_mesh(yards, density=1.0, unit="mm")


def test_a_binary_file_whose_header_reads_like_a_text(tmp_path):
    content = bytearray(CLOSED["box"].export(file_type="stl"))
    content[:26] = b"solid part facet normal 0 "
    (tmp_path / "part.stl").write_bytes(content)
    assert ph.Body.from_mesh(tmp_path / "part.stl", density=1.0).mass == pytest.approx(6.0)


def test_something_that_is_not_a_mesh():
    with pytest.raises(MeshError, match=r"a mesh is a path or a trimesh.Trimesh, not list"):
        ph.Body.from_mesh([1, 2, 3], density=1.0)


def test_mesh_and_nodes_come_back():
    body = ph.Body.from_mesh(CLOSED["bracket"], density=1.0)
    assert np.array_equal(body.mesh().vertices, CLOSED["bracket"].vertices)
    assert np.array_equal(body.nodes, CLOSED["bracket"].vertices)
    there = body.move((1, 2, 3))
    assert there.mesh().center_mass == pytest.approx(there.center_of_mass)
    assert together(CLOSED["box"], CLOSED["ball"]).volume > 0


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "off"])
def test_a_file_without_a_unit_says_how_large_and_heavy_the_part_is(tmp_path, suffix):
    """A bolt of 8 mm, drawn in millimeters and read in meters: its volume is that of a cylinder."""
    bolt = tmp_path / f"bolt.{suffix}"
    make.cylinder(radius=4.0, height=30.0, sections=256).export(bolt)
    told = r"states no unit and was read in m: it is 8 x 8 x 30 m large and weighs 1\.18\de\+07 kg.*pass unit='mm'"
    with pytest.warns(MassWarning, match=told) as warned:
        body = ph.Body.from_mesh(bolt, density=7850.0)
    assert abs(body.mass / (np.pi * 16 * 30 * 7850) - 1) < 1e-3
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert "weighs" in body.notes[-1]
    finding = next(f for f in ph.diagnose(bolt).findings if f.level == "warning")
    assert "8 x 8 x 30 m large. If it was drawn" in finding.sentence
    for unit in ("mm", "m"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ph.Body.from_mesh(bolt, density=7850.0, unit=unit).notes == ()


@pytest.mark.parametrize("name", ["part.step", "PART.STP", "part.igs", "part.SLDPRT", "part.x_t", "part.FCStd"])
def test_cad_files_are_answered_with_what_to_do(tmp_path, name):
    (tmp_path / name).write_text("ISO-10303-21;")
    for read in (ph.Body.from_mesh, ph.Body.from_volume_mesh):
        with pytest.raises(FileError, match=r"exact surfaces, which are not read\. Save it.*3MF.*ph\.Body\(mass="):
            read(tmp_path / name, density=1.0)
