"""Bodies from triangle meshes: the enclosed solid, or a wall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode import validation
from polhode.errors import InertiaError, MeshError
from polhode.massprops.body import Body
from polhode.massprops.geometry import Part, Surface
from polhode.massprops.mass_from_density import resolve_mass
from polhode.massprops.surface.diagnosis import build_diagnosis
from polhode.massprops.surface.mesh_checks import check_solid, check_wall
from polhode.massprops.surface.moment_integrals import integrate_surface_area
from polhode.massprops.surface.repairs import check_repairs, repair_surface
from polhode.massprops.surface.surface_analysis import SurfaceAnalysis
from polhode.massprops.surface.surface_reader import emit_mass_warnings, read_surface
from polhode.progress import progress


def build_surface_body(
    mesh: Any,
    density: Any,
    mass: Any,
    area_density: Any,
    shell: Any,
    unit: str | None,
    repair: str | Sequence[str] | None,
) -> Body:
    """The solid enclosed by a mesh, or its wall: see `Body.from_mesh`."""
    repairs = check_repairs(repair)
    is_wall = shell is not None or area_density is not None
    if shell is not None and area_density is not None:
        raise InertiaError(
            "shell= (a thickness) needs a density or a mass; area_density= replaces both: give one of them"
        )
    if is_wall and "fill" in repairs:
        raise InertiaError("a wall need not be closed, and caps would add to its mass: omit repair='fill'")
    density, mass, area_density = (
        None if value is None else validation.check_number(value, name, InertiaError)
        for name, value in (("density", density), ("mass", mass), ("area_density", area_density))
    )
    thickness = None if shell is None else validation.check_number(shell, "shell", InertiaError)
    if thickness is not None and thickness <= 0:
        raise InertiaError(f"shell must be greater than 0 m, but is {thickness:g}")
    with progress("checking the mesh", "steps") as report:
        read = read_surface(mesh, unit)
        report(1, 4)
        surface, notes = repair_surface(read.surface, read.name, read.meters, repairs)
        report(2, 4)
        facts = SurfaceAnalysis(surface, read.name, read.meters)
        report(3, 4)
        findings = check_wall(facts, thickness) if is_wall else check_solid(facts)
        if "fill" in repairs:  # caps may fold, which affects only the area, and that is unknown then
            findings = [finding for finding in findings if finding.kind != "folded"]
        diagnosis = build_diagnosis(facts, read, findings)
    if not diagnosis.is_sound:
        after = f" (after {', '.join(notes)})" if notes else ""
        raise MeshError(f"{read.name}{after}: {'; '.join(diagnosis.sentences('error'))}", diagnosis)
    if is_wall:
        found = integrate_surface_area(surface).in_unit(read.meters, 2)
        area: float | None = found.extent
        volume = 0.0 if thickness is None else found.extent * thickness
        given = {"mass": (mass, 1), "density": (density, volume), "area_density": (area_density, area)}
        notes.append("the mass is on the surface: the wall is assumed thin compared to the part")
    else:
        found = facts.inside.in_unit(read.meters, 3)
        # Caps may overlap, as at the end of a tube: the enclosed volume is right, their area is unknown.
        area = None if "fill" in repairs else facts.area * read.meters**2
        volume = found.extent
        given = {"mass": (mass, 1), "density": (density, volume)}
    total = float(resolve_mass("a body from a mesh", **given))
    odd = read.warnings_with_mass(diagnosis.sentences("warning"), total)
    emit_mass_warnings(odd)
    return Body(
        mass=total,
        inertia=found.inertia * (total / found.extent),
        center_of_mass=found.center,
        volume=volume,
        area=area,
        parts=(Part(Surface(surface.vertices * read.meters, surface.faces)),),
        notes=(*diagnosis.sentences("note"), *notes, *odd),
    )
