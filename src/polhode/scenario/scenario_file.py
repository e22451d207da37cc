"""Scenarios as TOML files.  An unknown key is refused with the nearest known one."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import validation
from polhode.errors import FileError, PolhodeError, ScenarioError
from polhode.massprops.appearance_table import parts_to_tables
from polhode.massprops.body import Body
from polhode.massprops.body_table import body_to_table
from polhode.massprops.geometry import Shape
from polhode.massprops.shape_calls import find_shape_call
from polhode.scenario.body_file import BODY_KEYS, read_body, read_turn
from polhode.scenario.earth import WGS84, check_latitude
from polhode.scenario.force import Force
from polhode.scenario.own_functions import finder
from polhode.scenario.part import is_same, refuse_unknown_keys
from polhode.scenario.parts import PARTS
from polhode.scenario.settings import FILE_KEYS
from polhode.scenario.state import State

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario

PAGE_KEYS = ("title", "explanation", "source", "references", "knobs", "stage", "formulas", "try")
"""What the lab shows beside the scenario, and which of its numbers can be changed there; a single run needs none."""
FILE_PARTS = tuple(part for part in PARTS if not part.setting.in_file)
"""The parts that have tables of their own."""
READ_SEPARATELY = ("body", "bodies", *(part.name for part in FILE_PARTS))
SWEEP_KEYS = ("members", "seed", "design", "reduce")
DISTRIBUTIONS = (
    "normal",
    "uniform",
    "lognormal",
    "truncated_normal",
    "choice",
    "integers",
    "random_rotation",
    "small_rotation",
    "random_direction",
    "scattered_inertia",
    "table",
)
"""What may stand in place of a number in the file of a sweep, as { normal = [1.0, 0.02] }: methods of `ph.Draw`."""
WITHOUT_DISTRIBUTIONS = ("mesh", "volume_mesh", "sweep", "knobs", "stage", "try", "formulas")
"""Tables whose keys are the user's own, or mean something else."""
WORLD_KEYS = ("position", "quaternion_wxyz", "rotation", "velocity", "angular_velocity")
GEODETIC_KEYS = (
    "latitude_deg",
    "longitude_deg",
    "height",
    "velocity_ned",
    "yaw_pitch_roll_deg",
    "angular_velocity_body_relative_to_earth",
    "earth",
)
_LIST_OF_LINES = re.compile(r"\[\n((?: +[^\n\[\]{}]*,\n)+) *\]")
LONGEST_LIST = 100
"""Longer lists have one entry a line."""
STATE_KEYS = (*WORLD_KEYS[:4], "angular_velocity_body", "angular_velocity", "time", *GEODETIC_KEYS)


def read_scenario(path: Path) -> dict[str, Any]:
    """The arguments of a `Scenario` from a file."""
    content = without_page_keys(load_toml(path))
    try:
        refuse_distributions(content)
        return scenario_arguments(content, path.parent)
    except PolhodeError as error:
        raise type(error)(f"{path}: {error}") from None


def without_page_keys(content: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario in a file's content."""
    return {key: value for key, value in content.items() if key not in PAGE_KEYS}


def load_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, and a device may have no end
            raise FileError(f"{path} is no file that can be read: it is a folder, a pipe or a device")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path} is not UTF-8, as TOML is: byte {error.start} is 0x{error.object[error.start]:02x}"
        ) from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileError(f"{path} cannot be read: its lists or tables are nested too deeply") from None
    except ValueError as error:  # also numbers with more digits than Python reads
        raise FileError(f"{path} is not TOML: {error}") from None


def find_distribution(table: Any) -> tuple[str, str] | None:
    """The first distribution in a table or list: its place in the file, and what it is called; None without one."""
    inside = table.items() if isinstance(table, Mapping) else enumerate(table) if isinstance(table, list) else ()
    for key, value in inside:
        if key in WITHOUT_DISTRIBUTIONS:
            continue
        kind = distribution_of(value)
        if kind is not None:
            return str(key), kind
        deeper = find_distribution(value)
        if deeper is not None:
            return f"{key}.{deeper[0]}", deeper[1]
    return None


def distribution_of(value: Any) -> str | None:
    """What a distribution is called, if the value is one: a table with one of their names, and no kind of its own."""
    if not isinstance(value, Mapping) or "kind" in value:
        return None
    return next((name for name in DISTRIBUTIONS if name in value), None)


def refuse_distributions(content: Mapping[str, Any]) -> None:
    """Raise if the file is that of a sweep."""
    found = find_distribution(content)
    if found is not None:
        raise ScenarioError(
            f"{found[0]} is a distribution, {{ {found[1]} = ... }}, but a single run needs a number there: draw the "
            "members of this file with `polhode sweep`, or in Python ph.sweep"
        )
    if "sweep" in content:
        raise ScenarioError(
            "[sweep] says how to draw members: run this file with `polhode sweep`, or remove it for a single run"
        )


