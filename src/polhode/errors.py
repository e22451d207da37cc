"""The exceptions.  Each message says what was found and what to do."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class PolhodeError(Exception):
    """The base of all errors that Polhode raises.  The command line prints its message.

    Examples
    --------
    >>> import polhode as ph
    >>> try:
    ...     ph.Body(mass=-1.0, inertia=(1, 1, 1))
    ... except ph.PolhodeError as error:
    ...     print(error)
    mass must be greater than 0 kg, but is -1.0
    """


class InputError(PolhodeError, ValueError):
    """A value that makes no sense; the message names it."""


class InertiaError(InputError):
    """A mass or an inertia tensor that no body has."""


class MeshError(InertiaError):
    """A mesh that has no definite inside, or has invalid cells.  `diagnosis` holds everything that was found."""

    def __init__(self, sentence: str, diagnosis: Any = None) -> None:
        super().__init__(sentence)
        self.diagnosis = diagnosis


class MethodWarning(UserWarning):
    """A setting of a run that does not do what its name suggests, because no method was named."""


class MassWarning(UserWarning):
    """Something unusual about a mesh or a tolerance: the numbers are right, but may not be what was meant."""


class UnitWarning(UserWarning):
    """A number that looks as if it were in another unit, such as an angle in degrees."""


class StateError(InputError):
    """An invalid state: a zero quaternion, a velocity given twice."""


class ForceError(InputError):
    """A force that cannot act: wrong parameters, a wrong shape, a function that cannot be compiled."""


class ScenarioError(InputError):
    """A run that cannot be made: a step, a duration, output times or a method that do not fit."""


class FileError(PolhodeError):
    """A file that is missing, cannot be read, or does not hold what it should."""


class DamagedChunkError(FileError):
    """A chunk of a store that is damaged, or not there.  `damage` has its number, its members and the reason."""

    def __init__(self, sentence: str, damage: Any) -> None:
        super().__init__(sentence)
        self.damage = damage

    def __reduce__(self) -> Any:  # it may be sent by another process
        return type(self), (str(self), self.damage)


class StoreFullError(FileError):
    """A run that stopped because its store has no room.  What was written stays, and the run can be resumed."""


class RunError(PolhodeError):
    """A run that had to stop.  `motion` holds what was computed until then.

    Attributes
    ----------
    time : float
        The last time at which all numbers were finite, in s.
    body : int
        The body, or in an ensemble the member, that failed.
    last_good : State
        Its state at that time.
    motion : Motion
        The output up to then.
    """

    def __init__(self, sentence: str, *, time: float, body: int, last_good: Any, motion: Any) -> None:
        super().__init__(sentence)
        self.time, self.body, self.last_good, self.motion = time, body, last_good, motion


class CancelledError(PolhodeError):
    """A computation that was canceled."""


class ClusterError(PolhodeError):
    """A cluster that cannot do its work: no scheduler, no workers, or workers that are not fit for it."""


class DeadlyChunksError(ClusterError):
    """Chunks of an ensemble that killed the workers which ran them; all others were computed.

    Attributes
    ----------
    chunks : list of int
        The numbers of these chunks.
    members : list of tuple of int
        (first, last) of each of them: it has the members first, first + 1, ..., last - 1.
    result : EnsembleResult or None
        What was computed of all other members; None if their samples were to be held in memory.
    """

    def __init__(self, sentence: str, chunks: list[int], members: list[tuple[int, int]]) -> None:
        super().__init__(sentence)
        self.chunks, self.members = chunks, members
        self.result: Any = None


class NonFiniteError(RunError):
    """A number became infinite or NaN."""


class SingularityError(RunError):
    """Euler angles came too close to the vertical, where they are singular."""


def find_stacklevel() -> int:
    """The stacklevel by which a warning, given where this is called, points to the code that called the package.

    Examples
    --------
    >>> find_stacklevel()  # called by the user's code itself
    1
    """
    frame, level = sys._getframe(1), 1
    package = os.path.dirname(__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


LONGEST_SHOWN = 120
"""The characters of a value in a sentence, which is to be read whole in a terminal."""


def show(value: Any) -> str:
    """What was given, for a sentence: its repr on one line, shortened where it is long, or its kind if it has none.

    Examples
    --------
    >>> show(10**5000), show("x" * 500)[-10:]
    ('a whole number of 16610 bits', '... (a str)')
    """
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_SHOWN:  # the digits of the largest are refused
        return f"a whole number of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 20]}... (a {type(value).__name__})"


def nearest(name: Any, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, and all of them."""
    known = sorted(known)
    close = get_close_matches(name if isinstance(name, str) else show(name), known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? Known:" if close else "known are"
    return f"{hint} {', '.join(known)}"


class GpuError(PolhodeError):
    """A GPU that is missing, or that cannot do what was asked."""
