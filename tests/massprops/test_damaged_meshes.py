"""Two thousand meshes damaged at random: each gives the right result, a warning or an error.

The reference is the undamaged mesh.
"""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
import trimesh

import polhode as ph
from mesh_cases import CLOSED
from polhode.errors import MassWarning

COUNT = 2000
TRUTH = {name: ph.Body.from_mesh(mesh, density=1.0) for name, mesh in CLOSED.items() if name != "stacked boxes"}
FORMATS = ("stl", "stl_ascii", "obj", "ply", "off", "glb", "3mf", "ply_ascii")


def dropped(rng, vertices, faces):
    return vertices, np.delete(faces, some(rng, faces), axis=0)


def turned(rng, vertices, faces):
    which = some(rng, faces)
    faces[which] = faces[which][:, ::-1]
    return vertices, faces


def doubled(rng, vertices, faces):
    return vertices, np.concatenate((faces, faces[some(rng, faces)]))


def spoilt(rng, vertices, faces):
    vertices[rng.choice(len(vertices), 2)] = rng.choice([np.nan, np.inf, -np.inf])
    return vertices, faces


def some(rng, faces):
    return rng.choice(len(faces), rng.integers(1, 6), replace=False)


DAMAGE = (dropped, turned, doubled, spoilt)


def cut_off(rng, mesh, folder):
    kind = FORMATS[rng.integers(len(FORMATS))]
    content = mesh.export(file_type="ply", encoding="ascii") if kind == "ply_ascii" else mesh.export(file_type=kind)
    content = content.encode() if isinstance(content, str) else content
    at = rng.integers(len(content)) if rng.random() < 0.7 else len(content) - rng.integers(1, 80)
    path = folder / f"part.{kind.split('_')[0]}"
    path.write_bytes(content[: max(0, at)])
    return path


def is_right(body, truth, tolerance):
    return (
        abs(body.mass / truth.mass - 1) < tolerance
        and np.abs(body.center_of_mass - truth.center_of_mass).max() < tolerance
        and np.abs(body.inertia_body - truth.inertia_body).max() < tolerance * np.abs(truth.inertia_body).max()
    )


def test_damaged_meshes_against_the_undamaged(tmp_path):
    rng = np.random.default_rng(2026)
    verdicts = Counter()
    for _ in range(COUNT):
        name = list(TRUTH)[rng.integers(len(TRUTH))]
        mesh, truth = CLOSED[name], TRUTH[name]
        is_cut = rng.random() < 0.3
        if is_cut:
            damaged, what = cut_off(rng, mesh, tmp_path), "cut off"
        else:
            vertices, faces = np.array(mesh.vertices), np.array(mesh.faces)
            several = [DAMAGE[k] for k in rng.integers(len(DAMAGE), size=rng.integers(1, 3))]
            for one in several:
                vertices, faces = one(rng, vertices, faces)
            damaged, what = trimesh.Trimesh(vertices, faces, process=False), several[0].__name__
        unit = "mm" if is_cut and damaged.suffix == ".3mf" else "m"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                body = ph.Body.from_mesh(damaged, density=1.0, unit=unit)
            except ph.PolhodeError:
                verdicts[what, "refused"] += 1
                continue
        said = any(issubclass(w.category, MassWarning) for w in caught)
        scaled = body if unit == "m" else body.scale(1e3)
        right = is_right(scaled, truth, 1e-4 if is_cut else 1e-12)
        assert right or said, (name, what)
        verdicts[what, "right" if right else "warned of"] += 1
    assert sum(verdicts.values()) == COUNT
    assert all(verdicts[what, "refused"] > 100 for what in ("cut off", "dropped", "turned", "doubled", "spoilt"))


@pytest.mark.parametrize("repair", ["flip", "fill", "hull", ("flip", "fill")])
def test_repairs_of_damaged_meshes_never_crash(repair):
    rng = np.random.default_rng(7)
    for _ in range(100):
        name = list(TRUTH)[rng.integers(len(TRUTH))]
        vertices, faces = np.array(CLOSED[name].vertices), np.array(CLOSED[name].faces)
        for k in rng.integers(3, size=2):
            vertices, faces = DAMAGE[k](rng, vertices, faces)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MassWarning)
            try:
                body = ph.Body.from_mesh(trimesh.Trimesh(vertices, faces, process=False), density=1.0, repair=repair)
            except ph.PolhodeError:
                continue
        assert body.notes
