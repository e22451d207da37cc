"""Load the body of `polhode mass` from a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polhode.errors import FileError, InertiaError, MassWarning, PolhodeError

if TYPE_CHECKING:
    from polhode.massprops.body import Body

VOLUME_SUFFIXES = (
    *(".vtk", ".vtu", ".msh", ".inp", ".e", ".ex2", ".exo", ".exodus", ".med", ".xdmf", ".xmf", ".mesh", ".meshb"),
    *(".nas", ".bdf", ".fem", ".cgns", ".h5m", ".su2", ".avs", ".f3grid", ".tec", ".ugrid"),
)
"""Suffixes of volume meshes; any other file is read as a surface."""
ASSUMED_DENSITY = 1000.0
"""Default density in kg/m3: about that of water and many plastics."""
AMOUNT_OPTIONS = {"--density": "density", "--mass": "total", "--region": "regions", "--density-field": "density_field"}
COMPARED_KEYS = {
    "volume": "volume_m3",
    "mass": "mass_kg",
    "center_of_mass": "center_of_mass_m",
    "inertia_body": "inertia_body_kg_m2",
}


def is_volume_file(file: Path) -> bool:
    """Whether the suffix is that of a volume mesh."""
    return file.suffix.lower() in VOLUME_SUFFIXES


def given_amount_options(given: Mapping[str, Any]) -> list[str]:
    """The given options that determine the mass."""
    return [option for option, key in AMOUNT_OPTIONS.items() if given[key] not in (None, ())]


def catch_mass_warnings(work: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The result of a call, and the messages of its `MassWarning`s."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MassWarning)
        result = work()
    for other in caught:
        if not issubclass(other.category, MassWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    odd = [str(one.message) for one in caught if issubclass(one.category, MassWarning)]
    return result, list(dict.fromkeys(odd))


def load_body(ctx: click.Context, file: Path, given: Mapping[str, Any], shell: float | None) -> tuple[Body, str]:
    """The body, and whether it was made from a "surface", as a "shell", or from a "volume" mesh."""
    if not is_volume_file(file):
        return _load_surface_body(file, given, shell), "surface" if shell is None else "shell"
    try:
        body = _load_volume_body(file, given)
    except PolhodeError as error:
        if "no volume cells" not in str(error):
            raise
        if given["regions"] or given["density_field"]:
            raise click.UsageError(f"--region and --density-field are for volume meshes: {error}", ctx) from None
        return _load_surface_body(_read_boundary_triangles(file), given, shell), "surface" if shell is None else "shell"
    if shell is not None:
        raise click.UsageError(f"--shell is for surfaces, and {file.name} is a volume mesh", ctx)
    return body, "volume"


def _load_surface_body(mesh: Any, given: Mapping[str, Any], shell: float | None) -> Body:
    from polhode.massprops.body import Body

    density = given["density"] if given_amount_options(given) else ASSUMED_DENSITY
    unit, repair = given["unit"], given["repair"]
    return Body.from_mesh(mesh, density, mass=given["total"], shell=shell, unit=unit, repair=repair)


def _load_volume_body(file: Path, given: Mapping[str, Any]) -> Body:
    from dataclasses import replace

    from polhode import validation
    from polhode.massprops.body import Body

    density: Any = given["density_field"] or (ASSUMED_DENSITY if given["density"] is None else given["density"])
    if given["regions"]:
        density = dict(_parse_region(text) for text in given["regions"])
    body = Body.from_volume_mesh(file, density, unit=given["unit"], repair=given["repair"])
    if given["total"] is None:
        return body
    share = float(validation.check_positive(given["total"], "mass", "kg", InertiaError)) / body.mass
    return replace(body, mass=given["total"], inertia=share * body.inertia_body)


def _parse_region(text: str) -> tuple[str, float]:
    name, sign, number = text.rpartition("=")
    try:
        if sign and name:
            return name, float(number)
    except ValueError:
        pass
    raise click.UsageError(f"--region takes NAME=DENSITY, as in steel=7850, not {text!r}")


def _read_boundary_triangles(file: Path) -> Any:
    """The triangles and quadrilaterals of a file in a volume mesh format."""
    import meshio
    import numpy as np
    import trimesh

    try:
        mesh = meshio.read(file)
    except (Exception, SystemExit) as error:  # its readers may raise anything, and some exit
        raise FileError(f"{file} cannot be read as a surface mesh ({type(error).__name__}: {error})") from None
    halves = {"triangle": [(0, 1, 2)], "quad": [(0, 1, 2), (0, 2, 3)]}
    curved = sorted({b.type for b in mesh.cells if b.type.startswith(("triangle", "quad"))} - set(halves))
    if curved:
        raise FileError(f"{file} contains faces of type {curved[0]!r}: save it with linear triangles")
    faces = [b.data[:, corners] for b in mesh.cells for corners in halves.get(b.type, [])]
    if not faces:
        raise FileError(f"{file} contains neither volume cells nor faces")
    points = np.zeros((len(mesh.points), 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    return trimesh.Trimesh(points, np.concatenate(faces), process=False)


def compare_approximations(ctx: click.Context, file: Path, kind: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The approximations as plain numbers, the exact values last."""
    from polhode.massprops.surface.inertia_comparison import compare

    if kind != "surface":
        raise click.UsageError("--compare is for closed surfaces, not for volume meshes", ctx)
    mesh: Any = _read_boundary_triangles(file) if is_volume_file(file) else file
    density = given["density"] if given_amount_options(given) else ASSUMED_DENSITY
    repair, sampling = given["repair"], {"points": given["points"], "seed": given["seed"]}
    found = compare(mesh, density, mass=given["total"], unit=given["unit"], repair=repair, **sampling)
    return [
        {
            "name": one.name,
            **_plain_comparison(vars(one)),
            "seconds": one.seconds,
            "standard_error": _plain_comparison(one.standard_error),
        }
        for one in found
    ]


def _plain_comparison(values: Mapping[str, Any] | None) -> Any:
    """The compared quantities as lists and floats, with units in their names."""
    import numpy as np

    return None if values is None else {key: np.asarray(values[name]).tolist() for name, key in COMPARED_KEYS.items()}
