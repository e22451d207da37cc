"""How long a mesh takes to become a body, beside trimesh, and what remains of the tensor far from the origin.

Both take turns in one run, and the best counts.  Ours looks the mesh over for defects first; trimesh does not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import trimesh

from benchmarks.throughput import machine_info, package_versions
from polhode.massprops import shapes
from polhode.massprops.body import Body

FAR_AWAY = 1e6
"""Sizes away from the origin."""


def measure_mass_properties(
    triangles: int, repeats: int, report: Callable[[str], Any] = lambda text: None
) -> dict[str, Any]:
    """All figures: seconds for a torus of about `triangles` triangles, in memory and from an STL file, and errors."""
    segments = max(4, round((triangles / 2) ** 0.5))
    torus = shapes.torus(1.0, 0.3, density=1000.0)
    mesh = torus.mesh(segments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "torus.stl"
        report(f"writing {len(mesh.faces)} triangles")
        mesh.export(path)
        contenders: dict[str, Callable[[], Any]] = {
            "polhode, in memory": lambda: Body.from_mesh(_copy_without_cache(mesh), density=1000.0),
            "trimesh, in memory": lambda: _copy_without_cache(mesh).mass_properties,
            "polhode, from STL": lambda: Body.from_mesh(path, density=1000.0, unit="m"),
            "trimesh, from STL": lambda: trimesh.load_mesh(path).mass_properties,
        }
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for i in range(repeats):
            for name, work in contenders.items():
                report(f"repeat {i + 1} of {repeats}: {name}")
                began = perf_counter()
                work()
                times[name].append(perf_counter() - began)
    best = {name: min(seconds) for name, seconds in times.items()}
    return {
        "triangles": len(mesh.faces),
        "seconds": best,
        "all_seconds": times,
        "ratio": {where: best[f"polhode, {where}"] / best[f"trimesh, {where}"] for where in ("in memory", "from STL")},
        "error_of_the_tensor": _tensor_errors(),
        "machine": machine_info(),
        "versions": package_versions() | {"trimesh": trimesh.__version__},
    }


def _copy_without_cache(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    """The same mesh with nothing remembered."""
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)


def _tensor_errors() -> dict[str, dict[str, float]]:
    """The relative error of a cube's tensor, at the origin and far away, where its corners are exact numbers too."""
    cube = trimesh.creation.box((2.0, 2.0, 2.0))
    truth = np.eye(3) * 16 / 3
    found: dict[str, dict[str, float]] = {"polhode": {}, "trimesh": {}}
    for where, away in (("at the origin", 0.0), (f"{FAR_AWAY:g} sizes away", FAR_AWAY * 2)):
        there = trimesh.Trimesh(cube.vertices + away, cube.faces, process=False)
        ours = Body.from_mesh(there, density=1.0, unit="m").inertia_body
        for name, tensor in (("polhode", ours), ("trimesh", np.asarray(there.moment_inertia))):
            found[name][where] = float(np.abs(tensor - truth).max() / truth.max())
    return found


def format_mass_benchmark(result: dict[str, Any]) -> str:
    """The figures for people."""
    lines = [f"{result['triangles']} triangles, best of {len(next(iter(result['all_seconds'].values())))}"]
    lines += [f"  {name:<22} {seconds:8.3f} s" for name, seconds in result["seconds"].items()]
    lines += [f"  polhode / trimesh, {where:<12} {ratio:.2f}" for where, ratio in result["ratio"].items()]
    lines.append("error of a cube's tensor, relative")
    for name, errors in result["error_of_the_tensor"].items():
        lines += [f"  {name:<8} {where:<20} {error:.1e}" for where, error in errors.items()]
    return "\n".join(lines)
