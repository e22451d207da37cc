"""The counterparts of the texts' figures are drawn, and the table of them is complete and leads somewhere."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from polhode.gallery import MODELS

pytest.importorskip("meshio")

DOCS = Path(__file__).parents[2] / "docs"
TABLE = (DOCS / "reference" / "figures.md").read_text(encoding="utf-8")
FIGURES = (
    [f"Baraff 1997, figure {n}" for n in range(1, 13)]
    + [f"Hydra 2017, figure {n}" for n in ("2.1", "2.2", "2.3", "2.4", "3.1", "5.1")]
    + [f"Tops report, figure {n}" for n in range(1, 7)]
    + [f"Christian 2011, figure 17.{n}" for n in range(1, 6)]
)


def script():
    spec = spec_from_file_location("figures", DOCS / "pictures" / "figures.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["frames", "velocities", "loads", "turning"])
def test_a_sheet_of_figures_is_drawn(name, tmp_path):
    draw = {one.__name__: one for one in script().FIGURES}[name]
    draw().savefig(tmp_path / "sheet.png", dpi=40)
    assert (tmp_path / "sheet.png").stat().st_size > 5000
    kept = DOCS / "pictures" / "figures" / f"{name}.png"
    assert 5000 < kept.stat().st_size < 150_000
    assert f"](../pictures/figures/{name}.png)" in TABLE


def test_every_figure_of_the_texts_has_its_row():
    assert re.findall(r"^\| \[(.*?, figure [\d.]+)\] \|", TABLE, re.MULTILINE) == FIGURES


def test_every_link_of_the_table_leads_somewhere():
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line[3:].lower()).replace(" ", "-")
        for line in TABLE.splitlines()
        if line.startswith("## ")
    }
    for page, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", TABLE):
        assert anchor in (MODELS if page == "gallery.md" else headings), anchor
