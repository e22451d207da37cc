"""Reductions as texts, for the command line and files: "mean:position", "quantiles:position.z:0.05,0.5,0.95"."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from polhode.errors import InputError, nearest

EXAMPLES = {
    "mean": "mean:position",
    "covariance": "covariance:position@final+velocity@final",
    "quantiles": "quantiles:position.z:0.05,0.5,0.95",
    "histogram": "histogram:speed@final:50 or histogram:speed@final:50,0,20",
    "extremes": "extremes:speed",
    "count": "count:speed@final:>10",
    "sample": "sample:position@final:251",
}
"""How each kind is written."""


class ReductionText(NamedTuple):
    """A text taken apart: the kind, and the arguments of the function of that name in `ph.reductions`."""

    kind: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


def parse_reduction(text: str) -> ReductionText:
    """Take a text apart.

    Examples
    --------
    >>> parse_reduction("quantiles:position.z:0.05,0.95")
    ReductionText(kind='quantiles', arguments=('position.z', [0.05, 0.95]), options={})
    >>> parse_reduction("quantile:position")
    Traceback (most recent call last):
    polhode.errors.InputError: 'quantile:position': there is no reduction 'quantile': did you mean 'quantiles'? ...
    """
    kind, *parts = (part.strip() for part in text.split(":"))
    if kind not in EXAMPLES:
        raise InputError(f"{text!r}: there is no reduction {kind!r}: {nearest(kind, EXAMPLES)}")
    if not parts or not parts[0]:
        raise InputError(f"{text!r}: {kind} of what? Write for example {EXAMPLES[kind]}")
    quantity, *rest = parts
    if len(rest) > 1 or (rest and kind in ("mean", "covariance", "extremes")):
        raise InputError(f"{text!r} has more parts than {kind} takes: write for example {EXAMPLES[kind]}")
    given = rest[0] if rest else ""
    if kind == "covariance":
        return ReductionText(kind, tuple(part.strip() for part in quantity.split("+")), {})
    if kind == "count":
        return ReductionText(kind, (quantity,), _read_property(text, given))
    if not given and kind == "sample":
        raise InputError(f"{text!r}: which members? Write for example {EXAMPLES[kind]}: every 251st")
    if not given:
        return ReductionText(kind, (quantity,), {})
    numbers = [_read_number(text, kind, word) for word in given.split(",")]
    if kind == "quantiles":
        return ReductionText(kind, (quantity, numbers), {})
    if kind == "sample":
        if len(numbers) != 1 or numbers[0] != int(numbers[0]):
            raise InputError(f"{text!r}: after the quantity comes a whole number, as in {EXAMPLES[kind]}")
        return ReductionText(kind, (quantity, int(numbers[0])), {})
    if len(numbers) not in (1, 3) or numbers[0] != int(numbers[0]):
        raise InputError(
            f"{text!r}: after the quantity come the number of bins and, if wanted, the range: {EXAMPLES[kind]}"
        )
    bins, range_given = int(numbers[0]), tuple(numbers[1:]) or None
    return ReductionText(kind, (quantity, bins, range_given), {})


def _read_property(text: str, given: str) -> dict[str, float]:
    found: dict[str, float] = {}
    signs = {">": "above", "<": "below"}
    parts = re.findall(r"([<>])([^<>]*)", given)
    if not parts or "".join(sign + number for sign, number in parts) != given:
        raise InputError(f"{text!r}: which members? Write for example {EXAMPLES['count']}, or >2<10 for between")
    for sign, number in parts:
        if signs[sign] in found:
            raise InputError(f"{text!r} says {sign} twice")
        found[signs[sign]] = _read_number(text, "count", number)
    return found


def _read_number(text: str, kind: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise InputError(f"{text!r}: {word!r} is no number. Write for example {EXAMPLES[kind]}") from None
    if number - number != 0:
        raise InputError(f"{text!r}: {word!r} is not finite")
    return number
