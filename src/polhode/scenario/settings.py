"""The settings of a scenario, each once: name, types, default, text, and whether a file holds it.

`Scenario`, `simulate`, `ensemble` and `Stepper` take them by explicit arguments, which `tests/test_settings.py` writes
from this table and compares with it.  The text stands here alone: `documented` fills it into their docstrings.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from polhode.scenario.parts import PARTS
from polhode.scenario.setting import Setting

T = TypeVar("T", bound=Callable[..., Any])
MARK = "settings : see polhode/scenario/settings.py"
"""The line of a docstring that stands for the text of the settings that a function takes."""


_SETTINGS = (
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

_OF_PARTS = {part.name: part.setting for part in PARTS}
_BEFORE = next(i for i, setting in enumerate(_SETTINGS) if setting.name == "renormalize")
_FIRST = tuple(setting for setting in (*_SETTINGS, *_OF_PARTS.values()) if setting.by_position)
SETTINGS = (
    *_FIRST,
    *(s for s in (*_SETTINGS[:_BEFORE], *_OF_PARTS.values(), *_SETTINGS[_BEFORE:]) if not s.by_position),
)
"""In the order of the arguments: those that may be given by position, how a run proceeds, parts, and finer control."""

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
