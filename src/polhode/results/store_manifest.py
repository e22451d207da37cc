"""The manifest of a store: the attributes and arrays that it is read from, each with its digest."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polhode.errors import FileError

MANIFEST = "polhode_manifest"
"""The attribute that holds the manifest."""


def build_manifest(attributes: Mapping[Any, Any], arrays: Mapping[str, Any]) -> str:
    """The digests of all attributes, and the shape and digest of all arrays of numbers."""
    return json.dumps(
        {
            "attributes": {str(name): _digest_attribute(value) for name, value in attributes.items()},
            "arrays": {name: {"shape": one.shape, "sha256": _digest_array(one)} for name, one in arrays.items()},
        }
    )


def read_verified(group: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The attributes and arrays of the manifest, and nothing else; an error if one of them is not what was stored."""
    manifest = json.loads(group.attrs[MANIFEST])
    attributes = {name: group.attrs[name] for name in manifest["attributes"]}
    for name, digest in manifest["attributes"].items():
        _require(_digest_attribute(attributes[name]) == digest, name)
    arrays = {}
    for name, stored in manifest["arrays"].items():
        array = group[name]
        # Before memory is taken for it, which a damaged shape could make any amount.
        _require(list(array.shape) == stored["shape"], name)
        _require(all(chunk <= max(size, 1) for chunk, size in zip(array.chunks, array.shape, strict=True)), name)
        arrays[name] = array[...]
        _require(_digest_array(arrays[name]) == stored["sha256"], name)
    return attributes, arrays


def refuse_links(place: Path) -> None:
    """Raise an error if the folder has links, which may lead out of it, or devices or pipes, which may never end."""
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:  # a draft that a run has just renamed
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise FileError(
                    f"{place} is not read: {path} is a link, a device or a pipe, which Polhode does not write. "
                    "Replace it by the file itself."
                )


def _require(is_same: bool, name: str) -> None:
    if not is_same:
        raise ValueError(f"{name} is not what was stored")


def _digest_attribute(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=lambda other: np.asarray(other).tolist())
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_array(numbers: Any) -> str:
    """SHA-256 of the type and the bytes."""
    digest = hashlib.sha256(numbers.dtype.str.encode())
    digest.update(np.ascontiguousarray(numbers).data)
    return digest.hexdigest()
