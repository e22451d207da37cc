"""The picture and the page of a sweep."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import polhode as ph
from polhode.plot import sweep_panels as panels
from polhode.web.sweep_page import POLICY


def build(draw):
    velocity = draw.normal("throw <fast> & high", (10.0, 0.0, 8.0), (2.0, 1.0, 0.5))
    spin = draw.uniform("spin", -1.0, 1.0)
    state = ph.State(velocity=velocity, angular_velocity_body=np.stack([0 * spin, spin, 5 + 0 * spin], axis=1))
    box = ph.shapes.box((0.1, 0.2, 0.3), mass=1.0)
    return ph.Scenario(box, state, [ph.forces.gravity()], duration=1.0, output_step=0.1)


def summary_of(members, results=()):
    source = ph.DrawnSource(build, members)
    given = ["count:speed@final:>10<20"]
    result = ph.sweep(source, reduce=ph.summary_reductions(source, given, results))
    return ph.summarize(result, title="throws <1> & more", settings={"file": "a<b>.toml"})


@pytest.fixture(scope="module")
def summary():
    return summary_of(600)


@pytest.fixture(scope="module")
def page(summary, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "sweep.html"
    summary.export_html(path)
    return path.read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Counts tags, and notices those that are left open."""

    VOID = ("meta", "br", "image", "path", "use", "rect", "stop")

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_picture_has_a_panel_for_each_thing(summary):
    axes = [one for one in summary.plot().get_axes() if one.axison]
    scatters = sum(len(panels.list_strongest(summary, i, 2)) for i in range(len(summary.results)))
    assert len(axes) == 2 * len(summary.results) + scatters + len(summary.bands) + 1
    titles = {one.get_title(loc="left") for one in axes}
    assert {"position x at the end (m)", "share of its variance", "speed (m/s)"} <= titles


def test_the_picture_is_written(summary, tmp_path):
    summary.plot().savefig(tmp_path / "sweep.png", dpi=40)
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_bars_are_the_shares(summary):
    from polhode.plot.style import styled_figure

    with styled_figure(4, 3) as figure:
        axes = figure.subplots()
        panels.draw_shares(axes, summary, 0)
    k = panels.list_strongest(summary, 0, 1)[0]
    assert axes.patches[0].get_width() == pytest.approx(100 * summary.sensitivities[0][k].variance_share)
    assert axes.get_yticklabels()[0].get_text() == panels.shorten_name(summary.inputs[k].name)


def test_the_page_is_whole_and_has_no_script(page):
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    names = {tag for tag, _ in tags.seen}
    assert not names & {"script", "iframe", "object", "link", "form", "a"}
    for _, attributes in tags.seen:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("href", "xlink:href", "src"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png"))
    assert f'content="{POLICY}"' in page
    assert "default-src 'none'" in POLICY


def test_what_users_named_is_escaped(page):
    assert "throws &lt;1&gt; &amp; more" in page
    assert "throw &lt;fast&gt; &amp; high.x" in page
    assert "a&lt;b&gt;.toml" in page
    assert "<fast>" not in page


def test_every_picture_is_svg_that_parses_with_a_name_for_readers(page):
    pictures = re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) > 15
    for text in pictures:
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert root.get("width") is None


def test_colors_follow_the_page(page):
    assert "prefers-color-scheme: dark" in page
    assert "var(--ink)" in page
    svg = "".join(re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL))
    for color in ("#222222", "#0072b2", "#e8e8e8"):
        assert color not in svg


def test_the_page_says_how_it_was_made_and_what_it_cannot_say(page):
    for text in (
        "random",
        "seed",
        "600 members",
        "act only together",
        "with 95 % confidence",
        "speed at the end above 10",
    ):
        assert text in page


def test_the_same_sweep_gives_the_same_page(summary, page, tmp_path):
    summary.export_html(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("members", [1, 2, 20])
def test_few_members_are_drawn_too(members, tmp_path):
    few = summary_of(members)
    few.plot().savefig(tmp_path / "few.png", dpi=30)
    few.export_html(tmp_path / "few.html")
    assert f"{members} member" in (tmp_path / "few.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [(2972.574, 0.1234, "2972.57 ± 0.12"), (5.0, 0.0, "5"), (5.0, np.nan, "5"), (1e9, 3e5, "1e+09 ± 3.0e+05")],
)
def test_numbers_with_errors(value, error, text):
    assert panels.format_with_error(value, error) == text
