"""Diagnosis of a surface mesh: everything found while it was read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polhode.errors import InputError
from polhode.massprops.surface.mesh_checks import check_solid
from polhode.massprops.surface.mesh_finding import MeshFinding
from polhode.massprops.surface.surface_analysis import SurfaceAnalysis
from polhode.massprops.surface.surface_reader import SurfaceReading, read_surface
from polhode.synonyms import explain_unknown_arguments

if TYPE_CHECKING:
    from pathlib import Path

    import trimesh


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Findings about a mesh; printed, one line per finding."""

    name: str
    faces: int
    shells: int
    findings: tuple[MeshFinding, ...]

    def sentences(self, level: str) -> tuple[str, ...]:
        """The sentences of one level: "error", "warning" or "note"."""
        return tuple(f.sentence for f in self.findings if f.level == level)

    @property
    def is_sound(self) -> bool:
        """Whether the mesh has a well-defined inside."""
        return not self.sentences("error")

    def __str__(self) -> str:
        head = f"{self.name}: {self.faces} faces, {self.shells} shell{'s' * (self.shells != 1)}"
        return "\n".join([head, *(f"  {f.level}: {f.sentence}" for f in self.findings)] + ["  sound"] * self.is_sound)


@explain_unknown_arguments(InputError)
def diagnose(mesh: str | Path | trimesh.Trimesh | trimesh.Scene, unit: str | None = None) -> Diagnosis:
    """Check a surface mesh for defects, as `Body.from_mesh` does first.

    Parameters
    ----------
    mesh : path or trimesh.Trimesh
        As for `Body.from_mesh`.
    unit : str, optional
        Unit of its coordinates, as for `Body.from_mesh`.

    Returns
    -------
    Diagnosis
        The findings; `is_sound` is False if the mesh has no well-defined inside.

    Examples
    --------
    >>> import polhode as ph, trimesh
    >>> cube = trimesh.creation.box((1, 1, 1))
    >>> cube.update_faces([False] * 2 + [True] * 10)
    >>> print(ph.diagnose(cube))
    the mesh: 10 faces, 1 shell
      error: 4 edges are open, around 1 hole; the longest is 4.828 m long, of 4 edges near (-0.25, -0.25, 0). ...
    """
    read = read_surface(mesh, unit)
    facts = SurfaceAnalysis(read.surface, read.name, read.meters)
    return build_diagnosis(facts, read, check_solid(facts))


def build_diagnosis(facts: SurfaceAnalysis, read: SurfaceReading, findings: Sequence[MeshFinding]) -> Diagnosis:
    """The findings from reading the mesh, then those of the checks."""
    from_reading = [
        MeshFinding("reading", level, sentence)
        for level, sentences in (("note", read.notes), ("warning", read.warnings))
        for sentence in sentences
    ]
    return Diagnosis(read.name, len(facts.surface.faces), facts.shells, (*from_reading, *findings))
