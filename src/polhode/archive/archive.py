"""An archive on disk: making one, whole or not at all, and reading its whole arrays, verified."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polhode.archive.files import flush_folder, open_regular_file, sync_folder
from polhode.archive.folders import atomic_folder
from polhode.archive.layout import ArraySpec, Division, decode_whole, encode_whole, object_name
from polhode.archive.manifest import VERSION, Manifest, restore_manifest
from polhode.archive.trees import TREE_ARRAY, encode_json, encode_tree
from polhode.errors import FileError, InputError
from polhode.version import __version__

Dimensions = tuple[str, ...]
Given = tuple[Dimensions, Any] | tuple[Dimensions, Any, dict[str, Any]]
"""An array that is to be stored: dimensions, values, and attributes such as units."""


def resolve_path(path: str | Path, what: str = "a store has a name, for example 'sweep.zarr'") -> Path:
    """The folder of an archive, with links followed."""
    if Path(path) == Path():
        raise FileError(f"{what}, but the path is empty")
    return Path(os.path.realpath(path))


def build_archive(
    kind: str,
    run: Mapping[str, Any],
    common: Mapping[str, Given] | None = None,
    arrays: Mapping[str, ArraySpec] | None = None,
    division: Division | None = None,
    *,
    title: str,
    attributes: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
    made_with: Mapping[str, str] | None = None,
) -> tuple[Manifest, dict[str, Any]]:
    """The manifest of a new archive, and the files of its whole arrays.

    `run` is a tree: its arrays are whole arrays of the archive, beside those of `common`.  `title` and `attributes` are
    for other readers.
    """
    given = dict(common or {})

    def put(values: Any) -> str:
        name = f"{TREE_ARRAY}{len(given):04d}"
        given[name] = tuple(f"{name}_{i}" for i in range(values.ndim)), values
        return name

    try:
        tree, whole, files = encode_tree(run, put), {}, {}
        for name, (dims, values, *more) in given.items():
            dtype, files[name] = encode_whole(values)
            spec = ArraySpec(np.shape(values), tuple(dims), dtype, more[0] if more else {})
            whole[name] = {**spec._asdict(), "sha256": hashlib.sha256(files[name]).hexdigest()}
        content = {
            "kind": kind,  # first, so that it is found also in a damaged file
            "version": VERSION,
            "versions": {"polhode": __version__, **(versions or {})},
            "made_with": made_with or {},
            "title": title,
            "attributes": attributes or {},
            "run": tree,
            "plan": None if division is None else division._asdict(),
            "arrays": {name: spec._asdict() for name, spec in (arrays or {}).items()},
            "common": whole,
        }
        return restore_manifest(json.loads(encode_json(content))), files
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"the description of the run cannot be stored: {error}") from None


def write_archive(
    path: Path, manifest: Manifest, files: Mapping[str, Any], check: Callable[[Path], None], *, forced: bool = True
) -> None:
    """Put a new archive with these files of whole arrays at a path; `check` says what may be replaced.

    `forced` is for runs that go on from there: once this returns, everything is on the disk.
    """
    with atomic_folder(path, check) as draft:
        for name in manifest.folders:
            (draft / name).mkdir()
        for name, content in manifest.files().items():
            (draft / name).write_bytes(content)
        for name, content in files.items():
            (draft / name / object_name(manifest.common[name])).write_bytes(content)
        if forced:
            flush_folder(draft)
    if forced:
        sync_folder(path.resolve().parent)


def read_array(place: Path, manifest: Manifest, name: str, file: Path | None = None) -> Any:
    """A whole array, verified, perhaps from another file: an error of the system, or ValueError, says why not."""
    spec = manifest.common[name]
    with open_regular_file(file or place / name / object_name(spec)) as opened:
        # Before memory is taken for it, which a damaged shape could make any amount.
        if os.fstat(opened.fileno()).st_size != spec.size:
            raise ValueError(f"the file of {name} has a wrong size")
        content = np.fromfile(opened, np.uint8)  # whose numbers may be changed, unlike those of bytes
    if hashlib.sha256(content.data).hexdigest() != manifest.digest_of(name):
        raise ValueError(f"{name} is not what was stored")
    return decode_whole(spec, content)
