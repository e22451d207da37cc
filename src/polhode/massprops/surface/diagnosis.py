"""A mesh looked over: everything that was found, from the reading on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polhode.massprops.surface.mesh_checks import check_solid
from polhode.massprops.surface.mesh_finding import MeshFinding
from polhode.massprops.surface.surface_analysis import SurfaceAnalysis
from polhode.massprops.surface.surface_reader import SurfaceReading, read_surface


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Everything that was found about a mesh."""

    name: str
    faces: int
    shells: int
    findings: tuple[MeshFinding, ...]

    def sentences(self, level: str) -> tuple[str, ...]:
        """The sentences of one level."""
        return tuple(f.sentence for f in self.findings if f.level == level)

    @property
    def is_sound(self) -> bool:
        """Whether the mesh has a definite inside."""
        return not self.sentences("error")

    def __str__(self) -> str:
        head = f"{self.name}: {self.faces} faces, {self.shells} shell{'s' * (self.shells != 1)}"
        return "\n".join([head, *(f"  {f.level}: {f.sentence}" for f in self.findings)] + ["  sound"] * self.is_sound)


def diagnose(mesh: Any, unit: str | None = None) -> Diagnosis:
    """Look a surface mesh over, as `Body.from_mesh` does before it computes.

    Parameters
    ----------
    mesh : path or trimesh.Trimesh
    unit : str, optional
        What its numbers are in, as for `Body.from_mesh`.

    Examples
    --------
    >>> import polhode as ph, trimesh
    >>> cube = trimesh.creation.box((1, 1, 1))
    >>> cube.update_faces([False] * 2 + [True] * 10)
    >>> print(ph.diagnose(cube))
    the mesh: 10 faces, 1 shell
      error: 4 edges are open, round 1 hole; the longest is 4.828 m long, of 4 edges about (-0.25, -0.25, 0). ...
    """
    read = read_surface(mesh, unit)
    facts = SurfaceAnalysis(read.surface, read.name, read.metres)
    return build_diagnosis(facts, read, check_solid(facts))


def build_diagnosis(facts: SurfaceAnalysis, read: SurfaceReading, findings: Sequence[MeshFinding]) -> Diagnosis:
    """What was found when the mesh was read, and after."""
    told = [
        MeshFinding("reading", level, sentence)
        for level, sentences in (("note", read.notes), ("warning", read.warnings))
        for sentence in sentences
    ]
    return Diagnosis(read.name, len(facts.surface.faces), facts.shells, (*told, *findings))
