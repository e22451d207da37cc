"""Units of length of mesh files."""

from __future__ import annotations

from polhode.errors import InputError, nearest, show

METERS_PER_UNIT = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6, "km": 1e3, "in": 0.0254, "ft": 0.3048}
LONGEST_UNITLESS_M = 10.0
"""In m: a longer part without a unit raises a warning, since it may have been drawn in millimeters."""
UNIT_NAMES = {
    spelled: short
    for short, names in {
        "m": "m meter meters metre metres",
        "mm": "mm millimeter millimeters millimetre millimetres",
        "cm": "cm centimeter centimeters centimetre centimetres",
        "um": "um micron microns micrometer micrometers micrometre micrometres",
        "km": "km kilometer kilometers kilometre kilometres",
        "in": "in inch inches",
        "ft": "ft foot feet",
    }.items()
    for spelled in names.split()
}
"""Accepted spellings of the units."""


def meters_per(unit: str) -> float:
    """The length of a unit in m; "mm", or spelled out as "millimeters" (case-insensitive)."""
    if not isinstance(unit, str):
        raise InputError(f"unit must be a string such as 'mm', not {show(unit)}")
    short = unit if unit in METERS_PER_UNIT else UNIT_NAMES.get(unit.lower()) if len(unit) > 2 else None
    if short is None:
        raise InputError(f"unknown unit of length {show(unit)}: {nearest(unit, METERS_PER_UNIT)}")
    return METERS_PER_UNIT[short]
