"""The result of an ensemble that is not held in memory: in a store, or only as reductions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensembles.chunks import combine_digests
from polhode.ensembles.failures import MemberFailure
from polhode.ensembles.member_source import IntArray, MemberSource
from polhode.ensembles.store import TIME, ChunkDamage, EnsembleStore
from polhode.ensembles.stored_members import restore_all_members
from polhode.ensembles.stored_reductions import read_reductions
from polhode.ensembles.stored_run import (
    SAMPLE_BLOCKS,
    SAMPLES,
    read_auto_report,
    read_errors,
    read_failures,
    read_inputs,
    read_motion,
    stored_inputs,
)
from polhode.errors import DamagedChunkError, FileError, InputError, show
from polhode.integrate.run_result import LEAST_ERROR, AutoReport
from polhode.integrate.traced_functions import trace_functions
from polhode.results.motion import Motion
from polhode.scenario.scenario import Scenario
from polhode.scenario.state import State
from polhode.synonyms import explain_unknown_attributes
from polhode.validation import Array, as_leaves

if TYPE_CHECKING:
    import xarray


@explain_unknown_attributes("an EnsembleResult")
class EnsembleResult:
    """What a run of an ensemble leaves: in a store, which is read on demand, or reductions alone.

    `ph.ensemble` and `ph.sweep` return it if `store` or `reduce` is given, and `ph.load` if the folder is the store of
    an ensemble.  Members are numbered from 0.  What is read from a store is compared with its checksums.

    Examples
    --------
    >>> import polhode as ph, tempfile
    >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 0), (6, 0, 0)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = ph.ensemble(ph.particle(1.0), start, duration=2.0, store=folder + "/drift.zarr")
    ...     result.final.position[:, 0].round(9).tolist(), result.motion([2]).final.velocity.round(9).tolist()
    ([2.0, 4.0, 12.0], [[6.0, 0.0, 0.0]])
    """

    def __init__(
        self,
        members: int,
        times: Array,
        *,
        reductions: Mapping[str, Any] | None = None,
        store: EnsembleStore | None = None,
        source: MemberSource | None = None,
        changes: Mapping[str, Any] | None = None,
        failures: Iterable[MemberFailure] = (),
        auto_report: AutoReport | None = None,
        sample_digests: Iterable[str] = (),
    ) -> None:
        self.members = members
        """How many there are."""
        self.times = times
        """The output times, in s."""
        self.reductions = dict(reductions or {})
        """What the reductions found, by their names."""
        self.store = store
        """Lower level: the store; None if nothing was stored."""
        self._source, self._changes = source, dict(changes or {})
        self._failures, self._auto_report, self._digests = list(failures), auto_report, list(sample_digests)

    @classmethod
    def from_store(
        cls,
        store: EnsembleStore,
        reductions: Mapping[str, Any] | None = None,
        source: MemberSource | None = None,
        changes: Mapping[str, Any] | None = None,
        auto_report: AutoReport | None = None,
    ) -> EnsembleResult:
        """The result that a store holds, and what reductions found.

        With the source of its members, if it is known, and the settings that were decided for all of them: then also
        functions of the user are known.
        """
        times = store.read_common(TIME)
        reductions = _read_reductions(store) if reductions is None else reductions
        known: dict[str, Any] = {"source": source, "changes": changes, "auto_report": auto_report}
        return cls(store.plan.members, times, reductions=reductions, store=store, **known)

    def __repr__(self) -> str:
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self.times) > 1 else f"at {self.times[0]:g} s"
        count = f"{len(self.times)} output times" if len(self.times) > 1 else "final states"
        held = [] if self.store is None else [f"stored in {self.store.path}"]
        held += [f"reductions: {', '.join(self.reductions)}"] if self.reductions else []
        report = self._auto_report  # one that is not read from the store
        held += [f"{report.missed_members:,} members with larger errors than asked"] if report and report.missed else []
        return f"<EnsembleResult of {self.members} members, {span}, {count}" + "".join(f", {one}" for one in held) + ">"

    # What happened ----------------------------------------------------------------------------------------------------
    @cached_property
    def failures(self) -> list[MemberFailure]:
        """The members that failed, with time and reason: their numbers are NaN from there on."""
        if self.store is None:
            return self._failures
        store = self.store
        return [one for found in self._from_chunks(lambda k: read_failures(store, k)) for one in found or ()]

    @cached_property
    def auto_report(self) -> AutoReport | None:
        """Of method "auto": what it chose and why, how large the errors are, and which member has the largest.

        Printed, it is a sentence.  None with a method that was named.
        """
        store = self.store
        if store is None or self._auto_report is not None:
            return self._auto_report
        found = self._from_chunks(lambda k: read_auto_report(store, k))
        return AutoReport.concat((report for report in found if report is not None), self.members)

    @cached_property
    def estimated_errors(self) -> Array | None:
        """The error of each member as method "auto" estimated it, relative to the size of its motion; NaN if unknown.

        None if it did not, or if nothing was stored: then `auto_report` has the largest.
        """
        if self.store is None or self.auto_report is None:
            return None
        store, asked = self.store, self.auto_report.asked
        found = self._from_chunks(lambda k: read_errors(store, k))
        if asked is None or all(one is None for one in found):
            return None
        parts = [self._blank((), k) if one is None else one for k, one in enumerate(found)]
        return np.asarray(np.maximum(np.concatenate(parts) * asked, LEAST_ERROR))

    @property
    def damaged(self) -> list[ChunkDamage]:
        """The chunks of the store that cannot be read, with their members and the reason: everything is verified."""
        return [] if self.store is None else self.store.find_damage()

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """The drawn numbers of all members, by name, each (members, ...)."""
        store = self.store
        if store is None or not stored_inputs(store):
            return {} if self._source is None else self._source.inputs(np.arange(self.members))
        chunks = self._from_chunks(lambda k: read_inputs(store, np.arange(*store.plan.range_of(k))))
        found = {}
        for key, name in stored_inputs(store).items():
            spec = store.manifest.arrays[name]
            parts = [self._blank(spec.shape[1:], k) if one is None else one[key] for k, one in enumerate(chunks)]
            found[key] = np.concatenate(parts)
        return found

    def inputs_of(self, members: Any) -> dict[str, Array]:
        """The drawn numbers of some members (a slice, an index, or an array of them), by name, each (members, ...)."""
        chosen = self._choose(members)
        if self._source is not None:
            return self._source.inputs(chosen)
        return {} if self.store is None else read_inputs(self.store, chosen)

    @property
    def about(self) -> dict[str, Any]:
        """What the members are made from, as plain JSON: their number, and of drawn ones seed, design and inputs."""
        if self._source is not None:
            return self._source.describe()
        return {"members": self.members} if self.store is None else dict(self.store.manifest.run["source"])

    # Motions ----------------------------------------------------------------------------------------------------------
    def motion(self, members: Any) -> Motion:
        """The motion of some members, read from the store; of a slice, an index, or an array of indices.

        The members of the motion are numbered anew, in the order in which they are asked for.
        """
        chosen = self._choose(members)
        store = self._require_store()
        if self._source is not None:
            return read_motion(store, chosen, self._settled(chosen))
        whole = self._stored_scenario
        if whole is None:
            return read_motion(store, chosen)
        return read_motion(store, chosen, whole.take(chosen), tuple(store.manifest.run["members"]["unknown_forces"]))

    @cached_property
    def final(self) -> Any:
        """The numbers of all members at the last output time: a `State`; for systems a list, one for each body.

        Read chunk by chunk.  Members that failed have NaN; so have those of damaged chunks, with a warning.
        """
        store = self._require_store()
        states = self._from_chunks(lambda k: self._final_of(np.arange(*store.plan.range_of(k))))
        bodies = store.manifest.run["bodies"]
        found = [self._join_states(states, None if bodies is None else i) for i in range(bodies or 1)]
        return found[0] if bodies is None else found

    def checksum(self) -> str:
        """SHA-256 over the SHA-256 of the samples of each block of 4096 members, in the order of the members.

        The same for every chunk size, engine and number of machines.  Of a store everything is read and verified.
        """
        if self.store is None:
            if not self._digests:
                raise InputError("nothing was computed that could have a checksum")
            return combine_digests(self._digests)
        digests: list[str] = []
        for k in range(self.store.plan.count):
            damage = self.store.find_damage([k])
            if damage:
                raise DamagedChunkError(f"there is no checksum of {self.store.path}: {damage[0]}", damage[0])
            record = self.store.read_record(k)
            digests += record.blocks[SAMPLES] if SAMPLES in record.blocks else record.content[SAMPLE_BLOCKS]
        return combine_digests(digests)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything stored, as an xarray dataset that reads on demand, verified; without a store the drawn inputs.

        Quantities have the names, components and units of `motion.dataset`, such as `velocity`; `samples` has the
        numbers as computed, in the formulation's own variables.  Events and impacts are in `motion(members)`.
        """
        import xarray

        if self.store is None:
            return xarray.Dataset(
                {name: (("member", *(f"{name}_{i}" for i in range(v.ndim - 1))), v) for name, v in self.inputs.items()}
            )
        from polhode.ensembles.stored_dataset import open_dataset

        return open_dataset(self.store, self.motion)

    # Helpers ----------------------------------------------------------------------------------------------------------
    def _require_store(self) -> EnsembleStore:
        if self.store is None:
            raise InputError(
                "only reductions were kept of this ensemble: give store='name.zarr' to keep the motion of its members"
            )
        return self.store

    def _choose(self, members: Any) -> IntArray:
        chosen = np.arange(self.members)[members] if isinstance(members, slice) else np.atleast_1d(np.asarray(members))
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not len(chosen):
            raise InputError(f"members must be a slice, an integer or a list of integers, not {show(members)}")
        if chosen.min() < 0 or chosen.max() >= self.members:
            raise InputError(f"members are numbered from 0 to {self.members - 1}, but {show(members)} was asked for")
        return chosen.astype(np.int64)

    def _settled(self, members: IntArray) -> Any:
        """The scenario of members from their source, with what was decided for all of them."""
        assert self._source is not None
        return trace_functions(replace(self._source.take(members), **self._changes))

    @cached_property
    def _stored_scenario(self) -> Scenario | None:
        """The scenario of all members, if it was given by arrays."""
        return restore_all_members(self._require_store())

    def _final_of(self, members: IntArray) -> Any:
        found = self.motion(members).final
        for state in found if isinstance(found, list) else [found]:
            _ = state.position  # computed now, so that the samples can be forgotten
        return found

    def _from_chunks(self, read: Callable[[int], Any]) -> list[Any]:
        """What is read from each chunk; None where it is damaged, with one warning for all."""
        assert self.store is not None
        found: list[Any] = []
        damage: list[ChunkDamage] = []
        for k in range(self.store.plan.count):
            try:
                found.append(read(k))
            except DamagedChunkError as error:
                found.append(None)
                damage.append(error.damage)
        if len(damage) == self.store.plan.count:
            raise FileError(f"no chunk of {self.store.path} can be read; the first one is {damage[0]}")
        if damage:
            more = f", and {len(damage) - 1} more" if len(damage) > 1 else ""
            warnings.warn(
                f"{self.store.path}: {damage[0]}{more}. The numbers of these members are missing (NaN); resume the run "
                "to compute them again.",
                stacklevel=4,
            )
        return found

    def _blank(self, shape: tuple[int, ...], k: int) -> Array:
        assert self.store is not None
        first, last = self.store.plan.range_of(k)
        return np.full((last - first, *shape), np.nan)

    def _join_states(self, states: list[Any], body: int | None) -> State:
        """The states of all chunks as one, NaN where a chunk is missing."""
        own = [one if one is None or body is None else one[body] for one in states]
        first = next(one for one in own if one is not None)

        def join(name: str) -> Array:
            shape = np.shape(getattr(first, name))[-1:]
            parts = [self._blank(shape, k) if one is None else getattr(one, name) for k, one in enumerate(own)]
            return np.concatenate(parts)

        joined = {name: join(name) for name in ("position", "quaternion_wxyz", "velocity", "angular_velocity_body")}
        return State.later(lambda: tuple(as_leaves(values) for values in joined.values()), first.time)


def _read_reductions(store: EnsembleStore) -> dict[str, Any]:
    """What reductions found; nothing, with a warning, if there should be something."""
    try:
        found, reason = read_reductions(store), "the run has not ended, or their file was deleted"
    except FileError as error:
        found, reason = {}, str(error)
    if not found and store.manifest.run.get("reductions"):
        warnings.warn(
            f"the reductions of {store.path} are not there: {reason}. Resume the run to have them.", stacklevel=4
        )
    return found
