"""The plan of a run: its structure and its numbers, checked once; only its controls change from run to run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from polhode.integrate.buffer import Packing, packing_of
from polhode.integrate.loops.layout import Layout
from polhode.integrate.prepare import Plan, plan_of, structure_of
from polhode.integrate.run_result import SampleColumns
from polhode.integrate.timeline import Timeline
from polhode.integrate.traced_functions import forces_need_velocity
from polhode.scenario.scenario import Scenario

CONTROLS = frozenset({"rtol", "atol", "breaks", "output_times", "output_step"})
"""The settings of a scenario that are no part of its structure: how finely it is computed, and where it is shown."""


@dataclass(frozen=True, eq=False)
class RunPlan:
    """What a run is made of: a valid scenario whose functions have been traced, and all that follows from it once.

    Stepper, driver, ensembles, exported programs and pages take it.
    """

    scenario: Scenario
    counts_work: bool = True
    is_dense: bool = False
    """Whether an adaptive method gets dense output even if no output needs it, so that several runs are one program."""

    @cached_property
    def timeline(self) -> Timeline:
        """Its times, if all members share them."""
        return Timeline.of(self.scenario)

    @cached_property
    def loops(self) -> Plan:
        """Its program and the layout of its memory."""
        scenario = self.scenario
        needs_velocity = scenario.used_method.is_splitting and forces_need_velocity(scenario)
        inside = self.is_dense or self.timeline.has_output_inside
        return plan_of(structure_of(scenario, self.counts_work, inside, needs_velocity))

    @property
    def program(self) -> Any:
        """The program of its loop."""
        return self.loops.program

    @property
    def layout(self) -> Layout:
        """Where the numbers of a body are."""
        return self.loops.layout

    @property
    def is_system(self) -> bool:
        """Whether all bodies of a unit share one clock."""
        return self.loops.is_system

    @cached_property
    def packing(self) -> Packing:
        """How its bodies lie in memory."""
        return packing_of(self.scenario, self.loops)

    @cached_property
    def columns(self) -> SampleColumns:
        """Where the numbers of a sample are."""
        return SampleColumns.of(self.scenario.form.sizes, self.counts_work)

    def take(self, members: Any) -> RunPlan:
        """The plan of some members of an ensemble."""
        return RunPlan(self.scenario.take(members), self.counts_work, self.is_dense)

    def with_controls(self, **controls: Any) -> RunPlan:
        """The same run, computed more finely, cut at other times, or with other outputs: nothing is checked again."""
        assert controls.keys() <= CONTROLS
        kept = {"columns"}
        method = self.scenario.used_method
        if self.is_dense or self.scenario.events or method.is_closed_form:  # whatever the outputs
            kept |= {"loops"}
            if not method.is_taylor_series:  # which has none
                _ = self.loops
        made = replace(self, scenario=self.scenario.with_settings(**controls))
        vars(made).update({name: value for name, value in vars(self).items() if name in kept})
        return made

    def by_method(self, name: str) -> RunPlan:
        """The same run by another method, which has been chosen for it."""
        return RunPlan(self.scenario.with_settings(method=name), self.counts_work)

    def with_dense_output(self) -> RunPlan:
        """The same run by a program that can show the inside of its steps, whether or not an output asks for it.

        Events look there anyway; where a run with contacts ends a segment, it ends a step.
        """
        scenario = self.scenario
        if scenario.used_method.is_closed_form or scenario.contacts or scenario.events:
            return self
        return replace(self, is_dense=True)
