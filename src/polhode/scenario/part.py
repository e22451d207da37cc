"""The protocol of parts: what can be attached to the bodies of a scenario, and what others ask of it.

A part is one argument of a scenario.  Its class says all that depends on it: how the argument is checked, what differs
between members, how it changes the laws and the state, and how files hold it.  `parts.PARTS` lists them; whoever needs
something of parts goes through that list, or through `scenario.parts`, and names none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants
from polhode.equations.law import Groups
from polhode.errors import InputError, ScenarioError, nearest, show
from polhode.scenario.force import Force, flatten_leaves, leading_lengths, settle_arrays
from polhode.scenario.own_functions import Finder
from polhode.scenario.setting import Setting
from polhode.synonyms import suggest_name
from polhode.validation import Array

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario

Plain = Callable[[Any], Any]
"""What makes plain numbers and lists of the values that a file holds."""


class OwnFunction(NamedTuple):
    """A function of the user in a part."""

    name: str
    """What sentences call it."""
    function: Callable[..., Any]
    record: Any
    """What it belongs to, with its `params` and `bodies`."""
    error: type[InputError]
    """The kind of error where it fails."""
    gives: str = "number"
    """What it returns: "number", "torque" (a number), "force" (force and torque), "pair" (force on a, torques on a and
    b) or "change" (two impulses)."""


class Extension(NamedTuple):
    """The constants of a body that is more than rigid, while one part after the other adds to them."""

    constants: BodyConstants
    tensor: Array
    """The inertia, body axes, about the center of mass or the pivot, without what parts have taken out of it."""


class Start(NamedTuple):
    """What a part adds to the state at the start of the run."""

    linear: Any = None
    """To the linear momentum, body axes."""
    angular: Any = None
    """To the angular momentum, body axes."""
    groups: Groups = ()
    """Groups of the state of its own."""


class Source(str):
    """What a script has as it is: the name of a function."""


class Call(NamedTuple):
    """How a Python script makes something: a function and its arguments."""

    function: str
    arguments: Mapping[str, Any]
    """By name."""
    bodies: Sequence[int] = ()
    """Those that `.on(...)` names."""
    imports: Sequence[str] = ()
    """The lines that import what it needs besides `ph`."""
    values: Sequence[Any] = ()
    """The arguments before those by name."""


class ScenarioPart:
    """An argument of a scenario: what it accepts, and what follows from it.  The methods hold for most parts."""

    setting: Setting
    words = ""
    """What sentences call it: "rotors"."""
    extends = False
    """Whether a body that has it is more than rigid: then it is computed in momenta, by Runge-Kutta methods."""
    moves_clock = False
    """Whether the constants of the bodies change with time, which then is the last group of the state."""
    constrains = False
    """Whether it bounds the motion by rows that a solver of constraints keeps."""
    runs_on_gpus = True
    needs_geometry = False
    """Whether it needs the shapes of the bodies, so that files hold them."""

    def __eq__(self, other: object) -> bool:
        """Parts of one class are the same, also in another process."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @property
    def name(self) -> str:
        """The argument, the field of a `Scenario`, and the key of a file."""
        return self.setting.name

    # The argument -----------------------------------------------------------------------------------------------------
    def check(self, given: Any, bodies: Any) -> Any:
        """What a scenario holds of an argument; `bodies` are given beside it."""
        return given

    def is_attached(self, held: Any) -> bool:
        """Whether there is any."""
        return held is not None and not (isinstance(held, tuple) and not held)

    def validate(self, scenario: Scenario) -> None:
        """Refuse what does not go with the rest of the scenario, in a sentence that says what to do."""

    # Members ----------------------------------------------------------------------------------------------------------
    def params(self, held: Any) -> Sequence[Any]:
        """The parameters of functions, in which arrays are settled as tables or as rows for the members."""
        return ()

    def settle(self, held: Any, members: int | None) -> Any:
        """With the arrays in its parameters settled."""
        return held

    def lengths(self, held: Any) -> set[int]:
        """The lengths of its axes over members."""
        return set()

    def select(self, held: Any, members: Any) -> Any:
        """That of one member (an index), or of several (an array of indices)."""
        return held

    def numbers(self, held: Any) -> list[Any]:
        """The numbers of it that a `Problem` does not hold."""
        return []

    # How it acts ------------------------------------------------------------------------------------------------------
    def obstacle(self, scenario: Scenario) -> str | None:
        """Why the motion has no closed form with it; None if it has."""
        return None

    def times(self, held: Any) -> list[Any]:
        """The times that no step may cross: numbers, or arrays over members."""
        return []

    def forces(self, held: Any) -> tuple[Force, ...]:
        """The forces by which it acts, beside those that are given as such."""
        return ()

    def own_functions(self, held: Any) -> list[OwnFunction]:
        """The functions of the user in it."""
        return []

    def without_own_functions(self, held: Any) -> Any:
        """What is left for an archive, which holds no functions of the user."""
        return held

    def trace(self, held: Any, tracer: Any) -> Any:
        """With the functions of the user as a run takes them: see `integrate.traced_functions.Tracer`."""
        return held

    # What it adds to the laws and to the state ------------------------------------------------------------------------
    def sizes(self, held: Any) -> tuple[int, ...]:
        """The sizes of its groups of the state."""
        return ()

    def state_names(self, held: Any) -> list[str]:
        """What the columns of these groups are called."""
        return []

    def drives(self, held: Any) -> tuple[Callable[..., Any] | None, ...]:
        """The laws that drive each number of these groups whose error is controlled; None for one without."""
        return ()

    def drive_params(self, scenario: Scenario) -> Groups:
        """The parameters of these laws, behind those of the forces on bodies."""
        return ()

    def with_commands(self, held: Any, commands: Sequence[float]) -> Any:
        """With other constant parts of what drives these numbers, as a stepper sets them."""
        return held

    def constants_in(self, scenario: Scenario, t: Any) -> dict[str, Any]:
        """The constants of the bodies that depend on the time, at a time or several, by their names."""
        return {}

    def extend(self, scenario: Scenario, i: int, extension: Extension) -> Extension:
        """The constants of body i with it."""
        return extension

    def start(self, scenario: Scenario, i: int, constants: BodyConstants) -> Start:
        """What it adds to the state of body i at the start."""
        return Start()

    def units(self, constants: BodyConstants) -> tuple[Any, ...]:
        """Of each number whose error is controlled: what it is where it moves by 1 (m, rad) a second."""
        return ()

    def shape_view(self, scenario: Scenario, state: StateView, body: BodyConstants) -> tuple[StateView, BodyConstants]:
        """What functions of the user see of a body that has it: the nesting alone matters."""
        return state, body

    # Files ------------------------------------------------------------------------------------------------------------
    def table(self, held: Any, plain: Plain, is_system: bool) -> Any:
        """What a file holds under its key."""
        return plain(held)

    def read(self, given: Any, is_system: bool, find: Finder) -> Any:
        """The argument, from a file; `find` finds the functions of the user that it names."""
        return given

    def script(self, table: Any) -> Any:
        """How a Python script makes it from what a file holds: a `Call`, a list of them, or a plain value."""
        return table

    def describe(self, held: Any, table: Any, digest: Callable[[Any], str]) -> Any:
        """What is compared before a run is resumed: the table, with digests of functions of the user."""
        return table


