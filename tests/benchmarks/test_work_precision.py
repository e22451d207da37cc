"""The work-precision record: its arithmetic, its peers' equations, its table, figure and command; no times."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from benchmarks import (
    method_comparisons,
    polhode_contestants,
    precision,
    precision_figure,
    precision_table,
    work_precision,
)
from benchmarks.contestant import Contestant, TimedRun, UnsupportedProblemError, problem_data
from benchmarks.peers import INSTALL, Peer, ode_system, scipy_ode
from benchmarks.work_precision import (
    ContestantResult,
    TimingBudget,
    WorkPrecisionPoint,
    fastest_contestants,
    seconds_to,
)
from click.testing import CliRunner

from polhode.cli import cli
from polhode.reference.problems import PROBLEMS

pytestmark = pytest.mark.long

TINY = TimingBudget(rounds=2, repeats=1, limit_fraction=0.01, points=4)
FAST = ("exact", "rk4")


@pytest.fixture(scope="module")
def few():
    """Two methods here, and no long sections: what is tested is the bench."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        _only_a_few(monkeypatch)
        yield


def _only_a_few(monkeypatch):
    methods = {name: polhode_contestants.METHODS[name] for name in FAST if name in polhode_contestants.METHODS}
    monkeypatch.setattr(polhode_contestants, "METHODS", methods)
    everything = polhode_contestants.contestants
    monkeypatch.setattr(
        polhode_contestants, "contestants", lambda quick: [c for c in everything(True) if not c.name.startswith("auto")]
    )
    for name in ("compare_closed_form", "compare_dop853"):
        monkeypatch.setattr(method_comparisons, name, lambda *a, **k: {"failed": "not measured in this test"})
    monkeypatch.setattr(method_comparisons, "measure_auto", lambda **k: [])
    monkeypatch.setattr(work_precision, "ERROR_FLOOR", 1e-3)


def task(name):
    return problem_data(name, PROBLEMS[name].scenario(method="dop853"))


# Arithmetic -----------------------------------------------------------------------------------------------------------
def test_a_time_between_two_settings_lies_on_the_line_in_the_logarithms():
    points = [(1.0, 1e-2), (10.0, 1e-4), (100.0, 1e-8)]
    assert seconds_to(1e-3, points) == pytest.approx(math.sqrt(10))
    assert seconds_to(1e-6, points) == pytest.approx(math.sqrt(1000))
    assert seconds_to(1e-2, points) == 1.0
    assert seconds_to(1e-9, points) is None


def test_points_that_went_astray_reach_nothing():
    assert seconds_to(1e-3, [(1.0, math.nan), (2.0, math.nan)]) is None
    assert seconds_to(1e-3, [(1.0, math.nan), (2.0, 1e-4)]) == 2.0
    assert seconds_to(1e-3, [(1.0, 2.5), (4.0, 1e-4)]) == 4.0, "between nonsense and an answer lies no line"


def entry(name, family, points, per_member=False):
    attempt = TimedRun(1.0, lambda: None, lambda: None, lambda: (None, None))
    own = Contestant(name, family, lambda task, scenario: iter(()), per_member)
    return ContestantResult(
        own, [WorkPrecisionPoint(attempt, error, error, None, seconds) for seconds, error in points]
    )


def test_the_record_names_the_best_here_the_fastest_peer_and_the_fastest_but_heyoka():
    entries = [
        entry("rk4", "polhode", [(4.0, 1e-7)]),
        entry("dop853", "polhode", [(2.0, 1e-7)]),
        entry("heyoka", "heyoka", [(1.0, 1e-7)]),
        entry("SciPy", "scipy", [(50.0, 1e-7)]),
        entry("batch", "heyoka", [(0.1, 1e-7)], per_member=True),
    ]
    found = fastest_contestants(entries, "polhode", 1e-6, per_member=False)
    assert found["here"] == {"name": "dop853", "seconds": 2.0}
    assert found["fastest_peer"]["name"] == "heyoka"
    assert found["ratio_to_fastest_peer"] == 2.0
    assert found["ratio_to_fastest_peer_but_heyoka"] == 0.04
    assert fastest_contestants(entries, "polhode", 1e-12, per_member=False)["here"] is None
    assert fastest_contestants(entries, "polhode", 1e-6, per_member=True)["fastest_peer"]["name"] == "batch"


def test_the_front_keeps_what_nothing_beats_in_both():
    assert precision_figure.pareto_front([(2, 1e-3), (1, 1e-2), (3, 5e-3), (4, 1e-9)]) == [
        (1, 1e-2),
        (2, 1e-3),
        (4, 1e-9),
    ]


def test_the_fastest_of_several_runs_counts_and_resetting_does_not():
    calls = []
    work_precision.best_seconds(lambda: calls.append("go"), 3, lambda: calls.append("reset"))
    assert calls[:4] == ["reset", "go", "reset", "go"]


# Tasks and peers ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_a_second_opinion_of_scipy_meets_the_reference(name):
    """The equations that SciPy and heyoka are given share no law with the package."""
    seen = task(name)
    rate, y = scipy_ode.python_right_hand_side(seen), np.array(ode_system.initial_state(seen))
    for a, b, fires in seen.segments:
        y = scipy_ode.compiled_dop853(rate, a, b, y, 1e-12, float(fires))
    error, attitude, _ = work_precision.error_of(PROBLEMS[name], y[:4], y[7:10] if seen.moves else None)
    assert attitude <= error < 1e-9


