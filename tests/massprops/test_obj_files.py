"""OBJ files: cut at every byte, written in every dialect, with concave faces; against fractions and areas."""

from __future__ import annotations

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from invalid_input import assert_refused
from mesh_cases import exact
from polhode.errors import FileError, MassWarning, PolhodeError
from polhode.massprops.surface.obj import read_obj

CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SIDES = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
L = [(40, 8), (8, 8), (8, 30), (0, 30), (0, 0), (40, 0)]


def cube(offset=0.0, first=0, vertex="v {} {} {}", corner="{}"):
    """A unit cube of quads; `first` points come before it."""
    points = [vertex.format(x + offset, y, z) for x, y, z in CORNERS]
    faces = ["f " + " ".join(corner.replace("{}", str(i + first)) for i in side) for side in SIDES]
    return [*points, *faces]


def written(tmp_path, lines, name="part.obj", end="\n"):
    path = tmp_path / name
    path.write_bytes((end.join(lines) + end).encode())
    return path


def loaded(path):
    """The mesh, for trimesh."""
    points, triangles, odd = read_obj(path)
    return trimesh.Trimesh(points, triangles, process=False), odd


def prism(corners, height):
    """A prism with its two ends as one polygon each, in lines; the outline goes counterclockwise."""
    n = len(corners)
    points = [f"v {float(x)!r} {float(y)!r} {z}" for z in (0, height) for x, y in corners]
    bottom, top = range(n, 0, -1), range(n + 1, 2 * n + 1)
    walls = [(i + 1, (i + 1) % n + 1, (i + 1) % n + n + 1, i + n + 1) for i in range(n)]
    return [*points, *("f " + " ".join(map(str, face)) for face in (bottom, top, *walls))]


def shoelace(corners):
    """Area and circumference, the area in fractions."""
    ends = corners[1:] + corners[:1]
    twice = sum(
        Fraction(a) * Fraction(d) - Fraction(c) * Fraction(b) for (a, b), (c, d) in zip(corners, ends, strict=True)
    )
    return float(twice) / 2, sum(np.hypot(c - a, d - b) for (a, b), (c, d) in zip(corners, ends, strict=True))


# Cut off --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("corner", ["{}", "{}/{}/{}"])
def test_two_cubes_cut_at_every_byte(tmp_path, corner):
    """An error, a warning, or the numbers of what is there: one cube or two."""
    whole = written(tmp_path, [*cube(corner=corner), *cube(offset=3.5, first=8, corner=corner)]).read_bytes()
    silent = []
    path = tmp_path / "cut.obj"
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MassWarning)
            try:
                read = read_obj(path)
                mesh = trimesh.Trimesh(read.points, read.triangles, process=False)
                body = ph.Body.from_mesh(mesh, density=1.0)
            except PolhodeError:
                continue
        if not caught and not read.warnings:
            silent.append((length, body.volume))
    counts = {round(volume, 12) for _, volume in silent}
    assert counts == {1.0, 2.0}
    # From the last corner's own number on all is there; what follows a slash says nothing about the shape.
    for volume, end, number in ((1, whole.index(b"v 3.5"), "4"), (2, len(whole), "12")):
        tail = len(corner.replace("{}", number)) - len(number) + 1
        assert {length for length, found in silent if round(found) == volume} == set(range(end - tail, end + 1))


def test_a_truncated_file_in_from_mesh(tmp_path):
    lines = [*cube(), *cube(offset=3.5, first=8)]
    with pytest.raises(PolhodeError, match="8 of 16 points belong to no face, including the last"):
        ph.Body.from_mesh(written(tmp_path, lines[:22]), density=1.0)
    stray = ["v 9 9 9", *cube(first=1)]
    with pytest.warns(MassWarning, match="1 of 9 points belong to no face: was the file truncated"):
        body = ph.Body.from_mesh(written(tmp_path, stray), density=1.0)
    assert body.volume == pytest.approx(1.0, rel=1e-14)
    with pytest.raises(PolhodeError, match="open"):
        ph.Body.from_mesh(written(tmp_path, lines[:25]), density=1.0)


