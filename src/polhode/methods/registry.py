"""The methods by name."""

from __future__ import annotations

from typing import NamedTuple

from polhode.methods.dop853 import DOP853
from polhode.methods.splitting_tableaus import COMPOSITIONS, Composition
from polhode.methods.tableaus import EULER, LEAPFROG, MIDPOINT, RK4, Tableau


class Method(NamedTuple):
    """One way to compute a motion."""

    name: str
    steps: str
    """"fixed" (it needs a step), "adaptive" (it finds its own), or "none" (a closed form: any time costs the same)."""
    order: int | None
    """None: as high as the tolerance asks for."""
    source: str
    tableau: Tableau | None = None
    """Of a Runge-Kutta method."""
    composition: Composition | None = None
    """Of a splitting method."""

    @property
    def is_adaptive(self) -> bool:
        """Whether it controls its own steps, by rtol and atol."""
        return self.steps == "adaptive"


def _tableau_method(table: Tableau) -> Method:
    steps = "fixed" if table.error_rows is None else "adaptive"
    return Method(table.name, steps, table.order, table.source, table)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("exact", "none", None, "closed form of the free motion: docs/free-rotation.md"),
        *(_tableau_method(table) for table in (EULER, MIDPOINT, RK4, LEAPFROG, DOP853)),
        *(Method(c.name, "fixed", c.order, c.source, composition=c) for c in COMPOSITIONS.values()),
        Method("taylor", "adaptive", None, "Taylor series: heyoka, Biscani and Izzo 2021"),
    )
}
