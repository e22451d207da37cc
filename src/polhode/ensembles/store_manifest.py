"""The manifest of an ensemble's store: what was run, with which versions, in which chunks and arrays."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from polhode.ensembles.chunks import BLOCK_MEMBERS, ChunkPlan
from polhode.ensembles.store_layout import (
    METADATA,
    RECORDS,
    ArraySpec,
    array_metadata,
    check_array,
    common_metadata,
    group_metadata,
)
from polhode.errors import FileError, InputError
from polhode.solve.scenario_description import iterate_differences
from polhode.version import __version__

MANIFEST, DIGEST = "polhode_ensemble", "polhode_ensemble_sha256"
"""The attributes of the Zarr group that hold the manifest and its SHA-256."""
MANIFEST_COPY = f"{RECORDS}/manifest.json"
FORMAT = 1
"""The version of the layout."""
COMPARED = ("numpy", "scipy")
"""Packages whose version may change what is drawn or computed; with another one a run is not resumed."""
NAMED = ("llvmlite", "zarr")
"""Packages whose version is on record, and changes no bit."""
SHOWN_DIFFERENCES = 4
"""How many differences an error names; it counts the others."""


class Manifest(NamedTuple):
    """What a store is, verified."""

    content: dict[str, Any]
    plan: ChunkPlan
    arrays: dict[str, ArraySpec]
    common: dict[str, ArraySpec]
    """Arrays that are not divided into chunks."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which every record of a chunk names."""
        return digest_json(self.content)

    @property
    def run(self) -> dict[str, Any]:
        """What the caller says about the run: the scenario, the seed, the hash of the emitted code."""
        found: dict[str, Any] = self.content["run"]
        return found

    def digest_of(self, common: str) -> str:
        """The SHA-256 of an array that is not divided into chunks."""
        return str(self.content["common"][common]["sha256"])

    def files(self) -> dict[str, bytes]:
        """The files of the store that follow from the manifest alone, by their path in the store."""
        own = {MANIFEST: self.content, DIGEST: self.digest}
        nodes = {name: common_metadata(spec) for name, spec in self.common.items()}
        nodes |= {name: array_metadata(spec, self.plan) for name, spec in self.arrays.items()}
        nodes[RECORDS] = group_metadata({"content": "records of the chunks, with their checksums"})
        title = {"title": str(self.run.get("name") or "ensemble of rigid bodies"), "source": f"polhode {__version__}"}
        title["source"] = f"polhode {self.content['versions']['polhode']}"
        files = {METADATA: encode_json(group_metadata(title | own, nodes)), MANIFEST_COPY: encode_json(own)}
        return files | {f"{name}/{METADATA}": encode_json(node) for name, node in nodes.items()}


def build_ensemble_manifest(
    run: dict[str, Any], plan: ChunkPlan, arrays: dict[str, ArraySpec], common: dict[str, tuple[ArraySpec, str]]
) -> Manifest:
    """The manifest of a new store; `common` has the digests of its arrays."""
    for name, spec in arrays.items():
        check_array(name, spec, plan)
    content = {
        "format": FORMAT,
        "versions": {"polhode": __version__} | {name: version_of(name) for name in COMPARED},
        "made_with": {"python": platform.python_version()} | {name: version_of(name) for name in NAMED},
        "run": run,
        "plan": {"members": plan.members, "chunk_members": plan.chunk_members, "block_members": BLOCK_MEMBERS},
        "arrays": {name: _spec_to_json(spec) for name, spec in arrays.items()},
        "common": {name: {**_spec_to_json(spec), "sha256": digest} for name, (spec, digest) in common.items()},
    }
    try:
        return restore_manifest(json.loads(encode_json(content)))
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the description of the run is not plain JSON: {error}") from None


def restore_manifest(content: Any) -> Manifest:
    """The manifest of a store from its content, which comes from a file."""
    if content["format"] != FORMAT:
        raise FileError(
            f"the store has the format {content['format']!r}, and this version of Polhode reads {FORMAT}: use version "
            f"{content['versions']['polhode']}"
        )
    plan = ChunkPlan(int(content["plan"]["members"]), int(content["plan"]["chunk_members"]))
    if plan.members < 1 or plan.chunk_members < 1 or content["plan"]["block_members"] != BLOCK_MEMBERS:
        raise ValueError("the plan of the chunks makes no sense")
    arrays = {name: _spec_from_json(one) for name, one in content["arrays"].items()}
    for name, spec in arrays.items():
        check_array(name, spec, plan)
    common = {name: _spec_from_json(one) for name, one in content["common"].items()}
    for name, spec in common.items():
        # Without members there is nothing else to check.
        check_array(name, ArraySpec((*spec.shape, plan.members), (*spec.dimensions, "member"), spec.dtype), plan)
    return Manifest(content, plan, arrays, common)


def read_manifest_text(text: bytes) -> Manifest:
    """The manifest of a zarr.json or of its copy; an error if it is not what was written."""
    content = json.loads(text)
    own = content.get("attributes", content)
    if digest_json(own[MANIFEST]) != own[DIGEST]:
        raise ValueError("the manifest is not what was stored")
    return restore_manifest(own[MANIFEST])


def find_differences(stored: Manifest, asked: Manifest) -> list[str]:
    """In words, everything in which a run differs from the one that began a store."""
    found: list[str] = []
    for part in ("format", "versions", "plan", "run", "arrays"):
        for where, one, other in iterate_differences(stored.content.get(part), asked.content.get(part), part):
            name = where.removeprefix("run.")
            found.append(f"{name} is {_shorten(one)} in the store and {_shorten(other)} now")
    for name, one in stored.content["common"].items():
        other = asked.content["common"].get(name)
        if one != other:
            found.append(f"the numbers of {_find_use(name, stored.run) or name} are others")
    return found


def _find_use(array: str, tree: Any, where: str = "") -> str:
    """Where in a description the array of a name is used; "" if nowhere."""
    if isinstance(tree, dict) and tree.get("array") == array:
        return where
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    uses = (_find_use(array, part, f"{where}.{key}" if where else str(key)) for key, part in parts)
    return next((use for use in uses if use), "")


def describe_differences(found: list[str]) -> str:
    """The first differences, and how many others there are."""
    more = len(found) - SHOWN_DIFFERENCES
    return "; ".join(found[:SHOWN_DIFFERENCES]) + (f"; and {more} more" if more > 0 else "")


def _shorten(value: Any) -> str:
    if value is None:
        return "not given"
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _spec_to_json(spec: ArraySpec) -> dict[str, Any]:
    return {
        "shape": list(spec.shape),
        "dimensions": list(spec.dimensions),
        "dtype": np.dtype(spec.dtype).name,
        "attributes": spec.attributes,
    }


def _spec_from_json(stored: Any) -> ArraySpec:
    shape = tuple(int(size) for size in stored["shape"])
    return ArraySpec(shape, tuple(map(str, stored["dimensions"])), str(stored["dtype"]), dict(stored["attributes"]))


def digest_json(content: Any) -> str:
    """The SHA-256 of plain JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def encode_json(content: Any) -> bytes:
    """Plain JSON as a file: NaN and infinity, which JSON does not have, are refused."""
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def version_of(package: str) -> str:
    """The version of an installed package; "unknown" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
