"""Nodes of a large mesh beside a copy by NumPy, and the writing of files beside that of raw bytes.

python -m benchmarks.mesh_files [NODES] [SUBDIVISIONS]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import polhode as ph
from benchmarks.throughput import machine_info

WANTED_COPIES = 2.0
"""A million nodes are positioned in at most this many times the time of a copy."""
FILES = {"export_paraview": "x.pvd", "export_xdmf": "x.xdmf", "export_exodus": "x.e"}


def measure_nodes(count: int, repeats: int) -> dict[str, float]:
    """Milliseconds for all nodes at one time, and of a copy of the result."""
    points = np.random.default_rng(0).normal(size=(count, 3))
    body, spin = ph.shapes.box((1, 2, 3), mass=1.0), ph.State(angular_velocity_body=(0.1, 2.0, 0.3))
    motion = ph.simulate(body, spin, [ph.forces.gravity()], duration=1.0, method="dop853")
    nodes, t = motion.nodes(points), float(motion.times[7])
    stepper = ph.Stepper(body, spin, method="rk4", step=1e-3)
    stepper.use_nodes(points)
    works: dict[str, Callable[[], Any]] = {
        "copy": points.copy,
        "positions": lambda: nodes.positions(t),
        "displacements": lambda: nodes.displacements(t),
        "velocities": lambda: nodes.velocities(t),
        "accelerations": lambda: nodes.accelerations(t),
        "set_nodal_forces": lambda: stepper.set_nodal_forces(points),
    }
    found = dict.fromkeys(works, np.inf)
    for _ in range(repeats):  # they take turns
        for name, work in works.items():
            began = perf_counter()
            work()
            found[name] = min(found[name], (perf_counter() - began) * 1e3)
    return found | {"positions_in_copies": found["positions"] / found["copy"], "wanted_copies": WANTED_COPIES}


def measure_files(subdivisions: int, outputs: int, repeats: int) -> dict[str, Any]:
    """Milliseconds for each output of a motion, and for as many raw bytes as the ParaView file has."""
    import trimesh

    mesh = trimesh.creation.icosphere(subdivisions)
    body, spin = ph.Body.from_mesh(mesh, mass=1.0), ph.State(angular_velocity_body=(1, 2, 3))
    times = np.linspace(0.0, 1.0, outputs)
    motion = ph.simulate(body, spin, duration=1.0, output_times=times, method="exact")
    found: dict[str, Any] = {"faces": len(mesh.faces), "outputs": outputs}
    with TemporaryDirectory() as folder:
        for export, name in FILES.items():
            path, best = Path(folder) / name, np.inf
            for _ in range(repeats):
                began = perf_counter()
                getattr(motion, export)(path)
                best = min(best, (perf_counter() - began) * 1e3 / outputs)
            found[export] = best
        size = next((Path(folder) / "x").iterdir()).stat().st_size
        content, best = np.random.default_rng(0).bytes(size), np.inf
        for _ in range(repeats):
            began = perf_counter()
            for k in range(outputs):
                (Path(folder) / f"raw_{k}").write_bytes(content)
            best = min(best, (perf_counter() - began) * 1e3 / outputs)
        found |= {"raw_bytes": best, "megabytes": size / 1e6}
    return found


def main(nodes: int = 1_000_000, subdivisions: int = 7) -> None:
    """Print all figures as JSON."""
    result = {
        "machine": machine_info(),
        "nodes_ms": measure_nodes(nodes, 20),
        "files_ms_an_output": measure_files(subdivisions, 10, 3),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
