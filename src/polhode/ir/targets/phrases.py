"""What a language is to the writers of source: its phrases, one record of them for each language."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

INFIX = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "eq": "{0} == {1}",
}
"""The operations that look the same in all languages so far."""


class Language(NamedTuple):
    """How a language writes things.  {0}, {1}, ...: what is filled in, as each field says."""

    name: str
    """As in `ph.write_source(scenario, name, path)`."""
    title: str
    suffixes: tuple[str, ...]
    command: str
    """What compiles and runs a file: {0}, its name without suffix."""
    operations: Mapping[str, str]
    """The primitive operations of operands {0}, {1}, {2}, but for "pick", which is an entry of an array,
    and "fma", "rcp" and "rsqrt", which only kernels for GPUs have."""
    entry: str
    """An entry of the array {0} at the whole number {1}."""
    whole: str
    """The number {0}, which has no fraction, as a whole number."""
    number: str
    """The whole number {0} as a number."""
    infinity: str
    nan: str
    table: str
    """The definition of a table of constants: its name {0}, its length {1} and its entries {2}."""
    whole_constant: str
    """The definition of the whole number {1} with the name {0}."""
    number_constant: str
    """The same of a number."""
    arguments: Mapping[str, str]
    """An argument {0} by its kind: "out", "in" (arrays, which the function may change or not), "number" or "whole"."""
    function: str
    """The first line of a function {0} with arguments {1}; a } ends it, as it ends what follows."""
    declare: Mapping[str, str]
    """A variable {0} that is {1}: "value" and "truth" stay as they are, "number" and "whole" change; "out" is a new
    array of {1} zeros."""
    repeat: str
    """The first line of a loop: whole numbers {0} from {1} to below {2}."""
    during: str
    """The first line of a loop: while {0}."""
    when: str
    """The first line of a decision: if {0}."""
    kept_before: str
    """Before a function {0} that is cut into parts: the room for {1} numbers that a part leaves to the next ..."""
    kept: str
    """... and in it: the same room, as `kept`."""
    head: str
    """The first lines of a file."""
    main: str
    """The last lines, which run all units and print their samples; @@HEADER: the names of the columns, @@NAMES: of
    functions and tables."""


def literal(value: float, language: Language) -> str:
    """A double: the shortest digits that give it back."""
    if math.isnan(value):
        return language.nan
    text = language.infinity if math.isinf(value) else repr(abs(value))
    return f"(-{text})" if math.copysign(1.0, value) < 0 else text


def table(name: str, values: Sequence[float], language: Language) -> str:
    """The definition of a table of constants; one of no entries has one, since C knows no others."""
    return define_table(name, [literal(float(v), language) for v in values] or ["0.0"], language)


def define_table(name: str, numbers: Sequence[str], language: Language) -> str:
    """The definition of a table from the texts of its entries."""
    rows = [", ".join(numbers[i : i + 6]) for i in range(0, len(numbers), 6)]
    return language.table.format(name, len(numbers), ",\n".join(f"  {row}" for row in rows))


def write_arguments(kinds: Mapping[str, str], language: Language) -> str:
    """The arguments of a function, from their kinds by name."""
    return ", ".join(language.arguments[kind].format(argument) for argument, kind in kinds.items())
