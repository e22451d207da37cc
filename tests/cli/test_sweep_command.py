"""`polhode sweep`: what it prints, what it writes, how it resumes, and how it complains."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import cli

EXAMPLE = Path(__file__).parents[2] / "examples" / "store-release-sweep.toml"
SWEEP = """
name = "throw"
duration = 1.0
[body]
particle = true
mass = { uniform = [1.0, 2.0] }
velocity = { normal = [[10.0, 0.0, 8.0], [2.0, 1.0, 0.5]], name = "speed" }
[[forces]]
kind = "gravity"
[sweep]
members = 300
seed = 4
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command in a folder with a sweep."""
    monkeypatch.chdir(tmp_path)
    Path("throw.toml").write_text(SWEEP)
    runner = CliRunner()

    def invoke(*arguments):
        return runner.invoke(cli, ["sweep", *(str(a) for a in arguments)])

    return invoke


def test_it_prints_the_summary_and_writes_picture_and_page(call, tmp_path):
    found = call("throw.toml")
    assert found.exit_code == 0, found.output
    for text in (
        "throw",
        "300 members, random, seed 4: 4 inputs",
        "position x at the end",
        "+ speed.x",
        "page: throw.html",
    ):
        assert text in found.stdout
    assert (tmp_path / "throw.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "throw.html").read_text(encoding="utf-8")


def test_json_against_numpy(call):
    report = json.loads(call("throw.toml", "--no-pictures", "--json", "--members", 2000, "--seed", 9).stdout)
    assert report["members"] == 2000
    source = ph.DrawnSource.from_toml("throw.toml", members=2000, seed=9)
    speed = source.inputs(np.arange(2000))["speed"]
    x = next(one for one in report["results"] if one["label"] == "position.x@final")
    assert x["mean"] == pytest.approx(speed[:, 0].mean(), rel=1e-12)
    assert x["sensitivities"]["speed.x"]["variance_share"] > 0.99
    assert report["settings"]["outputs"] == "51"
    assert report["picture"] is None
    assert len(report["bands"][0]["times"]) == 51


def test_reductions_of_ones_own_are_in_the_report(call):
    options = ("--reduce", "covariance:position@final", "--reduce", "extremes:speed", "--result", "speed@final")
    report = json.loads(call("throw.toml", "--no-pictures", "--json", *options).stdout)
    assert list(report["reductions"]) == ["covariance:position@final", "extremes:speed"]
    assert [one["label"] for one in report["results"]] == ["speed@final"]
    printed = call("throw.toml", "--no-pictures", *options).stdout
    assert "ReducedQuantity covariance:position@final" in printed


def test_a_store_is_written_kept_and_resumed(call, tmp_path):
    first = call("throw.toml", "--no-pictures", "--store", "out.zarr", "--outputs", 3)
    assert "store: out.zarr (samples)" in first.stdout
    assert ph.load(tmp_path / "out.zarr").motion([7]).position.shape == (3, 1, 3)
    again = call("throw.toml", "--no-pictures", "--store", "out.zarr", "--outputs", 3)
    assert again.exit_code == 1
    assert "--resume" in again.output
    resumed = call("throw.toml", "--no-pictures", "--store", "out.zarr", "--outputs", 3, "--resume")
    assert resumed.exit_code == 0, resumed.output

    def without_clock(text):
        return [line for line in text.splitlines() if "computed in" not in line]

    assert without_clock(resumed.stdout) == without_clock(first.stdout)
    kept = call("throw.toml", "--no-pictures", "--store", "small.zarr", "--reduce", "mean:position")
    assert "store: small.zarr (reductions)" in kept.stdout


@pytest.mark.parametrize(
    ("options", "sentence", "code"),
    [
        (("--resume",), "--store", 2),
        (("--keep", "samples"), "--store", 2),
        (("--no-pictures", "--page", "x.html"), "contradicts", 2),
        (("--page", "x.txt"), "must end with .html", 1),
        (("--picture", "x.doc"), "must end with", 1),
        (("--store", "no/where.zarr"), "no folder", 1),
        (("--reduce", "median:position"), "no reduction 'median'", 1),
        (("--result", "position"), "position@final", 1),
        (("--result", "position@landing"), "no event 'landing'", 1),
        (("--members", "0"), "0", 2),
        (("--engine", "abacus"), "abacus", 2),
    ],
)
def test_what_makes_no_sense_is_a_sentence(call, options, sentence, code):
    found = call("throw.toml", *options)
    assert (found.exit_code, sentence in found.output) == (code, True), found.output
    assert "Traceback" not in found.output


def test_a_file_without_distributions_is_refused(call):
    Path("plain.toml").write_text(
        SWEEP.split("[sweep]")[0].replace("{ uniform = [1.0, 2.0] }", "1.0").split("velocity")[0]
    )
    found = call("plain.toml")
    assert found.exit_code == 1
    assert "distribution" in found.output


def test_the_example_finds_what_decides_where_the_store_goes(call):
    """Sideways it is carried by the wind from there; downward by the ejection."""
    report = json.loads(call(EXAMPLE, "--no-pictures", "--json", "--members", 400, "--outputs", 4).stdout)
    strongest = {
        one["label"]: max(one["sensitivities"], key=lambda name: one["sensitivities"][name]["variance_share"] or 0)
        for one in report["results"]
    }
    assert strongest["position.y@final"] == "wind north"
    assert strongest["position.z@final"] == "ejection"
    assert report["failed"] == 0
