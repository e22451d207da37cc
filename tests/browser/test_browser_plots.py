"""Plots by choice in Chromium: panels, x-y plots, curves, degrees, CSV and bands of ensembles, in exported files."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import polhode as ph
from browser_driver import (
    FAINT,
    PHONE,
    evaluate,
    pixels_of,
    share_changed,
    share_drawn,
    unnamed_controls,
    wait_until_ready,
)

SIDES = (0.1, 0.4, 0.9)
MASS = 10.0
START = (0.1, 5.0, 0.1)
SINGLE = 2.0**-22
"""Twice the relative rounding of 32-bit numbers."""
LINE_COLOR = (0, 114, 178)
"""Of z."""
BODY = "Angular velocity, body axes"


@pytest.fixture(scope="module")
def thrown(tmp_path_factory):
    """The HTML file of a box that is thrown and tumbles."""
    state = ph.State(velocity=(1.0, 0.0, 3.0), angular_velocity_body=START)
    path, box = tmp_path_factory.mktemp("plots") / "thrown.html", ph.shapes.box(SIDES, mass=MASS)
    ph.simulate(box, state, [ph.forces.gravity()], duration=0.5, step=0.005).export_html(path)
    return path


def _members() -> ph.Motion:
    rates = np.asarray(START) + np.linspace(0.0, 0.5, 40)[:, None] * (0.1, 1.0, -0.2)
    state = ph.State(angular_velocity_body=rates)
    return ph.ensemble(ph.shapes.box(SIDES, mass=MASS), state, duration=1.0, step=0.01, output_step=0.05, method="rk4")


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory):
    """The HTML file of forty boxes with different rates, and their motion."""
    path, motion = tmp_path_factory.mktemp("plots") / "ensemble.html", _members()
    motion.export_html(path)
    return path, motion


@pytest.fixture
def page(thrown, visit):
    return opened(thrown, visit)


def opened(path: Path, visit, **options) -> Page:
    window = visit(**options)
    window.context.set_offline(True)
    window.page.goto(f"{path.as_uri()}?fx=low")
    wait_until_ready(window.page)
    return window.page


def plots(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Plots")


def panel(page: Page, heading: str) -> Locator:
    return plots(page).get_by_role("figure").filter(has=page.get_by_role("heading", name=re.compile(f"^{heading}")))


def headings(page: Page) -> list[str]:
    return [re.sub(r" \S*$", "", text) for text in plots(page).get_by_role("heading").all_text_contents()]


def choose_panels(page: Page, *, on: tuple[str, ...] = (), off: tuple[str, ...] = ()) -> None:
    opener = plots(page).get_by_role("button", name="Plots", exact=True)
    opener.click()
    for name in off:
        plots(page).get_by_role("checkbox", name=re.compile(f"^{name}")).uncheck()
    for name in on:
        plots(page).get_by_role("checkbox", name=re.compile(f"^{name}")).check()
    page.keyboard.press("Escape")
    expect(opener).to_have_attribute("aria-expanded", "false")


def rows_of(page: Page, figure: Locator) -> tuple[list[str], np.ndarray]:
    """The header and the numbers of a panel's CSV."""
    with page.expect_download() as download:
        figure.get_by_role("button", name=re.compile("^Download as CSV")).click()
    with Path(download.value.path()).open(newline="") as file:
        header, *rows = list(csv.reader(file))
    return header, np.array([[float(field or "nan") for field in row] for row in rows])


def test_panels_are_chosen_and_keep_their_order(page):
    assert headings(page)[0] == BODY
    choose_panels(page, off=("Angular velocity, body axes", "Energy"), on=("Speed", "Velocity", "Energy"))
    assert headings(page)[-3:] == ["Speed", "Velocity", "Energy"]
    assert BODY not in headings(page)
    # At 0 s: |(1, 0, 3)| m/s.
    speed = plots(page).get_by_role("img", name=re.compile(r"^Speed over time, in m.s.*speed 3\.162$"))
    expect(speed).to_be_visible()
    plots(page).get_by_role("button", name="Plots", exact=True).click()
    plots(page).get_by_role("button", name="Panels as at first").click()
    assert headings(page)[0] == BODY


def test_a_panel_without_meaning_says_why(page):
    plots(page).get_by_role("button", name="Plots", exact=True).click()
    torque = plots(page).get_by_role("checkbox", name=re.compile("^Torque"))
    expect(torque).to_be_disabled()
    expect(plots(page).get_by_text("no torque acts")).to_be_visible()


def test_any_quantity_over_any_other(page):
    plots(page).get_by_role("button", name="Plots", exact=True).click()
    plots(page).get_by_role("button", name=re.compile("^Add an x")).click()
    page.keyboard.press("Escape")
    plots(page).get_by_role("combobox", name="Vertical axis").select_option("position_z")
    figure = plots(page).get_by_role("figure").last
    picture = figure.get_by_role("img", name=re.compile("^Position z over Position x"))
    picture.scroll_into_view_if_needed()
    assert share_drawn(pixels_of(picture)) > 0.005
    before = pixels_of(picture)
    page.keyboard.press("Escape")
    plots(page).get_by_role("heading").first.click()  # the shortcuts of the page, not of the list
    page.keyboard.press("End")
    # z = 3 t - g t^2 / 2 at 0.5 s
    z = 3 * 0.5 - 9.80665 * 0.125
    expect(picture).to_have_accessible_name(re.compile(rf"values: z {z:.2f}\d* m, x 0\.50* m$"))
    picture.scroll_into_view_if_needed()
    assert share_changed(before, pixels_of(picture)) > 0.001
    # Near the middle of the path's width is the middle of the motion.
    place = figure.locator(".u-over").bounding_box()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + 10)
    expect(picture).to_have_accessible_name(re.compile(r"x 0\.2[45]\d* m$"))


