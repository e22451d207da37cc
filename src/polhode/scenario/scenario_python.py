"""A scenario as a Python script that makes it again, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.massprops.shape_calls import find_shape_call
from polhode.scenario.part import Call, Source
from polhode.scenario.scenario_file import FILE_PARTS, READ_SEPARATELY

if TYPE_CHECKING:
    from polhode.massprops.body import Body
    from polhode.massprops.geometry import Part
    from polhode.scenario.scenario import Scenario

WIDTH = 110
"""Longer calls are broken into one argument a line."""
MAX_MESH_NUMBERS = 3000
"""A mesh with more numbers is not written into a script, unless contacts need it."""


def scenario_as_python(scenario: Scenario, title: str = "") -> str:
    """The script of a scenario.  It imports functions of your own from their modules; without one they are refused.

    Examples
    --------
    >>> import polhode as ph
    >>> fall = ph.Scenario(ph.particle(1.0), forces=[ph.forces.gravity()], duration=2.0)
    >>> print(scenario_as_python(fall, "A falling stone"))
    \"\"\"A falling stone.\"\"\"
    <BLANKLINE>
    import polhode as ph
    <BLANKLINE>
    body = ph.particle(1.0)
    state = ph.State()
    forces = [
        ph.forces.gravity(g=9.80665),
    ]
    scenario = ph.Scenario(body, state, forces, duration=2.0)
    motion = ph.simulate(scenario)
    print(motion.audit())
    # motion.show() opens it in the browser, motion.plot() draws it
    <BLANKLINE>
    """
    content = scenario.as_mapping()
    script = _Script(scenario.needs_geometry)
    tables = content.get("bodies") or [content["body"]]
    bodies = [script.write_body(body, table) for body, table in zip(scenario.bodies, tables, strict=True)]
    states = [_write_state(table) for table in tables]
    lines = [_assign("body", bodies, scenario.is_system), _assign("state", states, scenario.is_system)]
    arguments = ["body", "state"]
    positional = [part for part in FILE_PARTS if part.setting.by_position and part.name in content]
    named = [part for part in FILE_PARTS if not part.setting.by_position and part.name in content]
    lines += [script.write_part(part.name, part.script(content[part.name])) for part in (*positional, *named)]
    arguments += [part.name for part in positional]
    settings = {key: value for key, value in content.items() if key not in READ_SEPARATELY}
    arguments += [f"{key}={format_value(value)}" for key, value in settings.items()]
    arguments += [f"{part.name}={part.name}" for part in named]
    lines.append(f"scenario = {_call('ph.Scenario', arguments)}")
    run = "ph.simulate(scenario)" if scenario.members is None else "ph.ensemble(scenario)"
    heading = (title or scenario.name or "A simulation").replace("\\", "\\\\").replace('"', "'").rstrip(".")
    text = [f'"""{heading}."""', "", *script.imports(), "", *lines, f"motion = {run}", "print(motion.audit())"]
    return "\n".join([*text, "# motion.show() opens it in the browser, motion.plot() draws it", ""])


class _Script:
    """Parts of a script, and what they need to import."""

    def __init__(self, needs_geometry: bool) -> None:
        self._needs_geometry = needs_geometry
        self._imports = {"import polhode as ph"}

    def imports(self) -> list[str]:
        """The lines of imports, in order."""
        return sorted(self._imports, key=lambda line: (line.startswith("import polhode"), line))

    def write_body(self, body: Body, table: Mapping[str, Any]) -> str:
        """A body by the call that makes it from its shape, if that has the same bits; otherwise by its numbers."""
        if body.is_particle:
            made = f"ph.particle({format_value(table['mass'])})"
            return f"{made}.move({format_value(table['center_of_mass'])})" if "center_of_mass" in table else made
        call = find_shape_call(body)
        if call is not None:
            kind, sizes = call
            return _call(f"ph.shapes.{kind}", [f"{key}={format_value(value)}" for key, value in sizes.items()])
        numbers = {key: table[key] for key in table if key in _BODY_NUMBERS}
        arguments = [f"{key}={format_value(value)}" for key, value in numbers.items()]
        if "principal_moments" in table:
            self._imports |= {"import numpy as np", "from polhode.massprops.principal_axes import Diagonalized"}
            arrays = (table[key] for key in ("inertia", "principal_moments", "principal_axes_wxyz"))
            arguments.append(f"diagonalized=Diagonalized({', '.join(f'np.array({format_value(a)})' for a in arrays)})")
        parts = [self._write_part(part) for part in body.parts]
        if parts and (self._needs_geometry or sum(map(len, parts)) < 20 * MAX_MESH_NUMBERS):
            self._imports.add("from polhode.massprops.geometry import Part, Shape, Surface")
            arguments.append(f"parts=({', '.join(parts)},)")
        return _call("ph.Body", arguments)

    def _write_part(self, part: Part) -> str:
        self._imports.add("import numpy as np")
        source: Any = part.source
        if hasattr(source, "sizes"):
            sizes = ", ".join(f'"{key}": {_format_size(size)}' for key, size in source.sizes.items())
            made = f'Shape("{source.name}", {{{sizes}}})'
        else:
            surface = source.surface(3)
            made = f"Surface(np.array({format_value(surface.vertices)}), np.array({format_value(surface.faces)}))"
        place = f"np.array({format_value(part.linear)}), np.array({format_value(part.offset)})"
        return f"Part({made}, {place}, {part.is_hole}, {part.is_mixed})"

    def write_part(self, name: str, made: Any) -> str:
        """The assignment of a part: calls that make it, or its numbers."""
        if isinstance(made, Call):
            return _assign(name, [self._write_call(made)], False)
        if isinstance(made, list) and made and isinstance(made[0], Call):
            return _assign(name, [self._write_call(one) for one in made], True)
        return f"{name} = {format_value(made)}"

    def _write_call(self, made: Call) -> str:
        self._imports |= set(made.imports)
        given = [f"{key}={format_value(value)}" for key, value in made.arguments.items()]
        call = _call(made.function, [*map(format_value, made.values), *given])
        return f"{call}.on({', '.join(map(str, made.bodies))})" if made.bodies else call


_BODY_NUMBERS = ("mass", "inertia", "center_of_mass", "allow_unphysical", "volume", "area")


def _write_state(table: Mapping[str, Any]) -> str:
    standard = {"position": [0.0] * 3, "quaternion_wxyz": [1.0, 0.0, 0.0, 0.0], "velocity": [0.0] * 3}
    standard |= {"angular_velocity_body": [0.0] * 3}
    # Compared as text: -0.0 equals 0.0, and is another bit.
    given = {key: table[key] for key in (*standard, "time") if repr(table.get(key)) != repr(standard.get(key))}
    return _call("ph.State", [f"{key}={format_value(value)}" for key, value in given.items()])


def _assign(name: str, values: list[str], is_list: bool) -> str:
    if not is_list:
        return f"{name} = {values[0]}"
    return "\n".join([f"{name} = [", *("    " + value.replace("\n", "\n    ") + "," for value in values), "]"])


def _call(function: str, arguments: list[str]) -> str:
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return "\n".join([f"{function}(", *("    " + one.replace("\n", "\n    ") + "," for one in arguments), ")"])


def _format_size(size: Any) -> str:
    return format_value(size) if np.ndim(size) == 0 else f"np.array({format_value(size)})"


def format_arguments(values: Mapping[str, Any]) -> str:
    """Arguments by name, as they are written in a call.

    Examples
    --------
    >>> format_arguments({"spin": 3.0, "name": "top"})
    "spin=3.0, name='top'"
    """
    return ", ".join(f"{key}={format_value(value)}" for key, value in values.items())


def format_value(value: Any) -> str:
    """A number, string, list or table as Python reads it back, to the last bit.

    Examples
    --------
    >>> format_value([0.1, float("inf")])
    "(0.1, float('inf'))"
    """
    if isinstance(value, Source):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):
        return format_value(value.tolist())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {format_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(format_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)
