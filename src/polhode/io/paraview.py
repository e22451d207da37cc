"""A motion for ParaView: one file of triangles for each output, and a collection of them with their times.

x.pvd           the files and their times
x/x_0000.vtu    the surfaces of all bodies, with the velocity of every point (m/s), its displacement since the
                start (m), and the index of the body
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from polhode.equations.formulations import StateView
from polhode.errors import FileError
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.io.exported_bodies import ExportedBody, select_exported_bodies
from polhode.massprops.geometry import merge_surfaces
from polhode.progress import progress
from polhode.results import material_points
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory

INSTALL_HINT = "writing for ParaView needs meshio: pip install 'polhode[mesh]'"


def write_paraview(motion: Trajectory, path: Path) -> None:
    """Write the folder and the collection atomically."""
    check_suffix(path, (".pvd",), "a series for ParaView")
    try:
        import meshio  # noqa: F401
    except ImportError as why:
        raise FileError(f"{path}: {why}; {INSTALL_HINT}") from None
    shown = select_exported_bodies(motion)
    folder = path.with_suffix("")
    draft, old = (path.with_name(f".{folder.name}.{what}") for what in ("part", "replaced"))
    _refuse_foreign_files(folder)
    try:
        for leftover in (draft, old):
            if leftover.exists():
                shutil.rmtree(leftover)
        draft.mkdir(parents=True)
        outputs = _outputs_with_bodies(motion, shown)
        names = _write_frames(motion, shown, outputs, draft, folder.name)
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
        write_atomic(path, _encode_collection(motion.times[outputs], [f"{folder.name}/{name}" for name in names]))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        for leftover in (draft, old):
            shutil.rmtree(leftover, ignore_errors=True)


def _outputs_with_bodies(motion: Trajectory, shown: Sequence[ExportedBody]) -> list[int]:
    """The outputs with at least one body: events may have stopped every member before the last."""
    finite: Any = np.isfinite(motion.run_result.samples[:, [one.number for one in shown]]).all(axis=-1)
    found: list[int] = np.flatnonzero(finite.any(axis=1)).tolist()
    return found


def _write_frames(
    motion: Trajectory, shown: Sequence[ExportedBody], outputs: Sequence[int], folder: Path, name: str
) -> list[str]:
    digits = max(4, len(str(outputs[-1])))
    names = [f"{name}_{k:0{digits}d}.vtu" for k in outputs]
    frame = _mesh_builder(motion, shown)
    with progress(f"writing {name}.pvd", "files") as report:
        for done, (k, file) in enumerate(zip(outputs, names, strict=True)):
            frame(k).write(folder / file, file_format="vtu")
            report(done + 1, len(outputs))
    return names


def _mesh_builder(motion: Trajectory, shown: Sequence[ExportedBody]) -> Callable[[int], Any]:
    """A function that builds the meshio mesh of an output, without members that an event stopped before it."""
    import meshio

    view, start = motion.state_view, motion.state_view_of(motion.samples_at(motion.scenario.start_time)[None])
    finite: Any = np.isfinite(motion.run_result.samples).all(axis=-1)
    alike: dict[int, list[ExportedBody]] = {}
    for one in shown:
        alike.setdefault(id(one.surface), []).append(one)

    def frame(k: int) -> Any:
        fields: dict[str, list[Array]] = {"points": [], "velocity": [], "displacement": []}
        surfaces, bodies = [], []
        for group in alike.values():
            surface, there = group[0].surface, [one.number for one in group if finite[k, one.number]]
            now, first = _select_bodies(view, k, there), _select_bodies(start, 0, there)
            laws = (
                material_points.point_position,
                material_points.point_velocity,
                material_points.point_displacement_from(first),
            )
            for field, law in zip(fields.values(), laws, strict=True):
                field.append(material_points.evaluate_at_points(now, surface.vertices, law).reshape(-1, 3))
            surfaces += [surface] * len(there)
            bodies += [np.full(len(surface.faces), number) for number in there]
        whole = {name: np.concatenate(values) for name, values in fields.items()}
        cells = [("triangle", merge_surfaces(surfaces).faces)]
        return meshio.Mesh(whole.pop("points"), cells, point_data=whole, cell_data={"body": [np.concatenate(bodies)]})

    return frame


def _select_bodies(view: StateView, k: int, bodies: list[int]) -> StateView:
    """The states of some bodies at one time."""
    vectors: Any = (tuple(c[k : k + 1, bodies] for c in vector) for vector in view)
    return StateView(*vectors)


def _encode_collection(times: Array, files: Sequence[str]) -> bytes:
    """The .pvd collection of files and times."""
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1", byte_order="LittleEndian")
    collection = ElementTree.SubElement(root, "Collection")
    for t, file in zip(times.tolist(), files, strict=True):
        ElementTree.SubElement(collection, "DataSet", timestep=repr(t), group="", part="0", file=file)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _refuse_foreign_files(folder: Path) -> None:
    """Raise an error unless the folder holds only the files of an earlier motion, which may be overwritten."""
    if not folder.exists():
        return
    ours = re.compile(re.escape(folder.name) + r"_\d{4,}\.vtu")
    foreign = [p.name for p in folder.iterdir() if not ours.fullmatch(p.name)] if folder.is_dir() else [folder.name]
    if foreign:
        raise FileError(
            f"{folder}, where the files of the motion would go, contains {sorted(foreign)[0]}, which is not one of "
            "them: choose another name"
        )
