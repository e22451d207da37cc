"""The inputs of a sweep as columns of numbers, for scatter and sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from polhode.validation import Array


@dataclass(frozen=True)
class SummarizedInput:
    """One drawn number of each member that was compared one by one."""

    name: str
    distribution: str
    """In words, such as "normal(1, 0.02)"."""
    values: Array

    @property
    def mean(self) -> float:
        """Of the sample."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """The standard deviation of the sample."""
        return float(np.std(self.values))


def split_inputs(drawn: Mapping[str, Array], distributions: Mapping[str, Mapping[str, Any]]) -> list[SummarizedInput]:
    """One column for each component that varies.

    A rotation that scatters about a mean one becomes three angles, in rad: its rotation vector from there, along the
    axes of the body.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = {"mass": np.array([1.0, 1.1]), "wind": np.array([[0.0, 2.0, 0.0], [1.0, 2.0, 3.0]])}
    >>> about = {"mass": {"distribution": "normal", "mean": 1.0, "standard_deviation": 0.1}, "wind": {}}
    >>> [(one.name, one.distribution) for one in split_inputs(drawn, about)]
    [('mass', 'normal(1, 0.1)'), ('wind.x', ''), ('wind.z', '')]
    """
    found = []
    for name, values in drawn.items():
        about = distributions.get(name, {})
        array = np.asarray(values, dtype=np.float64)
        if about.get("distribution") == "small_rotation":
            mean = Rotation.from_quat(about.get("mean", (1.0, 0.0, 0.0, 0.0)), scalar_first=True)
            array = (mean.inv() * Rotation.from_quat(array, scalar_first=True)).as_rotvec()
            labels = [f"{name} about {axis}" for axis in "xyz"]
        else:
            labels = [name + suffix if suffix is not None else "" for suffix in _suffixes(array.shape[1:])]
        columns = array.reshape(len(array), -1)
        for i, label in enumerate(labels):
            if label and np.ptp(columns[:, i]) > 0:
                found.append(SummarizedInput(label, describe_distribution(about, i, len(labels)), columns[:, i]))
    return found


def describe_distribution(about: Mapping[str, Any], component: int = 0, components: int = 1) -> str:
    """A distribution in words; of a vector, one of its components.

    Examples
    --------
    >>> describe_distribution({"distribution": "uniform", "low": [0.0, 1.0], "high": 2.0}, component=1, components=2)
    'uniform(1, 2)'
    """
    kind = about.get("distribution", "")
    words = []
    for key, value in about.items():
        if key == "distribution" or (kind == "small_rotation" and key == "mean"):
            continue
        array = np.asarray(value)
        if array.dtype.kind not in "fi" or (array.ndim and array.shape != (components,)):
            continue
        words.append(f"{array[component] if array.ndim else array:g}")
    return f"{kind}({', '.join(words)})" if words else str(kind)


def _suffixes(shape: tuple[int, ...]) -> list[str | None]:
    """What the components of an input are called; None for the lower half of a symmetric matrix."""
    if shape == ():
        return [""]
    if shape == (3,):
        return [".x", ".y", ".z"]
    if shape == (4,):
        return [".w", ".x", ".y", ".z"]
    if shape == (3, 3):
        return [f".{a}{b}" if a <= b else None for a in "xyz" for b in "xyz"]
    return ["." + ".".join(map(str, index)) for index in np.ndindex(*shape)]
