"""Build spring_damper.fmu: a description, and the library of spring_damper.c."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element, SubElement, tostring

INPUTS = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}
OUTPUTS = {"force": 3, "torque": 3}
PARAMETERS = {"stiffness": 1, "damping": 1, "length": 1, "anchor": 3, "com_to_point_body": 3}


def describe() -> bytes:
    """The modelDescription.xml; value references count through."""
    root = Element("fmiModelDescription", fmiVersion="2.0", modelName="spring_damper", guid="{spring-damper}")
    root.set("variableNamingConvention", "structured")
    simulation = {"modelIdentifier": "spring_damper", "canHandleVariableCommunicationStepSize": "true"}
    SubElement(root, "CoSimulation", {**simulation, "canGetAndSetFMUstate": "true"})
    variables, structure = SubElement(root, "ModelVariables"), SubElement(root, "ModelStructure")
    index, outputs = 0, []
    for causality, names in (("input", INPUTS), ("output", OUTPUTS), ("parameter", PARAMETERS)):
        for name, size in names.items():
            for i in range(size):
                about = {"name": f"{name}[{i + 1}]" if size > 1 else name, "valueReference": str(index)}
                about |= {"causality": causality, "variability": "fixed" if causality == "parameter" else "continuous"}
                variable = SubElement(variables, "ScalarVariable", about)
                index += 1
                if causality == "output":
                    SubElement(variable, "Real")
                    outputs.append(str(index))
                else:
                    SubElement(variable, "Real", start="1" if (name, i) == ("quaternion", 0) else "0")
    for part in ("Outputs", "InitialUnknowns"):
        unknowns = SubElement(structure, part)
        for output in outputs:
            SubElement(unknowns, "Unknown", index=output)
    return tostring(root, encoding="utf-8", xml_declaration=True)


def build(path: str | Path, compiler: str = "cc") -> None:
    """Write the FMU, for Linux."""
    with TemporaryDirectory() as folder:
        library, source = Path(folder) / "spring_damper.so", Path(__file__).with_name("spring_damper.c")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", describe())
            archive.write(library, "binaries/linux64/spring_damper.so")
            archive.write(source, "sources/spring_damper.c")


if __name__ == "__main__":
    build(sys.argv[1])
