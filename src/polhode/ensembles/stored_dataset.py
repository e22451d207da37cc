"""The dataset of an ensemble in a store: what `motion.dataset` has, by the same names, computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from polhode.ensembles.store import EnsembleStore
from polhode.errors import DamagedChunkError
from polhode.results.dataset import build_dataset, build_variable
from polhode.results.motion import Motion


class VariableOfMembers(BackendArray):
    """A variable of all members, (time, member, ...): read and computed chunk by chunk, for those asked for."""

    def __init__(self, name: str, one: Any, store: EnsembleStore, motion_of: Callable[[Any], Motion]) -> None:
        self.name, self.dtype = name, one.dtype
        self.shape = (one.shape[0], store.plan.members, *one.shape[2:])
        self._chunk, self._motion_of = store.plan.chunk_members, motion_of

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        members = np.atleast_1d(np.arange(self.shape[1])[key[1]])
        found: Any = np.empty((self.shape[0], len(members), *self.shape[2:]), dtype=self.dtype)
        for chunk in np.unique(members // self._chunk):
            places = np.flatnonzero(members // self._chunk == chunk)
            found[:, places] = build_variable(self._motion_of(members[places]), self.name)[1]
        own = key[0], slice(None) if isinstance(key[1], (slice, np.ndarray)) else 0, *key[2:]
        for axis in reversed(range(len(own))):  # so that the numbers of axes that are left stay the same
            found = found[(*(slice(None),) * axis, own[axis])]
        return found


def open_dataset(store: EnsembleStore, motion_of: Callable[[Any], Motion]) -> xarray.Dataset:
    """Everything stored, and what the motions of members have, which is verified; nothing is read yet."""
    dataset: xarray.Dataset = xarray.open_zarr(store.path, chunks=None, consolidated=True)
    dataset = dataset.drop_vars([name for name in dataset.variables if str(name).startswith("scenario_array_")])
    first = _first_motion(store, motion_of) if store.manifest.run["keeps_samples"] else None
    if first is None:
        return dataset
    one = build_dataset(first)
    for name, variable in one.data_vars.items():
        if variable.dims[:2] == ("time", "member"):
            lazy = indexing.LazilyIndexedArray(VariableOfMembers(str(name), variable, store, motion_of))
            dataset[name] = xarray.Variable(variable.dims, lazy, variable.attrs)
    coordinates = {name: one.coords[name] for name in one.coords if name in dataset.dims}
    return dataset.assign_coords(coordinates).assign_attrs(one.attrs)


def _first_motion(store: EnsembleStore, motion_of: Callable[[Any], Motion]) -> Motion | None:
    """The motion of a member that can be read; None if there is none."""
    for k in store.recorded():
        try:
            return motion_of([store.plan.range_of(k)[0]])
        except DamagedChunkError:
            continue
    return None
