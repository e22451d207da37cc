"""Polhode simulates rigid bodies: where they are, how they turn, and how well the answer can be trusted.

The public names are loaded when they are first used, so that `import polhode` stays fast.
"""

import importlib as _importlib
import sys as _sys
import types as _types
import typing as _typing

from polhode.version import __version__

_HOMES = {
    "Body": "massprops.body",
    "particle": "massprops.body",
    "State": "scenario.state",
    "Scenario": "scenario.scenario",
    "Force": "scenario.force",
    "force": "scenario.force",
    "pair_force": "scenario.force",
    "StateView": "equations.formulations",
    "BodyConstants": "equations.inertia",
    "event": "scenario.event",
    "quantity": "quantities.own",
    "floor": "scenario.contact",
    "wall": "scenario.contact",
    "slope": "scenario.contact",
    "between_bodies": "scenario.contact",
    "rotor": "scenario.rotor",
    "mass_course": "scenario.mass_course",
    "forces": None,
    "events": None,
    "earth": None,
    "air": None,
    "CoefficientTable": "scenario.flight_forces",
    "Flow": "equations.aerodynamics",
    "shapes": None,
    "tolerance": "massprops.uncertainty",
    "uncertainty": "massprops.uncertainty",
    "reference": None,
    "affine": None,
    "rotations": None,
    "reductions": None,
    "diagnose": "massprops.surface.diagnosis",
    "compare": "massprops.surface.inertia_comparison",
    "part_picture": "plot.part",
    "simulate": "solve.simulate",
    "ensemble": "ensembles.ensemble",
    "sweep": "ensembles.sweep",
    "summarize": "ensembles.summary",
    "summary_reductions": "ensembles.summary",
    "EnsembleResult": "ensembles.result",
    "Draw": "ensembles.sampling.draw",
    "DrawnSource": "ensembles.sampling.drawn_source",
    "Stepper": "solve.stepper",
    "environment": "solve.environment",
    "vector_environment": "solve.environment",
    "write_source": "solve.write_source",
    "write_fmu": "solve.write_fmu",
    "Motion": "results.motion",
    "load": "ensembles.load",
    "model": "own_models.model_function",
    "Knob": "gallery.knob",
    "Model": "gallery.gallery_model",
    "lab": "lab_server.open_lab",
    "sqrt": "equations.scalar_ops",
    "sin": "equations.scalar_ops",
    "cos": "equations.scalar_ops",
    "if_less": "equations.scalar_ops",
    "exp": "equations.elementary",
    "log": "equations.elementary",
    "power": "equations.elementary",
    "tan": "equations.elementary",
    "atan2": "equations.elementary",
    "interp": "equations.interpolation",
    "law": "equations.law",
    "to_world": "equations.quaternions",
    "to_body": "equations.quaternions",
    "quaternion_product": "equations.quaternions",
    "quaternion_conjugate": "equations.quaternions",
    "cross": "equations.vectors",
    "dot": "equations.vectors",
    "PolhodeError": "errors",
}

_MODULES = {
    "forces": "scenario.forces",
    "events": "scenario.events",
    "earth": "scenario.earth",
    "air": "scenario.air",
    "shapes": "massprops.shapes",
    "reference": "reference",
    "affine": "affine",
    "rotations": "rotations",
    "reductions": "ensembles.reductions",
}

__all__ = [*_HOMES, "__version__"]

