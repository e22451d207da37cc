"""The description of an FMU: modelDescription.xml, and buildDescription.xml of FMI 3.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from polhode.scenario.scenario import Scenario
from polhode.solve.fmi.variables import UNITS, FmiVariable
from polhode.solve.source_comments import describe_run
from polhode.version import __version__

CAPABILITIES_2 = {
    "canHandleVariableCommunicationStepSize": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
    "canNotUseMemoryManagementFunctions": "true",
}
CAPABILITIES_3 = {
    "canHandleVariableCommunicationStepSize": "true",
    "canGetAndSetFMUState": "true",
    "canSerializeFMUState": "true",
}


def model_description(
    scenario: Scenario,
    variables: Sequence[FmiVariable],
    version: str,
    identifier: str,
    token: str,
    needs_python: bool = False,
) -> bytes:
    """The modelDescription.xml of an FMU: of C code, or of Python code that needs an interpreter."""
    root = Element("fmiModelDescription")
    token_name = {"2.0": "guid", "3.0": "instantiationToken"}[version]
    about = {
        "fmiVersion": version,
        "modelName": scenario.name or identifier,
        token_name: token,
        "description": describe_run(scenario),
        "generationTool": f"Polhode {__version__}",
        "variableNamingConvention": "structured",
    }
    root.attrib.update(about)
    capabilities = CAPABILITIES_2 if version == "2.0" else CAPABILITIES_3
    simulation = SubElement(root, "CoSimulation", {"modelIdentifier": identifier, **capabilities})
    if needs_python:
        simulation.set("needsExecutionTool", "true")
    elif version == "2.0":
        SubElement(SubElement(simulation, "SourceFiles"), "File", {"name": f"{identifier}.c"})
    _add_units(root)
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", {"name": "logStatusError", "description": "Errors, and what to do"})
    experiment = {"startTime": repr(scenario.start_time), "stopTime": repr(scenario.end_time)}
    if scenario.used_method.needs_step:
        experiment["stepSize"] = repr(scenario.needed_step)
    SubElement(root, "DefaultExperiment", experiment)
    if version == "2.0":  # where an independent variable need not be listed, and some importers expect a start of it
        variables = [variable for variable in variables if variable.causality != "independent"]
    listed = SubElement(root, "ModelVariables")
    structure = SubElement(root, "ModelStructure")
    (_add_scalars if version == "2.0" else _add_arrays)(listed, structure, variables)
    return _document(root)


def _add_units(root: Element) -> None:
    definitions = SubElement(root, "UnitDefinitions")
    for name, exponents in UNITS.items():
        unit = SubElement(definitions, "Unit", {"name": name})
        SubElement(unit, "BaseUnit", {base: str(power) for base, power in exponents.items()})


def _attributes(variable: FmiVariable) -> dict[str, str]:
    variability = "fixed" if variable.causality == "parameter" else "continuous"
    found = {"description": variable.description, "causality": variable.causality, "variability": variability}
    if variable.causality == "output":
        found["initial"] = "calculated"
    elif variable.causality == "parameter":
        found["initial"] = "exact"
    return found


def _has_start(variable: FmiVariable) -> bool:
    return variable.causality in ("input", "parameter")


def _add_scalars(listed: Element, structure: Element, variables: Sequence[FmiVariable]) -> None:
    """Every number is a variable of FMI 2.0; the outputs do not depend on the inputs of the same instant."""
    count, outputs = 0, []
    for variable in variables:
        for i, name in enumerate(variable.names):
            count += 1
            if variable.causality == "output":
                outputs.append(count)
            about = {"name": name, "valueReference": str(variable.reference + i), **_attributes(variable)}
            number: dict[str, str] = {"unit": variable.unit} if variable.unit else {}
            if _has_start(variable):
                number["start"] = repr(variable.start[i])
            SubElement(SubElement(listed, "ScalarVariable", about), "Real", number)
    known = [i + 1 for i, variable in enumerate(_scalars(variables)) if variable.causality == "parameter"]
    every = SubElement(structure, "Outputs")
    for index in outputs:
        SubElement(every, "Unknown", {"index": str(index), "dependencies": ""})
    first = SubElement(structure, "InitialUnknowns")
    for index in outputs:
        SubElement(first, "Unknown", {"index": str(index), "dependencies": " ".join(map(str, known))})


def _scalars(variables: Sequence[FmiVariable]) -> list[FmiVariable]:
    return [variable for variable in variables for _ in variable.names]


def _add_arrays(listed: Element, structure: Element, variables: Sequence[FmiVariable]) -> None:
    """Vectors are variables of FMI 3.0."""
    for variable in variables:
        about: dict[str, Any] = {"name": variable.name, "valueReference": str(variable.reference)}
        about |= _attributes(variable)
        if variable.unit:
            about["unit"] = variable.unit
        if _has_start(variable):
            about["start"] = " ".join(map(repr, variable.start))
        element = SubElement(listed, "Float64", about)
        if variable.is_vector:
            SubElement(element, "Dimension", {"start": str(len(variable.start))})
    outputs = [variable for variable in variables if variable.causality == "output"]
    known = " ".join(str(variable.reference) for variable in variables if variable.causality == "parameter")
    for variable in outputs:
        SubElement(structure, "Output", {"valueReference": str(variable.reference), "dependencies": ""})
    for variable in outputs:
        SubElement(structure, "InitialUnknown", {"valueReference": str(variable.reference), "dependencies": known})


def build_description(identifier: str) -> bytes:
    """The buildDescription.xml of an FMU of FMI 3.0: how its source is compiled."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99"})
    SubElement(files, "SourceFile", {"name": f"{identifier}.c"})
    return _document(root)


def _document(root: Element) -> bytes:
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()
