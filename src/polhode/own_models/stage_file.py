"""What a file says about its page: [stage], [[formulas]], [[try]] and references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from polhode.errors import PolhodeError, ScenarioError
from polhode.gallery.knob import Knob
from polhode.gallery.lesson import Formula, Lesson, TryThis
from polhode.own_models.tables import read_list, read_record
from polhode.scenario.body_file import read_body
from polhode.synonyms import suggest_name
from polhode.web import props
from polhode.web.stage import SWITCHES, Grab, Stage, StageCamera, ThirdFrame

PROPS: dict[str, type[props.Prop]] = {
    one.kind: one for one in vars(props).values() if isinstance(one, type) and issubclass(one, props.Prop) and one.kind
}
"""Things beside the body, by their kinds."""


def read_stage(table: Any, knobs: tuple[Knob, ...]) -> Stage:
    """The stage of a file.

    Examples
    --------
    >>> stage = read_stage({"off": ["L"], "props": [{"kind": "ball", "center": [0, 0, 1], "radius": 0.1}]}, ())
    >>> stage.props[0].radius
    0.1
    """
    readers: dict[str, Callable[[Any, str], Any]] = {
        "camera": partial(read_record, StageCamera),
        "frame": partial(read_record, ThirdFrame),
        "props": lambda value, where: read_list(value, where, _read_prop),
        "likeness": lambda value, where: read_body({"shape": value}, where, None),
        "grabs": lambda value, where: read_list(value, where, partial(_read_grab, knobs)),
    }
    try:
        return read_record(Stage, table, "[stage]", readers)
    except PolhodeError as error:
        sentence = str(error)
        raise ScenarioError(sentence if "[stage]" in sentence else f"[stage]: {sentence}") from None


def _read_prop(table: Any, where: str) -> props.Prop:
    kind = table.get("kind") if isinstance(table, Mapping) else None
    if kind not in tuple(PROPS):
        raise ScenarioError(f"{where} has the kind {kind!r}: {suggest_name(str(kind), tuple(PROPS))}")
    return read_record(PROPS[str(kind)], {key: value for key, value in table.items() if key != "kind"}, where)


def _read_grab(knobs: tuple[Knob, ...], table: Any, where: str) -> Grab:
    grab = read_record(Grab, table, where)
    names = [knob.name for knob in knobs]
    if grab.knob not in names:
        raise ScenarioError(f"{where} names a knob {grab.knob!r}, which the file has not: {_suggest(grab.knob, names)}")
    return grab


def read_lesson(content: Mapping[str, Any], knobs: tuple[Knob, ...]) -> Lesson | None:
    """The lesson of a file; None if it has none.

    Examples
    --------
    >>> read_lesson({"try": [{"text": "Spin it faster.", "values": {"spin": 9}}]}, (Knob(1, 0, 10, name="spin"),)).steps
    (TryThis(text='Spin it faster.', values={'spin': 9}, time=None, run='', switches=(), off=(), play=None),)
    """
    formulas = read_list(content.get("formulas", []), "[[formulas]]", partial(read_record, Formula))
    steps = read_list(content.get("try", []), "[[try]]", partial(_read_step, knobs))
    references = content.get("references", [])
    if not isinstance(references, list) or not all(isinstance(one, str) for one in references):
        raise ScenarioError(f"references must be a list of strings, not {references!r}")
    if not (formulas or steps or references):
        return None
    lesson = Lesson(formulas, steps, tuple(references))
    lesson.describe()  # TeX and references that are not understood are reported now
    return lesson


def _read_step(knobs: tuple[Knob, ...], table: Any, where: str) -> TryThis:
    step = read_record(TryThis, table, where)
    known = {knob.name: knob for knob in knobs}
    for name, value in step.values.items():
        if name not in known:
            raise ScenarioError(f"{where} sets {name!r}, which is no knob of the file: {_suggest(name, list(known))}")
        known[name].validate(value)
    for switch in (*step.switches, *step.off):
        if switch not in SWITCHES:
            raise ScenarioError(f"{where} has a switch {switch!r}: {suggest_name(switch, SWITCHES)}")
    return step


def _suggest(name: str, names: list[str]) -> str:
    return suggest_name(name, names) if names else "it has no [[knobs]]"
