"""The signed manifest of an archive: its kind and version, who wrote it, what was run, and which arrays there are.

It stands in the attributes of the Zarr group, with its SHA-256; an ensemble keeps a copy, because it would take longest
to compute again.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from polhode.archive.files import read_regular_file, refuse_links
from polhode.archive.layout import (
    METADATA,
    RECORDS,
    ArraySpec,
    Division,
    array_metadata,
    group_metadata,
)
from polhode.archive.trees import TREE_ARRAY, decode_tree, digest_json, encode_json
from polhode.errors import FileError
from polhode.version import __version__

MOTION, ENSEMBLE, CHECKPOINT = "motion", "ensemble", "checkpoint"
VERSION = 1
"""The version of the format: it changes with every change of what a file means."""
NAMES = {MOTION: "a stored motion", ENSEMBLE: "the store of an ensemble", CHECKPOINT: "an unfinished run"}
MANIFEST, DIGEST = "polhode_archive", "polhode_archive_sha256"
"""The attributes of the Zarr group that hold the manifest and its SHA-256."""
MANIFEST_COPY = f"{RECORDS}/manifest.json"
KIND = re.compile(rb'"polhode_archive":\s*\{\s*"kind":\s*"(\w+)"')
"""How the kind is found also in a damaged manifest, of which it is the first entry."""
EARLIER = re.compile(rb'"polhode_(scenario|ensemble)"')
"""What stood in the attributes before archives had versions."""


class _OtherVersionError(Exception):
    """A manifest with the number of another version, whose digest is not right, or not ours."""


class Manifest(NamedTuple):
    """What an archive is, verified."""

    content: dict[str, Any]
    run: dict[str, Any]
    """What the caller says about the run: a tree with the names of its arrays."""
    arrays: dict[str, ArraySpec]
    """Those that are divided among chunks of members."""
    common: dict[str, ArraySpec]
    """Those that are whole."""
    division: Division | None

    @property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which every record names."""
        return digest_json(self.content)

    def describe(self) -> dict[str, Any]:
        """Everything in which another run would differ, with digests in place of whole arrays."""
        common = {name: f"numbers, SHA-256 {self.digest_of(name)[:16]}" for name in self.common}
        own = {name: text for name, text in common.items() if not name.startswith(TREE_ARRAY)}
        told = {name: self.content[name] for name in ("versions", "plan", "arrays")}
        return {**told, **decode_tree(self.content["run"], lambda name: common.get(name, name)), **own}

    def digest_of(self, common: str) -> str:
        """The SHA-256 of the file of a whole array."""
        return str(self.content["common"][common]["sha256"])

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the archive."""
        return *self.arrays, *self.common, RECORDS

    def files(self) -> dict[str, bytes]:
        """The files of the archive that follow from the manifest alone, by their path in it."""
        own = {MANIFEST: self.content, DIGEST: self.digest}
        nodes = {name: array_metadata(spec, None) for name, spec in self.common.items()}
        nodes |= {name: array_metadata(spec, self.division) for name, spec in self.arrays.items()}
        nodes[RECORDS] = group_metadata({"content": "what is added one by one, with checksums"})
        written = {"source": f"polhode {self.content['versions']['polhode']}"}
        title = {"title": str(self.run.get("name") or self.content["title"])}
        files = {METADATA: encode_json(group_metadata(own | title | written | self.content["attributes"], nodes))}
        if self.content["kind"] == ENSEMBLE:
            files[MANIFEST_COPY] = encode_json(own)
        return files | {f"{name}/{METADATA}": encode_json(node) for name, node in nodes.items()}


def restore_manifest(content: Any) -> Manifest:
    """The manifest of a content, which may come from a file; an error if it makes no sense."""
    run = decode_tree(content["run"])
    common = {name: _spec_from_json(one) for name, one in content["common"].items()}
    for name, spec in common.items():
        spec.check(name)
    if content["plan"] is None:
        return Manifest(content, run, {}, common, None)
    division = Division(**{name: int(size) for name, size in content["plan"].items()})
    if min(division) < 1:
        raise ValueError("the plan of the chunks makes no sense")
    arrays = {name: _spec_from_json(one) for name, one in content["arrays"].items()}
    for name, spec in arrays.items():
        division.check(name, spec)
    return Manifest(content, run, arrays, common, division)


def _spec_from_json(stored: Any) -> ArraySpec:
    shape = tuple(int(size) for size in stored["shape"])
    return ArraySpec(shape, tuple(map(str, stored["dimensions"])), str(stored["dtype"]), dict(stored["attributes"]))


# Reading --------------------------------------------------------------------------------------------------------------
def find_kind(place: Path) -> str | None:
    """The kind of the archive at a place, complete or not, perhaps damaged; None if there is no archive."""
    for name in (METADATA, MANIFEST_COPY):
        try:
            if found := KIND.search(read_regular_file(place / name)):
                return found[1].decode()
        except (OSError, ValueError):
            continue
    return None


def refuse_earlier(place: Path, otherwise: str) -> None:
    """Raise an error for what was stored before archives had versions."""
    with suppress(OSError, ValueError):
        if EARLIER.search(read_regular_file(place / METADATA)) is not None:
            raise FileError(
                f"{place} was stored before archives had versions, and this is Polhode {__version__}, which reads "
                f"version {VERSION}. Open it with the Polhode that wrote it, or {otherwise}."
            )


def read_manifest(place: Path, kind: str, otherwise: str = "run it again") -> Manifest:
    """The manifest of the archive of a kind, or its copy if it is damaged; an error says what was found instead.

    `otherwise` is what can be done without an archive, or a copy of it.
    """
    if not os.path.lexists(place):
        raise FileError(f"there is nothing stored at {place}")
    refuse_links(place)
    damaged: dict[str, Exception] = {}
    advice = f"Restore a copy of it, or {otherwise}."
    for name in (METADATA, MANIFEST_COPY):
        try:
            manifest = _read_text(place, read_regular_file(place / name), kind, otherwise)
        except FileError:
            raise
        except PermissionError as error:
            raise FileError(f"{place} cannot be read: {error}") from None
        except Exception as error:
            damaged[name] = error
            continue
        if damaged:
            warnings.warn(
                f"{place / METADATA} is missing or damaged, and its copy is used; resuming the run repairs it",
                stacklevel=5,
            )
        return manifest
    for reason in damaged.values():
        if isinstance(reason, _OtherVersionError):
            raise FileError(f"{reason}. If that is this one, it is damaged: {advice}")
    found = find_kind(place)
    if found is None:
        refuse_earlier(place, otherwise)
        raise FileError(f"{place} is not {NAMES[kind]}, or its {METADATA} is missing or damaged. {advice}")
    every = "both copies of its manifest are" if found == ENSEMBLE else f"the manifest in its {METADATA} is"
    raise FileError(f"{place} is damaged: {every} not what was stored. {advice}")


def _read_text(place: Path, text: bytes, kind: str, otherwise: str) -> Manifest:
    """The manifest of a zarr.json or of its copy; an error if it is not what was written."""
    stored = json.loads(text)
    stored = stored.get("attributes", stored)
    content = stored[MANIFEST]
    is_whole = digest_json(content) == stored.get(DIGEST)
    if content["version"] != VERSION:
        writer = dict(content.get("versions", {})).get("polhode", "unknown")
        found = (
            f"{place} is an archive of version {content['version']!r}, written by Polhode {writer}, and this is "
            f"Polhode {__version__}, which reads version {VERSION}. Open it with the Polhode that wrote it"
        )
        raise FileError(f"{found}, or {otherwise}.") if is_whole else _OtherVersionError(found)
    if not is_whole:
        raise ValueError("the manifest is not what was stored")
    if content["kind"] != kind:
        raise FileError(f"{place} is {NAMES.get(content['kind'], 'something else')}, not {NAMES[kind]}")
    return restore_manifest(content)


def version_of(package: str) -> str:
    """The version of an installed package; "unknown" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
