"""The store of an ensemble: an archive into which chunks of members are written while the run goes on.

A chunk counts once its record is written, after its numbers are on the disk: a run that is killed at any instant leaves
whole chunks, and is resumed with the others.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from polhode.archive.archive import Given, build_archive, read_array, resolve_path, write_archive
from polhode.archive.files import (
    explain_write_errors,
    holds,
    open_regular_file,
    remove_drafts,
    sync_folder,
    write_durable,
)
from polhode.archive.layout import RECORDS, ArraySpec, Division, Shard, object_name
from polhode.archive.lock import lock_store
from polhode.archive.manifest import ENSEMBLE, MANIFEST_COPY, Manifest, find_kind, read_manifest, version_of
from polhode.archive.records import read_record, write_record
from polhode.archive.trees import encode_json
from polhode.ensembles.chunks import BLOCK_MEMBERS, ChunkPlan
from polhode.errors import DamagedChunkError, FileError, InputError
from polhode.solve.scenario_description import describe_differences
from polhode.validation import Array

T = TypeVar("T")
VERIFYING_THREADS = min(8, os.cpu_count() or 1)
"""How many chunks are read at the same time to verify them."""
TIME = "time"
"""The array of output times, of which the store keeps a copy, since nothing can be read without them."""
COMPARED = ("numpy", "scipy")
"""Packages whose version may change what is drawn or computed; with another one a run is not resumed."""
NAMED = ("llvmlite", "zarr")
"""Packages whose version is on record, and changes no bit."""


class ChunkDamage(NamedTuple):
    """A chunk of a store that cannot be read."""

    chunk: int
    first: int
    """Its first member."""
    last: int
    """One more than its last member."""
    reason: str

    def __str__(self) -> str:
        return f"chunk {self.chunk} (members {self.first} to {self.last - 1}): {self.reason}"


class ChunkRecord(NamedTuple):
    """What a store knows about a chunk."""

    chunk: int
    blocks: dict[str, list[str]]
    """Of each array: the SHA-256 of each block of members."""
    content: dict[str, Any]
    """What the caller has recorded."""
    attached: dict[str, Any]
    """Small arrays of the chunk."""


class EnsembleStore:
    """The chunks of an ensemble on disk, as a Zarr group.

    One run at a time can write: `create` locks the store until `close`, or until the process ends.  A store can be sent
    to other processes (pickled), which then write chunks for the run that holds the lock.  Everything that is read is
    compared with its checksums.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from polhode.archive.layout import ArraySpec
    >>> from polhode.ensembles.chunks import ChunkPlan
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
        assert manifest.division is not None
        self.division = manifest.division
        self.plan = ChunkPlan(self.division.members, self.division.chunk_members)
        """How the members are divided into chunks."""
        self._digest, self._lock, self._can_write = manifest.digest, lock, can_write

    # Creating, opening, closing ---------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls,
        path: str | Path,
        run: dict[str, Any],
        plan: ChunkPlan,
        arrays: dict[str, ArraySpec],
        *,
        common: Mapping[str, Given] | None = None,
        resume: bool = False,
    ) -> Self:
        """Make a store, or resume one that a run like this one has begun, and lock it for writing.

        `run` is a tree of plain values and arrays that says what is run, `common` are arrays that are not divided into
        chunks, such as the output times, "time".  The store of another run is refused; the error says what differs.
        """
        place = resolve_path(path)
        division = Division(plan.members, plan.chunk_members, BLOCK_MEMBERS)
        versions, made_with = ({name: version_of(name) for name in names} for names in (COMPARED, NAMED))
        about = {"versions": versions, "made_with": {"python": platform.python_version(), **made_with}}
        asked, files = build_archive(ENSEMBLE, run, common, arrays, division, title="ensemble of rigid bodies", **about)
        with ExitStack() as held:
            held.enter_context(lock_store(place))
            stored = asked
            if not _is_taken(place):
                with explain_write_errors(place, "nothing was written"):
                    write_archive(place, asked, files, _refuse_existing)
            elif not resume:
                _refuse_existing(place)
            else:
                stored = _read_manifest(place)
                if found := describe_differences(stored.describe(), asked.describe()):
                    raise FileError(
                        f"{place} cannot be resumed, because another run has begun it: {found}. Run it again as it was "
                        "begun, or choose another store."
                    )
            store = cls(place, stored, None, True)
            with explain_write_errors(place, "what was there before is still there"):
                store._repair(files)
            store._lock = held.pop_all()
            return store

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a store for reading."""
        place = resolve_path(path)
        return cls(place, _read_manifest(place), None, False)

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
        return _attach, (self.path, self._digest, self._can_write)

    def __repr__(self) -> str:
        return f"<EnsembleStore {self.path}: {self.plan.members} members in {self.plan.count} chunks>"

    def _repair(self, files: dict[str, Any]) -> None:
        """Write again what follows from the manifest and from what the caller has, where it is missing or damaged."""
        for name in self.manifest.folders:
            (self.path / name).mkdir(exist_ok=True)
        self.remove_drafts()
        wanted: dict[Path, Any] = {self.path / name: content for name, content in self.manifest.files().items()}
        for name, content in files.items():
            wanted |= dict.fromkeys(self._places_of(name), content)
        for place, content in wanted.items():
            if not holds(place, content):
                write_durable(place, [content])

    def remove_drafts(self) -> None:
        """Remove what killed processes have left of files that they had not finished; none may be writing."""
        for name in ("", *self.manifest.folders):
            remove_drafts(self.path / name)

    # Chunks -----------------------------------------------------------------------------------------------------------
    def pending(self) -> list[int]:
        """The chunks that are not there, or damaged: everything that is there is read and verified."""
        return [damage.chunk for damage in self.find_damage()]

    def find_damage(self, chunks: Sequence[int] | None = None) -> list[ChunkDamage]:
        """What is wrong with each chunk, of all or of some, that is not there or damaged."""

        def look(k: int) -> ChunkDamage | None:
            try:
                self._verified(k, lambda: self._verify(k))
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
        """Write a chunk, whole or not at all: the numbers of its members, plain JSON, and small arrays of any shape.

        Different chunks can be written by several processes at once.
        """
        self._require_writable()
        if self._lock is None and not holds(self.path / MANIFEST_COPY, self.manifest.files()[MANIFEST_COPY]):
            raise FileError(f"{self.path} is not what this process was to write: it was replaced, removed or damaged")
        checked = self._check_arrays(k, arrays)
        try:
            encode_json(record)
        except (TypeError, ValueError) as error:
            raise InputError(f"the record of chunk {k} is not plain JSON: {error}") from None
        first, last = self.plan.range_of(k)
        with explain_write_errors(
            self.path, f"chunk {k} (members {first} to {last - 1}) is missing, those before it are kept"
        ):
            blocks = {name: self._write_shard(k, name, values) for name, values in checked.items()}
            content = ChunkRecord(k, blocks, record, attached or {})
            write_record(self.path, self._digest, _record_name(k), content._asdict())

    def _write_shard(self, k: int, name: str, values: Any) -> list[str]:
        shard, digests = self._shard(k, name), []

        def parts() -> Iterable[Any]:
            yield shard.header
            for block, digest in shard.encode(values):
                digests.append(digest)
                yield block

        write_durable(self.path / name / object_name(shard.spec, k), parts())
        sync_folder(self.path / name)
        return digests

    def read_record(self, k: int) -> ChunkRecord:
        """The record of a chunk without its small arrays: digests of its numbers, and what was recorded with it."""
        return self._verified(k, lambda: self._read_record(k, with_arrays=False))

    def read_attached(self, k: int) -> dict[str, Any]:
        """The small arrays of a chunk."""
        return self._verified(k, lambda: self._read_record(k)).attached

    def read_members(self, name: str, members: Any) -> Any:
        """The numbers of some members, in their order.  Only their blocks are read."""
        spec, block, chunk = self.manifest.arrays[name], self.division.block, self.plan.chunk_members
        found: Any = np.empty(spec.shape_of(len(members)), dtype=spec.dtype)
        before: Any = (slice(None),) * spec.member_axis
        order = np.argsort(members, kind="stable")
        record = ChunkRecord(-1, {}, {}, {})
        for those in np.split(order, np.flatnonzero(np.diff(members[order] // block)) + 1) if len(order) else ():
            first = int(members[those[0]]) // block * block
            k, i = first // chunk, first % chunk // block
            if k != record.chunk:
                record = self.read_record(k)
            values = self._verified(k, lambda i=i, record=record: self._read_block(record, name, i))  # type: ignore[misc]
            found[(*before, those)] = values[(*before, members[those] - first)]
        return found

    def read_common(self, name: str) -> Array:
        """An array that is not divided into chunks."""
        for place in self._places_of(name):
            try:
                values: Array = read_array(self.path, self.manifest, name, place)
            except (OSError, ValueError):
                continue
            return values
        raise FileError(
            f"{self.path} is damaged: its array {name} is missing or not what was stored. Resume the run, which writes "
            "it again, or restore a copy of the store."
        )

    # What belongs to the whole ensemble, written at the end -----------------------------------------------------------
    def write_extra(self, name: str, content: dict[str, Any]) -> None:
        """Keep a tree of plain values and arrays under a name; what was there before is replaced."""
        self._require_writable()
        with explain_write_errors(self.path, f"{name} is missing, all chunks are kept"):
            write_record(self.path, self._digest, name, content)

    def read_extra(self, name: str) -> dict[str, Any] | None:
        """What was kept under a name, verified; None if there is nothing."""
        try:
            return read_record(self.path, self._digest, name)[0]
        except FileNotFoundError:
            return None
        except Exception as error:
            raise FileError(f"{name} of {self.path} cannot be read: {error}") from None

    # Helpers ----------------------------------------------------------------------------------------------------------
    def _require_writable(self) -> None:
        if not self._can_write:
            raise FileError(f"{self.path} is open for reading only")

    def _check_arrays(self, k: int, arrays: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a chunk with their types; an error if one is missing or has another shape."""
        specs = self.manifest.arrays
        if set(arrays) != set(specs):
            raise InputError(f"chunk {k} has the arrays {sorted(arrays)}, but the store has {sorted(specs)}")
        first, last = self.plan.range_of(k)
        checked = {name: np.asarray(arrays[name]) for name in specs}
        for name, values in checked.items():
            expected, dtype = specs[name].shape_of(last - first), specs[name].dtype
            if values.shape != expected or values.dtype.name != dtype:
                raise InputError(
                    f"{name} of chunk {k} is {values.dtype.name} of shape {values.shape}, but the store has "
                    f"{dtype} of shape {expected}"
                )
        return checked

    def _shard(self, k: int, name: str) -> Shard:
        first, last = self.plan.range_of(k)
        return Shard(self.manifest.arrays[name], self.division, last - first)

    def _read_record(self, k: int, *, with_arrays: bool = True) -> ChunkRecord:
        content, _ = read_record(self.path, self._digest, _record_name(k), with_arrays=with_arrays)
        return ChunkRecord(**content)

    def _read_block(self, record: ChunkRecord, name: str, i: int) -> Any:
        shard = self._shard(record.chunk, name)
        with open_regular_file(self.path / name / object_name(shard.spec, record.chunk)) as file:
            # Before memory is taken for it.
            if os.fstat(file.fileno()).st_size != shard.size:
                raise ValueError(f"the file of {name} has a wrong size")
            if file.read(len(shard.header)) != shard.header:
                raise ValueError(f"the index of {name} is not what was stored")
            file.seek(i * shard.block_size, os.SEEK_CUR)
            content = file.read(shard.block_size)
        try:
            return shard.decode(i, content, record.blocks[name][i])
        except ValueError:
            raise ValueError(f"{name} is not what was stored") from None

    def _verify(self, k: int) -> None:
        """Read everything of a chunk; an error if something is not what was written."""
        record = self._read_record(k)
        for name, digests in record.blocks.items():
            for i in range(len(digests)):
                self._read_block(record, name, i)

    def _places_of(self, name: str) -> list[Path]:
        own = self.path / name / object_name(self.manifest.common[name])
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


