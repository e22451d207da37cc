"""The room of the views: camera, panes, full screen, what happens in a frame, and what can be grabbed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

import polhode as ph
from browser_driver import (
    DRAWN,
    PHONE,
    Lab,
    evaluate,
    pixels_of,
    share_changed,
    share_drawn,
    unnamed_controls,
    wait_until_drawn,
    wait_until_ready,
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A box that spins about its middle axis, as a file."""
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    state = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    path = tmp_path_factory.mktemp("room") / "box.html"
    ph.simulate(box, state, duration=3.0, method="exact").export_html(path)
    return path


@pytest.fixture
def page(exported, visit) -> Page:
    return opened(exported, visit)


@pytest.fixture(scope="module")
def cases() -> Iterator[Lab]:
    """A lab with the models of tests/helpers/lab_models.py."""
    started = Lab(cases=True)
    yield started
    started.stop()


def opened(path, visit, **options) -> Page:
    page = visit(**options).page
    page.goto(f"{path.as_uri()}?fx=low")
    wait_until_ready(page)
    wait_until_drawn(page)
    return page


def view(page: Page | FrameLocator, frame: str = "Space") -> Locator:
    return page.get_by_role("img", name=f"{frame} frame")


def center(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def changed_by(page: Page, act, frame: str = "Space") -> float:
    """Fraction of a view that an action changes."""
    before = pixels_of(view(page, frame))
    act()
    wait_until_drawn(page)
    return share_changed(before, pixels_of(view(page, frame)))


def test_presets_by_menu_and_by_key_give_the_same_view(page):
    pictures = {}
    for key, words in enumerate(("Start view", "Front", "Side", "Top", "Isometric", "Along L")):
        page.get_by_role("button", name="Camera", exact=True).click()
        page.get_by_role("button", name=words).click()
        wait_until_drawn(page)
        pictures[words] = pixels_of(view(page))
        page.keyboard.press("4" if key != 4 else "0")
        wait_until_drawn(page)
        page.keyboard.press(str(key))
        wait_until_drawn(page)
        assert share_changed(pictures[words], pixels_of(view(page))) < 1e-3, words
    others = [(a, b) for a in pictures for b in pictures if a < b]
    assert all(share_changed(pictures[a], pictures[b]) > 0.02 for a, b in others)


def test_the_mouse_rotates_moves_and_zooms_and_a_double_click_resets(page):
    first = pixels_of(view(page))
    x, y = center(view(page).bounding_box())

    def drag(button: str = "left") -> None:
        page.mouse.move(x, y)
        page.mouse.down(button=button)
        page.mouse.move(x + 60, y + 20, steps=3)
        page.mouse.up(button=button)

    assert changed_by(page, drag) > 0.02
    page.keyboard.press("0")
    wait_until_drawn(page)
    assert changed_by(page, lambda: drag("right")) > 0.02
    # Moved as a whole with the pointer, up to the perspective.
    moved, inner = pixels_of(view(page)), (slice(90, -90), slice(90, -90))
    shifted = np.roll(first, (20, 60), axis=(0, 1))
    assert share_changed(shifted[inner], moved[inner]) < share_changed(first[inner], moved[inner]) / 3
    page.mouse.dblclick(x, y)
    wait_until_drawn(page)
    assert share_changed(first[inner], pixels_of(view(page))[inner]) < 0.01


def test_the_wheel_zooms_to_the_pointer(page):
    box = view(page).bounding_box()
    corner = box["x"] + 0.75 * box["width"], box["y"] + 0.3 * box["height"]
    page.mouse.move(*corner)
    assert changed_by(page, lambda: page.mouse.wheel(0, -400)) > 0.02
    zoomed = share_drawn(pixels_of(view(page)))
    page.mouse.wheel(0, 400)
    wait_until_drawn(page)
    assert share_drawn(pixels_of(view(page))) < zoomed


def test_views_turn_together_or_each_on_its_own(page):
    def turn() -> None:
        x, y = center(view(page).bounding_box())
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 50, y, steps=3)
        page.mouse.up()

    assert changed_by(page, turn, "Body") > 0.02
    page.get_by_role("button", name="Camera", exact=True).click()
    page.get_by_role("checkbox", name="Both views turn together").uncheck()
    page.keyboard.press("Escape")
    assert changed_by(page, turn, "Body") < 0.01


def test_one_view_or_both(page):
    width = view(page).bounding_box()["width"]
    for shown, hidden in (("Space", "Body"), ("Body", "Space")):
        page.get_by_role("button", name=f"{shown} frame only").click()
        expect(view(page, hidden)).to_be_hidden()
        wait_until_drawn(page)
        assert view(page, shown).bounding_box()["width"] > 1.9 * width
        assert share_drawn(pixels_of(view(page, shown))) > DRAWN / 2
    page.keyboard.press("v")
    expect(view(page, "Space")).to_be_visible()
    expect(page.get_by_role("button", name="Both views")).to_have_attribute("aria-pressed", "true")


