"""The stage of every model in Chromium: its props are there, its picture is not empty and moves, labels stay inside."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from browser_driver import evaluate, pixels_of, share_changed, share_drawn, wait_until_drawn, wait_until_ready
from polhode.gallery import MODELS
from polhode.gallery.thumbnails import DARK_SUFFIX, SUFFIX, read_thumbnail, thumbnail_files

MOMENTS = (0.0, 0.4, 1.0)
MIN_DRAWN, MIN_CHANGED = 0.004, 0.0005
"""Fractions of the view: of what is drawn, without words, and of what changes from one moment to the next."""
MAX_PICTURES = 600_000
"""Size of all pictures of the gallery together, in bytes."""
BARE = """
(() => {
  const style = document.createElement("style");
  style.textContent = ".view-pane > * { visibility: hidden }";
  document.head.append(style);
})()
"""
SEEK = """
(() => {
  const slider = document.querySelector("#play-bar input[type=range]");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  slider.value = low + %r * (high - low);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})()
"""
OUTSIDE = """
JSON.stringify([...document.querySelectorAll(".view-pane")].flatMap((pane) => {
  const box = pane.getBoundingClientRect();
  const isInside = (label) => {
    const own = label.getBoundingClientRect();
    const isWithin = own.left >= box.left - 1 && own.right <= box.right + 1;
    return isWithin && own.top >= box.top - 1 && own.bottom <= box.bottom + 1;
  };
  const labels = [...pane.querySelectorAll(".view-word")].filter((label) => !label.hidden);
  return labels.filter((label) => !isInside(label)).map((label) => label.textContent);
}))
"""


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_the_stage_of_a_model_is_set_and_something_happens_on_it(lab, visit, name):
    model = MODELS[name]
    stage = model.stage_of(model.values())
    page = visit(lab.host).page
    page.goto(lab.address(name))
    wait_until_ready(page, name)
    assert evaluate(page, "document.body.dataset.props") == ",".join(prop.kind for prop in stage.props)
    evaluate(page, BARE)
    pictures = []
    for share in MOMENTS:
        evaluate(page, SEEK % share)
        wait_until_drawn(page)
        assert json.loads(evaluate(page, OUTSIDE)) == [], "labels outside their pane"
        pictures.append(pixels_of(page.locator(".view-space")))
        assert share_drawn(pictures[-1]) > MIN_DRAWN, f"the view is empty at {share:.0%}"
    changes = [share_changed(one, other) for one, other in pairwise(pictures)]
    assert bool(stage.still) or min(changes) > MIN_CHANGED, f"nothing moves: {changes}"


def test_the_space_view_is_also_seen_from_the_rotating_platform(lab, visit):
    page = visit(lab.host).page
    page.goto(lab.address("rotating-frame"))
    wait_until_ready(page, "rotating-frame")
    evaluate(page, BARE)
    pictures = {}
    for frame in ("Space frame", "Platform frame"):
        evaluate(
            page, f"[...document.querySelectorAll('.frame-choice')].find((b) => b.textContent === '{frame}').click()"
        )
        for share in (0.0, 1.0):
            evaluate(page, SEEK % share)
            wait_until_drawn(page)
            pictures[frame, share] = pixels_of(page.locator(".view-space"))
    # At t = 0 the two frames coincide.  Seen from itself the platform rests, and only the ball has moved.
    assert share_changed(pictures["Space frame", 0.0], pictures["Platform frame", 0.0]) < 0.02
    turned = share_changed(pictures["Space frame", 0.0], pictures["Space frame", 1.0])
    resting = share_changed(pictures["Platform frame", 0.0], pictures["Platform frame", 1.0])
    assert resting < turned / 2


def test_the_gallery_shows_a_picture_of_every_model_and_begins_with_the_featured_ones(lab, visit):
    page = visit(lab.host, color_scheme="dark").page
    page.goto(lab.address("dzhanibekov"))
    wait_until_ready(page, "dzhanibekov")
    featured = sorted((model for model in map(MODELS.get, MODELS) if model.rank), key=lambda model: model.rank)
    links = page.get_by_role("navigation").get_by_role("link")
    assert [links.nth(i).get_attribute("data-name") for i in range(len(featured))] == [m.name for m in featured]
    page.wait_for_function("[...document.querySelectorAll('.featured img')].every((one) => one.naturalWidth > 0)")
    sources = evaluate(page, "[...document.querySelectorAll('#gallery img')].map((one) => one.getAttribute('src'))")
    assert len(sources) == len(MODELS) + len(featured)
    assert all(source.endswith("-dark.webp") for source in sources)


def test_every_model_has_its_two_pictures_and_together_they_are_small():
    assert thumbnail_files() == {name + suffix for name in MODELS for suffix in (SUFFIX, DARK_SUFFIX)}
    assert sum(len(read_thumbnail(file)) for file in thumbnail_files()) < MAX_PICTURES
