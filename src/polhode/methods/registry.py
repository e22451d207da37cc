"""The integration methods by name, and the capabilities of each as flags."""

from __future__ import annotations

from typing import NamedTuple

from polhode.methods.dop853 import DOP853
from polhode.methods.low_order_pairs import BS3, RK45, TSIT5
from polhode.methods.splitting_tableaus import COMPOSITIONS, Composition
from polhode.methods.tableaus import EULER, LEAPFROG, MIDPOINT, RK4, Tableau
from polhode.methods.vern7 import VERN7
from polhode.methods.vern9 import VERN9


class Method(NamedTuple):
    """One integration method."""

    name: str
    steps: str
    """"fixed" (it needs a step), "adaptive" (it finds its own), or "none" (a closed form: any time costs the same)."""
    order: int | None
    """None: as high as the tolerance requires."""
    source: str
    tableau: Tableau | None = None
    """Of a Runge-Kutta method."""
    composition: Composition | None = None
    """Of a splitting method."""
    finest_rtol: float | None = None
    """Of an adaptive method: the smallest relative tolerance that rounding lets it use."""
    formulations: tuple[str, ...] | None = None
    """The formulations that it can advance; None: all of them."""

    @property
    def is_adaptive(self) -> bool:
        """Whether it controls its own steps, by rtol and atol."""
        return self.steps == "adaptive"

    @property
    def needs_step(self) -> bool:
        """Whether it takes steps of a fixed length, which must be given."""
        return self.steps == "fixed"

    @property
    def is_closed_form(self) -> bool:
        """Whether it takes no steps: the state at any time follows from the start."""
        return self.steps == "none"

    @property
    def is_taylor_series(self) -> bool:
        """Whether it is advanced by heyoka's Taylor series instead of a tableau."""
        return self.is_adaptive and self.tableau is None

    @property
    def has_dense_output(self) -> bool:
        """Whether an interpolant inside each step gives the outputs, so that steps reach past them."""
        return self.tableau is not None and self.tableau.dense is not None

    @property
    def is_splitting(self) -> bool:
        """Whether it alternates kicks and drifts."""
        return self.composition is not None


def _tableau_method(tableau: Tableau) -> Method:
    if tableau.control is None:
        return Method(tableau.name, "fixed", tableau.order, tableau.source, tableau)
    return Method(tableau.name, "adaptive", tableau.order, tableau.source, tableau, finest_rtol=2e-15)


def _splitting_method(composition: Composition) -> Method:
    name, order, source = composition.name, composition.order, composition.source
    return Method(name, "fixed", order, source, composition=composition, formulations=("momentum",))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("exact", "none", None, "closed form of the free motion", formulations=("momentum", "body_rates")),
        *(_tableau_method(tableau) for tableau in (EULER, MIDPOINT, RK4, BS3, RK45, TSIT5, VERN7, DOP853, VERN9)),
        _tableau_method(LEAPFROG)._replace(formulations=("momentum",)),
        *(_splitting_method(composition) for composition in COMPOSITIONS.values()),
        Method("taylor", "adaptive", None, "Taylor series: heyoka [Biscani 2021]", finest_rtol=2.3e-16),
    )
}
