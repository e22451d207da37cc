"""A mass course as a part of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polhode.equations.formulations import StateView
from polhode.equations.inertia import BodyConstants, constants_for_forces
from polhode.errors import ScenarioError, show
from polhode.scenario.mass_course import MassCourse, check_course, read_mass_course
from polhode.scenario.own_functions import Finder
from polhode.scenario.part import Call, Extension, Plain, ScenarioPart, Start
from polhode.scenario.setting import Setting

if TYPE_CHECKING:
    from polhode.scenario.scenario import Scenario


class MassCoursePart(ScenarioPart):
    """Mass, center and inertia that change."""

    setting = Setting(
        "mass_course",
        "MassCourse | None",
        "MassCourse | None",
        "None",
        "MassCourse, optional",
        "Made by `ph.mass_course`: mass, center and inertia that change, as where propellant burns.  For the same "
        "methods, and one body.",
        in_file=False,
    )
    words = "a mass that changes"
    extends = moves_clock = True

    def check(self, given: Any, bodies: Any) -> Any:
        if given is not None and not isinstance(given, MassCourse):
            raise ScenarioError(f"mass_course must be made with ph.mass_course(times, mass, ...), not {show(given)}")
        return given

    def validate(self, scenario: Scenario) -> None:
        if scenario.is_system:
            raise ScenarioError("a mass course is that of one body: give the body by itself, not in a list")
        if scenario.form.is_held:
            raise ScenarioError(
                "a body whose mass changes cannot have a pivot yet: leave out the pivot, or the mass course"
            )
        body = scenario.bodies[0]
        if body.is_particle:
            raise ScenarioError("a particle has no inertia that could change: give a body with moments, ph.Body(...)")
        _ = scenario.members  # refuses different numbers of them
        check_course(self._of(scenario), body, scenario.start_time, scenario.rotors)

    def obstacle(self, scenario: Scenario) -> str | None:
        return "the mass changes"

    def times(self, held: Any) -> list[Any]:
        if held is None:
            return []
        return list(held.knots.T) if held.knots.ndim > 1 else list(held.knots.tolist())

    def lengths(self, held: Any) -> set[int]:
        return set() if held is None or held.members is None else {held.members}

    def select(self, held: Any, members: Any) -> Any:
        return None if held is None else held.select_members(members)

    def sizes(self, held: Any) -> tuple[int, ...]:
        """The time."""
        return (1,)

    def state_names(self, held: Any) -> list[str]:
        return ["mass_time"]

    def constants_in(self, scenario: Scenario, t: Any) -> dict[str, Any]:
        return {"course": self._of(scenario).piece(t, scenario.bodies[0])}

    def extend(self, scenario: Scenario, i: int, extension: Extension) -> Extension:
        now = self.constants_in(scenario, scenario.start_time)
        return extension._replace(constants=extension.constants._replace(**now))

    def start(self, scenario: Scenario, i: int, constants: BodyConstants) -> Start:
        return Start(groups=((scenario.start_time,),))

    def shape_view(self, scenario: Scenario, state: StateView, body: BodyConstants) -> tuple[StateView, BodyConstants]:
        changing = self._of(scenario).changing_entries(scenario.bodies[0])
        state = state._replace(current_mass=(1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)[: 2 + changing])
        return state, constants_for_forces(body, state.current_mass)

    def _of(self, scenario: Scenario) -> MassCourse:
        assert scenario.mass_course is not None
        return scenario.mass_course

    def table(self, held: Any, plain: Plain, is_system: bool) -> Any:
        return {key: plain(value) for key, value in held.arguments.items()}

    def read(self, given: Any, is_system: bool, find: Finder) -> Any:
        return read_mass_course(given)

    def script(self, table: Any) -> Any:
        """Polynomials, which stand for functions of time, are read as a file has them."""
        if "knots" not in table:
            return Call("ph.mass_course", table)
        return Call(
            "read_mass_course",
            {"table": table},
            imports=(f"from {read_mass_course.__module__} import read_mass_course",),
        )
