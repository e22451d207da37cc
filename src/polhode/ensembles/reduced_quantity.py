"""The result of a reduction: named arrays with dimensions and units, and how far they may be off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

AnyArray = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class ReducedQuantity:
    """What a reduction found.  `reduced["mean"]` is the array of that name; printed, it is a short table.

    Examples
    --------
    >>> import polhode as ph
    >>> start = ph.State(velocity=[(1, 0, 0), (2, 0, 0), (6, 0, 0)])
    >>> motion = ph.ensemble(ph.particle(1.0), start, duration=1.0)
    >>> reduced = ph.reductions.apply(motion, [ph.reductions.mean("position.x@final")])
    >>> reduced["mean:position.x@final"]
    <ReducedQuantity mean:position.x@final of 3 members
      mean                 3 m
      standard_deviation   2.646 m
      standard_error       1.528 m
      count                3>
    """

    name: str
    """Of the reduction, such as "mean:position"."""
    kind: str
    quantity: str
    values: Mapping[str, AnyArray]
    dims: Mapping[str, tuple[str, ...]]
    """The dimensions of each array: "time", "axis", "quantile", ..."""
    units: Mapping[str, str]
    """Where they are known; "1" is dimensionless."""
    coordinates: Mapping[str, AnyArray]
    """Along the dimensions: times in s, names of components."""
    members: int
    """How many members were looked at."""
    missing: int = 0
    """How many of them, at most, have no value at some place: they failed, or an event stopped them, or never came."""
    error_bound: float | None = None
    """Of quantiles: how far a rank may be off, as a fraction of the members; 0 is exact.  None where there is none."""
    notes: tuple[str, ...] = field(default=())
    """What to know about these numbers."""

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self.values:
            raise KeyError(f"{name!r}: {self.name} has {', '.join(self.values)}")
        return self.values[name]

    def to_dataset(self) -> xarray.Dataset:
        """The arrays as an xarray dataset, with units in the attributes.

        Examples
        --------
        >>> import polhode as ph
        >>> start = ph.State(velocity=[(1, 0, 0), (3, 0, 0)])
        >>> motion = ph.ensemble(ph.particle(1.0), start, duration=2.0)
        >>> reduced = ph.reductions.apply(motion, [ph.reductions.mean("velocity")])
        >>> dataset = reduced["mean:velocity"].to_dataset()
        >>> float(dataset["mean"].sel(axis="x").isel(time=-1)), dataset["mean"].attrs["units"]
        (2.0, 'm s-1')
        """
        import xarray

        def attributes(name: str) -> dict[str, str]:
            return {"units": self.units[name]} if self.units.get(name) else {}

        coordinates: dict[str, Any] = {}
        for dim, values in self.coordinates.items():
            array = np.asarray(values)
            labels = array.astype(object) if array.dtype.kind == "U" else array
            coordinates[dim] = (dim, labels, {"units": "s"} if dim == "time" else {})
        about = {
            "reduction": self.name,
            "members": self.members,
            "missing": self.missing,
            "notes": " ".join(self.notes),
        }
        if self.error_bound is not None:
            about["error_bound"] = self.error_bound
        return xarray.Dataset(
            {name: (self.dims[name], array, attributes(name)) for name, array in self.values.items()},
            coords=coordinates,
            attrs=about,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, for JSON; None for NaN."""
        return {
            "name": self.name,
            "kind": self.kind,
            "quantity": self.quantity,
            "members": self.members,
            "missing": self.missing,
            "error_bound": self.error_bound,
            "notes": list(self.notes),
            "coordinates": {dim: as_plain(array) for dim, array in self.coordinates.items()},
            "values": {
                name: {"dims": list(self.dims[name]), "unit": self.units.get(name, ""), "data": as_plain(array)}
                for name, array in self.values.items()
            },
        }

    def __repr__(self) -> str:
        width = max((len(name) for name in self.values), default=0) + 3
        lines = [f"<ReducedQuantity {self.name} of {self.members:,} members" + _format_missing(self)]
        lines += [f"  {name:<{width}}{_describe(self, name)}" for name in self.values]
        if self.error_bound:
            lines.append(f"  ranks within {self.error_bound:.2g} of the members")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)]) + ">"


def as_plain(array: AnyArray) -> Any:
    """An array as nested lists for JSON, with None for what is not finite."""
    if array.dtype.kind != "f":
        return array.tolist()
    plain = array.astype(object)
    plain[~np.isfinite(array)] = None
    return plain.tolist()


def _format_missing(reduced: ReducedQuantity) -> str:
    return f", {reduced.missing:,} without a value somewhere" if reduced.missing else ""


def _describe(reduced: ReducedQuantity, name: str) -> str:
    """One number, a few, or the dimensions and the range of many."""
    array, unit = reduced.values[name], reduced.units.get(name, "")
    unit = f" {unit}" if unit not in ("", "1") else ""
    if array.size <= 4 and array.dtype.kind in "fiu":
        numbers = ", ".join(f"{number:.4g}" if array.dtype.kind == "f" else f"{number}" for number in array.ravel())
        return numbers + unit
    shape = " x ".join(f"{length} {dim}" for dim, length in zip(reduced.dims[name], array.shape, strict=True))
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    span = f", {finite.min():.4g} to {finite.max():.4g}{unit}" if finite.size and array.dtype.kind in "fiu" else ""
    return f"({shape}){span}"
