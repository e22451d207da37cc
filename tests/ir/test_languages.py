"""The records of languages have no gaps, and loops in other languages do what they do in Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import cli
from polhode.ir.operations import PRIMITIVES
from polhode.ir.targets.c import C
from polhode.ir.targets.languages import LANGUAGES
from polhode.ir.targets.loop_source import In, Number, Out, Whole, write_loop
from polhode.ir.targets.phrases import Language, table

DOCS = Path(__file__).parents[2] / "docs"
MAINS = {
    "c": "int main(void) {{ double out[{0}] = {{0.0}}; polhode_mixed(out, polhode_given, 7);"
    ' for (int i = 0; i < {0}; i++) printf("%.17g\\n", out[i]); return 0; }}',
    "rust": "fn main() {{ let out = &mut [0.0; {0}]; polhode_mixed(out, &polhode_given, 7);"
    ' for x in out {{ println!("{{:?}}", x); }} }}',
    "javascript": "const out = new Float64Array({0}); polhode_mixed(out, polhode_given, 7);"
    ' console.log(out.join("\\n"));',
}
MAINS["cuda"] = MAINS["c"]


def placeholders(phrase: str) -> set[str]:
    return set(re.findall(r"(?<!{){(\d)}", phrase))


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_language_has_all_phrases(name):
    language = LANGUAGES[name]
    assert language.name == name
    assert set(language.operations) == PRIMITIVES - {"pick", "fma", "rcp", "rsqrt"}
    assert set(language.arguments) == set(C.arguments)
    assert set(language.declare) == set(C.declare)
    assert all(getattr(language, field) for field in Language._fields if field != "kept_before")
    for kind in ("operations", "arguments", "declare"):
        for key, phrase in getattr(language, kind).items():
            assert placeholders(phrase) == placeholders(getattr(C, kind)[key]), (kind, key)
    for field in ("command", "entry", "whole", "number", "number_constant", "function", "repeat", "during", "when"):
        assert placeholders(getattr(language, field)) == placeholders(getattr(C, field)), field
    assert {"0", "2"} <= placeholders(language.table)
    assert "@@HEADER" in language.main


def test_every_language_is_named_where_one_looks():
    suffixes = [suffix for language in LANGUAGES.values() for suffix in language.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    help_text = " ".join(CliRunner().invoke(cli, ["export", "--help"]).output.split())
    guide = (DOCS / "howto" / "other-languages.md").read_text(encoding="utf-8")
    commands = (DOCS / "howto" / "command-line.md").read_text(encoding="utf-8")
    for name, language in LANGUAGES.items():
        assert f'"{name}"' in (ph.write_source.__doc__ or "")
        assert language.title in help_text
        assert language.title in commands
        assert language.suffixes[0] in help_text
        assert f'ph.write_source(scenario, "{name}"' in guide
        assert f"```sh\n{language.command.format('throw')}\n```" in guide


def test_the_page_about_targets_names_every_field():
    page = (DOCS / "howto" / "add-a-target.md").read_text(encoding="utf-8")
    assert [field for field in Language._fields if f"`{field}`" not in page] == []


program = SimpleNamespace(SIZE=3, given=[0.1, 0.2, 0.7])


def square_all(values: Out) -> None:
    """Square all."""
    for i in range(program.SIZE):
        values[i] = values[i] * values[i]


def mixed(out: Out, given: In, n: Whole) -> None:
    """Parentheses, decisions, loops, calls, conversions, and arrays of its own.

    Whole numbers are never negative.
    """
    a: Number = given[0]
    b: Number = given[1]
    out[0] = a - (b - (a + b)) * -(a / (b * a))
    out[1] = (a - b - a) / b / a
    k: Whole = n % 4 + (n - 2) * 3
    while k < n * 3 and not (k == 20 or (k != 18 and k > 18)):
        k += 1
    out[2] = float(k) / 7.0
    own: Out = [0.0] * program.SIZE
    for i in range(1, program.SIZE):
        own[i] = given[int(float(i) * 2.0 / 2.0)]
    square_all(own)
    for i in range(program.SIZE):
        out[3 + i] = own[i]
    if out[4] >= 0.5 or (a < b and not (b <= a)):
        out[6] = 1.0 if k > 3 else 1e300 if k == 3 else -2.5
    else:
        out[6] = 4.0
    if program.HAS_MORE:
        out[7] = 5.0
    if a > 0.0:
        return
    out[7] = 6.0


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("has_more", [False, True])
def test_loops_do_what_they_do_in_python(name, has_more, tmp_path):
    language = LANGUAGES[name]
    command = {"cuda": "g++ -x c++ {0}.cu -o {0} && ./{0}"}.get(name, language.command).format("own")
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command.split()[0]} is not installed")
    program.HAS_MORE = has_more
    expected = [0.0] * 8
    mixed(expected, program.given, 7)
    parts = [language.head, language.whole_constant.format("POLHODE_SIZE", program.SIZE)]
    parts += [table("polhode_given", program.given, language), write_loop(square_all, language)]
    parts += [write_loop(mixed, language, ["HAS_MORE"] if has_more else []), MAINS[name].format(8)]
    (tmp_path / f"own{language.suffixes[0]}").write_text("\n".join(parts))
    done = subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, capture_output=True, text=True)
    assert [float(x) for x in done.stdout.split()] == expected
    assert done.stderr == ""


@pytest.mark.parametrize("body", ["assert state", "state[0] = max(1.0, 2.0, key=f)", "state[0] = [1.0]", "del state"])
def test_what_no_language_has_is_refused(body):
    with pytest.raises(NotImplementedError, match="no other language has this"):
        write_loop(f"def f(state: Out):\n    {body}", C)