REFUSED = {
    "two numbers": (16, "v 1 2", ("line 17", "'v 1 2'", "has 2 numbers", "truncated")),
    "no number": (16, "v", ("line 17", "has 0 numbers")),
    "five numbers": (16, "v 1 2 3 4 5", ("line 17", "has 5 numbers")),
    "a word": (16, "v 1 two 3", ("line 17", "'two' is not a number")),
    "a comma": (16, "v 1 2,5 3", ("line 17", "'2,5' is not a number")),
    "run together": (16, "v 1-2 3", ("line 17", "'1-2' is not a number")),
    "not a number": (16, "v 1 nan 3", ("line 17", "not finite")),
    "infinite": (16, "v 1 1e999 3", ("line 17", "not finite")),
    "two corners": (16, "f 1 2", ("line 17", "at least 3 corners, not 2", "truncated")),
    "no corner": (16, "f", ("line 17", "at least 3 corners, not 0")),
    "index 0": (16, "f 0 1 2", ("line 17", "from 1 to 8", "refers to another")),
    "beyond": (16, "f 1 2 9", ("line 17", "from 1 to 8", "refers to another")),
    "too far back": (16, "f -1 -2 -9", ("line 17", "from 1 to 8", "refers to another")),
    "before its points": (3, "f 1 2 4", ("line 4", "from 1 to 3", "refers to another")),
    "face of words": (16, "f a b c", ("line 17", "a face takes point numbers")),
    "face of decimals": (16, "f 1.0 2.0 3.0", ("line 17", "a face takes point numbers")),
    "only a slash": (16, "f / 2 3 4", ("line 17", "a face takes point numbers")),
    "minus within": (16, "f 1-2 3 4", ("line 17", "a face takes point numbers")),
    "only a minus": (16, "f - 2 3 4", ("line 17", "a face takes point numbers")),
    "huge": (16, f"f 1 2 {10**30}", ("line 17", "a face takes point numbers")),
}


@pytest.mark.parametrize(("at", "line", "phrases"), REFUSED.values(), ids=REFUSED)
def test_lines_that_make_no_sense_are_refused_by_their_number(tmp_path, at, line, phrases):
    lines = [*cube(), "# a comment", "", "   "]
    lines.insert(at, line)
    assert_refused(lambda: read_obj(written(tmp_path, lines)), FileError, phrases)


def test_files_without_faces_and_files_that_are_not_there(tmp_path):
    for content in (b"", b"\n", b"solid nothing\n", bytes(range(256)) * 3, b"v 1 2 3\n"):
        (tmp_path / "no.obj").write_bytes(content)
        assert_refused(lambda: read_obj(tmp_path / "no.obj"), FileError, ("contains no triangles",))
    assert_refused(lambda: read_obj(tmp_path / "none.obj"), FileError, ("cannot be read",))


def test_ignored_lines_give_a_warning(tmp_path):
    lines = [*cube(), "surf 0 1 0 1 1 2 3 4", "surf 0 1", "g a", "g", "s off", "usem"]
    odd = read_obj(written(tmp_path, lines)).warnings
    assert odd == (
        "2 lines with 'surf' are ignored, the first is line 15",
        "1 line with 'usem' is ignored, the first is line 20",
    )


