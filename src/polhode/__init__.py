"""Polhode simulates rigid bodies: where they are, how they turn, and how well the answer can be trusted.

The public names load when they are first used, so that `import polhode` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polhode.version import __version__

_HOMES = {
    "Body": "body",
    "particle": "body",
    "State": "state",
    "Scenario": "scenario",
    "Force": "forcing",
    "force": "forcing",
    "pair_force": "forcing",
    "event": "crossing",
    "forces": None,
    "shapes": None,
    "tolerance": "mass.uncertainty",
    "uncertainty": "mass.uncertainty",
    "reference": None,
    "affine": None,
    "rotations": None,
    "diagnose": "mass.surface.diagnosis",
    "compare": "mass.surface.approximations",
    "part_picture": "plots.part",
    "simulate": "simulation",
    "ensemble": "simulation",
    "Motion": "motion",
    "load": "store",
    "sqrt": "equations.number",
    "sin": "equations.number",
    "cos": "equations.number",
    "if_less": "equations.number",
    "law": "equations.law",
    "to_world": "equations.quaternions",
    "to_body": "equations.quaternions",
    "PolhodeError": "errors",
}

_MODULES = {
    "forces": "forces",
    "shapes": "mass.shapes",
    "reference": "reference",
    "affine": "affine",
    "rotations": "rotations",
}

__all__ = [*_HOMES, "__version__"]

if TYPE_CHECKING:
    from polhode import affine as affine
    from polhode import forces as forces
    from polhode import reference as reference
    from polhode import rotations as rotations
    from polhode.body import Body as Body
    from polhode.body import particle as particle
    from polhode.crossing import event as event
    from polhode.equations.law import law as law
    from polhode.equations.number import cos as cos
    from polhode.equations.number import if_less as if_less
    from polhode.equations.number import sin as sin
    from polhode.equations.number import sqrt as sqrt
    from polhode.equations.quaternions import to_body as to_body
    from polhode.equations.quaternions import to_world as to_world
    from polhode.errors import PolhodeError as PolhodeError
    from polhode.forcing import Force as Force
    from polhode.forcing import force as force
    from polhode.forcing import pair_force as pair_force
    from polhode.mass import shapes as shapes
    from polhode.mass.surface.approximations import compare as compare
    from polhode.mass.surface.diagnosis import diagnose as diagnose
    from polhode.mass.uncertainty import tolerance as tolerance
    from polhode.mass.uncertainty import uncertainty as uncertainty
    from polhode.motion import Motion as Motion
    from polhode.plots.part import part_picture as part_picture
    from polhode.scenario import Scenario as Scenario
    from polhode.simulation import ensemble as ensemble
    from polhode.simulation import simulate as simulate
    from polhode.state import State as State
    from polhode.store import load as load


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"polhode has no {name!r}")
    home = _HOMES[name]
    value = (
        import_module(f"polhode.{_MODULES[name]}") if home is None else getattr(import_module(f"polhode.{home}"), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
