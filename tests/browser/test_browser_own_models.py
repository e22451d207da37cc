"""A file with two knobs, and a model from Python, in Chromium."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import polhode as ph
from browser_driver import Lab, wait_until_ready

GUIDE = (Path(__file__).parents[2] / "docs" / "howto" / "own-models.md").read_text(encoding="utf-8")
WHEEL = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[0]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "wheel.toml"
    path.write_text(WHEEL, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def lab(wheel):
    """The command of the guide."""
    started = Lab("lab", str(wheel))
    yield started
    started.stop()


def omega(page):
    return page.get_by_role("img", name="Angular velocity, body axes")


def test_the_file_of_the_guide_opens_with_its_two_knobs_which_move_it(lab, wheel, visit):
    page = visit(lab.host).page
    page.goto(lab.address("wheel"))
    wait_until_ready(page, "wheel")
    expect(page.get_by_role("navigation")).to_contain_text("Your models")
    expect(page.get_by_role("slider", name="spin")).to_be_visible()
    expect(page.get_by_role("slider", name="tilt")).to_be_visible()
    expect(page.get_by_role("region", name="Checks")).to_be_hidden()
    expect(omega(page)).to_have_accessible_name(re.compile(r"omega 3 25\.0*$"))
    field = page.get_by_role("spinbutton", name="spin")
    field.fill("8")
    field.press("Enter")
    expect(omega(page)).to_have_accessible_name(re.compile(r"omega 3 8\.0*$"))
    tilt = page.get_by_role("slider", name="tilt")
    tilt.focus()
    tilt.press("ArrowLeft")
    wait_until_ready(page, "wheel")
    expect(page).to_have_url(re.compile(r"/wheel\?.*spin=8.*tilt="))

    # The file is saved with an error, and then corrected; the knob that was moved stays where it is.
    wheel.write_text(WHEEL.replace("low = 5.0", "low = 55.0"), encoding="utf-8")
    error = page.get_by_role("alert").filter(has_text="spin starts at 25 rad/s, outside its range from 55 to 60 rad/s")
    expect(error).to_be_visible()
    wheel.write_text(WHEEL.replace("high = 60.0", "high = 61.0"), encoding="utf-8")
    expect(error).to_have_count(0)
    wait_until_ready(page, "wheel")
    expect(omega(page)).to_have_accessible_name(re.compile(r"omega 3 8\.0*$"))


def test_a_model_from_python_opens_from_a_thread_of_this_process(visit):
    @ph.model(title="A spinning box")
    def spinning_box(spin=ph.Knob(5.0, 1.0, 20.0, "rad/s", "about the intermediate axis", label="rate")):
        box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
        start = ph.State(angular_velocity_body=(0.1, spin, 0.1))
        return ph.Scenario(box, start, duration=3.0, output_step=0.05, method="exact")

    lab = ph.lab(spinning_box, browser=False, wait=False, port=0)
    try:
        page = visit(lab.url.split("/")[2]).page
        page.goto(f"{lab.url}?fx=low")
        wait_until_ready(page, "spinning-box")
        expect(page.get_by_role("slider", name="rate")).to_be_visible()
        expect(omega(page)).to_have_accessible_name(re.compile(r"omega 2 5\.0*"))
    finally:
        lab.stop()