# Dialects -------------------------------------------------------------------------------------------------------------
DIALECTS = {
    "plain": cube(),
    "weights": cube(vertex="v {} {} {} 1.0"),
    "colors": cube(vertex="v {} {} {} 0.5 0.25 1"),
    "colors and opacity": cube(vertex="v {} {} {} 0.5 0.25 1 1"),
    "colors on some": [line + " 1 0 0" * (i % 2) if line[0] == "v" else line for i, line in enumerate(cube())],
    "textures": ["vt 0 0", *cube(corner="{}/1")],
    "normals": ["vn 0 0 1", "vn\t0 0 1", *cube(corner="{}//1")],
    "both": ["vt 0 0", "vn 0 0 1", *cube(corner="{}/1/1")],
    "mixed": [line.replace(" 8", " 8/1/1").replace(" 7", " 7//1") if line[0] == "f" else line for line in cube()],
    "tabs": [line.replace(" ", "\t") for line in cube()],
    "indented": ["  " + line for line in cube()],
    "spaces": [line.replace(" ", "   ") + "  " for line in cube()],
    "comments": [line + "  # v 1 2" for line in cube()],
    "materials": ["mtllib none.mtl", "o thing", "g side#1", "usemtl red", *cube()],
    "exponents": cube(vertex="v {}e0 +{}.0E+00 {}"),
    "back from the last": [re.sub(r"\d+", lambda m: str(int(m[0]) - 9), x) if x[0] == "f" else x for x in cube()],
    "continued": [line.replace(" ", " \\\n", 2) for line in cube()],
    "continued with nothing before": [line.replace(" ", "\\\n ", 3) for line in cube()],
    "a mark before": ["\ufeff" + cube()[0], *cube()[1:]],
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_holds_the_same_cube(tmp_path, name, end):
    path = written(tmp_path, [line.replace("\n", end) for line in DIALECTS[name]], end=end)
    mesh, odd = loaded(path)
    assert odd == ()
    points, faces, *_ = read_obj(path)
    expected = np.array([(c[0], c[k], c[k + 1]) for c in np.array(SIDES) - 1 for k in (1, 2)])
    assert np.array_equal(points, CORNERS)
    assert np.array_equal(faces, expected)
    assert np.array_equal(mesh.vertices[mesh.faces], points[faces])
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(1.0)


def test_numbers_are_read_as_python_reads_them(tmp_path):
    """To the last bit, through the cleaned text too."""
    rng = np.random.default_rng(1)
    values = (rng.normal(size=(500, 3)) * 10.0 ** rng.integers(-30, 30, (500, 3))).tolist()
    faces = [f"f {i} {i + 1} {i + 2}" for i in range(1, 499)]
    path = written(tmp_path, [*(f"v {x!r} {y!r} {z!r}" for x, y, z in values), *faces])
    assert read_obj(path).points.tolist() == values
    mesh, _ = loaded(path)
    assert np.asarray(mesh.vertices).tolist() == values


# Faces that are not convex --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("start", range(6))
@pytest.mark.parametrize("tilt", [None, 0, 1])
def test_the_bracket_has_its_area_whichever_corner_comes_first(tmp_path, start, tilt):
    """Two ends of 496 and six walls: 2 * 496 + 140 * 20 = 3792."""
    lines = prism(L[start:] + L[:start], 20)
    if tilt is not None:
        points = np.array([line.split()[1:] for line in lines if line[0] == "v"], dtype=float)
        turned = Rotation.random(rng=np.random.default_rng(tilt)).apply(points).tolist()
        lines[: len(turned)] = [f"v {x!r} {y!r} {z!r}" for x, y, z in turned]
    mesh, odd = loaded(written(tmp_path, lines))
    assert odd == ()
    assert mesh.area == pytest.approx(3792, rel=1e-12)
    assert mesh.volume == pytest.approx(496 * 20, rel=1e-12)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    body = ph.Body.from_mesh(written(tmp_path, lines), density=1.0, unit="mm")
    assert body.area == pytest.approx(3792e-6, rel=1e-12)


@pytest.mark.parametrize("power", [-900, -30, 30, 900, 1010])
def test_dust_and_asteroids_are_cut_alike(tmp_path, power):
    """To the same triangles; what cannot be multiplied any more keeps a fan, and gives no traceback."""
    lines = prism(L[1:] + L[:1], 20)
    usual = read_obj(written(tmp_path, lines))
    numbers = (usual.points * 2.0**power).tolist()
    other = read_obj(written(tmp_path, [*(f"v {x!r} {y!r} {z!r}" for x, y, z in numbers), *lines[12:]]))
    assert np.array_equal(other.points, numbers)
    assert np.array_equal(usual.triangles, other.triangles)
    far = ["v -1e308 0 0", "v 1e308 0 0", "v 1e308 1e308 0", "v -1e308 1e308 0", "f 1 2 3 4"]
    assert read_obj(written(tmp_path, far)).triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("seed", range(10))
def test_stars_against_the_shoelace_formula(tmp_path, seed):
    """Outlines with random radii, seldom convex, of 4 to 40 corners."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    angle = 2 * np.pi * np.arange(n) / n
    corners = (np.stack((np.cos(angle), np.sin(angle)), axis=1) * rng.uniform(0.1, 1, (n, 1))).tolist()
    area, around = shoelace(corners)
    path = written(tmp_path, prism([tuple(c) for c in corners], 2))
    mesh, odd = loaded(path)
    assert odd == ()
    assert mesh.area == pytest.approx(2 * area + 2 * around, rel=1e-12)
    points, faces, *_ = read_obj(path)
    assert exact(points, faces)[0] == pytest.approx(2 * area, rel=1e-12)


def test_a_polygon_that_crosses_itself_keeps_its_fan_and_warns(tmp_path):
    lines = ["v 0 0 0", "v 1 1 0", "v 1 0 0", "v 0 1.5 0", "f 1 2 3 4", "f 1 2 3"]
    read = read_obj(written(tmp_path, lines))
    assert read.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2]]
    assert read.warnings == (
        "1 of 2 polygons cross or touch themselves, the first in line 5: their area may be too large",
    )


def test_polygons_keep_their_place_among_triangles(tmp_path):
    """Faces are counted as in the file: sizes 3, 4, 6, 3 give 1, 2, 4 and 1 triangles."""
    lines = [*(f"v {x} {y} 0" for x, y in L), "f 1 2 3", "f 4 5 6 1", "f 1 2 3 4 5 6", "f 4 5 6"]
    triangles = read_obj(written(tmp_path, lines)).triangles
    assert triangles[[0, 1, 2, 7]].tolist() == [[0, 1, 2], [3, 4, 5], [3, 5, 0], [3, 4, 5]]
    a, b, c = (np.array(L)[triangles[3:7, k]] for k in range(3))
    turns = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert (turns > 0).all()
    assert turns.sum() == 2 * 496
