"""A motion as one file, and in a notebook, in Chromium without server and network."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import polhode as ph
from bouncing_balls import one_ball, system_of_balls
from browser_driver import (
    DRAWN,
    Visit,
    pixels_of,
    share_changed,
    share_drawn,
    unnamed_controls,
    wait_until_drawn,
    wait_until_ready,
)

LARGEST_PAGE = 1_500_000
DURATION = 3.0
NO_WEBGL = """
const known = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return String(kind).startsWith("webgl") ? null : known.call(this, kind, ...rest);
};
"""


def spinning(rate: float = 5.0) -> ph.Motion:
    """A box that spins about its middle axis, in closed form."""
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    state = ph.State(angular_velocity_body=(0.02 * rate, rate, 0.02 * rate))
    return ph.simulate(box, state, duration=DURATION, method="exact")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The HTML file of that motion."""
    path = tmp_path_factory.mktemp("pages") / "box.html"
    spinning().export_html(path)
    return path


@pytest.fixture
def page(exported, visit):
    """The file, opened offline."""
    return opened(exported, visit)


def opened(path, visit, **options) -> Page:
    window = visit(**options)
    window.context.set_offline(True)
    window.page.goto(f"{path.as_uri()}?fx=low")
    wait_until_ready(window.page)
    return window.page


def view(page: Page, frame: str) -> Locator:
    return page.get_by_role("img", name=f"{frame} frame")


def time_slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Time", exact=True)


def time_of(page: Page) -> float:
    return float(time_slider(page).input_value())


def test_visits_detect_foreign_requests_and_errors(browser):
    """All other tests here end with this check."""
    context = browser.new_context(offline=True)
    window = Visit(context, context.new_page(), hosts=())
    window.page.set_content('<img src="http://stranger.example/x.png"><script>throw new Error("a mistake")</script>')
    with pytest.raises(AssertionError, match=r"stranger\.example"):
        window.end()
    window.hosts = ("stranger.example",)
    with pytest.raises(AssertionError, match="a mistake"):
        window.end()


def test_the_file_is_small(exported):
    assert exported.stat().st_size <= LARGEST_PAGE


def test_two_views_are_drawn_and_the_body_turns_in_space(page):
    first = {frame: pixels_of(view(page, frame)) for frame in ("Space", "Body")}
    assert all(DRAWN < share_drawn(picture) < 0.9 for picture in first.values())
    assert share_changed(first["Space"], first["Body"]) > 0.01
    time_slider(page).fill("1.3")
    wait_until_drawn(page)
    assert share_changed(first["Space"], pixels_of(view(page, "Space"))) > 0.02


def test_it_plays_and_pauses(page):
    assert time_of(page) == 0.0
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Pause", exact=True).wait_for()
    expect(time_slider(page)).not_to_have_value("0")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Play", exact=True).wait_for()
    stopped = time_of(page)
    page.wait_for_timeout(150)
    assert time_of(page) == stopped > 0.0


def test_the_time_slider_and_the_step_buttons(page):
    time_slider(page).fill("1.5")
    assert time_of(page) == pytest.approx(1.5)
    page.get_by_role("button", name="Step forward").click()
    ahead = time_of(page)
    assert 1.5 < ahead < 1.6
    page.get_by_role("button", name="Step back").click()
    assert time_of(page) < ahead
    page.get_by_role("button", name="Go to end").click()
    assert time_of(page) == DURATION
    page.get_by_role("button", name="Go to start").click()
    assert time_of(page) == 0.0


def test_keyboard_shortcuts(page):
    page.keyboard.press("ArrowRight")
    step = time_of(page)
    assert 0.0 < step < 0.1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert time_of(page) == pytest.approx(step)
    page.keyboard.press("End")
    assert time_of(page) == DURATION
    page.keyboard.press("Home")
    assert time_of(page) == 0.0
    page.keyboard.press("Space")
    expect(time_slider(page)).not_to_have_value("0")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play", exact=True).wait_for()


def test_a_drag_in_a_plot_moves_the_time(page):
    plot = page.get_by_role("complementary").locator(".u-over").first
    plot.scroll_into_view_if_needed()
    place = plot.bounding_box()
    middle = place["y"] + place["height"] / 2
    for share in (0.25, 0.75):
        page.mouse.move(place["x"] + 0.5 * place["width"], middle)
        page.mouse.down()
        page.mouse.move(place["x"] + share * place["width"], middle, steps=3)
        page.mouse.up()
        assert time_of(page) == pytest.approx(share * DURATION, abs=0.02 * DURATION)


def test_the_plots_are_drawn(page):
    plot = page.get_by_role("complementary").locator("canvas").first
    plot.scroll_into_view_if_needed()
    assert share_drawn(pixels_of(plot)) > 0.01


def test_the_page_notes_its_precision(page):
    expect(page.get_by_role("region", name="Notes")).to_contain_text("single precision")


