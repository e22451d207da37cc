"""What the page's plots know of quantities, as front/src/plots/quantities.json has it.

`python -m polhode.quantities.page front/src/plots/quantities.json` writes that file; a test compares it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from polhode.quantities.own import OWN_QUANTITIES
from polhode.quantities.quantity import AXES, Quantity
from polhode.quantities.table import QUANTITIES

PANELS = {
    "angular_velocity": "Angular velocity, body axes",
    "angular_velocity_world": "Angular velocity, world axes",
    "euler_angles": "Euler angles φ, θ, ψ",
    "tilt_precession": "Tilt and precession",
    "yaw_pitch_roll": "Yaw, pitch, roll",
    "quaternion": "Quaternion",
    "angular_momentum": "Angular momentum",
    "energy": "Energy",
    "drift": "Relative drift of conserved quantities",
    "position": "Position",
    "velocity": "Velocity",
    "speed": "Speed",
    "torque": "Torque",
    "forces": "Forces",
}
"""Panels that the page has by itself, in the order of its list, and what they are called there."""
SINGLE_ANGLES = ("tilt", "precession", "spin_angle")
"""Panels that stages may name, and the page does not list."""


def list_panels() -> tuple[str, ...]:
    """The panels that a stage may name: the page's own, and the quantities that it is sent."""
    sent = (name for known in (QUANTITIES, OWN_QUANTITIES) for name, one in known.items() if one.on_page)
    return (*PANELS, *SINGLE_ANGLES, *sent)


def describe_quantity(one: Quantity, counts: tuple[int, ...] = ()) -> dict[str, Any]:
    """What the page knows of a quantity; `counts` are the numbers of components along axes without names."""
    ends: list[str] = list(AXES.get(one.axes[-1], map(str, range(sum(counts))))) if one.axes else [""]
    return {
        "heading": one.title[:1].upper() + one.title[1:],
        "unit": "" if one.unit == "1" else one.written_unit,
        "symbol": one.symbol,
        "components": [
            {"id": name, "index": end} for name, end in zip(one.component_labels(counts), ends, strict=True)
        ],
    }


def page_table() -> dict[str, Any]:
    """The content of the file."""
    vectors = {name: one for name, one in QUANTITIES.items() if len(one.axes) < 2 and one.axes != ("rotor",)}
    return {
        "panels": [list(panel) for panel in PANELS.items()],
        "quantities": {name: describe_quantity(one) for name, one in vectors.items()},
    }


def page_text() -> str:
    """The text of the file, a row on each line."""
    table = page_table()
    panels = [json.dumps(panel, ensure_ascii=False) for panel in table["panels"]]
    rows = [f'"{name}": {json.dumps(row, ensure_ascii=False)}' for name, row in table["quantities"].items()]
    lists = ('"panels": [', panels, "],"), ('"quantities": {', rows, "}")
    lines = [line for start, inner, end in lists for line in (start, ",\n".join(inner), end)]
    return "\n".join(("{", *lines, "}", ""))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page_text(), encoding="utf-8")