def is_ensemble_store(path: Path) -> bool:
    """Whether the path holds the store of an ensemble, complete or not, perhaps damaged."""
    return find_kind(path) == ENSEMBLE


def _record_name(k: int) -> str:
    return f"chunk-{k:08d}"


def _attach(path: Path, digest: str, can_write: bool) -> EnsembleStore:
    """The store in another process, which writes for the run that holds the lock."""
    manifest = _read_manifest(path)
    if manifest.digest != digest:
        raise FileError(f"{path} is not the store that this process was to write: another run has replaced it")
    return EnsembleStore(path, manifest, None, can_write)


def _read_manifest(place: Path) -> Manifest:
    manifest = read_manifest(place, ENSEMBLE)
    if manifest.division is None or manifest.division.block_members != BLOCK_MEMBERS:
        raise FileError(f"{place} is not divided into blocks of {BLOCK_MEMBERS} members: run it again")
    return manifest


def _is_taken(place: Path) -> bool:
    """Whether something is there that a new store would replace: anything but an empty folder."""
    return os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir()))


def _refuse_existing(place: Path) -> None:
    """Raise an error about what is there, if it must not be replaced."""
    if is_ensemble_store(place):
        raise FileError(
            f"{place} exists: resume=True completes it (--resume on the command line), or choose another name"
        )
    if _is_taken(place):
        raise FileError(f"{place} exists and is not the store of an ensemble: choose another name")
