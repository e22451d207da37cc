"""The methods by name."""

from __future__ import annotations

from polhode.equations.dop853 import DOP853
from polhode.equations.tables import EULER, LEAPFROG, MIDPOINT, RK4, Table

METHODS: dict[str, Table] = {table.name: table for table in (EULER, MIDPOINT, RK4, LEAPFROG, DOP853)}
