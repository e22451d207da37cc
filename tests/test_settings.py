"""The settings of a scenario stand once, in `scenario/settings.py`: signatures are written from there, and compared.

After a change of the table:

    python tests/test_settings.py --write
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

import polhode as ph
from polhode.scenario.scenario_file import scenario_arguments
from polhode.scenario.settings import FILE_KEYS, MARK, SETTINGS, Setting, documented

SOURCE = Path(__file__).parents[1] / "src" / "polhode"
FIRST, LAST = "# settings, written by tests/test_settings.py", "# end of settings"
REGION = re.compile(rf"^( *){FIRST}: ([\w ]+)\n(.*?)^ *{LAST}\n", re.DOTALL | re.MULTILINE)
FILES = ("scenario/scenario.py", "solve/simulate.py", "solve/stepper.py", "ensembles/ensemble.py")
MAKERS = {"Scenario": ph.Scenario, "simulate": ph.simulate, "ensemble": ph.ensemble, "Stepper": ph.Stepper}
WITHOUT = {"Stepper": ("precision", "output_step", "output_times", "largest_turn")}
"""A stepper is asked for its state, and takes no Euler angles' steps to their limit."""
DURATIONS = {"Scenario": "float", "simulate": "float | None = None", "ensemble": "float | None = None"}
DURATIONS["Stepper"] = "float = 1.0"


def taken(name: str) -> list[Setting]:
    """The settings that a function takes."""
    return [setting for setting in SETTINGS if setting.name not in WITHOUT.get(name, ())]


def written(what: str, indent: str) -> str:
    """The lines of a region: the fields of the record, or the arguments of a function."""
    if what == "fields":
        return "".join(f"{indent}{s.name}: {s.held}\n" for s in SETTINGS)
    name = what.removeprefix("arguments of ")
    lines = []
    for s in taken(name):
        if lines and not s.by_position and "*," not in lines:
            lines.append("*,")
        given = f"{s.annotation}" + ("" if s.default is None else f" = {s.default}")
        if s.name == "body" and name != "Scenario":
            given += " | Scenario"
        lines.append(f"{s.name}: {DURATIONS[name] if s.name == 'duration' else given},")
    return "".join(f"{indent}{line}\n" for line in lines)


def rewritten(text: str) -> str:
    """A file with its regions as the table has them."""
    return REGION.sub(
        lambda m: f"{m[1]}{FIRST}: {m[2]}\n{written(m[2], m[1])}{m[1]}{LAST}\n",
        text,
    )


@pytest.mark.parametrize("name", FILES)
def test_signatures_are_those_of_the_table(name):
    text = (SOURCE / name).read_text(encoding="utf-8")
    assert REGION.search(text)
    assert text == rewritten(text), "python tests/test_settings.py --write"


@pytest.mark.parametrize("name", MAKERS)
def test_documentation_says_every_argument_once(name):
    thing = MAKERS[name]
    text = inspect.getdoc(thing)
    assert MARK not in text
    for argument in inspect.signature(thing).parameters:
        assert len(re.findall(rf"^(?:\w+, )*{argument}(?:, \w+)* : ", text, re.MULTILINE)) == 1, argument


def test_every_setting_that_a_file_holds_is_read_and_written(tmp_path):
    values = {
        "name": "a brick", "duration": 2.0, "step": 0.5, "method": "rk4", "formulation": "body_rates",
        "engine": "python", "output_times": [0.5, 2.0], "renormalize": False, "rtol": 1e-7, "atol": 1e-12,
        "breaks": (0.25,), "largest_turn": 0.5, "pivot": (0.0, 0.0, 1.0), "precision": "strict", "output_step": 0.5,
    }  # fmt: skip
    assert set(values) == set(FILE_KEYS)
    body = ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5))
    for key, value in values.items():
        scenario = ph.Scenario(body, **{"duration": 1.0, "step": 0.5, "method": "rk4", key: value} | (
            {"duration": 2.0} if key == "output_times" else {}
        ))  # fmt: skip
        scenario.to_toml(tmp_path / "one.toml")
        again = ph.Scenario.from_toml(tmp_path / "one.toml")
        assert repr(getattr(again, key)) == repr(getattr(scenario, key)), key


def test_a_key_that_is_no_setting_is_refused():
    with pytest.raises(ph.PolhodeError, match="stepp"):
        scenario_arguments({"stepp": 1.0, "body": {"mass": 1.0, "particle": True}, "duration": 1.0})


def test_a_function_without_the_mark_keeps_its_text():
    def plain(body):
        """As it is."""

    assert documented(plain).__doc__ == "As it is."


@pytest.mark.parametrize("name", [*MAKERS, "State"])
def test_an_editor_completes_every_argument(name):
    jedi = pytest.importorskip("jedi")
    call = f"import polhode as ph\nph.{name}("
    script = jedi.Script(call, project=jedi.Project(SOURCE.parent, sys_path=[str(SOURCE.parent), *sys.path]))
    arguments = inspect.signature(getattr(ph, name)).parameters
    offered = {completion.name.removesuffix("=") for completion in script.complete(2, len(call.splitlines()[1]))}
    assert set(arguments) <= offered
    shown = [p.name for signature in script.get_signatures(2, len(call.splitlines()[1])) for p in signature.params]
    assert set(arguments) <= set(shown)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    for name in FILES:
        path = SOURCE / name
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
