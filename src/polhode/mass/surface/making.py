"""Bodies within closed surfaces of triangles, or on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode import checks
from polhode.body import Body
from polhode.errors import InertiaError, MeshError
from polhode.mass.amount import mass_of
from polhode.mass.geometry import Part
from polhode.mass.progress import progress
from polhode.mass.surface.diagnosis import diagnosis
from polhode.mass.surface.facts import Facts
from polhode.mass.surface.files import read_surface, warn
from polhode.mass.surface.findings import of_a_solid, of_a_wall
from polhode.mass.surface.integrals import upon
from polhode.mass.surface.repairs import asked_for, repaired


def body_of_surface(
    mesh: Any,
    density: Any,
    mass: Any,
    area_density: Any,
    shell: Any,
    unit: str | None,
    repair: str | Sequence[str],
) -> Body:
    """The body within a surface, or with a shell on it: what `Body.from_mesh` does."""
    repairs = asked_for(repair)
    is_wall = shell is not None or area_density is not None
    if shell is not None and area_density is not None:
        raise InertiaError("shell= (a thickness) needs a density or a mass; area_density= stands for both: give one")
    thickness = None if shell is None else float(checks.positive(shell, "shell", "m", InertiaError))
    with progress("looking the mesh over", "steps") as report:
        read = read_surface(mesh, unit)
        report(1, 4)
        surface, notes = repaired(read.surface, read.name, repairs)
        report(2, 4)
        facts = Facts(surface, read.name)
        report(3, 4)
        found_out = diagnosis(facts, read, of_a_wall(facts, thickness) if is_wall else of_a_solid(facts))
    if not found_out.is_sound:
        after = f" (after {', '.join(notes)})" if notes else ""
        raise MeshError(f"{read.name}{after}: {'; '.join(found_out.sentences('error'))}", found_out)
    if is_wall:
        found = upon(surface)
        area = found.extent
        volume = 0.0 if thickness is None else area * thickness
        given = {"mass": (mass, 1), "density": (density, volume), "area_density": (area_density, area)}
        notes.append("the matter is on the surface: a wall thin beside the part's size is assumed")
    else:
        found, area = facts.inside, facts.area
        volume = found.extent
        given = {"mass": (mass, 1), "density": (density, volume)}
    total = float(mass_of("a body from a mesh", **given))
    warn(found_out.sentences("warning"))
    return Body(
        mass=total,
        inertia=found.inertia * (total / found.extent),
        center_of_mass=found.center,
        volume=volume,
        area=area,
        parts=(Part(surface),),
        notes=(*found_out.sentences("note"), *notes, *found_out.sentences("warning")),
    )
