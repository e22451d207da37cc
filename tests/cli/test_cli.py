"""The command line: what it prints, what it writes, and how it complains."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import cli
from polhode.gallery import MODELS, THEMES


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def invoke(*arguments):
        return runner.invoke(cli, [str(a) for a in arguments])

    return invoke


SCENARIO = """
name = "spin"
duration = 1.0
step = 0.01
[body]
mass = 10.0
inertia = [0.81, 0.68, 0.14]
angular_velocity_body = [0.1, 5.0, 0.1]
"""


def test_run_prints_the_number_the_audit_and_the_picture(call, tmp_path):
    result = call("run", "dzhanibekov")
    assert result.exit_code == 0, result.output
    assert "found       3.02842207" in result.stdout
    assert "expected    3.02842207" in result.stdout
    assert "agrees" in result.stdout
    assert "angular momentum" in result.stdout
    assert "picture: dzhanibekov.png" in result.stdout
    assert "\x1b" not in result.stdout
    assert (tmp_path / "dzhanibekov.png").read_bytes().startswith(b"\x89PNG")


def test_run_takes_the_models_own_options_before_and_behind_its_name(call):
    behind = json.loads(call("run", "dzhanibekov", "--spin", "3", "--no-picture", "--json").stdout)
    before = json.loads(call("run", "--no-picture", "--json", "dzhanibekov", "--spin=3").stdout)
    assert behind["parameters"] == before["parameters"] == {"spin": 3.0, "nudge": 0.1}
    assert behind["number"]["found"] == before["number"]["found"]


def test_run_takes_options_with_dashes_and_negative_values(call):
    result = call("run", "two-bodies-on-a-spring", "--mass-a", "2", "--drift", "-1", "--no-picture", "--json")
    assert json.loads(result.stdout)["parameters"]["drift"] == -1.0


def test_json_holds_everything_and_nothing_else_is_printed(call, tmp_path):
    result = call("run", "free-fall-with-drag", "--json", "--picture", "fall.svg", "--save", "fall.zarr")
    report = json.loads(result.stdout)
    assert report["name"] == "free-fall-with-drag"
    assert report["number"]["holds"] is True
    assert report["number"]["found"] == pytest.approx(report["number"]["expected"], rel=1e-9)
    assert {f["quantity"] for f in report["audit"]["findings"]} >= {"kinetic energy", "linear momentum"}
    assert report["picture"] == "fall.svg"
    assert "<svg" in (tmp_path / "fall.svg").read_text()
    assert ph.load(tmp_path / report["saved"]).final.position[2] == pytest.approx(-report["number"]["found"])


def test_run_of_a_file(call, tmp_path):
    (tmp_path / "spin.toml").write_text(SCENARIO)
    result = call("run", "spin.toml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("spin\n")
    assert "found" not in result.stdout.split("computed by")[0]
    assert (tmp_path / "spin.png").exists()


def test_a_run_that_stops_keeps_what_it_had(call, tmp_path):
    """Explicit Euler steps far too long for a stiff spring: the numbers outgrow all bounds."""
    scenario = 'duration = 1000.0\nstep = 1.0\nmethod = "euler"\n[body]\nmass = 1.0\nparticle = true\n'
    forces = '[[forces]]\nkind = "spring"\nstiffness = 1e6\nanchor = [1.0, 0.0, 0.0]\n'
    (tmp_path / "stiff.toml").write_text(scenario + forces)
    result = call("run", "stiff.toml", "--no-picture", "--save", "stiff.zarr")
    assert result.exit_code == 1
    assert "became infinite or NaN" in result.stderr
    assert "The motion up to that time is in stiff.zarr" in result.stderr
    assert len(ph.load(tmp_path / "stiff.zarr").times) > 1


def test_a_models_name_may_come_behind_its_knobs_in_any_spelling_and_beside_a_file_of_its_name(call, tmp_path):
    (tmp_path / "thin-rod").write_text("no scenario")
    expected = json.loads(call("run", "thin-rod", "--radius", "0.06", "--no-picture", "--json").stdout)
    again = json.loads(call("run", "--radius", "0.06", "Thin_Rod", "--no-picture", "--json").stdout)
    assert again["number"] == expected["number"]
    assert again["name"] == "thin-rod"


def test_a_run_with_a_store_is_not_made_twice(call, tmp_path, monkeypatch):
    (tmp_path / "spin.toml").write_text(SCENARIO)
    first = call("run", "spin.toml", "--no-picture", "--store", "a.zarr")
    assert first.exit_code == 0, first.output
    assert "stored: a.zarr" in first.stdout
    assert ph.load(tmp_path / "a.zarr").times[-1] == 1.0
    again = call("run", "spin.toml", "--no-picture", "--store", "a.zarr")
    assert again.exit_code == 1
    assert "a.zarr already holds a motion" in again.stderr
    monkeypatch.setattr("polhode.solve.simulate.run_auto", pytest.fail)
    resumed = call("run", "spin.toml", "--no-picture", "--store", "a.zarr", "--resume", "--json")
    assert json.loads(resumed.stdout)["store"] == "a.zarr"
    (tmp_path / "spin.toml").write_text(SCENARIO.replace("mass = 10.0", "mass = 11.0"))
    other = call("run", "spin.toml", "--no-picture", "--store", "a.zarr", "--resume")
    assert "a.zarr holds the motion of something else: body.mass is 10.0 in the store and 11.0 now" in other.stderr
    assert "give it with --store" in call("run", "spin.toml", "--resume").stderr


def test_each_run_of_a_model_has_its_store(call, tmp_path):
    result = call("run", "dzhanibekov", "--no-picture", "--store", "a.zarr", "--resume")
    assert "stored: a.zarr and, for the other runs, beside it" in result.stdout
    names = list(MODELS["dzhanibekov"].scenario(**MODELS["dzhanibekov"].values()))
    assert len(list(tmp_path.glob("a*.zarr"))) == len(names) > 1


def test_of_several_runs_the_first_is_saved_and_named(call):
    result = call("run", "dzhanibekov", "--no-picture", "--save", "a.zarr")
    assert "saved: a.zarr (box, the first of the runs)" in result.stdout
    assert json.loads(call("run", "dzhanibekov", "--no-picture", "--json").stdout)["runs"] == ["box", "t-handle"]


def test_pure_numbers_have_no_unit(call):
    said = call("run", "affine-2d", "--no-picture").stdout
    assert "stretch = 2, skew = 0.2" in said
    assert "  found       -0.5\n" in said


def test_list(call):
    table = call("list").stdout
    assert [line for line in table.splitlines() if line in THEMES] == list(THEMES)
    assert re.search(r"^  dzhanibekov  +A box .*\n( .*\n)? +--spin --nudge$", table, re.MULTILINE)
    assert max(map(len, table.splitlines())) <= 80 + 10
    models = {model["name"]: model for model in json.loads(call("list", "--json").stdout)}
    assert set(models) == set(MODELS)
    assert models["dzhanibekov"]["parameters"][0] == {
        "name": "spin",
        "unit": "rad/s",
        "default": 5.0,
        "low": 1.0,
        "high": 20.0,
        "help": "rate about the intermediate axis",
        "label": "",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("run", "dzanibekov"), 2, "did you mean 'dzhanibekov'?"),
        (("run", "--picture", "x.png", "dzanibekov", "--spin", "3"), 2, "there is no model 'dzanibekov'"),
        (("run", "dzhanibekov", "--spni", "3"), 2, "--spin"),
        (("run", "dzhanibekov", "--spin", "fast"), 2, "'fast' is not a valid float"),
        (("run", "dzhanibekov", "--picture", "x.png", "--no-picture"), 2, "contradict each other"),
        (("run",), 2, "Missing argument"),
        (("rum",), 2, "did you mean 'run'?"),
        (("bench", "throughputs"), 2, "did you mean 'throughput'?"),
        (
            ("run", "dzhanibekov", "--spin", "300"),
            1,
            "spin = 300 rad/s is outside its range: choose from 1 to 20 rad/s",
        ),
        (("run", "dzhanibekov", "--spin", "nan"), 1, "outside its range"),
        (("run", "none.toml"), 1, "there is no file none.toml"),
        (("run", "dzhanibekov", "--picture", "no/such/folder.png"), 1, "there is no folder no/such"),
        (("run", "dzhanibekov", "--picture", "x.foo"), 1, "the picture cannot be written to x.foo"),
    ],
)
def test_error_messages(call, arguments, code, sentence):
    result = call(*arguments)
    assert result.exit_code == code
    assert sentence in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("duration = ", "is not TOML"), (SCENARIO.replace("mass", "mas"), "did you mean 'mass'?")],
)
def test_errors_in_files_name_the_file(call, tmp_path, content, sentence):
    (tmp_path / "bad.toml").write_text(content)
    result = call("run", "bad.toml", "--json")
    assert result.exit_code == 1
    assert "bad.toml" in result.stderr
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("run",),
        ("list",),
        ("mass",),
        ("picture",),
        ("film",),
        ("bench",),
        ("bench", "throughput"),
        ("bench", "scale"),
        ("bench", "latency"),
        ("bench", "precision"),
        ("bench", "mass"),
    ],
)
def test_every_command_helps_with_examples(call, command):
    result = call(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert "polhode " in result.stdout


def test_help_of_a_model_explains_it_and_its_options(call):
    text = call("run", "dzhanibekov", "--help").stdout
    assert "flips over and back" in text
    assert "--nudge <rad/s>" in text
    assert "1 to 20, default 5" in " ".join(text.split())


def test_version(call):
    assert call("--version").stdout == f"polhode, version {ph.__version__}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("--help",)])
def test_output_that_cannot_be_written_is_an_error_of_one_line(arguments):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "polhode", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("option", [("mass", "--triangles"), ("throughput", "--bodies"), ("scale", "--members")])
def test_bench_refuses_sizes_beyond_any_memory(call, option):
    result = call("bench", *option, 10**15)
    assert result.exit_code == 2
    assert "is not in the range" in result.stderr


def test_bench_prints_a_table_and_writes_json(call, tmp_path):
    options = ("--bodies", "48", "--steps", "3", "--repeats", "2")
    result = call("bench", "throughput", *options)
    assert result.exit_code == 0, result.output
    assert "ns per body and step" in result.stdout
    assert "48 bodies" in result.stdout
    assert "figures: throughput.json" in result.stdout
    figures = json.loads((tmp_path / "throughput.json").read_text())
    assert figures["largest_difference_from_numpy"] < 1e-13
    assert figures["ratios"]["than numpy"]["48"] > 0
    assert {f["name"] for f in figures["figures"]} >= {"polhode, 1 thread", "numpy", "numpy, tuned by hand"}
    assert json.loads(call("bench", "throughput", *options, "--json", "-").stdout)["repeats"] == 2


@pytest.mark.long
def test_bench_of_scale_prints_a_table_or_json(call, tmp_path):
    options = ("--members", "5000", "--steps", "4")
    result = call("bench", "scale", *options, "--json", tmp_path / "scale.json")
    assert result.exit_code == 0, result.output
    assert "peak MB" in result.stdout
    figures = json.loads((tmp_path / "scale.json").read_text())["figures"]
    measured = [(f["kind"], f["members"], f["threads"]) for f in figures]
    assert measured[:2] == [("in memory", 4096, 1), ("in memory", 4096, 2)]
    assert measured[2:] == [(kind, 5000, n) for kind in ("in memory", "sweep, reduced") for n in (1, 2)]
    assert all(f["seconds"] > 0 and f["peak_mb"] > 10 for f in figures)


@pytest.mark.long
def test_bench_of_latency_prints_a_table_or_json(call, tmp_path):
    options = ("--repeats", "1", "--stones", "40", "--advances", "100")
    result = call("bench", "latency", *options, "--json", tmp_path / "latency.json")
    assert result.exit_code == 0, result.output
    assert "the first run in a process, s" in result.stdout
    assert "40 stones that land" in result.stdout
    stored = json.loads((tmp_path / "latency.json").read_text())
    assert stored["landings"]["same_bits"] is True
    assert set(stored["first_runs"]) >= {"auto", "dop853", "rk4", "ensemble", "40 thrusters", "60 springs"}
    for row in stored["first_runs"].values():
        assert row["cached"] > 0
    assert set(stored["stepper"]) == {"rk4", "splitting4"}


def test_bench_of_masses_prints_a_table_or_json(call, tmp_path):
    options = ("--triangles", "800", "--repeats", "1")
    result = call("bench", "mass", *options, "--json", tmp_path / "mass.json")
    assert result.exit_code == 0
    assert "polhode / trimesh, from STL" in result.stdout
    stored = json.loads((tmp_path / "mass.json").read_text())
    assert stored["triangles"] == 800
    assert stored["error_of_the_tensor"]["polhode"]["1e+06 sizes away"] < 1e-14
    assert stored["error_of_the_tensor"]["trimesh"]["1e+06 sizes away"] > 1
    assert json.loads(call("bench", "mass", *options, "--json", "-").stdout)["triangles"] == 800


def test_both_numpy_yardsticks_compute_the_same():
    from benchmarks import numpy_throughput

    textbook, tuned = (numpy_throughput.advance_sample(kind, 20, 30) for kind in ("textbook", "tuned"))
    assert textbook == pytest.approx(tuned, rel=1e-12, abs=1e-12)


def test_as_a_process(tmp_path):
    """Nothing heavy for --help; a real run in a real process; complaints on the error stream only."""
    code = "import sys\nfrom polhode.cli import cli\ntry:\n    cli(['--help'])\nexcept SystemExit:\n    pass\n"
    code += "heavy = {'numpy', 'llvmlite', 'matplotlib', 'scipy', 'xarray'} & set(sys.modules)\nassert not heavy, heavy"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    command = [sys.executable, "-m", "polhode", "run", "dzhanibekov"]
    for _ in range(2):  # the first may have to say that it compiles
        good = subprocess.run([*command, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(good.stdout)["number"]["holds"] is True
    assert good.stderr == ""
    bad = subprocess.run([*command, "--spin", "-1"], cwd=tmp_path, capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("Error: spin = -1 rad/s is outside its range")
