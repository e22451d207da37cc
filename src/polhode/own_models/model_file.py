"""Models from scenario files that declare knobs."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from polhode.errors import PolhodeError, ScenarioError
from polhode.gallery.gallery_model import Model
from polhode.gallery.knob import Knob, format_with_unit
from polhode.own_models.knob_path import Place, format_place, number_at, parse_place, replace_number
from polhode.own_models.stage_file import read_lesson, read_stage
from polhode.own_models.tables import read_list
from polhode.scenario.body_file import read_body
from polhode.scenario.scenario import Scenario
from polhode.scenario.scenario_file import (
    PAGE_KEYS,
    READ_SEPARATELY,
    load_toml,
    refuse_distributions,
    scenario_arguments,
    to_toml_text,
    without_page_keys,
)
from polhode.scenario.settings import FILE_KEYS
from polhode.synonyms import suggest_name
from polhode.web.stage import Stage

OWN_THEME = "your models"
"""The theme under which the page lists them."""
KNOB_KEYS = ("name", "sets", "low", "high", "unit", "help", "label", "scale", "offset")
REQUIRED_KNOB_KEYS = {
    "name": "what it is called",
    "sets": "the number that it sets",
    "low": "its lowest value",
    "high": "its highest value",
}
SET_KEYS = ("place", "scale", "offset")
NAMED_SCALES = {"deg": math.pi / 180, "rpm": math.pi / 30}
"""Knobs in degrees, or in turns a minute, for numbers in rad and rad/s."""
UNITS_THAT_NEED_A_SCALE = {"deg": "deg", "deg/s": "deg", "°": "deg", "°/s": "deg", "rpm": "rpm"}
"""Units that no number of a file has, except those whose key ends in `_deg`: the scale that a knob in them needs."""
RESERVED_NAMES = (
    "self", "run", "fx", "token", "time", "camera", "switches", "body",
    "t", "cam", "show", "point", "watch", "panes", "plots", "tab",
    "target", "targets", "picture", "no_picture", "save", "store", "resume", "csv", "table", "json", "as_json",
    "port", "host", "no_browser", "public_url", "output", "at", "pace", "fps", "size", "start", "end", "to", "views",
    "dark", "caption", "drawn_by", "language", "live", "help",
)  # fmt: skip
"""Words that addresses of the page and options of the commands already use."""
START_DIGITS = 12
"""Where a knob starts is rounded to so many digits: a number in rad has no round value in degrees."""


@dataclass(frozen=True)
class KnobTarget:
    """A number of the file that a knob sets: offset + scale times the knob."""

    place: Place
    scale: float
    offset: float


@dataclass(frozen=True)
class ModelFile:
    """The content of a file, and what its knobs set."""

    content: Mapping[str, Any]
    folder: Path
    knobs: tuple[Knob, ...]
    targets: Mapping[str, tuple[KnobTarget, ...]]
    """By the name of the knob."""
    prepared: Mapping[str, Any]
    """The content with bodies in place of the meshes that no knob changes: they are read once."""

    def scenario(self, **values: float) -> Scenario:
        """The scenario with these values of the knobs."""
        return Scenario(**scenario_arguments(without_page_keys(self._set_knobs(self.prepared, values)), self.folder))

    def text(self, values: Mapping[str, float]) -> str:
        """The file with these values of the knobs, without its comments."""
        return to_toml_text(self._set_knobs(self.content, values))

    def stage(self, **values: float) -> Stage:
        """The stage with these values of the knobs."""
        return read_stage(self._set_knobs(self.content, values).get("stage", {}), self.knobs)

    def _set_knobs(self, content: Mapping[str, Any], values: Mapping[str, float]) -> Mapping[str, Any]:
        """At its start a knob leaves the numbers of the file as they are, to the last bit."""
        for knob in self.knobs:
            if values[knob.name] == knob.default:
                continue
            for target in self.targets[knob.name]:
                number = target.offset + target.scale * values[knob.name]
                content = replace_number(content, target.place, number)
        return content


def read_model(path: str | Path, name: str | None = None) -> Model:
    """The model of a scenario file; one without knobs has no parameters.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = "duration = 2.0\\n[body]\\nmass = 1.0\\ninertia = [1, 2, 2.5]\\nvelocity = [3, 0, 0]"
    >>> text += "\\n[[knobs]]\\nname = 'speed'\\nsets = 'body.velocity[0]'\\nlow = 0\\nhigh = 10\\nunit = 'm/s'"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "drift.toml"
    ...     _ = path.write_text(text)
    ...     drift = read_model(path)
    >>> drift.name, drift.values(), drift(speed=5.0).final.position.round(9).tolist()
    ('drift', {'speed': 3.0}, [10.0, 0.0, 0.0])
    """
    path = Path(path)
    content = load_toml(path)
    try:
        return _make_model(content, path, name or name_of_file(path))
    except PolhodeError as error:
        raise type(error)(f"{path}: {error}") from None


def name_of_file(path: Path) -> str:
    """A model's name from that of its file: letters, digits and hyphens.

    Examples
    --------
    >>> name_of_file(Path("lectures/My Top_2.toml"))
    'my-top-2'
    """
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "model"


def _make_model(content: Mapping[str, Any], path: Path, name: str) -> Model:
    for key in ("title", "explanation", "source"):
        if not isinstance(content.get(key, ""), str):
            raise ScenarioError(f"{key} must be a string, but is {content[key]!r}")
    for key in content:
        if key not in (*FILE_KEYS, *READ_SEPARATELY, *PAGE_KEYS, "sweep"):
            known = (*FILE_KEYS, *READ_SEPARATELY, *PAGE_KEYS)
            raise ScenarioError(f"a scenario has no key {key!r}: {suggest_name(key, known)}")
    refuse_distributions(content)
    pairs = read_list(content.get("knobs", []), "[[knobs]]", partial(_read_knob, content))
    knobs = tuple(knob for knob, _ in pairs)
    _refuse_conflicts(pairs)
    for knob, places in pairs:
        _check_unit(knob, places)
    targets = {knob.name: some for knob, some in pairs}
    changed = [target.place for some in targets.values() for target in some]
    file = ModelFile(content, path.parent, knobs, targets, _read_meshes(content, path.parent, changed))
    model = Model(
        name=name,
        title=content.get("title") or content.get("name") or path.stem,
        theme=OWN_THEME,
        source=content.get("source", ""),
        explanation=content.get("explanation", "").strip(),
        parameters=knobs,
        scenario=file.scenario,
        stage=file.stage,
        lesson=read_lesson(content, knobs),
        toml=file.text,
    )
    model.scenario(**model.values())  # an error in the file is found now, not when somebody asks for a motion
    model.stage_of(model.values()).describe()
    return model


def _read_knob(content: Mapping[str, Any], table: Any, where: str) -> tuple[Knob, tuple[KnobTarget, ...]]:
    if not isinstance(table, Mapping):
        raise ScenarioError(f"{where} must be a table of keys and values, not {table!r}")
    name = table.get("name")
    where = f"knob {name!r}" if isinstance(name, str) and name else where
    for key in table:
        if key not in KNOB_KEYS:
            raise ScenarioError(f"{where} has no key {key!r}: {suggest_name(key, KNOB_KEYS)}")
    for key, meaning in REQUIRED_KNOB_KEYS.items():
        if key not in table:
            raise ScenarioError(f"{where} needs {key}, {meaning}")
    _check_name(name, where)
    try:
        targets = _read_targets(table, where)
        starts = [(number_at(content, target.place) - target.offset) / target.scale for target in targets]
        _check_starts_agree(targets, starts, table, where)
        start = float(f"{starts[0]:.{START_DIGITS}g}")
        texts = {key: table[key] for key in ("unit", "help", "label") if key in table}
        return Knob(start, table["low"], table["high"], name=str(name), **texts), targets
    except PolhodeError as error:
        prefix = "" if str(error).startswith((where, str(name))) else f"{where}: "
        raise ScenarioError(f"{prefix}{error}") from None


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise ScenarioError(
            f"{where} needs a name of letters, digits and underscores, such as spin_rate, not {name!r}: it becomes an "
            "option and an argument; label is what the page shows"
        )
    if name in RESERVED_NAMES:
        raise ScenarioError(f"{where} has a name that the page or a command already uses: choose another")


def _read_targets(table: Mapping[str, Any], where: str) -> tuple[KnobTarget, ...]:
    """One place, or several, each with a scale and an offset of its own or with those of the knob."""
    given = table["sets"]
    entries = given if isinstance(given, list) else [given]
    if not entries:
        raise ScenarioError(f"{where} sets nothing: name a number of the file")
    targets = []
    for entry in entries:
        own = entry if isinstance(entry, Mapping) else {"place": entry}
        for key in own:
            if key not in SET_KEYS:
                raise ScenarioError(f"sets of {where} has no key {key!r}: {suggest_name(key, SET_KEYS)}")
        if "place" not in own:
            raise ScenarioError(f"sets of {where} needs the place of the number")
        place = parse_place(own["place"])
        if place[0] not in (*FILE_KEYS, *READ_SEPARATELY, "stage"):
            known = suggest_name(str(place[0]), (*FILE_KEYS, *READ_SEPARATELY))
            raise ScenarioError(f"{where} cannot set {format_place(place)}, which is no part of the scenario: {known}")
        scale = _read_scale(own.get("scale", table.get("scale", 1.0)), where)
        offset = own.get("offset", table.get("offset", 0.0))
        if isinstance(offset, bool) or not isinstance(offset, int | float) or not math.isfinite(offset):
            raise ScenarioError(f"offset of {where} must be a number, not {offset!r}")
        targets.append(KnobTarget(place, scale, float(offset)))
    return tuple(targets)


def _read_scale(given: Any, where: str) -> float:
    if isinstance(given, str):
        if given not in NAMED_SCALES:
            raise ScenarioError(
                f"scale of {where} is {given!r}: {suggest_name(given, tuple(NAMED_SCALES))}, or give a number, by "
                "which the knob is multiplied"
            )
        return NAMED_SCALES[given]
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given) or given == 0:
        raise ScenarioError(f"scale of {where} must be a number other than 0, not {given!r}")
    return float(given)


def _check_starts_agree(
    targets: Sequence[KnobTarget], starts: Sequence[float], table: Mapping[str, Any], where: str
) -> None:
    """All numbers of a knob start at the same value of it, up to the digits that are written in a file."""
    for target, start in zip(targets[1:], starts[1:], strict=True):
        if not math.isclose(start, starts[0], rel_tol=1e-6):
            unit = table.get("unit", "1")
            one, other = (format_with_unit(f"{s:.9g}", str(unit)) for s in (starts[0], start))
            raise ScenarioError(
                f"{where} sets several numbers that do not agree: {format_place(targets[0].place)} belongs to {one}, "
                f"{format_place(target.place)} to {other}: change one of them in the file, or its scale"
            )


def _check_unit(knob: Knob, targets: Sequence[KnobTarget]) -> None:
    """A knob in degrees that sets a number in rad as it stands would be wrong in silence."""
    scale = UNITS_THAT_NEED_A_SCALE.get(knob.unit)
    for target in targets:
        is_in_degrees = any(str(step).endswith("_deg") for step in target.place)
        if scale is not None and target.scale == 1.0 and target.place[0] != "stage" and not is_in_degrees:
            raise ScenarioError(
                f"knob {knob.name!r} is in {knob.unit}, but {format_place(target.place)} is not: write "
                f'scale = "{scale}", by which the knob is converted, or another unit'
            )


def _refuse_conflicts(pairs: Sequence[tuple[Knob, tuple[KnobTarget, ...]]]) -> None:
    owners: dict[Place, str] = {}
    names: set[str] = set()
    for knob, targets in pairs:
        if knob.name in names:
            raise ScenarioError(f"two knobs have the name {knob.name!r}: give each its own")
        names.add(knob.name)
        for target in targets:
            if target.place in owners:
                raise ScenarioError(
                    f"{format_place(target.place)} is set by the knobs {owners[target.place]!r} and {knob.name!r}: a "
                    "number can have one knob only"
                )
            owners[target.place] = knob.name


def _read_meshes(content: Mapping[str, Any], folder: Path, changed: Sequence[Place]) -> Mapping[str, Any]:
    """The content with bodies in place of its meshes, unless a knob changes something in them."""
    one, several = content.get("body"), content.get("bodies")
    places: list[tuple[Place, Any]] = [(("body",), one)]
    places += [(("bodies", i), table) for i, table in enumerate(several if isinstance(several, list) else ())]
    for place, table in places:
        for kind in ("mesh", "volume_mesh"):
            at = (*place, kind)
            if isinstance(table, Mapping) and kind in table and not any(other[: len(at)] == at for other in changed):
                body = read_body({kind: table[kind]}, format_place(place), folder)
                content = replace_number(content, at, body)  # type: ignore[arg-type]
    return content