class ListPart(ScenarioPart):
    """A part that is a list of records, each with `select_members`, and perhaps with `params` and `members`."""

    kinds: Mapping[str, Callable[..., Any]] | None = None
    """The functions that make its records, by the kind that files name; None: they have no kinds."""
    example = ""
    """One of these kinds."""
    file_error: type[InputError] = ScenarioError
    more_keys: tuple[str, ...] = ()
    """What a table has besides its kind and the arguments of that function."""

    def as_record(self, given: Any) -> Any:
        """One of its records."""
        raise NotImplementedError

    def check(self, given: Any, bodies: Any) -> tuple[Any, ...]:
        return tuple(self.as_record(one) for one in check_list(given, self.name))

    def params(self, held: Any) -> Sequence[Any]:
        return [one.params for one in held]

    def settle(self, held: Any, members: int | None) -> Any:
        return tuple(replace(one, params=settle_arrays(one.params, members)) for one in held)

    def lengths(self, held: Any) -> set[int]:
        counts = [getattr(one, "members", None) for one in held]
        return leading_lengths(self.params(held)) | {count for count in counts if count is not None}

    def select(self, held: Any, members: Any) -> Any:
        return tuple(one.select_members(members) for one in held)

    def write(self, one: Any, plain: Plain) -> dict[str, Any]:
        """The table of one record."""
        raise NotImplementedError

    def table(self, held: Any, plain: Plain, is_system: bool) -> Any:
        return [self.write(one, plain) for one in held]

    def read(self, given: Any, is_system: bool, find: Finder) -> Any:
        if not isinstance(given, list):
            raise ScenarioError(f"{self.name} are several tables, each headed [[{self.name}]], not {given!r}")
        return [self.read_one(table, find) for table in given]

    def read_one(self, table: Any, find: Finder) -> Any:
        """One record, from its table."""
        assert self.kinds is not None
        what = self.name.removesuffix("s")
        return make_by_kind(table, what, self.kinds, self.file_error, self.example, *self.more_keys)

    def script(self, table: Any) -> Any:
        return [self.call(one) for one in table]

    def call(self, table: Mapping[str, Any]) -> Call:
        """How a Python script makes one record."""
        given = {key: value for key, value in table.items() if key not in ("kind", *self.more_keys)}
        return Call(f"ph.{table.get('kind', self.name.removesuffix('s'))}", given)


