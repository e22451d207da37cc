"""The pages of the documentation, before they are built: links, names and paths lead somewhere.

`make docs` builds the site with warnings as errors, and checks the links of what was built (docs/check_site.py).
"""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if "_build" not in path.parts and ".ipynb_checkpoints" not in path.parts
)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
CITATION = re.compile(r"\[((?:[A-Z][\w.]+(?: and [A-Z]\w+| et al\.)? \d{4}))(?=[,;\]])")


def links(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in LINK.findall(text) if "://" not in link]


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES], ids=lambda p: p.stem)
def test_links_lead_to_files(path):
    assert [link for link in links(path) if not (path.parent / link).exists()] == []


def test_every_public_name_is_listed_in_the_reference():
    """Against `polhode.__all__` and the members of the public modules."""
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "reference" / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
    public = runpy.run_path(str(DOCS / "check_site.py"))["public_names"]()
    assert set(public) - set(listed) == set()
    assert len(listed) == len(set(listed))


def test_every_citation_of_pages_and_source_is_in_the_bibliography():
    listed = ROOT / "src" / "polhode" / "gallery" / "references.bib"
    known = set(re.findall(r"shorthand = \{(.*)\}", listed.read_text(encoding="utf-8")))
    assert len(known) >= 15
    for path in [*PAGES, *(ROOT / "src" / "polhode").rglob("*.py")]:
        assert set(CITATION.findall(path.read_text(encoding="utf-8"))) - known == set(), path


def test_every_file_that_the_architecture_names_exists():
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+(?:\.py|/))`", text)
    bases = (ROOT / "src" / "polhode", ROOT, ROOT / "src" / "polhode" / "integrate", ROOT / "src/polhode/massprops")
    assert len(named) > 25
    assert [name for name in named if not any((base / name).exists() for base in bases)] == []


def test_the_moving_picture_of_the_readme_is_small():
    assert (DOCS / "pictures" / "flip.gif").stat().st_size < 1.5e6


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda p: p.stem)
def test_every_command_of_make_and_of_polhode_exists(path):
    """Against the targets of the Makefile and the commands that click lists."""
    from polhode.cli import cli

    text = path.read_text(encoding="utf-8")
    code = "\n".join(
        re.findall(r"```(?:sh|text)\n(.*?)```", text, re.DOTALL) + re.findall(r"`((?:make|polhode) [^`]+)`", text)
    )
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?m)^make ([a-z][a-z-]*)", code)) <= targets
    assert set(re.findall(r"(?m)^polhode ([a-z]+)", code)) <= set(cli.commands)
