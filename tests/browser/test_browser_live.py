"""The lab in Chromium while knobs are dragged, with a pinned run, and with a sweep."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser_driver import evaluate, pixels_of, share_changed, wait_until_drawn, wait_until_ready
from polhode.gallery import MODELS

COUNT_MOTIONS = """
globalThis.motions = [];
new MutationObserver(() => {
  const { run } = document.body.dataset;
  if (motions.at(-1) !== run) motions.push(run);
}).observe(document.querySelector("[data-drawn]"), { attributes: true, attributeFilter: ["data-drawn"] });
"""


@pytest.fixture
def box(lab, visit):
    """The lab with the Dzhanibekov model."""
    page = visit(lab.host).page
    page.goto(lab.address("dzhanibekov"))
    wait_until_ready(page, "dzhanibekov")
    return page


def drag(page: Page, name: str, shares: list[float]) -> None:
    """Drag a slider with the mouse through these fractions of its width, a frame at each, without releasing it."""
    slider = page.get_by_role("slider", name=name, exact=True)
    slider.scroll_into_view_if_needed()
    place = slider.bounding_box()
    at = [(place["x"] + share * place["width"], place["y"] + place["height"] / 2) for share in shares]
    page.mouse.move(*at[0])
    page.mouse.down()
    for x, y in at:
        page.mouse.move(x, y)
        page.wait_for_timeout(60)


def test_several_motions_are_shown_during_one_drag_and_the_last_values_in_the_end(box):
    evaluate(box, COUNT_MOTIONS)
    drag(box, "spin", np.linspace(0.2, 0.8, 25).tolist())
    assert evaluate(box, "motions.length") >= 4, "during the drag"
    assert "spin" not in box.url, "the address changes at the end of a drag"
    box.mouse.up()
    wait_until_ready(box)
    spin = float(box.get_by_role("spinbutton", name="spin", exact=True).input_value())
    assert spin > 5
    assert f"spin={spin:g}" in box.url
    shown = evaluate(box, "Array.from(polhode.record.angularVelocity.slice(0, 3))")
    np.testing.assert_allclose(shown, (0.1, spin, 0.1), rtol=1e-6)
    assert evaluate(box, "polhode.values.spin") == spin
    model = MODELS["dzhanibekov"]
    duration = model.scenario(**model.values(spin=spin))["box"].duration
    assert evaluate(box, "polhode.record.time.at(-1)") == pytest.approx(duration, rel=1e-9)


def test_a_drag_keeps_the_time_the_camera_and_the_run(box):
    box.get_by_role("combobox", name="Run").select_option("t-handle")
    wait_until_ready(box)
    evaluate(box, "polhode.time(1)")
    drag(box, "nudge", np.linspace(0.3, 0.7, 10).tolist())
    assert evaluate(box, "polhode.record.run") == "t-handle"
    box.mouse.up()
    wait_until_ready(box)
    expect(box.get_by_role("combobox", name="Run")).to_have_value("t-handle")
    expect(box.locator("#play-bar")).to_contain_text("1.000 s")


def test_values_set_by_a_script_are_shown_when_its_promise_is_kept(box):
    evaluate(box, "polhode.set({ spin: 7 })")
    assert evaluate(box, "polhode.record.angularVelocity[1]") == pytest.approx(7)
    assert evaluate(box, "polhode.values") == {"spin": 7, "nudge": 0.1}


def test_a_pinned_run_is_a_ghost_with_its_values_until_it_is_unpinned(box):
    evaluate(box, "polhode.set({ spin: 6 })")
    evaluate(box, "polhode.time(2)")
    wait_until_drawn(box)
    views = box.get_by_role("region", name="Views")
    alone = pixels_of(views)
    evaluate(box, "polhode.set({ spin: 5 })")
    box.get_by_role("button", name="Pin", exact=True).click()
    expect(box.get_by_role("region", name="Parameters")).to_contain_text("Pinned: spin 5 rad/s, nudge 0.1 rad/s")
    evaluate(box, "polhode.set({ spin: 6 })")
    evaluate(box, "polhode.time(2)")
    wait_until_drawn(box)
    expect(views).to_contain_text("ghost: spin 5 rad/s, nudge 0.1 rad/s")
    assert share_changed(alone, pixels_of(views)) > 0.01
    box.get_by_role("button", name="Unpin", exact=True).click()
    wait_until_drawn(box)
    expect(views).not_to_contain_text("ghost")
    assert share_changed(alone, pixels_of(views)) < 0.005


def test_a_sweep_shows_members_in_the_colors_of_their_values(box):
    box.get_by_role("button", name="Sweep spin").click()
    box.get_by_role("spinbutton", name="Start of the sweep of spin").fill("3")
    box.get_by_role("spinbutton", name="End of the sweep of spin").fill("7")
    box.get_by_role("spinbutton", name="Members of the sweep of spin").fill("9")
    box.get_by_role("button", name="Run", exact=True).click()
    expect(box.get_by_role("img", name=re.compile("Color: spin from 3 to 7")).first).to_be_visible()
    wait_until_ready(box)
    assert evaluate(box, "polhode.record.axis") == "member"
    first = np.array(evaluate(box, "Array.from(polhode.record.angularVelocity.slice(0, 27))")).reshape(9, 3)
    np.testing.assert_allclose(first[:, 1], np.linspace(3, 7, 9), rtol=1e-6)
    expect(box.get_by_role("combobox", name="Watch")).to_contain_text("Spin 3.5 rad/s")
    box.get_by_role("slider", name="spin", exact=True).press("ArrowRight")
    wait_until_ready(box)
    assert evaluate(box, "polhode.record.bodies") == 1


def test_a_sweep_that_is_refused_says_why_at_its_knob(box):
    box.get_by_role("button", name="Sweep spin").click()
    box.get_by_role("spinbutton", name="Members of the sweep of spin").fill("3")
    box.get_by_role("button", name="Run", exact=True).click()
    expect(box.get_by_role("region", name="Parameters")).to_contain_text("a sweep has 5 to 41 members")
