"""What a model teaches: formulas, steps to try, and sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from polhode.errors import InputError, nearest, show
from polhode.web.mathml import tex_to_mathml

_FIELD = re.compile(r"^\s*(\w+) = \{(.*)\},?$", re.MULTILINE)
_PRINTED = (
    *("author", "title", "howpublished", "booktitle", "journal", "edition"),
    *("publisher", "institution", "number", "year"),
)


@dataclass(frozen=True)
class Formula:
    """A formula in TeX (the part of it that `web.mathml` reads), and what it says."""

    tex: str
    words: str = ""

    def describe(self) -> dict[str, Any]:
        """The formula as MathML, for the page."""
        return {"mathml": tex_to_mathml(self.tex), "words": self.words}


@dataclass(frozen=True)
class TryThis:
    """A step to try: the page sets parameters, run, time and switches, and plays if asked.

    Parameters that `values` does not name get their defaults, so that a step shows the same at every visit.
    """

    text: str
    values: Mapping[str, float] = field(default_factory=dict, hash=False)
    time: float | None = None
    """In s; None for the start."""
    run: str = ""
    """The scenario, if the model has several; "" for the first."""
    switches: tuple[str, ...] = ()
    """What is switched on: names of the page's display options."""
    off: tuple[str, ...] = ()
    """What is switched off."""
    play: bool | None = None
    """None: play unless a time is given."""

    def describe(self) -> dict[str, Any]:
        """The step as plain values, for the page."""
        return {
            "text": self.text,
            "values": dict(self.values),
            "time": self.time,
            "run": self.run,
            "switches": list(self.switches),
            "off": list(self.off),
            "play": self.time is None if self.play is None else self.play,
        }


@dataclass(frozen=True)
class Lesson:
    """What the page shows beside the explanation of a model.

    `references` name entries of the bibliography by their short names, with a place if wanted:
    "Christian 2011, eq. 17.51".

    Examples
    --------
    >>> lesson = Lesson((Formula(r"L = I \\omega"),), references=("Goldstein 1980, section 5.6",))
    >>> lesson.describe()["references"][0]["text"]
    'H. Goldstein, Classical Mechanics, 2nd edition, Addison-Wesley, 1980, section 5.6'
    """

    formulas: tuple[Formula, ...] = ()
    steps: tuple[TryThis, ...] = ()
    references: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """The lesson as plain values, for the page."""
        return {
            "formulas": [formula.describe() for formula in self.formulas],
            "steps": [step.describe() for step in self.steps],
            "references": [describe_reference(reference) for reference in self.references],
        }


@cache
def bibliography() -> dict[str, dict[str, str]]:
    """The entries of references.bib by their short names.

    Examples
    --------
    >>> bibliography()["Moffatt 2000"]["year"]
    '2000'
    """
    text = files("polhode.gallery").joinpath("references.bib").read_text(encoding="utf-8")
    entries = (dict(_FIELD.findall(part)) for part in text.split("\n@")[1:])
    return {entry["shorthand"]: entry for entry in entries}


def describe_reference(reference: str) -> dict[str, str]:
    """A reference as a sentence, with its DOI ("" if it has none).

    Examples
    --------
    >>> describe_reference("Biscani 2021")["doi"]
    '10.1093/mnras/stab1032'
    """
    known = bibliography()
    name, _, place = reference.partition(", ")
    if name not in known:
        raise InputError(f"the bibliography has no entry {show(name)}: {nearest(name, known)}")
    entry = known[name]
    entry = (
        {**entry, "journal": f"{entry['journal']} {entry.get('volume', '')}".strip()} if "journal" in entry else entry
    )
    parts = [entry[key] for key in _PRINTED if key in entry]
    return {"text": ", ".join([*parts, *([place] if place else [])]), "doi": entry.get("doi", "")}
