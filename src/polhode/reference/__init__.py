"""Reference solutions, independent of the integrators: closed forms and problems with known answers.

Names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "PROBLEMS": "problems",
    "ReferenceProblem": "problems",
    "problem": "problems",
    "table": "problems",
    "precise": None,
    "fall": None,
    "spring": None,
    "AsymmetricTop": "free_rotation",
    "HeavyTop": "heavy_top",
    "Pendulum": "pendulum",
    "SymmetricTop": "free_rotation",
    "SpringPair": "spring",
    "with_linear_drag": "fall",
    "with_quadratic_drag": "fall",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from polhode.reference import fall as fall
    from polhode.reference import precise as precise
    from polhode.reference import spring as spring
    from polhode.reference.fall import with_linear_drag as with_linear_drag
    from polhode.reference.fall import with_quadratic_drag as with_quadratic_drag
    from polhode.reference.free_rotation import AsymmetricTop as AsymmetricTop
    from polhode.reference.free_rotation import SymmetricTop as SymmetricTop
    from polhode.reference.heavy_top import HeavyTop as HeavyTop
    from polhode.reference.pendulum import Pendulum as Pendulum
    from polhode.reference.problems import PROBLEMS as PROBLEMS
    from polhode.reference.problems import ReferenceProblem as ReferenceProblem
    from polhode.reference.problems import problem as problem
    from polhode.reference.problems import table as table
    from polhode.reference.spring import SpringPair as SpringPair


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"polhode.reference has no {name!r}")
    home = _HOMES[name]
    module = import_module(f"polhode.reference.{home or name}")
    value = module if home is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