def scenario_arguments(content: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The arguments of a `Scenario` from a file's content.

    Meshes are read from the folder, and functions that the content names are imported; without a folder, as of what an
    archive holds, both are refused.
    """
    refuse_unknown_keys(content, (*FILE_KEYS, *READ_SEPARATELY), "a scenario")
    if ("body" in content) == ("bodies" in content):
        raise ScenarioError("a scenario has one [body], or several [[bodies]]: exactly one of the two keys")
    settings = {key: content[key] for key in FILE_KEYS if key in content}
    if "duration" not in settings:
        raise ScenarioError("a scenario needs its duration, in s")
    is_system = "bodies" in content
    if is_system and not isinstance(content["bodies"], list):
        raise ScenarioError(f"bodies are several tables, each headed [[bodies]], not {content['bodies']!r}")
    find = finder(folder)
    parts = {part.name: part.read(content[part.name], is_system, find) for part in FILE_PARTS if part.name in content}
    forces = parts.get("forces", [])
    if is_system:
        tables = enumerate(content["bodies"])
        both = [_read_body_table(table, f"[[bodies]] number {i}", folder, forces) for i, table in tables]
        return {"body": [b for b, _ in both], "state": [s for _, s in both], **settings, **parts}
    body, state = _read_body_table(content["body"], "[body]", folder, forces)
    return {"body": body, "state": state, **settings, **parts}


def _read_body_table(table: Any, where: str, folder: Path | None, forces: Sequence[Force]) -> tuple[Body, State]:
    refuse_unknown_keys(table, (*BODY_KEYS, *STATE_KEYS), where)
    return read_body(table, where, folder), _read_state(table, where, forces)


def _read_state(table: Mapping[str, Any], where: str, forces: Sequence[Force]) -> State:
    """A state in the world, or at a place of the Earth: of the one named, or else of the one in the forces."""
    given = {key: table[key] for key in STATE_KEYS if key in table}
    geodetic = [key for key in GEODETIC_KEYS if key in given]
    if not geodetic:
        turn = read_turn(given, where)
        given.pop("rotation", None)
        return State(**given if turn is None else {**given, "quaternion_wxyz": turn})
    world = [key for key in WORLD_KEYS if key in given]
    if world:
        raise ScenarioError(
            f"{where} has {world[0]}, in the world, and {geodetic[0]}, at a place of the Earth: give the start in one "
            "of these ways"
        )
    earths = {f.environment.earth for f in forces if f.environment is not None} - {None}
    if "earth" not in given and len(earths) > 1:
        raise ScenarioError(f"{where} starts at a place, but the forces name several Earths: say which, earth = ...")
    given.setdefault("earth", next(iter(earths), WGS84))
    if "latitude_deg" in given:
        latitude = validation.check_numbers(given["latitude_deg"], "latitude_deg", (), ScenarioError)
        check_latitude(latitude, "latitude_deg", 90.0, "deg")
    for key in ("latitude_deg", "longitude_deg", "yaw_pitch_roll_deg"):
        if key in given:
            angles = validation.check_numbers(given[key], key, validation.shape_of(given[key]), ScenarioError)
            del given[key]
            given[key.removesuffix("_deg")] = np.radians(angles)
    return State.from_geodetic(**given)


def write_text(path: Path, text: str) -> None:
    """Write a file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error}") from None


def to_toml_text(content: Mapping[str, Any]) -> str:
    """A file's content as TOML; short lists are in one line.

    Examples
    --------
    >>> print(to_toml_text({"body": {"velocity": [1.0, 0.0, 2.5]}}), end="")
    [body]
    velocity = [1.0, 0.0, 2.5]
    """
    import tomli_w

    # Strings have no line breaks in what is written, so that brackets at the ends of lines are those of lists.
    return _LIST_OF_LINES.sub(_join_lines, tomli_w.dumps(content))


def _join_lines(found: re.Match[str]) -> str:
    line = "[" + ", ".join(one.strip().removesuffix(",") for one in found[1].splitlines()) + "]"
    return line if len(line) <= LONGEST_LIST else found[0]


def scenario_mapping(
    scenario: Scenario, with_parts: bool, plain: Callable[[Any], Any], with_shapes: bool
) -> dict[str, Any]:
    """A file's content from a scenario; settings that have their default value are left out.

    `plain` makes numbers and lists of the values.
    """
    settings = {key: getattr(scenario, key) for key in FILE_KEYS}
    defaults = {name: p.default for name, p in inspect.signature(type(scenario)).parameters.items()}
    content = {
        key: plain(settings[key])
        for key in FILE_KEYS
        if settings[key] is not None and not is_same(settings[key], defaults[key])
    }
    both = zip(scenario.bodies, scenario.states, strict=True)
    tables = [_body_table(body, state, with_parts, plain, with_shapes) for body, state in both]
    content.update({"bodies": tables} if scenario.is_system else {"body": tables[0]})
    for part in scenario.parts:
        if part in FILE_PARTS:
            content[part.name] = part.table(getattr(scenario, part.name), plain, scenario.is_system)
    return content


def _body_table(
    body: Body, state: State, with_parts: bool, plain: Callable[[Any], Any], with_shapes: bool
) -> dict[str, Any]:
    call = find_shape_call(body) if with_shapes else None
    if call is not None:
        table: dict[str, Any] = {"shape": {"kind": call[0], **call[1]}}
    else:
        table = body_to_table(body, plain)
        has_shapes = with_shapes and body.members is None and all(isinstance(part.source, Shape) for part in body.parts)
        if body.parts and (with_parts or has_shapes):
            table["parts"] = parts_to_tables(body)
    for key in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body"):
        table[key] = plain(getattr(state, key))
    if state.time != 0.0:
        table["time"] = state.time
    return table
