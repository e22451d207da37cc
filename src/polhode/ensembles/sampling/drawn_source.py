"""A source of members that are drawn on demand: a billion of them cost nothing until they are taken."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from polhode.ensembles.sampling.designs import DESIGNS, RandomDesign, make_design
from polhode.ensembles.sampling.draw import Draw
from polhode.ensembles.sampling.random_words import Members
from polhode.errors import InputError, ScenarioError, show
from polhode.scenario.force import announce_members, flatten_leaves
from polhode.scenario.scenario import Scenario
from polhode.validation import Array, check_word, is_whole_number

PROBES = (5, 7)
"""How many members the build function is first called with, to learn what it draws."""
AMBIGUOUS_LENGTH = 3
"""Three moments for each of three members look like one 3 x 3 tensor."""


SAME = 1e-9
"""Relative to the largest number: a build function may round differently for other members."""

LONGEST_SEED = 1024
"""In bits: streams are named by its digits, of which Python writes at most 4300."""
MOST_MEMBERS = 2**53
"""Beyond that not every number of a member is a double, as in reductions and files."""


class DrawnSource:
    """The members of a sweep: scenarios that a build function makes of what it draws.

    Parameters
    ----------
    build : callable
        `build(draw)` returns a `Scenario`; `draw` is a `Draw`.  It is called with arrays, once for every chunk of
        members, and must always draw the same inputs.
    members : int
        How many members there are.
    seed : int, optional
        Another seed gives other members.
    design : {"random", "latin_hypercube", "sobol"}, optional
        Independent members (default); one member in each of `members` equally probable parts of every input; or the
        points of a scrambled Sobol' sequence, whose number should be a power of two.

    Examples
    --------
    >>> import polhode as ph
    >>> def build(draw):
    ...     spin = draw.normal("spin", (0.0, 5.0, 0.0), 0.1)
    ...     state = ph.State(angular_velocity_body=spin)
    ...     return ph.Scenario(ph.Body(mass=1.0, inertia=(1.0, 2.0, 2.5)), state, duration=1.0)
    >>> source = ph.DrawnSource(build, members=1_000_000, seed=7)
    >>> source.input_names, source.take([3, 999_999]).members
    (('spin',), 2)
    """

    def __init__(self, build: Callable[[Draw], Scenario], members: int, seed: int = 0, design: str = "random") -> None:
        if not callable(build):
            raise ScenarioError(f"a sweep needs a function build(draw) that returns a Scenario, not {show(build)}")
        check_word(design, "design", DESIGNS, ScenarioError)
        self.build, self.design = build, design
        self.members = _check_count(members, "members", 1)
        if self.members > MOST_MEMBERS:
            raise ScenarioError(
                f"members must be at most 2^53, about 9e15, so that all have numbers, not {show(members)}"
            )
        self.seed = _check_count(seed, "seed", 0)
        if self.seed.bit_length() > LONGEST_SEED:
            raise ScenarioError(f"seed must be below 2^{LONGEST_SEED}, not {show(seed)}")
        probes = [self._call(np.arange(n, dtype=np.int64) % self.members, RandomDesign(self.seed)) for n in PROBES]
        first = probes[0][0]
        if not first.values:
            raise ScenarioError("build draws nothing: draw at least one input, as in draw.normal('mass', 1.0, 0.02)")
        self.input_names: tuple[str, ...] = tuple(sorted(first.values))
        self._calls = first.calls
        self._distributions = {name: first.distributions[name].plain() for name in self.input_names}
        self._tuple_lengths = {n for _, scenario in probes for n in _tuple_lengths(scenario)} | {AMBIGUOUS_LENGTH}
        self._check_same_inputs(probes[1][0])
        self._check_member_by_member(*(scenario for _, scenario in probes))
        self._design = make_design(design, self.seed, self.members, first.stream_sizes)

    @classmethod
    def from_toml(
        cls, path: str | Path, members: int | None = None, seed: int | None = None, design: str | None = None
    ) -> DrawnSource:
        """The members of a scenario file with distributions in place of numbers; arguments replace its [sweep].

        Examples
        --------
        >>> import polhode as ph, tempfile, pathlib
        >>> text = 'duration = 2.0\\n[body]\\nmass = { normal = [1.0, 0.1] }\\ninertia = [1, 2, 2.5]'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "drift.toml"
        ...     _ = path.write_text(text)
        ...     ph.DrawnSource.from_toml(path, members=100).input_names
        ('body.mass',)
        """
        from polhode.ensembles.sampling.sweep_file import read_sweep_file

        return read_sweep_file(path).source(members, seed, design)

    def take(self, members: Any) -> Scenario:
        """The ensemble of just these members, in this order; with a leading axis, also for one member."""
        wanted = self._check_members(members)
        count = padded = len(wanted)
        while padded in self._tuple_lengths:
            padded += 1
        # An array as long as there are members could be a row for each member, or a table: no such length is used.
        wanted = np.append(wanted, np.full(padded - count, wanted[-1]))
        draw, scenario = self._call(wanted, self._design)
        self._check_same_inputs(draw)
        return scenario if padded == count else scenario.take(np.arange(count))

    def inputs(self, members: Any) -> dict[str, Array]:
        """The drawn numbers of these members by name, each (members, ...)."""
        draw = Draw(self._check_members(members), self.members, self._design)
        return {name: getattr(draw, self._calls[name][0])(name, **self._calls[name][1]) for name in self.input_names}

    def describe(self) -> dict[str, Any]:
        """What the members are made from, as plain JSON; the digest covers all numbers of a few members."""
        told = getattr(self.build, "describe", None)
        build = told() if told is not None else {"function": getattr(self.build, "__qualname__", repr(self.build))}
        return {
            "kind": "drawn",
            "members": self.members,
            "seed": self.seed,
            "design": self.design,
            "build": build,
            "inputs": self._distributions,
            "digest": self._digest(),
        }

    def _digest(self) -> str:
        """A hash of the scenarios of the first, the last, and the middle member."""
        scenario = self.take(np.array((0, self.members // 2, self.members - 1)))
        settings = (scenario.duration, scenario.step, scenario.method, scenario.formulation, scenario.renormalize)
        found = sha256(repr((*settings, [f.name for f in scenario.forces])).encode())
        numbers: list[Any] = flatten_leaves(tuple(scenario.problem))
        numbers += [f.instant for f in scenario.forces if f.instant is not None]
        numbers += [x for contact in scenario.contacts for x in contact.arguments.values() if not isinstance(x, str)]
        for leaf in numbers:
            found.update(np.ascontiguousarray(leaf, dtype="<f8").tobytes())
        return found.hexdigest()

    def _call(self, members: Members, design: Any) -> tuple[Draw, Scenario]:
        draw = Draw(members, self.members, design)
        try:
            with announce_members(len(members)):
                scenario = self.build(draw)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                error.add_note(
                    "what build(draw) returns must make sense for every number that can be drawn: "
                    "draw.truncated_normal and draw.lognormal draw none below a limit"
                )
            else:
                error.add_note("build(draw) is called with arrays: what it draws has one number for each member")
            raise
        if not isinstance(scenario, Scenario):
            raise ScenarioError(f"build must return a Scenario, but returned {show(scenario)}")
        if draw.values and scenario.members is None:
            raise ScenarioError(
                "nothing in the scenario that build returned has a leading axis for the members: give the arrays that "
                f"draw returned ({', '.join(sorted(draw.values))}) to the body, the state or the forces"
            )
        if draw.values and scenario.members != len(members):
            raise ScenarioError(
                f"build was called for {len(members)} members, but returned a scenario of {scenario.members}: all "
                "that varies must come from draw"
            )
        return draw, scenario

    def _check_member_by_member(self, few: Scenario, more: Scenario) -> None:
        """Refuse a build function whose scenario of a member depends on other members, or on something not drawn."""
        if hasattr(self.build, "describe"):  # of a file
            return
        backward = (np.arange(PROBES[1], dtype=np.int64) % self.members)[::-1]
        _, turned = self._call(backward, RandomDesign(self.seed))
        leaves = [flatten_leaves(tuple(one.problem)) for one in (few, more, turned)]
        if len({len(one) for one in leaves}) > 1:
            return
        for a, b, c in zip(*leaves, strict=True):
            first, second, last = np.asarray(a), np.asarray(b), np.asarray(c)
            has_members = first.shape[:1] == PROBES[:1] and second.shape[:1] == last.shape[:1] == PROBES[1:]
            if not has_members:
                continue
            allowed = SAME * np.abs(second).max(initial=0.0)
            if (np.abs(second[: len(first)] - first) > allowed).any() or (np.abs(last[::-1] - second) > allowed).any():
                raise ScenarioError(
                    "the scenario of a member changes with the members that it is built with, or from call to call: "
                    "every number that varies must come from draw, not from np.random, np.linspace or the like, and "
                    "must not depend on other members. The numbers of the members are draw.members"
                )

    def _check_same_inputs(self, draw: Draw) -> None:
        found = {name: distribution.plain() for name, distribution in draw.distributions.items()}
        if found.keys() != self._distributions.keys():
            missing = ", ".join(sorted(found.keys() ^ self._distributions.keys()))
            raise ScenarioError(f"build must draw the same inputs in every call, but {missing} is not always drawn")
        for name, known in self._distributions.items():
            if found[name] != known:
                raise ScenarioError(
                    f"the distribution of the input {name!r} changes from call to call: its parameters must not depend "
                    "on what was drawn before. Draw a standard one, and compute with it: "
                    "mean + deviation * draw.normal(name, 0.0, 1.0)"
                )

    def _check_members(self, given: Any) -> Members:
        members = np.atleast_1d(np.asarray(given))
        if members.ndim != 1 or len(members) == 0 or members.dtype.kind not in "iu":
            raise ScenarioError(f"members must be a list of whole numbers, not {show(given)}")
        if members.min() < 0 or members.max() >= self.members:
            raise ScenarioError(
                f"members are numbered from 0 to {self.members - 1}: there is none of the number "
                f"{members.min() if members.min() < 0 else members.max()}"
            )
        return members.astype(np.int64)


def _check_count(value: Any, name: str, least: int) -> int:
    if not is_whole_number(value) or value < least:
        raise ScenarioError(f"{name} must be a whole number, {least} or more, not {show(value)}")
    return int(value)


def _tuple_lengths(scenario: Scenario) -> set[int]:
    """The lengths of all lists and tables among the parameters of forces, events and rotors."""
    found: set[int] = set()

    def collect(nest: Any) -> None:
        if isinstance(nest, tuple):
            found.add(len(nest))
            for part in nest:
                collect(part)

    acting: tuple[Any, ...] = (*scenario.forces, *scenario.events, *scenario.rotors)
    for one in acting:
        collect(one.params)
    return found