def test_dividers_are_dragged_or_moved_by_keys_and_remembered(page):
    lines = {
        "Size of the views": (lambda: view(page).bounding_box()["width"], 80, 0),
        "Width of the plots": (lambda: -page.get_by_role("complementary").bounding_box()["width"], 60, 0),
        "Height of the parameters": (lambda: view(page).bounding_box()["height"], 0, 40),
    }
    for name, (measure, dx, dy) in lines.items():
        line = page.get_by_role("separator", name=name)
        x, y = center(line.bounding_box())
        before = measure()
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + dx, y + dy, steps=3)
        page.mouse.up()
        assert measure() - before == pytest.approx(dx + dy, abs=8), name
        dragged, value = measure(), line.get_attribute("aria-valuenow")
        line.focus()
        page.keyboard.press("ArrowLeft" if dx else "ArrowUp")
        assert measure() < dragged
        assert line.get_attribute("aria-valuenow") != value
        page.keyboard.press("Enter")
        assert measure() == pytest.approx(before, abs=2)
    page.get_by_role("separator", name="Size of the views").press("Home")
    narrow = view(page).bounding_box()["width"]
    page.reload()
    wait_until_ready(page)
    assert view(page).bounding_box()["width"] == pytest.approx(narrow, abs=1)
    assert unnamed_controls(page) == []


def test_full_screen_shows_views_and_playback_alone(page):
    page.get_by_role("button", name="Full screen").click()
    leave = page.get_by_role("button", name="Leave full screen")
    leave.wait_for()
    expect(page.get_by_role("complementary")).to_be_hidden()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    room = evaluate(page, "[innerWidth, innerHeight]")
    wait_until_drawn(page)
    both = [view(page, frame).bounding_box() for frame in ("Space", "Body")]
    assert sum(box["width"] for box in both) == pytest.approx(room[0], abs=2)
    assert both[0]["height"] > 0.8 * room[1]
    leave.click()
    expect(page.get_by_role("complementary")).to_be_visible()


def test_on_a_phone_the_stacked_views_are_divided_and_fill_the_screen(exported, visit):
    page = opened(exported, visit, viewport=PHONE, has_touch=True, is_mobile=True)
    before = view(page).bounding_box()["height"]
    page.get_by_role("separator", name="Size of the views").press("ArrowDown")
    assert view(page).bounding_box()["height"] > before
    page.get_by_role("button", name="Camera", exact=True).tap()
    menu = page.get_by_role("group", name="Camera").bounding_box()
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= PHONE["width"]
    page.get_by_role("button", name="Top").tap()
    page.get_by_role("button", name="Full screen").tap()
    page.get_by_role("button", name="Leave full screen").wait_for()
    bottom = page.get_by_role("region", name="Playback").bounding_box()
    assert bottom["y"] + bottom["height"] <= PHONE["height"] + 1
    assert evaluate(page, "document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_notebook_can_be_scrolled_past_and_zooms_after_a_click(exported, visit):
    """The wheel over a view in a frame scrolls the page around it, until the view is clicked or Ctrl is held."""
    page = visit().page
    around = exported.with_name("notebook.html")
    frame = f'<iframe src="{exported.name}?fx=low" width="1000" height="620"></iframe>'
    around.write_text(f"<!doctype html><title>A notebook</title>{frame}<p style='height: 3000px'>", encoding="utf-8")
    page.goto(around.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator('body[data-state="ready"]').wait_for()
    space = view(inside)
    x, y = center(space.bounding_box())
    page.mouse.move(x, y)
    first = pixels_of(space)
    page.mouse.wheel(0, 60)
    expect(inside.get_by_text("to zoom with the wheel").first).to_be_visible()
    page.wait_for_function("scrollY > 0")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(1900)  # until the hint has gone
    assert share_changed(first, pixels_of(space)) < 1e-2
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_timeout(300)
    zoomed = pixels_of(space)
    assert share_changed(first, zoomed) > 0.02
    page.mouse.click(x, y)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") == 0
    assert share_changed(zoomed, pixels_of(space)) > 0.02


def test_what_is_grabbed_moves_its_parameter_and_the_motion(cases, visit):
    page = visit(cases.host).page
    page.goto(cases.address("tilted"))
    wait_until_ready(page, "tilted")
    wait_until_drawn(page)
    page.keyboard.press("End")
    field = {name: page.get_by_role("spinbutton", name=name) for name in ("theta", "spin")}
    ring = {what: view(page).locator(f'[data-grab^="{what}"]') for what in ("attitude", "angular_velocity")}
    wait_until_drawn(page)

    def drag(what: str, dx: float, dy: float) -> None:
        x, y = center(ring[what].bounding_box())
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + dx, y + dy, steps=4)
        page.mouse.up()

    # It acts on the start of the motion, so the time goes there.
    drag("attitude", 0, 40)
    assert float(page.get_by_role("slider", name="Time", exact=True).input_value()) == 0
    theta = float(field["theta"].input_value())
    assert theta > 45
    assert field["spin"].input_value() == "5"
    wait_until_ready(page)
    expect(page.get_by_role("region", name="Checks")).to_contain_text(f"{theta:.1f}"[:4])
    wait_until_drawn(page)
    # Toward the center along the arrow: less spin.
    x, y = center(view(page).bounding_box())
    tip = center(ring["angular_velocity"].bounding_box())
    toward = ((x - tip[0]) / 4, (y - tip[1]) / 4)
    drag("angular_velocity", *toward)
    spin = float(field["spin"].input_value())
    assert spin == pytest.approx(5 * 3 / 4, rel=0.15)
    assert math.isclose(float(field["theta"].input_value()), theta)


def test_nothing_can_be_grabbed_in_a_file_or_while_it_plays(cases, visit, page):
    assert page.locator(".view-handle:visible").count() == 0
    live = visit(cases.host).page
    live.goto(cases.address("tilted"))
    wait_until_ready(live, "tilted")
    expect(live.locator(".view-handle:visible")).to_have_count(3)
    live.keyboard.press("Space")
    expect(live.locator(".view-handle:visible")).to_have_count(0)
