"""A scenario as an FMU: a body that other programs simulate together with theirs."""

from __future__ import annotations

import io
import re
import zipfile
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from polhode.errors import InputError, ScenarioError, show
from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.scenario.scenario import Scenario
from polhode.solve.fmi.binary import binary_path, compile_library, find_compiler
from polhode.solve.fmi.description import build_description, model_description
from polhode.solve.fmi.native import NativeExporter, settle_for_fmu
from polhode.solve.fmi.python_fmu import python_entries, settle_for_python
from polhode.solve.fmi.variables import fmi_variables
from polhode.validation import check_flag, check_path

VERSIONS = ("2.0", "3.0")


def write_fmu(
    scenario: Scenario,
    path: str | Path,
    fmi_version: str = "2.0",
    *,
    compiled: bool | None = None,
    python: bool = False,
) -> bool:
    """Write a scenario as an FMU for co-simulation: a body that other programs simulate together with theirs.

    Inputs are a force and a torque on each body, held over a communication step; outputs are position, orientation,
    velocities and energies; mass, inertia and the start are parameters.  Its state can be saved, restored and
    serialized.  It contains C code and, where there is a C compiler, the binary for this machine, and needs neither
    Python nor Polhode where it runs.  It has the bits of `ph.simulate`: see "FMUs for co-simulation".

    Every method but "exact" and "taylor" (which "auto" does not choose here), every formulation but "euler_angles", all
    forces, pivots, impulses, windows and systems; no events, contacts, rotors, mass courses, added mass or ensembles.
    What cannot be written as C can become a Python-based FMU, `python=True`, which runs where Polhode is installed.

    Parameters
    ----------
    scenario : Scenario
        What to simulate: its forces act besides the inputs.
    path : str or Path
        Where to: .fmu.
    fmi_version : {"2.0", "3.0"}, optional
        The version of the FMI standard.
    compiled : bool, optional
        Whether the FMU contains a binary; by default if a C compiler is found (the environment variable CC, or cc, gcc
        or clang).  A source FMU is compiled by the program that imports it.
    python : bool, optional
        Write a Python-based FMU (2.0) by means of pythonfmu, `pip install '.[fmu]'` in a clone: a `ph.Stepper` in
        Python, with events, contacts, and forces that cannot be compiled.

    Returns
    -------
    bool
        Whether it contains a binary.

    Examples
    --------
    >>> import polhode as ph, pathlib, tempfile, zipfile
    >>> box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    >>> scenario = ph.Scenario(box, forces=[ph.forces.gravity()], duration=2.0, step=0.01, method="rk4")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "box.fmu"
    >>> ph.write_fmu(scenario, path, compiled=False)
    False
    >>> sorted(zipfile.ZipFile(path).namelist())
    ['modelDescription.xml', 'sources/box.c']
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"an FMU is made from a ph.Scenario, not from {show(scenario)}")
    path = check_path(path, "the FMU")
    version = str(fmi_version) if isinstance(fmi_version, (str, float)) else ""
    if version not in VERSIONS:
        raise InputError(f"fmi_version must be '2.0' or '3.0', but is {show(fmi_version)}")
    check_suffix(path, (".fmu",), "the FMU")
    if compiled is not None:
        check_flag(compiled, "compiled")
    if check_flag(python, "python"):
        return _write_python_fmu(scenario, path, version)
    compiler = find_compiler() if compiled is not False else None
    if compiled and compiler is None:
        raise ScenarioError(
            "there is no C compiler: install gcc or clang, name one with the environment variable CC, or write a "
            "source FMU with compiled=False"
        )
    identifier = model_identifier(path.stem)
    exporter = NativeExporter(settle_for_fmu(scenario))
    token = f"{{{UUID(bytes=sha256(exporter.text(version, '').encode()).digest()[:16])}}}"
    text = exporter.text(version, token)
    entries = {
        "modelDescription.xml": model_description(exporter.scenario, exporter.variables, version, identifier, token),
        f"sources/{identifier}.c": text.encode(),
    }
    if version == "3.0":
        entries["sources/buildDescription.xml"] = build_description(identifier)
    if compiler is not None:
        entries[binary_path(version, identifier)] = compile_library(text, identifier, compiler)
    write_atomic(path, zip_entries(entries))
    return compiler is not None


def _write_python_fmu(scenario: Scenario, path: Path, version: str) -> bool:
    if version != "2.0":
        raise InputError("a Python-based FMU is of FMI 2.0, which is what pythonfmu provides: leave out fmi_version")
    identifier, settled = model_identifier(path.stem), settle_for_python(scenario)
    entries = python_entries(settled, identifier)
    token = f"{{{UUID(bytes=sha256(entries['resources/scenario.pickle']).digest()[:16])}}}"
    description = model_description(settled, fmi_variables(settled), version, identifier, token, needs_python=True)
    write_atomic(path, zip_entries({"modelDescription.xml": description, **entries}))
    return True


def model_identifier(stem: str) -> str:
    """A C identifier from the name of a file."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if re.match(r"[A-Za-z_]", name) else f"_{name}"


def zip_entries(entries: dict[str, bytes]) -> bytes:
    """An archive of files."""
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # equal scenarios, equal files
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(about, content)
    return room.getvalue()