def test_every_control_of_the_file_has_an_accessible_name(page):
    assert unnamed_controls(page) == []


def test_an_aliased_rotation_has_a_warning_that_offers_slow_motion(tmp_path, visit):
    """Half a turn per frame, at 60 frames per second, is 188 rad/s.  [Christian 2011, section 17.6]"""
    spinning(400.0).export_html(tmp_path / "fast.html")
    page = opened(tmp_path / "fast.html", visit)
    notice = page.get_by_role("status").filter(has_text="stroboscopic")
    expect(notice).to_be_visible()
    notice.get_by_role("button", name="low motion").click()
    expect(notice).to_have_count(0)
    speed = float(page.get_by_role("combobox", name="Speed").input_value())
    assert 400.0 * speed / 60.0 < 3.1416


def test_without_webgl_plots_and_controls_work_and_a_notice_says_why(exported, visit):
    window = visit(expected="WebGL")
    window.page.add_init_script(NO_WEBGL)
    window.page.goto(exported.as_uri())
    wait_until_ready(window.page)
    page = window.page
    expect(page.get_by_text("WebGL").first).to_be_visible()
    assert share_drawn(pixels_of(view(page, "Space"))) < DRAWN
    page.get_by_role("button", name="Play", exact=True).click()
    expect(time_slider(page)).not_to_have_value("0")
    page.keyboard.press("Space")
    plot = page.get_by_role("complementary").locator("canvas").first
    plot.scroll_into_view_if_needed()
    assert share_drawn(pixels_of(plot)) > 0.01


def test_in_a_notebook_the_page_is_in_a_sandboxed_frame(tmp_path, visit):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><title>A notebook</title>{spinning()._repr_html_()}", encoding="utf-8")
    page = visit().page
    page.goto(notebook.as_uri())
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-downloads"
    inside = page.frame_locator("iframe")
    inside.locator('body[data-state="ready"]').wait_for()
    # At the start: while it turns, the box may be seen from its thin side.
    assert share_drawn(pixels_of(inside.get_by_role("img", name="Space frame"))) > DRAWN
    inside.get_by_role("button", name="Play", exact=True).click()
    expect(inside.get_by_role("slider", name="Time", exact=True)).not_to_have_value("0")
    inside.get_by_role("button", name="Pause", exact=True).click()


def test_a_thousand_bodies_are_drawn_and_rotate(tmp_path, visit):
    """With few outputs: a closed form would be resampled at hundreds of times."""
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    grid = np.stack(np.meshgrid(np.arange(40.0), np.arange(25.0), [0.0]), axis=-1).reshape(-1, 3)
    states = ph.State(position=grid, angular_velocity_body=(0.1, 5.0, 0.1))
    with pytest.warns(UserWarning, match="uncompiled"):  # faster here than compiling
        many = ph.ensemble(box, states, duration=0.2, step=0.1, output_step=0.1, method="rk4", engine="python")
    many.export_html(tmp_path / "thousand.html")
    page = opened(tmp_path / "thousand.html", visit)
    expect(page.get_by_role("spinbutton", name="Watch member")).to_have_value("0")
    first = pixels_of(view(page, "Space"))
    page.keyboard.press("End")
    wait_until_drawn(page)
    assert share_changed(first, pixels_of(view(page, "Space"))) > 0.05


# Contacts -------------------------------------------------------------------------------------------------------------
def test_the_floor_and_the_impulse_of_an_impact_are_drawn(tmp_path, visit):
    system_of_balls().export_html(tmp_path / "balls.html")
    page = opened(tmp_path / "balls.html", visit)
    expect(page.get_by_text("floor: grid")).to_be_visible()
    page.get_by_role("button", name="impact, floor, 0.452 s").click()
    wait_until_drawn(page)
    assert time_of(page) == pytest.approx(np.sqrt(2 / ph.forces.STANDARD_GRAVITY), abs=1e-9)
    shown = pixels_of(view(page, "Space"))
    page.get_by_role("button", name="Show").click()
    page.get_by_role("switch", name="Impacts").uncheck()
    page.get_by_role("button", name="Show").click()
    wait_until_drawn(page)
    hidden = pixels_of(view(page, "Space"))
    assert share_changed(shown, hidden) > 5e-4  # an arrow and a dot
    page.get_by_role("button", name="Show").click()
    page.get_by_role("switch", name="Impacts").check()
    page.get_by_role("button", name="Show").click()
    wait_until_drawn(page)
    assert share_changed(shown, pixels_of(view(page, "Space"))) == 0.0


def test_without_contacts_the_switch_says_so(page):
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("switch", name="Impacts")).to_be_disabled()
    expect(page.get_by_text("There are no contacts.")).to_be_visible()


def test_a_fall_without_impacts_is_shown(tmp_path, visit):
    one_ball(duration=0.3).export_html(tmp_path / "ball.html")
    page = opened(tmp_path / "ball.html", visit)
    expect(page.get_by_text("floor: grid")).to_be_visible()