def test_a_task_is_cut_at_the_thrusters_window_and_its_steps_meet_the_edges():
    seen = task("drag_and_thruster")
    assert [fires for _, _, fires in seen.segments] == [False, True, False]
    count = next(seen.counts())
    for _, edge, _ in seen.segments:
        assert edge * count / seen.duration == pytest.approx(round(edge * count / seen.duration))


def test_only_the_flat_body_has_moments_of_no_solid():
    assert [name for name in PROBLEMS if not task(name).is_physical] == ["hairer_vilmart_flat"]


@pytest.mark.parametrize(
    ("module", "package"),
    [("heyoka_taylor", "heyoka"), ("mujoco_rk4", "mujoco"), ("drake_rk", "pydrake"), ("basilisk_rk", "Basilisk")],
)
def test_peers_solve_every_problem_that_they_do_not_refuse(module, package):
    pytest.importorskip(package)
    peer = Peer(module, package, module)
    for name, problem in PROBLEMS.items():
        scenario = problem.scenario(method="dop853")
        for contestant in peer.contestants():
            try:
                errors = _errors(problem, contestant, scenario)
            except UnsupportedProblemError:
                errors = []
            if not errors:
                unscaled = "scaled" in contestant.name and not task(name).moves
                assert unscaled or name in ("hairer_vilmart_flat", "simo_wong_heavy_top")
            else:
                assert min(errors) < 1e-2, (name, contestant.name)


def _errors(problem, contestant, scenario):
    errors = []
    for attempt in contestant.attempts(problem_data(problem.name, scenario), scenario):
        attempt.reset()
        attempt.go()
        error = work_precision.error_of(problem, *attempt.state())[0]
        errors.append(error if math.isfinite(error) else math.inf)
        if errors[-1] < 1e-2 or len(errors) == 9:
            return errors
    return errors


def test_the_right_hand_side_on_arrays_is_the_one_on_plain_numbers():
    seen = problem_data("falling", method_comparisons.drag_scenario())
    y = np.array(ode_system.initial_state(seen)) + 0.1
    assert method_comparisons.numpy_right_hand_side(seen)(0.0, y) == pytest.approx(
        np.array(scipy_ode.python_right_hand_side(seen)(0.0, y))
    )


# The whole ------------------------------------------------------------------------------------------------------------
def fake(missing=False):
    """A peer that knows every answer at once; or one that is not there."""

    class Known(Peer):
        @property
        def version(self):
            return None if missing else "1.0"

        def contestants(self):
            def attempts(task, scenario):
                if task.name == "hairer_vilmart_flat":
                    raise UnsupportedProblemError("refuses moments that no solid has")
                answer = PROBLEMS[task.name].answer_of_doubles
                yield TimedRun(1.0, lambda: None, lambda: None, lambda: (answer.quaternion_wxyz, answer.position))

            return [Contestant("oracle", "oracle", attempts)]

    return Known("Delphi" if missing else "Oracle", "nowhere", "nowhere")


@pytest.fixture(scope="module")
def result(few):
    names = ["hairer_vilmart_asymmetric", "hairer_vilmart_flat"]
    return precision.measure_precision(True, TINY, names, peers=[fake(), fake(missing=True)])


def test_the_result_holds_points_refusals_and_who_is_missing(result):
    asymmetric, flat = result["problems"]
    assert result["missing"] == {"Delphi": INSTALL}
    assert result["versions"]["Oracle"] == "1.0"
    assert flat["refused"]["oracle"] == "refuses moments that no solid has"
    assert asymmetric["record"][1]["fastest_peer"]["name"] == "oracle"
    oracle = next(c for c in asymmetric["contestants"] if c["name"] == "oracle")
    assert oracle["best_error"] < 1e-15
    rk4 = next(c for c in asymmetric["contestants"] if c["name"] == "rk4")
    errors = [p["error"] for p in rk4["points"]]
    assert errors == sorted(errors, reverse=True)
    assert any(c["per_member"] for c in asymmetric["contestants"])


def test_the_table_says_who_is_first_who_refuses_and_who_is_missing(result):
    text = precision_table.format_precision_table(result)
    assert "oracle" in text
    assert "Delphi: not installed: make bench" in text
    assert "oracle: refuses moments that no solid has" in text
    assert "not reached" in text
    assert "not measured in this test" in text


def test_the_figure_has_a_panel_a_problem_and_a_legend(result, tmp_path):
    drawn = precision_figure.draw_precision_figure(result)
    drawn.savefig(tmp_path / "precision.png")
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles[:2] == ["free, asymmetric", "free, flat"]
    assert any(axes.get_legend() for axes in drawn.axes)


def test_the_command_prints_a_table_and_writes_json_and_figure(few, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    inner = precision.measure_precision
    monkeypatch.setattr(
        precision,
        "measure_precision",
        lambda quick, problems, report: inner(quick, TINY, problems, report, peers=[fake()]),
    )
    options = ["--quick", "--problem", "hairer_vilmart_asymmetric", "--json", "p.json", "--figure", "p.png"]
    answer = CliRunner().invoke(cli, ["bench", "precision", *options])
    assert answer.exit_code == 0, answer.output
    assert "hairer_vilmart_asymmetric" in answer.stdout
    assert "picture: p.png" in answer.stdout
    assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["problems"]
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_is_not_there_is_told_before_the_work():
    answer = CliRunner().invoke(cli, ["bench", "precision", "--json", "no/such/folder/p.json"])
    assert answer.exit_code == 1
    assert "there is no folder no/such/folder" in answer.output


def test_the_command_knows_all_problems():
    from benchmarks.commands import PROBLEM_NAMES as NAMES

    assert list(NAMES) == list(PROBLEMS)
