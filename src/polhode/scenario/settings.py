"""The settings of a scenario, each once: name, types, default, text, and whether a file holds it.

`Scenario`, `simulate`, `ensemble` and `Stepper` take them by explicit arguments, which `tests/test_settings.py` writes
from this table and compares with it.  The text stands here alone: `documented` fills it into their docstrings.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T", bound=Callable[..., Any])
MARK = "settings : see polhode/scenario/settings.py"
"""The line of a docstring that stands for the text of the settings that a function takes."""


class Setting(NamedTuple):
    """An argument of a scenario."""

    name: str
    annotation: str
    """What is accepted, as the source writes it."""
    held: str
    """The type of the field of a `Scenario`."""
    default: str | None
    """As the source writes it; None for what must be given."""
    kind: str
    """Its type in words, as documentation shows it."""
    text: str
    in_file: bool = True
    """Whether a scenario file has a key of this name that holds the value as it is."""
    by_position: bool = False


SETTINGS = (
    Setting(
        "body",
        "Body | Sequence[Body]",
        "Body | Sequence[Body]",
        None,
        "Body or sequence of Body",
        "What moves; a list makes a system, whose bodies may act on each other.  Functions that compute something also "
        "take a `Scenario` here, alone.",
        in_file=False,
        by_position=True,
    ),
    Setting(
        "state",
        "State | Sequence[State] | None",
        "State | Sequence[State] | None",
        "None",
        "State or sequence of State, optional",
        "How each body starts; at rest at the origin by default.",
        in_file=False,
        by_position=True,
    ),
    Setting(
        "forces",
        "Sequence[Force | ForceLaw]",
        "tuple[Force, ...]",
        "()",
        "sequence of Force, optional",
        "From `ph.forces`, or made by `@ph.force`.",
        in_file=False,
        by_position=True,
    ),
    Setting("duration", "float", "float", None, "float", "How long, in s, from the state's time on."),
    Setting(
        "step",
        "float | None",
        "float | None",
        "None",
        "float, optional",
        "The step size in s.  Methods with fixed steps need it; adaptive ones take it as their first try.  Without a "
        "method a warning says what became of it.",
    ),
    Setting(
        "method",
        "str",
        "str",
        '"auto"',
        "str, optional",
        '"exact" (the closed form, if nothing but uniform gravity and impulses acts); "euler", "midpoint", "rk4", '
        '"leapfrog", "splitting2", "splitting4", "splitting6", "splitting2_exact", "splitting4_exact", '
        '"splitting6_exact" (fixed steps); "bs3", "rk45", "tsit5", "vern7", "dop853", "vern9", "taylor" (adaptive, of '
        'order 3, 5, 5, 7, 8, 9, and any; the last needs heyoka).  "auto", the default, is "exact" where that holds, '
        "else an adaptive method with a second run that estimates the error: `motion.audit()` says which, why, and the "
        "error found.",
    ),
    Setting(
        "formulation",
        "str",
        "str",
        '"momentum"',
        "str, optional",
        '"momentum" (default), "momentum_matrix", "body_rates", "quaternion_acceleration" or "euler_angles".',
    ),
    Setting(
        "engine",
        "str",
        "str",
        '"cpu"',
        '{"cpu", "gpu", "python"}, optional',
        "Compiled (default); compiled for an NVIDIA GPU, which pays for ensembles; or the laws as written: slow, for "
        'functions that cannot be compiled.  `ph.ensemble` also has "dask": the workers of a Dask cluster, of this '
        "machine or of many.",
    ),
    Setting(
        "precision",
        "str",
        "str",
        '"strict"',
        '{"strict", "fused", "single"}, optional',
        'Of engine="gpu": the CPU\'s bits (default); fused multiply-adds, which differ from them by rounding; or '
        "numbers of 32 bits, about seven digits.",
    ),
    Setting(
        "output_step",
        "float | None",
        "float | None",
        "None",
        "float, optional",
        "Output every this many seconds.",
    ),
    Setting(
        "output_times",
        "ArrayLike | None",
        "Any",
        "None",
        "array_like, optional",
        "Output at these times instead, in s.  The steps do not depend on them: states inside an adaptive step come "
        "from its dense output.",
    ),
    Setting(
        "events",
        "Sequence[Event | EventLaw]",
        "tuple[Event, ...]",
        "()",
        "sequence of Event, optional",
        "Made by `@ph.event`: functions of the state that stop the run, are recorded, or change momenta where they "
        "cross zero; `motion.crossings` lists what happened.  A step looks at each function at eight points, so two "
        "crossings between two of them may be missed, and finds the time to rounding.  A run that is stopped ends "
        "there, with one more output; in an ensemble only that member stops.",
        in_file=False,
    ),
    Setting(
        "contacts",
        "Sequence[Contact]",
        "tuple[Contact, ...]",
        "()",
        "sequence, optional",
        "What the bodies can touch: `ph.floor`, `ph.wall`, `ph.slope`, `ph.between_bodies`, each with its restitution "
        'and friction.  Bodies are convex solids: their hulls.  For the methods "auto", "exact" and "dop853".',
        in_file=False,
    ),
    Setting(
        "rotors",
        "Sequence[Rotor]",
        "tuple[Rotor, ...]",
        "()",
        "sequence of Rotor, optional",
        'Made by `ph.rotor`: flywheels and reaction wheels inside the bodies.  For "auto", "dop853" and the other '
        "Runge-Kutta methods.",
        in_file=False,
    ),
    Setting(
        "mass_course",
        "MassCourse | None",
        "MassCourse | None",
        "None",
        "MassCourse, optional",
        "Made by `ph.mass_course`: mass, center and inertia that change, as where propellant burns.  For the same "
        "methods, and one body.",
        in_file=False,
    ),
    Setting(
        "added_mass",
        "ArrayLike | Sequence[ArrayLike | None] | None",
        "tuple[Array, ...] | None",
        "None",
        "array_like, optional",
        "6 x 6, symmetric: the momentum that the fluid around a body has when it moves, about the center of mass, body "
        "axes, velocity before rotation, in kg, kg m and kg m2.  Of a system: a list, with None for bodies without.",
        in_file=False,
    ),
    Setting(
        "pivot",
        "ArrayLike | None",
        "Array | None",
        "None",
        "array_like, optional",
        "A point of the body (from its center of mass, body axes, in m) that is held fixed in the world.",
    ),
    Setting(
        "renormalize",
        "bool",
        "bool",
        "True",
        "bool, optional",
        "Rescale the quaternion after every step (default).",
    ),
    Setting(
        "rtol",
        "float | Sequence[float]",
        "float | Sequence[float]",
        "1e-9",
        "float or four floats, optional",
        "Relative tolerance of adaptive methods, for each step, of position, attitude, momentum and spin: one number, "
        'or one for each kind.  With method="auto": of the whole motion.',
    ),
    Setting(
        "atol",
        "float | Sequence[float]",
        "float | Sequence[float]",
        "0.0",
        "float or four floats, optional",
        "Absolute tolerance besides, in the units of each.",
    ),
    Setting(
        "breaks",
        "ArrayLike",
        "tuple[float, ...]",
        "()",
        "array_like, optional",
        "Times, in s, that no step crosses: for shorter steps around them, or a closer search for events.",
    ),
    Setting(
        "largest_turn",
        "float",
        "float",
        "1.0",
        "float, optional",
        "For Euler angles with fixed steps: the run stops where phi would turn by more than this in one step, in rad "
        "(default 1).  With infinity it goes on, and the result beyond such a place is worthless.",
    ),
    Setting("name", "str", "str", '""', "str, optional", "A title for plots and files."),
)
"""In the order of the arguments; the first three may be given by position."""

FILE_KEYS = ("name", *(setting.name for setting in SETTINGS if setting.in_file and setting.name != "name"))
"""The settings that a scenario file has as they are, in its order: its name comes first."""


def documented(thing: T) -> T:
    """Fill the text of the settings that a function takes into its docstring, or a class's, where it has the mark.

    Examples
    --------
    >>> @documented
    ... def hurl(body, *, step=None):
    ...     '''Hurl a body.
    ...
    ...     Parameters
    ...     ----------
    ...     settings : see polhode/scenario/settings.py
    ...     '''
    >>> "step : float, optional" in hurl.__doc__
    True
    """
    text = thing.__doc__
    if text is None or MARK not in text:  # python -OO has none
        return thing
    mark = next(line for line in text.splitlines() if line.strip() == MARK)
    indent = mark.removesuffix(MARK)
    taken = inspect.signature(thing).parameters
    written = [_describe(s) for s in SETTINGS if s.name in taken and f"\n{indent}{s.name} : " not in text]
    thing.__doc__ = text.replace(mark, textwrap.indent("\n".join(written), indent))
    return thing


def _describe(setting: Setting) -> str:
    """The entry of a setting in a docstring."""
    body = textwrap.fill(setting.text, 112, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return f"{setting.name} : {setting.kind}\n{body}"
