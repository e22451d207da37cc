"""Files of CAD programs that hold exact geometry, which is not read: what to do instead."""

from __future__ import annotations

from pathlib import Path

from polhode.errors import FileError

CAD_FORMATS = {
    **dict.fromkeys((".step", ".stp", ".p21"), "STEP"),
    **dict.fromkeys((".iges", ".igs"), "IGES"),
    **dict.fromkeys((".brep", ".brp"), "Open CASCADE"),
    **dict.fromkeys((".x_t", ".x_b", ".xmt_txt"), "Parasolid"),
    **dict.fromkeys((".sat", ".sab"), "ACIS"),
    **dict.fromkeys((".sldprt", ".sldasm"), "SolidWorks"),
    **dict.fromkeys((".ipt", ".iam"), "Inventor"),
    **dict.fromkeys((".catpart", ".catproduct"), "CATIA"),
    **dict.fromkeys((".prt", ".asm"), "Creo or NX"),
    **dict.fromkeys((".f3d", ".f3z"), "Fusion"),
    **dict.fromkeys((".dwg", ".dxf"), "AutoCAD"),
    ".fcstd": "FreeCAD",
    ".3dm": "Rhino",
    ".jt": "JT",
}
"""By file suffix, whose format it is."""


def refuse_cad_file(path: Path) -> None:
    """Say what to do with a file of exact geometry.

    Examples
    --------
    >>> refuse_cad_file(Path("bolt.step"))
    Traceback (most recent call last):
    polhode.errors.FileError: bolt.step is a STEP file: exact surfaces, which are not read. Save it ...
    """
    found = CAD_FORMATS.get(path.suffix.lower())
    if found is not None:
        article = "an" if found[0] in "AIEO" else "a"
        raise FileError(
            f"{path.name} is {article} {found} file: exact surfaces, which are not read. Save it from the CAD program "
            "as triangles, in 3MF (which states its unit) or STL (then say unit='mm'), finely enough for its round "
            "faces; or give the numbers that the CAD program computes: ph.Body(mass=..., inertia=..., "
            "center_of_mass=...)"
        )