def test_two_positions_have_one_scale(page):
    plots(page).get_by_role("button", name="Plots", exact=True).click()
    plots(page).get_by_role("button", name=re.compile("^Add an x")).click()
    page.keyboard.press("Escape")
    plots(page).get_by_role("combobox", name="Vertical axis").select_option("position_z")
    figure = plots(page).get_by_role("figure").last
    header, numbers = rows_of(page, figure)
    assert header == ["time (s)", "position_x (m; float32)", "position_z (m; float32)"]
    np.testing.assert_allclose(numbers[:, 1], numbers[:, 0], atol=SINGLE)
    plots(page).get_by_role("heading").first.click()
    page.keyboard.press("End")
    figure.scroll_into_view_if_needed()
    drawn = np.abs(pixels_of(figure.locator(".plot-overlay")) - LINE_COLOR).sum(axis=2) < FAINT
    rows, columns = np.nonzero(drawn)
    # 0.5 m wide, and 3^2 / (2 g) high.
    assert np.ptp(columns) / np.ptp(rows) == pytest.approx(0.5 / (4.5 / 9.80665), rel=0.05)


def test_curves_are_hidden_and_singled_out_by_mouse_and_keyboard(page):
    figure = panel(page, BODY)
    first, second, third = figure.get_by_role("listitem").get_by_role("button").all()
    picture = figure.get_by_role("img")
    second.click()
    expect(second).to_have_attribute("aria-pressed", "false")
    expect(picture).to_have_accessible_name(re.compile("omega 1 [^,]*, omega 3 [^,]*$"))
    second.click()
    expect(picture).to_have_accessible_name(re.compile("omega 1 [^,]*, omega 2 [^,]*, omega 3 [^,]*$"))
    third.dblclick()
    expect(picture).to_have_accessible_name(re.compile("values: omega 3 [^,]*$"))
    first.focus()
    page.keyboard.press("Alt+Enter")
    expect(picture).to_have_accessible_name(re.compile("values: omega 1 [^,]*$"))
    page.keyboard.press("Alt+Enter")
    expect(picture).to_have_accessible_name(re.compile("omega 1 [^,]*, omega 2 [^,]*, omega 3 [^,]*$"))


def test_degrees_are_one_switch_for_all_angles_and_rates(page):
    choose_panels(page, on=("Yaw, pitch, roll",))
    plots(page).get_by_role("button", name="Angles in degrees").click()
    expect(panel(page, BODY).get_by_role("img")).to_have_accessible_name(re.compile(r"in °/s\. .*omega 2 286\.5"))
    expect(plots(page).get_by_role("img", name=re.compile(r"^(Yaw|Pitch).*, in °\. "))).not_to_have_count(0)
    expect(panel(page, "Position").get_by_role("img")).to_have_accessible_name(re.compile("in m"))


def test_the_csv_of_a_panel_conserves_energy_and_momentum_of_the_box(page):
    header, numbers = rows_of(page, panel(page, BODY))
    assert header == ["time (s)"] + [f"angular_velocity_body_{i} (rad/s; float32)" for i in (1, 2, 3)]
    np.testing.assert_allclose(numbers[0, 1:], START, rtol=SINGLE)
    a, b, c = np.square(SIDES)
    momentum = MASS / 12 * np.array([b + c, a + c, a + b]) * numbers[:, 1:]
    energy = (momentum * numbers[:, 1:]).sum(axis=1)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(momentum, axis=1), np.linalg.norm(momentum[0]), rtol=1e-6)


def test_the_bands_of_an_ensemble_are_numpys_quantiles(ensemble, visit):
    path, motion = ensemble
    page = opened(path, visit)
    expect(plots(page).get_by_text("Bands: 5, 25, 75 and 95 % of 40 members; dashed: their median.")).to_be_visible()
    header, numbers = rows_of(page, panel(page, BODY))
    assert header[4:9] == [f"angular_velocity_body_1_q{level:02} (rad/s; float32)" for level in (5, 25, 50, 75, 95)]
    rates = np.asarray(motion.angular_velocity_body).reshape(len(motion.times), 40, 3)
    expected = np.quantile(rates, (0.05, 0.25, 0.5, 0.75, 0.95), axis=1)
    np.testing.assert_allclose(numbers[:, 4:].reshape(-1, 3, 5), np.transpose(expected, (1, 2, 0)), atol=10 * SINGLE)
    before = pixels_of(panel(page, BODY).locator("canvas"))
    plots(page).get_by_role("button", name="Plots", exact=True).click()
    plots(page).get_by_role("combobox", name="Members").select_option("none")
    page.keyboard.press("Escape")
    expect(plots(page).get_by_text("Bands:")).to_have_count(0)
    after = pixels_of(panel(page, BODY).locator("canvas"))
    assert before.shape != after.shape or share_changed(before, after) > 0.001


def test_on_a_phone_nothing_is_cut_off_and_all_controls_have_names(thrown, visit):
    page = opened(thrown, visit, viewport=PHONE, color_scheme="dark")
    choose_panels(page, on=("Euler angles", "Yaw, pitch, roll", "Quaternion"))
    plots(page).get_by_role("button", name="Plots", exact=True).click()
    plots(page).get_by_role("button", name=re.compile("^Add an x")).click()
    box = plots(page).get_by_role("group", name="Plots").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert evaluate(page, "document.documentElement.scrollWidth") <= PHONE["width"]
    assert unnamed_controls(page) == []
