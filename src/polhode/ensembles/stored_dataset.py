"""The dataset of a stored ensemble: the names and units of `motion.dataset`, computed from the store when read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import Dataset, Variable, open_zarr
from xarray.backends import BackendArray
from xarray.core import indexing

from polhode.ensembles.chunks import ChunkPlan
from polhode.ensembles.store import EnsembleStore
from polhode.results.motion import Motion

if TYPE_CHECKING:
    from numpy.typing import NDArray

ReadMotion = Callable[[Any], Motion]
"""The motion of some members, by their numbers."""


def open_dataset(store: EnsembleStore, read_motion: ReadMotion) -> Dataset:
    """Everything stored: numbers as computed, drawn inputs, and all quantities of the motions, read on demand.

    What quantities are computed from is verified; the numbers as computed are not.
    """
    stored: Dataset = open_zarr(store.path, chunks=None, consolidated=True)
    stored = stored.drop_vars([name for name in stored.variables if str(name).startswith("scenario_array_")])
    if not store.manifest.run["keeps_samples"]:
        return stored
    one = read_motion([0])
    example = one.dataset
    names = [str(name) for name, variable in example.data_vars.items() if _is_known(one, str(name), variable.dims)]
    found = {name: _variable(example[name], name, store.plan, read_motion) for name in names}
    used = {dim for variable in found.values() for dim in variable.dims}
    coordinates = {name: values for name, values in example.coords.items() if {*values.dims} <= used}
    whole: Dataset = stored.assign(found).assign_coords(coordinates).assign_attrs(example.attrs)
    return whole


def _is_known(motion: Motion, name: str, dims: tuple[Any, ...]) -> bool:
    """Whether every member has the quantity at every output time, as an attribute of its motion."""
    return dims[:2] == ("time", "member") and hasattr(motion, name)


def _variable(example: Any, name: str, plan: ChunkPlan, read_motion: ReadMotion) -> Variable:
    times, _, *more = example.shape
    array = _QuantityOfMembers(name, (times, plan.members, *more), plan, read_motion)
    return Variable(example.dims, indexing.LazilyIndexedArray(array), example.attrs)


class _QuantityOfMembers(BackendArray):
    """A quantity of all members, of which only the chunks that are asked for are read, one after the other."""

    def __init__(self, name: str, shape: tuple[int, ...], plan: ChunkPlan, read_motion: ReadMotion) -> None:
        self.name, self.shape, self.dtype = name, shape, np.dtype(np.float64)
        self.plan, self.read_motion = plan, read_motion

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> NDArray[np.float64]:
        time, member, *more = key
        chosen = np.atleast_1d(np.arange(self.plan.members)[member])
        parts = []
        for k in np.unique(chosen // self.plan.chunk_members) if len(chosen) else ():
            own = np.flatnonzero(chosen // self.plan.chunk_members == k)
            values = np.asarray(getattr(self.read_motion(chosen[own]), self.name), dtype=np.float64)
            parts.append((own, values))
        shape = (self.shape[0], len(chosen), *self.shape[2:])
        found = np.empty(shape)
        for own, values in parts:
            found[:, own] = values
        at = (time, 0 if np.ndim(member) == 0 and not isinstance(member, slice) else slice(None), *more)
        for axis in reversed(range(len(at))):  # one axis after the other: arrays of indices are orthogonal
            found = found[(*(slice(None),) * axis, at[axis])]
        return np.asarray(found)
