"""The dataset of an ensemble in a store: what `motion.dataset` has, by the same names, computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from polhode.archive.trees import TREE_ARRAY
from polhode.ensembles.store import EnsembleStore
from polhode.errors import DamagedChunkError, FileError
from polhode.results.dataset import build_dataset, build_variable
from polhode.results.motion import Motion


class VariableOfMembers(BackendArray):
    """A variable of all members: read, verified, and computed chunk by chunk, for those asked for."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, axis: int, chunk: int, read: Callable[[Any], Any]) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._axis, self._chunk, self._read_members = axis, chunk, read

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        at = self._axis
        members = np.atleast_1d(np.arange(self.shape[at])[key[at]])
        found: Any = np.empty((*self.shape[:at], len(members), *self.shape[at + 1 :]), dtype=self.dtype)
        for chunk in np.unique(members // self._chunk):
            places = np.flatnonzero(members // self._chunk == chunk)
            found[(*(slice(None),) * at, places)] = self._read_members(members[places])
        own = *key[:at], slice(None) if isinstance(key[at], (slice, np.ndarray)) else 0, *key[at + 1 :]
        for axis in reversed(range(len(own))):  # so that the numbers of axes that are left stay the same
            found = found[(*(slice(None),) * axis, own[axis])]
        return found


def open_dataset(store: EnsembleStore, motion_of: Callable[[Any], Motion]) -> xarray.Dataset:
    """Everything stored, and what the motions of members have; all is verified, and nothing is read yet."""
    plan = store.plan

    def later(dims: Any, shape: Any, dtype: Any, attributes: Any, read: Callable[[Any], Any]) -> xarray.Variable:
        lazy = VariableOfMembers(shape, dtype, dims.index("member"), plan.chunk_members, read)
        return xarray.Variable(dims, indexing.LazilyIndexedArray(lazy), attributes)

    dataset = xarray.Dataset(
        {
            name: later(spec.dimensions, spec.shape, spec.dtype, spec.attributes, partial(store.read_members, name))
            for name, spec in store.manifest.arrays.items()
        },
        {
            name: (spec.dimensions, store.read_common(name), spec.attributes)
            for name, spec in store.manifest.common.items()
            if not name.startswith(TREE_ARRAY)
        },
    )
    if not store.manifest.run["keeps_samples"]:
        return dataset
    one = build_dataset(_first_motion(store, motion_of))
    for name, variable in one.data_vars.items():
        if variable.dims[:2] == ("time", "member"):
            shape = variable.shape[0], plan.members, *variable.shape[2:]
            dataset[name] = later(
                variable.dims, shape, variable.dtype, variable.attrs, partial(_compute, motion_of, str(name))
            )
    coordinates = {name: one.coords[name] for name in one.coords if name in dataset.dims}
    return dataset.assign_coords(coordinates).assign_attrs(one.attrs)


def _compute(motion_of: Callable[[Any], Motion], name: str, members: Any) -> Any:
    return build_variable(motion_of(members), name)[1]


def _first_motion(store: EnsembleStore, motion_of: Callable[[Any], Motion]) -> Motion:
    """The motion of a member that can be read."""
    first: DamagedChunkError | None = None
    for k in range(store.plan.count):
        try:
            return motion_of([store.plan.range_of(k)[0]])
        except DamagedChunkError as error:
            first = first or error
    assert first is not None
    raise FileError(f"no chunk of {store.path} can be read; the first one is {first.damage}")
