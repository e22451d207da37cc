"""Every defect on a small mesh that shows it, with the message that the user gets, and what each repair changes."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import polhode as ph
from mesh_cases import CLOSED, inverted, make, moved, together
from polhode.errors import MassWarning, MeshError

CUBE = make.box((1, 1, 1))


def with_faces(mesh, faces):
    return trimesh.Trimesh(mesh.vertices, faces, process=False)


def without(mesh, *numbers):
    return with_faces(mesh, np.delete(mesh.faces, numbers, axis=0))


def flipped(mesh, *numbers):
    faces = np.array(mesh.faces)
    faces[list(numbers)] = faces[list(numbers)][:, ::-1]
    return with_faces(mesh, faces)


def with_more(mesh, *faces):
    return with_faces(mesh, np.concatenate((mesh.faces, np.array(faces))))


def moebius():
    """A band of nine squares with half a twist, the two sides of which are one."""
    angle = np.linspace(0, 2 * np.pi, 10)[:-1]
    ends = []
    for side in (-0.3, 0.3):
        radius = 1 + side * np.cos(angle / 2)
        ends.append(np.stack((radius * np.cos(angle), radius * np.sin(angle), side * np.sin(angle / 2)), axis=1))
    faces = []
    for i in range(9):
        a, b, c, d = i, i + 9, (i + 1) % 9 + 9, (i + 1) % 9
        if i == 8:
            c, d = d, c
        faces += [(a, b, c), (a, c, d)]
    return trimesh.Trimesh(np.concatenate(ends), faces, process=False)


def other_diagonals(mesh):
    """The same squares of a box, each cut along its other diagonal."""
    faces = []
    for normal in np.unique(mesh.face_normals.round(6), axis=0):
        four = np.unique(mesh.faces[(mesh.face_normals @ normal) > 0.9])
        middle = mesh.vertices[four].mean(axis=0)
        side = mesh.vertices[four[0]] - middle
        angle = [np.arctan2(np.cross(side, v - middle) @ normal, side @ (v - middle)) for v in mesh.vertices[four]]
        a, b, c, d = four[np.argsort(angle)]
        present = {tuple(sorted(f)) for f in mesh.faces}
        faces += [(a, b, c), (a, c, d)] if tuple(sorted((a, b, c))) not in present else [(b, c, d), (b, d, a)]
    return np.array(faces)


def imprinted_peg():
    """A block whose top is cut into nine squares, and a peg that goes in through the middle one, along its edges."""
    block = together(*(moved(CUBE, x, y, 0) for x in (-1, 0, 1) for y in (-1, 0, 1)))
    is_between = (np.abs(block.triangles_center[:, :2]).max(axis=1) < 1.4) & (np.abs(block.face_normals[:, 2]) < 0.5)
    return together(with_faces(block, block.faces[~is_between]), moved(CUBE, 0, 0, 0.25))


SMALL = make.box((0.5, 0.5, 0.5))
TWISTED = together(make.box((1, 1, 1)), moved(make.box((1, 1, 1)), 0.6, 0.3, 0.2))

ERRORS = {
    "a missing face": (
        without(CUBE, 0),
        "open",
        ("3 edges are open, around 1 hole; the longest is 3.414 m long, of 3 edges near (-0.5, ", "repair='fill'"),
    ),
    "two holes": (without(make.icosphere(2), 0, 100), "open", ("6 edges are open, around 2 holes; the longest is",)),
    "one face flipped": (
        flipped(CUBE, 3),
        "inconsistent",
        ("1 face of 12 is oriented opposite to the neighbors, for example face 3 near (-0.1667", "repair='flip'"),
    ),
    "three faces flipped": (
        flipped(make.icosphere(1), 2, 30, 71),
        "inconsistent",
        ("3 faces of 80 are oriented opposite",),
    ),
    "all faces inwards": (inverted(CUBE), "inverted", ("all faces of the mesh face inward: its volume is -1 m3",)),
    "one of two pieces inwards": (
        together(CUBE, inverted(moved(SMALL, 3, 0, 0))),
        "inverted",
        ("shell 1 (of 2, at (3, 0, 0)) faces inward, but lies in no other: its 0.125 m3 would be counted neg",),
    ),
    "a shell inside another, both outwards": (
        together(CUBE, SMALL),
        "nested",
        ("shell 1 (of 2, at (0, 0, 0)) lies inside another and faces outward like it: is it a void, or a second",),
    ),
    "pieces that overlap": (
        TWISTED,
        "overlapping",
        ("shells 0 and 1 intersect near (", "the overlap would be counted twice"),
    ),
    "a piece twice": (together(CUBE, CUBE), "duplicate", ("12 faces are duplicated, for example 0 and 12",)),
    "a face twice, and once the other way": (
        with_more(CUBE, CUBE.faces[0], CUBE.faces[0][::-1]),
        "duplicate",
        ("1 face is duplicated, for example 0 and 12",),
    ),
    "small parts that overlap, flush on four sides": (
        together(
            make.box((1, 1, 0.1)),
            moved(make.box((0.005,) * 3), 0.1, 0.1, 1),
            moved(make.box((0.005,) * 3), 0.1025, 0.1, 1),
        ),
        "overlapping",
        ("shells 1 and 2 intersect near (0.09917, ", "would be counted twice"),
    ),
    "needles that overlap along themselves": (
        together(make.box((1, 1e-5, 1e-5)), moved(make.box((1, 1e-5, 1e-5)), 0.5, 0, 0)),
        "overlapping",
        ("shells 0 and 1 intersect",),
    ),
    "foils that overlap": (
        together(make.box((1, 1, 5e-7)), moved(make.box((1, 1, 5e-7)), 0.5, 0, 0)),
        "overlapping",
        ("shells 0 and 1 intersect",),
    ),
    "the same part twice, cut into triangles otherwise": (
        together(CUBE, with_faces(CUBE, other_diagonals(CUBE))),
        "overlapping",
        ("intersects itself",),
    ),
    "a peg in a face cut along its outline": (imprinted_peg(), "overlapping", ("both contain the point (",)),
    "a face twice": (
        with_more(CUBE, CUBE.faces[4]),
        "duplicate",
        ("1 face is duplicated, for example 4 and 12",),
    ),
    "a fin": (
        trimesh.Trimesh(np.vstack((CUBE.vertices, (2, 2, 2))), np.vstack((CUBE.faces, (*CUBE.faces[0][:2], 8)))),
        "crowded",
        ("1 edge has three or more faces, for example near (",),
    ),
    "one side only": (moebius(), "one-sided", ("like a Moebius strip",)),
    "no volume": (
        trimesh.Trimesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (2, 1, 0)], process=False),
        "flat",
        ("encloses no volume: it is flat",),
    ),
    "no area at all": (
        trimesh.Trimesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2), (2, 1, 0)], process=False),
        "degenerate",
        ("none of the 2 faces of the mesh has an area",),
    ),
    "a center of mass outside": (
        together(CUBE, inverted(moved(make.box((0.9, 0.9, 0.9)), 3, 0, 0))),
        "center",
        ("the center of mass would lie at (", "outside the convex hull, which is impossible"),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_defect_is_refused_with_its_sentence(name):
    mesh, kind, phrases = ERRORS[name]
    with pytest.raises(MeshError) as caught:
        ph.Body.from_mesh(mesh, density=1.0)
    assert kind in {finding.kind for finding in caught.value.diagnosis.findings if finding.level == "error"}
    for phrase in phrases:
        assert phrase in str(caught.value)
    assert not ph.diagnose(mesh).is_sound
    assert str(caught.value).count(phrases[0]) == 1


def test_the_classic_trap_watertight_right_volume_wrong_center():
    """trimesh calls this cube watertight, with the right volume; its center of mass is off by a quarter."""
    bent = flipped(moved(CUBE, 0.5, 0.5, 0.5), 0, 1)
    assert bent.is_watertight
    with pytest.raises(MeshError, match="2 faces of 12 are oriented opposite"):
        ph.Body.from_mesh(bent, density=1.0)


def coil(rise, along=80, round_it=12):
    """A round wire of radius 0.3 in two turns of radius 1, which rise by so much each; its ends are closed."""
    turn, around = np.linspace(0, 4 * np.pi, along + 1), np.linspace(0, 2 * np.pi, round_it + 1)[:-1]
    out = 1 + 0.3 * np.cos(around)
    up = [rise * t / (2 * np.pi) + 0.3 * np.sin(around) for t in turn]
    rings = [np.stack((out * np.cos(t), out * np.sin(t), z), axis=1) for t, z in zip(turn, up, strict=True)]
    a = (round_it * np.arange(along)[:, None] + np.arange(round_it)).ravel()
    b = (round_it * np.arange(along)[:, None] + (np.arange(round_it) + 1) % round_it).ravel()
    sides = np.concatenate((np.stack((a, a + round_it, b), axis=1), np.stack((b, a + round_it, b + round_it), axis=1)))
    k, last = np.arange(1, round_it - 1), round_it * along
    ends = (np.stack((0 * k, k, k + 1), axis=1), np.stack((0 * k, k + 1, k), axis=1) + last)
    return trimesh.Trimesh(np.concatenate(rings), np.concatenate((sides, *ends)), process=False)


@pytest.mark.parametrize("fineness", [(80, 12), (700, 16)])
def test_a_self_intersecting_surface(fineness):
    """One shell, every edge in order, a sensible volume: the edges alone do not show that the turns overlap.

    The coarse one is found face by face, the fine one, which has 22,000 faces, by lines.
    """
    apart, overlapping = coil(0.7, *fineness), coil(0.35, *fineness)
    for mesh in (apart, overlapping):
        assert mesh.is_watertight
        assert mesh.is_winding_consistent
        assert mesh.volume == pytest.approx(3.4, abs=0.15)
    assert ph.diagnose(apart).is_sound
    how = "faces" if fineness == (80, 12) else "m3 would be counted more than once"
    with pytest.raises(MeshError, match=rf"the surface intersects itself.*{how}"):
        ph.Body.from_mesh(overlapping, density=1.0)


def test_damage_to_one_of_two_solids_that_share_an_edge():
    """Four faces at the common edge: one of the solids inside out leaves every edge balanced."""
    other = inverted(moved(CUBE, 1, 1, 0))
    shared = together(CUBE, other)
    shared.merge_vertices()
    with pytest.raises(MeshError, match="faces inward, but lies in no other"):
        ph.Body.from_mesh(shared, density=1.0)
    sound = together(CUBE, moved(CUBE, 1, 1, 0))
    sound.merge_vertices()
    assert ph.Body.from_mesh(sound, density=1.0).mass == pytest.approx(2.0)


def mirrored_below(mesh):
    """Its image in the plane of its lowest face: the two share that face, and its diagonal."""
    image = trimesh.Trimesh(mesh.vertices * (1, 1, -1) - (0, 0, 1), mesh.faces, process=False)
    return inverted(image)


WARNINGS = {
    "a face without area": (
        with_more(CUBE, (0, 1, 1)),
        {},
        "1 face of 13 has no area .the first is number 12, near",
        1.0,
    ),
    "copies that cancel": (
        together(CUBE, mirrored_below(CUBE)),
        {},
        "2 faces are duplicated.*with opposite orientations: they cancel, except in the area",
        2.0,
    ),
    "points of no face": (
        trimesh.Trimesh(np.vstack((CUBE.vertices, (5, 5, 5))), CUBE.faces, process=False),
        {},
        "1 of 9 points belong to no face: was the file truncated",
        1.0,
    ),
    "millimeters read as meters": (
        trimesh.Trimesh(CUBE.vertices * 120, CUBE.faces, process=False),
        {},
        "is 120 m long, read in m: if it was drawn in millimeters, pass unit='mm'",
        1728000.0,
    ),
    "shells that touch but for rounding": (
        together(CUBE, moved(make.box((0.5, 0.5, 0.5)), 0, 0, 0.75 - 1e-8)),
        {},
        "intersect near .*they are treated as touching",
        1.125,
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_suspicious_meshes_give_a_warning_and_a_note(name):
    mesh, arguments, sentence, mass = WARNINGS[name]
    with pytest.warns(MassWarning, match=sentence):
        body = ph.Body.from_mesh(mesh, density=1.0, **arguments)
    assert body.mass == pytest.approx(mass, rel=1e-12)
    assert len(body.notes) >= 1


def test_voids_and_pieces_are_noted():
    hollow = ph.Body.from_mesh(together(CUBE, inverted(SMALL)), density=1.0)
    assert hollow.volume == pytest.approx(0.875, rel=1e-15)
    assert hollow.notes == ("1 void, 0.125 m3, counted as empty",)
    apart = ph.Body.from_mesh(together(CUBE, moved(SMALL, 3, 0, 0)), density=1.0)
    assert apart.notes == ("2 pieces that share no edge, treated as one rigid body",)
    in_a_void = together(make.box((4, 4, 4)), inverted(make.box((2, 2, 2))), CUBE)
    assert ph.Body.from_mesh(in_a_void, density=1.0).volume == pytest.approx(64 - 8 + 1)
    touching = together(CUBE, moved(SMALL, 0, 0, 0.75))
    assert ph.Body.from_mesh(touching, density=1.0).volume == pytest.approx(1.125)


def test_good_meshes_have_no_findings(recwarn):
    for name, mesh in CLOSED.items():
        diagnosis = ph.diagnose(mesh)
        assert diagnosis.is_sound, name
        assert not diagnosis.sentences("warning"), name
    assert not recwarn


# Repairs ------------------------------------------------------------------------------------------------------------
def same(body, mesh):
    truth = ph.Body.from_mesh(mesh, density=1.0)
    assert body.mass == pytest.approx(truth.mass, rel=1e-13)
    assert body.center_of_mass == pytest.approx(truth.center_of_mass, abs=1e-13)
    assert body.inertia_body == pytest.approx(truth.inertia_body, abs=1e-13)


@pytest.mark.parametrize("name", CLOSED)
def test_flip_turns_faces_back_against_the_undamaged_mesh(name):
    rng = np.random.default_rng(1)
    mesh = CLOSED[name]
    for share in (0.05, 0.3, 1.0):
        which = np.flatnonzero(rng.random(len(mesh.faces)) < share)
        body = ph.Body.from_mesh(flipped(mesh, *which), density=1.0, repair="flip", unit="m")
        same(body, mesh)
        assert any(note.startswith("flip: ") for note in body.notes)


def test_flip_notes_what_it_flipped():
    body = ph.Body.from_mesh(flipped(CUBE, 3, 7), density=1.0, repair="flip")
    assert body.notes == ("flip: 2 of 12 faces flipped, the first is number 3",)
    body = ph.Body.from_mesh(together(CUBE, SMALL), density=1.0, repair="flip")
    assert body.notes[-1] == "flip: 12 of 24 faces flipped, the first is number 12; 1 inner shell made a void"
    assert body.volume == pytest.approx(0.875)
    assert ph.Body.from_mesh(CUBE, density=1.0, repair="flip").notes == ("flip: 0 of 12 faces flipped",)


def test_fill_closes_flat_holes_exactly():
    body = ph.Body.from_mesh(without(CUBE, 0), density=1.0, repair="fill")
    same(body, CUBE)
    assert "fill: 1 hole closed with 3 faces of 0.5 m2 in all; the longest was 3.414 m, of 3 edges" in body.notes[0]
    holed = without(CLOSED["bracket"], *np.flatnonzero(CLOSED["bracket"].face_normals[:, 2] > 0.9))
    same(ph.Body.from_mesh(holed, density=1.0, repair="fill"), CLOSED["bracket"])
    assert ph.Body.from_mesh(CUBE, density=1.0, repair="fill").notes == ("fill: there was no hole",)


def test_fill_and_flip_together():
    damaged = flipped(without(make.icosphere(2), 17), 3, 40, 41)
    with pytest.raises(MeshError, match=r"oriented inconsistently.*Pass repair=.'flip', 'fill'."):
        ph.Body.from_mesh(damaged, density=1.0, repair="fill")
    with pytest.raises(MeshError, match="open"):
        ph.Body.from_mesh(damaged, density=1.0, repair="flip")
    body = ph.Body.from_mesh(damaged, density=1.0, repair=("fill", "flip"))
    same(body, make.icosphere(2))


def test_hull_against_trimesh():
    for mesh in (TWISTED, without(make.icosphere(2), 5), CLOSED["bracket"]):
        body = ph.Body.from_mesh(mesh, density=2.0, repair="hull")
        assert body.mass == pytest.approx(2 * mesh.convex_hull.volume, rel=1e-12)
        assert body.inertia_body == pytest.approx(2 * mesh.convex_hull.moment_inertia, rel=1e-9, abs=1e-12)
        assert body.notes[-1].startswith("hull: the convex hull of")


def test_no_repair_makes_a_solid_of_a_moebius_strip():
    for repair, sentence in {"flip": "one-sided", "fill": "holes are not well-defined"}.items():
        with pytest.raises(MeshError, match=sentence):
            ph.Body.from_mesh(moebius(), density=1.0, repair=repair)
    with pytest.raises(MeshError, match="coplanar"):
        ph.Body.from_mesh(ERRORS["no volume"][0], density=1.0, repair="hull")
    with pytest.raises(MeshError, match="counted twice"):
        ph.Body.from_mesh(TWISTED, density=1.0, repair=("fill", "flip"))


@pytest.mark.filterwarnings("ignore::polhode.errors.MassWarning")
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_defects_are_found_at_any_scale(scale):
    for name, (mesh, kind, _) in ERRORS.items():
        far = trimesh.Trimesh((mesh.vertices + (1e3, 0, 0)) * scale, mesh.faces, process=False)
        kinds = {finding.kind for finding in ph.diagnose(far).findings if finding.level == "error"}
        assert kind in kinds, name
    for name, mesh in CLOSED.items():
        if name != "thin plate":
            scaled = trimesh.Trimesh((mesh.vertices + (1e3, 0, 0)) * scale, mesh.faces, process=False)
            assert ph.diagnose(scaled).is_sound, name


# No false alarms ----------------------------------------------------------------------------------------------------
def turned(mesh, seed, away=0.0):
    rng = np.random.default_rng(seed)
    vertices = Rotation.random(rng=rng).apply(np.asarray(mesh.vertices)) + rng.normal(size=3) * away
    return trimesh.Trimesh(vertices, mesh.faces, process=False)


def test_parts_that_fit_snugly_are_no_overlap():
    """A finely cut rod in a hole made of four blocks, and a void filled exactly: coincident faces."""
    rod = make.box((1, 1, 3)).subdivide().subdivide()
    blocks = [moved(make.box((1, 3, 3)), s, 0, 0) for s in (-1, 1)]
    blocks += [moved(make.box((1, 1, 3)), 0, s, 0) for s in (-1, 1)]
    filled = together(make.box((5, 5, 5)), inverted(CUBE), CUBE.subdivide())
    for seed in range(15):
        assert ph.Body.from_mesh(turned(together(*blocks, rod), seed), density=1.0).volume == pytest.approx(27.0)
        assert ph.Body.from_mesh(turned(filled, seed), density=1.0).volume == pytest.approx(125.0)


@pytest.mark.filterwarnings("ignore::polhode.errors.MassWarning")
@pytest.mark.parametrize("away", [1.0, 10.0, 50.0])
def test_parts_that_touch_in_single_precision_are_no_overlap(away):
    """As STL files have them: corners rounded to seven digits, the more coarsely the farther away."""
    touching = together(CUBE, moved(make.box((0.5, 0.5, 1)), 0.1, 0.2, 1))
    for seed in range(20):
        single = turned(touching, seed, away).vertices.astype(np.float32).astype(float)
        mesh = trimesh.Trimesh(single, touching.faces, process=False)
        assert ph.Body.from_mesh(mesh, density=1.0).volume == pytest.approx(1.25, rel=1e-4)


def test_many_shells_and_many_voids():
    cells = np.stack(np.meshgrid(*(range(6),) * 3), axis=-1).reshape(-1, 3)
    balls = [moved(make.icosphere(1, radius=0.4), *cell) for cell in cells]
    apart = ph.Body.from_mesh(together(*balls), density=1.0)
    assert apart.volume == pytest.approx(216 * balls[0].volume)
    sponge = ph.Body.from_mesh(together(moved(make.box((7, 7, 7)), 2.5, 2.5, 2.5), *map(inverted, balls)), density=1.0)
    assert sponge.volume == pytest.approx(343 - 216 * balls[0].volume)
    assert sponge.notes[0].startswith("216 voids")
    with pytest.raises(MeshError, match="and 213 shells more like these"):
        ph.Body.from_mesh(together(moved(make.box((7, 7, 7)), 2.5, 2.5, 2.5), *balls), density=1.0)


def test_fans_of_slivers_are_not_compared_pairwise_and_a_note_says_so():
    """The ends of a cylinder of 2000 sides are fans: every sliver lies near every other."""
    cylinder = ph.shapes.cylinder(1.0, 2.0, density=1.0)
    body = ph.Body.from_mesh(cylinder.mesh(2000), density=1.0)
    assert body.volume == pytest.approx(cylinder.volume, rel=1e-5)
    assert body.notes == (
        "too many faces lie close together to test all pairs: overlaps are searched with rays and samples",
    )
    assert ph.Body.from_mesh(cylinder.mesh(200), density=1.0).notes == ()


# Areas --------------------------------------------------------------------------------------------------------------
def folded_bracket():
    """An L whose ends are cut into triangles from a corner that does not see all others."""
    outline = [(4, 1), (1, 1), (1, 3), (0, 3), (0, 0), (4, 0)]
    vertices = [(x, y, z) for z in (0, 2) for x, y in outline]
    faces = [(0, k + 1, k) for k in range(1, 5)] + [(6, 6 + k, 7 + k) for k in range(1, 5)]
    for k in range(6):
        j = (k + 1) % 6
        faces += [(k, j, 6 + j), (k, 6 + j, 6 + k)]
    return trimesh.Trimesh(vertices, faces, process=False)


def test_faces_folded_onto_their_neighbors():
    with pytest.warns(MassWarning, match=r"faces overlap.*the volume is right, the area is too large"):
        body = ph.Body.from_mesh(folded_bracket(), density=1.0)
    same(body, CLOSED["bracket"])
    with pytest.raises(MeshError, match=r"pairs of faces overlap.*area would be counted twice"):
        ph.Body.from_mesh(folded_bracket(), area_density=1.0)


def test_the_area_is_unknown_after_filling_and_a_wall_is_not_filled():
    """The two borders of a tube's open end get a cap each, one over the other."""
    tube = make.annulus(0.5, 1, 1, sections=16)
    open_end = without(tube, *np.flatnonzero(tube.face_normals[:, 2] > 0.9))
    body = ph.Body.from_mesh(open_end, density=1.0, repair="fill")
    assert body.volume == pytest.approx(tube.volume, rel=1e-13)
    assert body.area is None
    with pytest.raises(ph.PolhodeError, match="a wall need not be closed"):
        ph.Body.from_mesh(open_end, area_density=1.0, repair="fill")
