"""The page and its server in Chromium: long runs, failures, reconnection, access control."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

import polhode as ph
from browser_driver import DRAWN, Lab, choose, evaluate, pixels_of, share_drawn, wait_until_ready


@pytest.fixture(scope="module")
def lab():
    """A lab with the models of tests/helpers/lab_models.py."""
    started = Lab(cases=True)
    yield started
    started.stop()


@pytest.fixture
def spinner(lab, visit):
    """The page with the first model."""
    page = visit(lab.host).page
    page.goto(lab.address("spinner"))
    wait_until_ready(page, "spinner")
    return page


def link(page: Page, name: str):
    return page.get_by_role("navigation").get_by_role("link", name=name, exact=True)


def sentence(page: Page, words: str):
    return page.get_by_role("alert").filter(has_text=words)


def test_a_long_run_shows_its_progress_and_can_be_canceled(spinner):
    link(spinner, "Slow").click()
    expect(spinner.get_by_role("progressbar")).to_be_visible()
    spinner.get_by_role("button", name="Cancel").click()
    expect(spinner.get_by_role("progressbar")).to_be_hidden()
    choose(spinner, "twins")


def test_a_newer_request_supersedes_the_older(spinner):
    link(spinner, "Slow").click()
    expect(spinner.get_by_role("progressbar")).to_be_visible()
    choose(spinner, "twins")
    expect(spinner.get_by_role("progressbar")).to_be_hidden()


def test_warnings_of_a_run_are_notes_on_the_page(spinner):
    choose(spinner, "missed")
    expect(spinner.get_by_role("region", name="Notes")).to_contain_text("impulse at 99 s is never applied")


@pytest.mark.parametrize(("model", "words"), [("Doomed", "infinite or NaN"), ("Broken", "nobody thought of this")])
def test_a_model_that_fails_shows_an_error_and_the_page_goes_on(spinner, model, words):
    link(spinner, model).click()
    spinner.wait_for_selector('body[data-state="refused"]')
    expect(sentence(spinner, words)).to_be_visible()
    choose(spinner, "spinner")
    expect(sentence(spinner, words)).to_have_count(0)


def test_another_scenario_of_a_model_is_selected(spinner):
    choose(spinner, "twins")
    before = spinner.locator("body").get_attribute("data-run")
    spinner.get_by_role("combobox", name="Run").select_option("two")
    expect(spinner.locator("body")).not_to_have_attribute("data-run", before)
    wait_until_ready(spinner, "twins")
    plot = spinner.get_by_role("img", name="Angular velocity, body axes")
    expect(plot).to_have_accessible_name(re.compile(r"omega 1 0\.10*, omega 2 10\.0*, omega 3 0\.10*$"))


def test_the_page_reconnects_when_its_server_restarts(visit):
    first = Lab(cases=True)
    page = visit(first.host, expected="WebSocket|ERR_CONNECTION_REFUSED").page
    page.goto(first.address("spinner"))
    wait_until_ready(page, "spinner")
    first.stop()
    expect(sentence(page, "Lost the connection to the server")).to_be_visible()
    second = Lab(cases=True, port=first.start.port)
    try:
        expect(sentence(page, "Lost the connection to the server")).to_have_count(0)
        choose(page, "twins")
    finally:
        second.stop()


def test_a_page_of_another_origin_cannot_connect_to_the_lab(lab, visit, spinner):
    """The page of the lab itself may connect."""
    other = visit(lab.host, "other.example", expected="WebSocket").page
    other.route("http://other.example/", lambda route: route.fulfill(body="<title>another site</title>"))
    other.goto("http://other.example/")
    socket = f"const socket = new WebSocket('ws://{lab.host}/ws?{lab.start.query}')"
    script = (
        f"new Promise(end => {{ {socket}; socket.onopen = () => end('open'); socket.onerror = () => end('shut'); }})"
    )
    assert evaluate(spinner, script) == "open"
    assert evaluate(other, script) == "shut"


def test_a_stored_motion_is_viewed(visit, tmp_path):
    """The same page, with one motion and no parameters."""
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    state = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    ph.simulate(box, state, duration=3.0, method="exact").save(tmp_path / "box.zarr")
    server = Lab("view", str(tmp_path / "box.zarr"))
    try:
        page = visit(server.host).page
        page.goto(server.address())
        wait_until_ready(page)
        assert page.get_by_role("slider", name="Time", exact=True).get_attribute("max") == "3"
        expect(page.get_by_role("region", name="Parameters")).to_have_count(0)
        expect(page.get_by_role("navigation")).to_have_count(0)
        assert share_drawn(pixels_of(page.get_by_role("img", name="Space frame"))) > DRAWN
    finally:
        server.stop()
