"""What commands print for machines."""

from __future__ import annotations

import json
import math
from typing import Any

import click


def print_json(report: Any) -> None:
    """JSON on the standard output."""
    click.echo(as_json(report))


def as_json(report: Any) -> str:
    """A report of plain numbers, texts and lists as JSON."""
    return json.dumps(_plain(report), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    """As JSON can hold it: no infinity, no NaN."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