if _typing.TYPE_CHECKING:
    from polhode import affine as affine
    from polhode import reference as reference
    from polhode import rotations as rotations
    from polhode.ensembles import reductions as reductions
    from polhode.ensembles.ensemble import ensemble as ensemble
    from polhode.ensembles.load import load as load
    from polhode.ensembles.result import EnsembleResult as EnsembleResult
    from polhode.ensembles.sampling.draw import Draw as Draw
    from polhode.ensembles.sampling.drawn_source import DrawnSource as DrawnSource
    from polhode.ensembles.summary import summarize as summarize
    from polhode.ensembles.summary import summary_reductions as summary_reductions
    from polhode.ensembles.sweep import sweep as sweep
    from polhode.equations.aerodynamics import Flow as Flow
    from polhode.equations.elementary import atan2 as atan2
    from polhode.equations.elementary import exp as exp
    from polhode.equations.elementary import log as log
    from polhode.equations.elementary import power as power
    from polhode.equations.elementary import tan as tan
    from polhode.equations.formulations import StateView as StateView
    from polhode.equations.inertia import BodyConstants as BodyConstants
    from polhode.equations.interpolation import interp as interp
    from polhode.equations.law import law as law
    from polhode.equations.quaternions import quaternion_conjugate as quaternion_conjugate
    from polhode.equations.quaternions import quaternion_product as quaternion_product
    from polhode.equations.quaternions import to_body as to_body
    from polhode.equations.quaternions import to_world as to_world
    from polhode.equations.scalar_ops import cos as cos
    from polhode.equations.scalar_ops import if_less as if_less
    from polhode.equations.scalar_ops import sin as sin
    from polhode.equations.scalar_ops import sqrt as sqrt
    from polhode.equations.vectors import cross as cross
    from polhode.equations.vectors import dot as dot
    from polhode.errors import PolhodeError as PolhodeError
    from polhode.gallery.gallery_model import Model as Model
    from polhode.gallery.knob import Knob as Knob
    from polhode.lab_server.open_lab import lab as lab
    from polhode.massprops import shapes as shapes
    from polhode.massprops.body import Body as Body
    from polhode.massprops.body import particle as particle
    from polhode.massprops.surface.diagnosis import diagnose as diagnose
    from polhode.massprops.surface.inertia_comparison import compare as compare
    from polhode.massprops.uncertainty import tolerance as tolerance
    from polhode.massprops.uncertainty import uncertainty as uncertainty
    from polhode.own_models.model_function import model as model
    from polhode.plot.part import part_picture as part_picture
    from polhode.quantities.own import quantity as quantity
    from polhode.results.motion import Motion as Motion
    from polhode.scenario import air as air
    from polhode.scenario import earth as earth
    from polhode.scenario import events as events
    from polhode.scenario import forces as forces
    from polhode.scenario.contact import between_bodies as between_bodies
    from polhode.scenario.contact import floor as floor
    from polhode.scenario.contact import slope as slope
    from polhode.scenario.contact import wall as wall
    from polhode.scenario.event import event as event
    from polhode.scenario.flight_forces import CoefficientTable as CoefficientTable
    from polhode.scenario.force import Force as Force
    from polhode.scenario.force import force as force
    from polhode.scenario.force import pair_force as pair_force
    from polhode.scenario.mass_course import mass_course as mass_course
    from polhode.scenario.rotor import rotor as rotor
    from polhode.scenario.scenario import Scenario as Scenario
    from polhode.scenario.state import State as State
    from polhode.solve.environment import environment as environment
    from polhode.solve.environment import vector_environment as vector_environment
    from polhode.solve.simulate import simulate as simulate
    from polhode.solve.stepper import Stepper as Stepper
    from polhode.solve.write_fmu import write_fmu as write_fmu
    from polhode.solve.write_source import write_source as write_source


def __getattr__(name: str) -> _typing.Any:
    if name not in _HOMES:
        from polhode.synonyms import unknown_attribute_message

        raise AttributeError(unknown_attribute_message("polhode", name, _HOMES))
    home = _HOMES[name] or _MODULES[name]
    module = _importlib.import_module(f"polhode.{home}")
    value = module if name in _MODULES else getattr(module, name)
    setattr(_sys.modules[__name__], name, value)
    return getattr(_sys.modules[__name__], name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(_types.ModuleType):
    """This package: of its modules, users see the public names alone, whoever imports them first."""

    def __setattr__(self, name: str, value: _typing.Any) -> None:
        if name in _MODULES and type(value) is _types.ModuleType:
            from polhode.public_namespace import PublicNamespace

            value = PublicNamespace(f"{__name__}.{name}", value)
        super().__setattr__(name, value)

    def __reduce__(self) -> _typing.Any:  # a function that uses it may be sent to other processes
        return _importlib.import_module, (self.__name__,)


_sys.modules[__name__].__class__ = _Package
