"""An ensemble whose samples are kept in memory: one motion with all members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from polhode.ensembles.pieces import run_in_pieces
from polhode.errors import find_stacklevel
from polhode.integrate.run_result import Report, RunResult
from polhode.integrate.traced_functions import trace_functions
from polhode.progress import progress as bar_for
from polhode.progress import wants_reports
from polhode.results.motion import Motion
from polhode.results.trajectory import Trajectory
from polhode.scenario.method_choice import AUTO
from polhode.scenario.preflight import check_user_functions
from polhode.scenario.scenario import Scenario
from polhode.solve.auto_method import run_auto, run_with_dense_output
from polhode.solve.long_steps import StepFigures, find_step_figures, merge_step_figures, warn_of_long_steps
from polhode.solve.precision_check import compare_precision, warn_of_lost_precision
from polhode.solve.simulate import ask_for_final_states, check_threads, explain_errors, finish_motion, warn_before_run

MEMBER_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} members, {rate_noinv_fmt}, {remaining} left"
RunPieces = Callable[..., RunResult]
Progress = Callable[..., None]
"""Called with the number of members that are done, and whether they were before this run began."""


def run_in_memory(
    scenario: Scenario, threads: int | None, progress: bool | None, run_pieces: RunPieces = run_in_pieces
) -> Motion:
    """The motion of all members of an ensemble; an error if one fails.

    `run_pieces` takes what `run_in_pieces` takes, and may compute elsewhere.
    """
    check_threads(threads)
    scenario = ask_for_final_states(scenario)
    check_user_functions(scenario.take(np.arange(1)), scenario.members)
    scenario = trace_functions(scenario)
    level = find_stacklevel() + 1
    warn_before_run(scenario, level)
    figures: list[StepFigures | None] = []

    def look(members: Scenario, result: RunResult) -> None:
        figures.append(find_step_figures(Trajectory(members, result)))

    members, start, duration = scenario.members or 1, scenario.start_time, scenario.duration
    with report_members(members, progress, scenario.name) as count, explain_errors(scenario):
        report: Report | None = None if count is None else lambda t: count(members * (t - start) / duration)
        if scenario.method == AUTO:
            run_members = partial(run_pieces, run=run_with_dense_output)
            scenario, result = run_auto(scenario, False, threads, report, run_members)
        else:
            result = run_pieces(scenario, False, threads, report, look)
        if run_pieces is run_in_pieces:  # elsewhere there may be GPUs, and none here
            result.precision_report = compare_precision(scenario)
    warn_of_long_steps(scenario, merge_step_figures(figures), level)
    warn_of_lost_precision(result.precision_report, level)
    return finish_motion(Motion(scenario, result), level)


@contextmanager
def report_members(members: int, wanted: bool | None, name: str = "") -> Iterator[Progress | None]:
    """A progress bar that counts members, with their rate, once a run has taken two seconds; and reports to a listener.

    A listener hears at once that a run begins, so that one that is already canceled never does.
    """
    if not wants_reports(wanted):
        yield None
        return
    with bar_for(name or "simulating", "members", form=MEMBER_BAR, wanted=wanted) as report:
        report(0.0, members)
        yield lambda done, was_done_before=False: report(done, members, was_done_before)
