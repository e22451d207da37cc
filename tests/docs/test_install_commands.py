"""The commands that install Polhode, in documentation and messages."""

import re
import runpy
import tomllib
from pathlib import Path

from polhode.installation import PUBLISHED, install_command, install_hint

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs" / "install_commands.py"))


def test_every_page_and_docstring_says_how_polhode_is_installed_today():
    """Otherwise run docs/install_commands.py."""
    texts = {path: path.read_text(encoding="utf-8") for path in SCRIPT["files"]()}
    assert len(texts) > 100
    assert [path for path, text in texts.items() if SCRIPT["up_to_date"](text) != text] == []


def test_a_package_that_is_not_published_is_nowhere_installed_by_its_name():
    texts = [path.read_text(encoding="utf-8") for path in SCRIPT["files"]()]
    by_name = [found for text in texts for found in re.findall(r"pip install ['\"]?polhode\S*", text)]
    assert bool(by_name) == PUBLISHED


def test_every_extra_that_is_named_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    texts = [path.read_text(encoding="utf-8") for path in SCRIPT["files"]()]
    named = {name for text in texts for name in re.findall(r"pip install '[.\w]+\[(\w+)\]'", text)}
    hinted = {name for text in texts for name in re.findall(r"install_hint\(['\"](\w+)['\"]\)", text)}
    assert len(named) >= 5
    assert len(hinted) >= 5
    assert named | hinted <= extras


def test_the_day_of_publication(monkeypatch):
    """Pages follow the one constant, there and back."""
    today = "`pip install '.[taylor]'` in a clone.\n```sh\npip install .    # in a clone\n```\n"
    then = "`pip install 'polhode[taylor]'`.\n```sh\npip install polhode\n```\n"
    assert install_hint("mesh") == "pip install '.[mesh]' in a clone of Polhode"
    assert SCRIPT["up_to_date"](then) == today
    monkeypatch.setattr("polhode.installation.PUBLISHED", True)
    published = runpy.run_path(str(ROOT / "docs" / "install_commands.py"))
    assert published["up_to_date"](today) == then
    assert install_hint("mesh") == install_command("mesh") == "pip install 'polhode[mesh]'"
