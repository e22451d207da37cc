"""The store of an ensemble: chunks of members that are written while the run goes on.

A Zarr (version 3) group that `zarr.open` and `xarray.open_zarr` read.  A chunk counts once its record is written, after
its numbers are on the disk: a run that is killed at any instant leaves whole chunks, and is resumed with the others.
Nothing in a store is executed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from polhode.ensembles.chunk_files import ChunkDamage, ChunkFiles, ChunkRecord, check_chunk_arrays, read_regular_file
from polhode.ensembles.chunks import ChunkPlan, digest_numbers, little_endian
from polhode.ensembles.store_folder import (
    explain_write_errors,
    holds,
    is_taken,
    read_manifest,
    refuse_existing,
    resolve_store_path,
)
from polhode.ensembles.store_layout import RECORDS, ArraySpec, block_size, object_name, record_name
from polhode.ensembles.store_manifest import (
    MANIFEST_COPY,
    Manifest,
    build_ensemble_manifest,
    describe_differences,
    find_differences,
)
from polhode.errors import DamagedChunkError, FileError, InputError
from polhode.io.atomic_folders import atomic_folder
from polhode.io.durable_files import remove_drafts, sync_folder, write_durable
from polhode.io.store_lock import lock_store
from polhode.validation import Array

T = TypeVar("T")
KEPT = "what was there before is still there"
VERIFYING_THREADS = min(8, os.cpu_count() or 1)
"""How many chunks are read at the same time to verify them."""
TIME = "time"
"""The array of output times, of which the store keeps a copy, since nothing can be read without them."""


class EnsembleStore:
    """The chunks of an ensemble on disk, as a Zarr group.

    One run at a time can write: `create`, and `open(..., writable=True)`, lock the store until `close`, or until the
    process ends.  A store can be sent to other processes (pickled), which then write chunks for the run that holds the
    lock.  Everything that is read is compared with its checksums.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from polhode.ensembles.chunks import ChunkPlan, digest_numbers, little_endian
    >>> plan = ChunkPlan(members=6000, chunk_members=4096)
    >>> arrays = {"height": ArraySpec((6000,), ("member",))}
    >>> folder = tempfile.TemporaryDirectory()
    >>> with EnsembleStore.create(folder.name + "/fall.zarr", {"seed": 7}, plan, arrays) as store:
    ...     store.write_chunk(0, {"height": np.ones(4096)}, {"steps": 10})
    ...     store.pending()
    [1]
    >>> import zarr
    >>> float(zarr.open(folder.name + "/fall.zarr")["height"][:4096].sum())
    4096.0
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, manifest: Manifest, lock: ExitStack | None, can_write: bool) -> None:
        self.path = path
        """Where the store is."""
        self.manifest = manifest
        """What the store is: what was run, with which versions, in which chunks and arrays."""
        self._files, self._lock, self._can_write = ChunkFiles(path, manifest), lock, can_write

    # Creating, opening, closing ---------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls,
        path: str | Path,
        manifest: dict[str, Any],
        plan: ChunkPlan,
        arrays: dict[str, ArraySpec],
        *,
        common: dict[str, tuple[tuple[str, ...], Any]] | None = None,
        resume: bool = False,
    ) -> Self:
        """Make a store, or resume one, and lock it for writing.

        Parameters
        ----------
        path : str or Path
            A folder that does not exist, or is empty; with `resume` also a store that a run like this one has begun.
        manifest : dict
            Plain JSON that says what is run: the scenario, the seed, the hash of the emitted code.
        plan : ChunkPlan
            How the members are divided into chunks.
        arrays : dict of str to ArraySpec
            The arrays of numbers of the members.
        common : dict of str to (dimensions, array), optional
            Arrays that are not divided into chunks, such as the output times, "time".
        resume : bool, optional
            Complete the store if it exists.  One of another run is refused; the error says what differs.
        """
        place, held = resolve_store_path(path), ExitStack()
        given = {name: (dims, little_endian(values)) for name, (dims, values) in (common or {}).items()}
        specs = {
            name: (ArraySpec(values.shape, dims, values.dtype.name), digest_numbers(values))
            for name, (dims, values) in given.items()
        }
        asked = build_ensemble_manifest(manifest, plan, arrays, specs)
        values = {name: numbers for name, (_, numbers) in given.items()}
        held.enter_context(lock_store(place))
        try:
            if is_taken(place):
                found = cls._resume(place, asked) if resume else refuse_existing(place)
            else:
                with explain_write_errors(place, "nothing was written"):
                    _write_new(place, asked, values)
                found = asked
            store = cls(place, found, held, True)
            with explain_write_errors(place, KEPT):
                store._repair(values)
        except BaseException:
            held.close()
            raise
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Self:
        """Open a store for reading; or also for writing, which locks it."""
        place = resolve_store_path(path)
        if not writable:
            return cls(place, read_manifest(place), None, False)
        held = ExitStack()
        held.enter_context(lock_store(place))
        try:
            store = cls(place, read_manifest(place), held, True)
            with explain_write_errors(place, KEPT):
                store._repair({})
        except BaseException:
            held.close()
            raise
        return store

    def close(self) -> None:
        """Release the lock.  Nothing more can be written."""
        self._can_write = False
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _attach, (self.path, self._files.digest, self._can_write)

    def __repr__(self) -> str:
        plan = self.manifest.plan
        return f"<EnsembleStore {self.path}: {plan.members} members in {plan.count} chunks>"

    @classmethod
    def _resume(cls, place: Path, asked: Manifest) -> Manifest:
        stored = read_manifest(place)
        differences = find_differences(stored, asked)
        if differences:
            raise FileError(
                f"{place} cannot be resumed, because another run has begun it: {describe_differences(differences)}. "
                "Run it again as it was begun, or choose another store."
            )
        return stored

    def _repair(self, common: dict[str, Any]) -> None:
        """Write again what follows from the manifest and from what the caller has, where it is missing or damaged."""
        for name in (*self.manifest.arrays, *self.manifest.common, RECORDS):
            (self.path / name).mkdir(exist_ok=True)
        self.remove_drafts()
        for name, content in self.manifest.files().items():
            if not holds(self.path / name, content):
                write_durable(self.path / name, [content])
        for name, values in common.items():
            for place in self._places_of(name):
                if not holds(place, values.data.cast("B")):
                    write_durable(place, [values.data])

    def remove_drafts(self) -> None:
        """Remove what killed processes have left of files that they had not finished; none may be writing."""
        for name in ("", *self.manifest.arrays, *self.manifest.common, RECORDS):
            remove_drafts(self.path / name)

    # Chunks -----------------------------------------------------------------------------------------------------------
    @property
    def plan(self) -> ChunkPlan:
        """How the members are divided into chunks."""
        return self.manifest.plan

    def pending(self) -> list[int]:
        """The chunks that are not there, or damaged: everything that is there is read and verified."""
        return [damage.chunk for damage in self.find_damage()]

    def recorded(self) -> list[int]:
        """The chunks that have a record; whether they are whole is not verified."""
        names = {path.name for path in (self.path / RECORDS).iterdir()}
        return [k for k in range(self.plan.count) if record_name(k) in names]

    def find_damage(self, chunks: Sequence[int] | None = None) -> list[ChunkDamage]:
        """What is wrong with each chunk, of all or of some, that is not there or damaged."""

        def look(k: int) -> ChunkDamage | None:
            try:
                self._verified(k, lambda: self._files.verify(k))
            except DamagedChunkError as error:
                damage: ChunkDamage = error.damage
                return damage
            return None

        wanted = range(self.plan.count) if chunks is None else chunks
        with ThreadPoolExecutor(VERIFYING_THREADS) as pool:  # reading and digesting wait for nobody
            return [damage for damage in pool.map(look, wanted) if damage is not None]

    def write_chunk(
        self, k: int, arrays: dict[str, Any], record: dict[str, Any], attached: dict[str, Any] | None = None
    ) -> None:
        """Write a chunk, whole or not at all.  Different chunks can be written by several processes at once.

        Parameters
        ----------
        k : int
            The number of the chunk.
        arrays : dict of str to ndarray
            The numbers of its members, of every array of the store.
        record : dict
            Plain JSON to keep with it.
        attached : dict of str to ndarray, optional
            Small arrays of any shape, such as what reductions need to know of its members.
        """
        if not self._can_write:
            raise FileError(f"{self.path} is open for reading only: open it with writable=True")
        if self._lock is None and not holds(self.path / MANIFEST_COPY, self.manifest.files()[MANIFEST_COPY]):
            raise FileError(f"{self.path} is not what this process was to write: it was replaced, removed or damaged")
        checked = check_chunk_arrays(self.manifest, k, arrays)
        first, last = self.plan.range_of(k)
        with explain_write_errors(
            self.path, f"chunk {k} (members {first} to {last - 1}) is missing, those before it are kept"
        ):
            try:
                self._files.write(k, checked, record, attached or {})
            except (TypeError, ValueError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"the record of chunk {k} is not plain JSON: {error}") from None

    def read_record(self, k: int) -> ChunkRecord:
        """The record of a chunk: the digests of its numbers, and what was recorded with it."""
        return self._verified(k, lambda: self._files.read_record(k))

    def read_attached(self, k: int) -> dict[str, Any]:
        """The small arrays of a chunk."""
        return self._verified(k, lambda: self._files.read_attached(self._files.read_record(k)))

    def read_members(self, name: str, members: Any) -> Any:
        """The numbers of some members, in their order.  Only their blocks are read."""
        spec, block, plan = self.manifest.arrays[name], block_size(self.plan), self.plan
        found: Any = np.empty(spec.shape_of(len(members)), dtype=spec.dtype)
        before: Any = (slice(None),) * spec.member_axis
        order = np.argsort(members, kind="stable")
        for those in np.split(order, np.flatnonzero(np.diff(members[order] // block)) + 1) if len(order) else ():
            first = int(members[those[0]]) // block * block
            k, i = first // plan.chunk_members, first % plan.chunk_members // block
            found[(*before, those)] = self._read_block(name, k, i)[(*before, members[those] - first)]
        return found

    def _read_block(self, name: str, k: int, i: int) -> Any:
        return self._verified(k, lambda: self._files.read_blocks(self._files.read_record(k), name, [i])[0])

    def read_common(self, name: str) -> Array:
        """An array that is not divided into chunks."""
        spec = self.manifest.common[name]
        for place in self._places_of(name):
            try:
                content = read_regular_file(place)
            except (OSError, ValueError):
                continue
            if hashlib.sha256(content).hexdigest() == self.manifest.digest_of(name):
                values: Array = np.frombuffer(content, np.dtype(spec.dtype).newbyteorder("<")).reshape(spec.shape)
                return values
        raise FileError(
            f"{self.path} is damaged: its array {name} is missing or not what was stored. Resume the run, which writes "
            "it again, or restore a copy of the store."
        )

    # What belongs to the whole ensemble, written at the end -----------------------------------------------------------
    def write_extra(self, name: str, content: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Keep plain JSON and arrays of any shape under a name; what was there before is replaced."""
        if not self._can_write:
            raise FileError(f"{self.path} is open for reading only: open it with writable=True")
        with explain_write_errors(self.path, f"{name} is missing, all chunks are kept"):
            self._files.write_extra(name, content, arrays)

    def read_extra(self, name: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """What was kept under a name, verified; None if there is nothing."""
        try:
            return self._files.read_extra(name)
        except FileNotFoundError:
            return None
        except Exception as error:
            raise FileError(f"{name} of {self.path} cannot be read: {error}") from None

    def _places_of(self, name: str) -> list[Path]:
        own = self.path / name / object_name(self.manifest.common[name], 0)
        return [own, self.path / RECORDS / f"{name}.copy"] if name == TIME else [own]

    def _verified(self, k: int, read: Callable[[], T]) -> T:
        first, last = self.plan.range_of(k)
        try:
            return read()
        except FileNotFoundError as error:
            reason = f"{Path(error.filename).name} is missing; the chunk was not written, or the file was deleted"
        except (OSError, MemoryError) as error:
            reason = f"it cannot be read: {error or 'not enough memory'}"
        except Exception as error:
            reason = f"it is damaged: {error}"
        damage = ChunkDamage(k, first, last, reason)
        raise DamagedChunkError(
            f"{self.path} cannot be read in {damage}. The other chunks can be; resume the run to compute this one "
            "again.",
            damage,
        )


def _attach(path: Path, digest: str, can_write: bool) -> EnsembleStore:
    """The store in another process, which writes for the run that holds the lock."""
    manifest = read_manifest(path)
    if manifest.digest != digest:
        raise FileError(f"{path} is not the store that this process was to write: another run has replaced it")
    return EnsembleStore(path, manifest, None, can_write)


def _write_new(place: Path, manifest: Manifest, common: dict[str, Any]) -> None:
    def check(path: Path) -> None:
        if is_taken(path):
            refuse_existing(path)

    with atomic_folder(place, check) as draft:
        for name in (*manifest.arrays, *manifest.common, RECORDS):
            (draft / name).mkdir()
        EnsembleStore(draft, manifest, None, False)._repair(common)
        for folder in (*(draft / name for name in (*manifest.arrays, *manifest.common, RECORDS)), draft):
            sync_folder(folder)
    sync_folder(place.parent)