def check_list(given: Any, name: str) -> list[Any]:
    """A list, and not one thing alone."""
    if isinstance(given, (Force, str)) or not isinstance(given, Sequence):
        found = f"the force {given.name} alone" if isinstance(given, Force) else show(given)
        raise ScenarioError(f"{name} must be a list, {name}=[...], not {found}")
    return list(given)


def validate_indices(
    scenario: Scenario, bodies: Iterable[int] | None, what: str, error: type[InputError] = ScenarioError
) -> None:
    """Refuse the index of a body that the scenario does not have."""
    out_of_range = [b for b in bodies or () if not 0 <= b < len(scenario.bodies)]
    if out_of_range:
        raise error(f"{what} body {show(out_of_range[0])}, but the bodies are numbered 0 to {len(scenario.bodies) - 1}")


# Tables of files ------------------------------------------------------------------------------------------------------
def refuse_unknown_keys(table: Any, known: Iterable[str], where: str) -> None:
    """Raise for the first unknown key."""
    known = tuple(known)
    if not isinstance(table, Mapping):
        raise ScenarioError(f"{where} must be a table of keys and values, not {show(table)}")
    for key in table:
        if key not in known:
            raise ScenarioError(f"{where} has no key {key!r}: {suggest_name(key, known)}")


def make_by_kind(
    table: Any, what: str, makers: Mapping[str, Callable[..., Any]], error: type[InputError], example: str, *more: str
) -> Any:
    """What the function that a table's kind names makes of its other keys, without some more that it may have."""
    if not isinstance(table, Mapping) or "kind" not in table:
        known = ", ".join(sorted(makers))
        raise error(f'every {what} needs its kind, for example kind = "{example}". Known: {known}')
    kind = table["kind"]
    if kind not in tuple(makers):
        raise error(f"{what} {kind!r} is unknown: {nearest(kind, makers)}")
    parameters = inspect.signature(makers[kind]).parameters
    refuse_unknown_keys(table, (*parameters, "kind", *more), f"{what} {kind!r}")
    given = {key: value for key, value in table.items() if key not in ("kind", *more)}
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in given]
    if missing:
        raise error(f"{what} {kind!r} needs {', '.join(missing)}")
    return makers[kind](**given)


# Functions of the user in files ---------------------------------------------------------------------------------------
def find_law(find: Finder, name: Any, kinds: type | tuple[type, ...], decorator: str) -> Any:
    """What a decorator of `ph` made of a function of the user."""
    found = find(name)
    if not isinstance(found, kinds):
        raise ScenarioError(f"{name} is {show(found)}, not a function with {decorator} before it")
    return found


def read_params(table: dict[str, Any], name: str) -> Sequence[Any]:
    """The parameters of a function of the user, taken out of a table."""
    params = table.pop("params", ())
    if not isinstance(params, (list, tuple)):
        raise ScenarioError(f"params of {name} are a list, params = [...], not {show(params)}")
    return params


def write_params(record: Any, plain: Plain) -> dict[str, Any]:
    """The parameters of a function of the user, for a table."""
    return {"params": [_plain_nest(one, plain) for one in record.params]} if record.params else {}


def _plain_nest(nest: Any, plain: Plain) -> Any:
    if isinstance(nest, tuple):
        return [_plain_nest(part, plain) for part in nest]
    if np.ndim(nest):
        raise ScenarioError("parameters that differ between members cannot be written: draw them, in a file of a sweep")
    return plain(nest)


def read_bodies(given: Any, name: str) -> Sequence[int]:
    """The bodies on which something acts, from a file."""
    if not isinstance(given, (list, tuple, np.ndarray)):
        raise ScenarioError(f"{name} concerns a list of bodies, [0, 2], not {show(given)}")
    return list(given)


def refuse_one_member(record: Any, error: type[InputError] = ScenarioError) -> None:
    """Refuse to write what was selected from an ensemble: its arguments were those of all members."""
    if not record.arguments and flatten_leaves(record.params):
        raise error(
            f"{record.name} is one member's of an ensemble, which no file can hold: make it again with its own numbers"
        )


def is_same(value: Any, default: Any) -> bool:
    """Whether a value is its default, which files leave out."""
    return isinstance(value, type(default)) and bool(np.all(value == default))
