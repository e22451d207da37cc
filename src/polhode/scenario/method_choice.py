"""Which method and formulation compute a scenario: the ones asked for, or what method="auto" chooses, and why."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from polhode.installation import install_hint
from polhode.methods.registry import METHODS, Method

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario

AUTO = "auto"
LEAST_RTOL = 1e-15
"""The smallest relative tolerance that method="auto" can promise."""
FINEST_RUNGE_KUTTA_RTOL = 1e-12
"""Below this rtol rounding spoils the sums of a Runge-Kutta step; Taylor series still reach it."""

CLOSED_FORM, RUNGE_KUTTA, TAYLOR = METHODS["exact"], METHODS["dop853"], METHODS["taylor"]
"""What "auto" chooses from."""


class MethodChoice(NamedTuple):
    """What computes a motion, and why."""

    method: Method
    formulation: str
    why: str


def choose_method(scenario: Scenario) -> MethodChoice:
    """The method and the formulation that compute the motion, and why.

    "auto" prefers body rates to the default formulation: they change slowly where the attitude changes fast.
    """
    if scenario.method != AUTO:
        method = METHODS[scenario.method]
        in_body_rates = method.is_closed_form or scenario.contacts
        return MethodChoice(method, "body_rates" if in_body_rates else scenario.formulation, "")
    if scenario.contacts:
        return _choose_for_contacts(scenario)
    obstacle = closed_form_obstacle(scenario) or ("events are watched" if scenario.events else None)
    if obstacle is None:
        what = "nothing but uniform gravity acts" if scenario.of_kind("body") else "no force acts"
        unused = "; it takes no steps, so step is not used" if scenario.step is not None else ""
        return MethodChoice(CLOSED_FORM, "body_rates", f"{what}: the closed form holds{unused}")
    formulation = "body_rates" if scenario.formulation == "momentum" else scenario.formulation
    if scenario.is_extended:
        return MethodChoice(RUNGE_KUTTA, scenario.formulation, f"{obstacle}: steps in the formulation 'momentum'")
    rtol = min(scenario.tolerances[0])
    first = "; step is only its first try" if scenario.step is not None else ""
    if rtol >= FINEST_RUNGE_KUTTA_RTOL:
        return MethodChoice(RUNGE_KUTTA, formulation, f"{obstacle}: the cheapest for rtol {rtol:g}{first}")
    if scenario.engine == "gpu":
        return MethodChoice(
            RUNGE_KUTTA, formulation, f"{obstacle}; Taylor series, better for rtol {rtol:g}, run on CPUs"
        )
    if not has_taylor_series():
        missing = f"Taylor series would be better, but heyoka is not installed: {install_hint('taylor')}"
        return MethodChoice(RUNGE_KUTTA, formulation, f"{obstacle}; for rtol {rtol:g} {missing}")
    return MethodChoice(TAYLOR, formulation, f"{obstacle}: the only one that reaches rtol {rtol:g}")


def _choose_for_contacts(scenario: Scenario) -> MethodChoice:
    """The closed form between contacts where it holds, else DOP853."""
    obstacle, unknown = closed_form_obstacle(scenario), "the error is not estimated, since impacts amplify errors"
    if obstacle is not None:
        return MethodChoice(RUNGE_KUTTA, "body_rates", f"{obstacle}; {unknown}: compare runs of different rtol")
    what = "only uniform gravity and contacts act" if scenario.of_kind("body") else "only contacts act"
    return MethodChoice(CLOSED_FORM, "body_rates", f"{what}: the closed form holds in flight; {unknown}")


def closed_form_obstacle(scenario: Scenario) -> str | None:
    """Why the motion has no closed form here; None if it has."""
    others = [f.name for f in scenario.forces if f.kind != "impulse" and not f.uniform]
    if scenario.is_extended:
        mass = "the mass changes" if scenario.mass_course is not None else "a fluid adds mass"
        return "there are rotors" if scenario.rotors else mass
    if others:
        return f"{', '.join(dict.fromkeys(others))} acts"
    if scenario.pivot is not None and scenario.of_kind("body"):
        return "gravity turns a body about its pivot"
    if scenario.formulation not in (CLOSED_FORM.formulations or ()):
        return f"formulation {scenario.formulation!r} was asked for"
    return None


def has_taylor_series() -> bool:
    """Whether heyoka, which computes the Taylor series, is installed."""
    return find_spec("heyoka") is not None
