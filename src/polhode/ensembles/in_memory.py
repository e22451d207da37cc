"""An ensemble whose samples are kept in memory: one motion with all members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from polhode.engines.result import Report, RunResult
from polhode.engines.user_functions import settle_functions
from polhode.ensembles.pieces import run_in_pieces
from polhode.errors import find_stacklevel
from polhode.model.method_choice import AUTO
from polhode.model.preflight import check_user_functions
from polhode.model.scenario import Scenario
from polhode.progress import progress as bar_for
from polhode.progress import wants_reports
from polhode.results.motion import Motion
from polhode.results.trajectory import Trajectory
from polhode.solve.auto_method import run_auto, run_with_dense_output
from polhode.solve.long_steps import StepFigures, find_step_figures, merge_step_figures, warn_of_long_steps
from polhode.solve.simulate import ask_for_final_states, check_threads, explain_errors, finish_motion, warn_before_run

MEMBER_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} members, {rate_noinv_fmt}, {remaining} left"
RunPieces = Callable[..., RunResult]


def run_in_memory(
    scenario: Scenario, threads: int | None, progress: bool | None, run_pieces: RunPieces = run_in_pieces
) -> Motion:
    """The motion of all members of an ensemble; an error if one fails.

    `run_pieces` takes what `run_in_pieces` takes, and may compute elsewhere.
    """
    check_threads(threads)
    scenario = ask_for_final_states(scenario)
    check_user_functions(scenario.take(np.arange(1)))
    scenario = settle_functions(scenario)
    level = find_stacklevel() + 1
    warn_before_run(scenario, level)
    figures: list[StepFigures | None] = []

    def look(members: Scenario, result: RunResult) -> None:
        figures.append(find_step_figures(Trajectory(members, result)))

    with report_members(scenario, progress) as report, explain_errors(scenario):
        if scenario.method == AUTO:
            run_members = partial(run_pieces, run=run_with_dense_output)
            scenario, result = run_auto(scenario, False, threads, report, run_members)
        else:
            result = run_pieces(scenario, False, threads, report, look)
    warn_of_long_steps(scenario, merge_step_figures(figures), level)
    return finish_motion(Motion(scenario, result), level)


@contextmanager
def report_members(scenario: Scenario, wanted: bool | None) -> Iterator[Report | None]:
    """A progress bar that counts members, with their rate, once a run has taken two seconds; and reports to a listener.

    A listener hears at once that a run begins, so that one that is already canceled never does.
    """
    if not wants_reports(wanted):
        yield None
        return
    start, duration, members = scenario.start_time, scenario.duration, scenario.members or 1
    with bar_for(scenario.name or "simulating", "members", form=MEMBER_BAR, wanted=wanted) as report:
        report(0.0, members)
        yield lambda t: report(members * (t - start) / duration, members)
