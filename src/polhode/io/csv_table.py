"""A motion as CSV: one row for each output and body, numbers with all their digits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.progress import progress
from polhode.results.flight import flight_columns

if TYPE_CHECKING:
    from polhode.results.motion import Motion

COLUMNS = {
    "position": ("position_x_m", "position_y_m", "position_z_m"),
    "quaternion_wxyz": ("quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z"),
    "velocity": ("velocity_x_m_s", "velocity_y_m_s", "velocity_z_m_s"),
    "angular_velocity": ("angular_velocity_x_rad_s", "angular_velocity_y_rad_s", "angular_velocity_z_rad_s"),
    "angular_velocity_body": (
        "angular_velocity_body_x_rad_s",
        "angular_velocity_body_y_rad_s",
        "angular_velocity_body_z_rad_s",
    ),
    "linear_momentum": ("momentum_x_kg_m_s", "momentum_y_kg_m_s", "momentum_z_kg_m_s"),
    "angular_momentum": (
        "angular_momentum_x_kg_m2_s",
        "angular_momentum_y_kg_m2_s",
        "angular_momentum_z_kg_m2_s",
    ),
    "kinetic_energy": ("kinetic_energy_J",),
}
"""The columns of each quantity."""
ROWS_AT_ONCE = 10_000


def write_csv(motion: Motion, path: Path) -> None:
    """Write the table atomically; a number that is read again is the same double."""
    check_suffix(path, (".csv",), "a table")
    shape = motion.position.shape[:-1]
    parts = [np.broadcast_to(motion.times.reshape(-1, *[1] * (len(shape) - 1)), shape)[..., None]]
    heads = ["time_s", *motion.axes]
    parts += [np.broadcast_to(index, shape)[..., None] for index in np.indices(shape)[1:]]
    for name, columns in COLUMNS.items():
        values = np.asarray(getattr(motion, name))
        parts.append(values if len(columns) > 1 else values[..., None])
        heads += columns
    if motion.axis is None:
        more = flight_columns(motion)
        heads += more
        parts += [np.asarray(values)[:, None] for values in more.values()]
    table = [part.reshape(-1, part.shape[-1]) for part in parts]
    count = len(table[0])
    lines = [",".join(heads)]
    with progress(f"writing {path.name}", "rows") as report:
        for first in range(0, count, ROWS_AT_ONCE):
            rows = [part[first : first + ROWS_AT_ONCE].tolist() for part in table]
            lines += [",".join(repr(number) for cells in row for number in cells) for row in zip(*rows, strict=True)]
            report(min(first + ROWS_AT_ONCE, count), count)
    write_atomic(path, ("\n".join(lines) + "\n").encode())
