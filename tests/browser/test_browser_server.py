"""The page and its server in a real browser: what takes long, what fails, who may ask, and what happens meanwhile."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

import polhode as ph
from browser_driver import DRAWN, Lab, choose, painted, ready, share_drawn, told


@pytest.fixture(scope="module")
def lab():
    """A lab with the models of tests/helpers/lab_models.py."""
    started = Lab(cases=True)
    yield started
    started.stop()


@pytest.fixture
def spinner(lab, visit):
    """Its first model."""
    page = visit(lab.host).page
    page.goto(lab.address("spinner"))
    ready(page, "spinner")
    return page


def link(page: Page, name: str):
    return page.get_by_role("navigation").get_by_role("link", name=name, exact=True)


def sentence(page: Page, words: str):
    return page.get_by_role("alert").filter(has_text=words)


def test_a_long_run_shows_its_progress_and_is_called_off(spinner):
    link(spinner, "Slow").click()
    expect(spinner.get_by_role("progressbar")).to_be_visible()
    spinner.get_by_role("button", name="Cancel").click()
    expect(spinner.get_by_role("progressbar")).to_be_hidden()
    choose(spinner, "twins")


def test_a_newer_question_makes_the_older_void(spinner):
    link(spinner, "Slow").click()
    expect(spinner.get_by_role("progressbar")).to_be_visible()
    choose(spinner, "twins")
    expect(spinner.get_by_role("progressbar")).to_be_hidden()


def test_what_a_run_warns_of_is_a_note_on_the_page(spinner):
    choose(spinner, "missed")
    expect(spinner.get_by_role("region", name="Notes")).to_contain_text("impulse at 99 s is never applied")


@pytest.mark.parametrize(("model", "words"), [("Doomed", "not a number"), ("Broken", "nobody thought of this")])
def test_a_model_that_fails_is_a_sentence_and_the_page_goes_on(spinner, model, words):
    link(spinner, model).click()
    spinner.wait_for_selector('body[data-state="refused"]')
    expect(sentence(spinner, words)).to_be_visible()
    choose(spinner, "spinner")
    expect(sentence(spinner, words)).to_have_count(0)


def test_another_scenario_of_a_model_is_looked_at(spinner):
    choose(spinner, "twins")
    before = spinner.locator("body").get_attribute("data-run")
    spinner.get_by_role("combobox", name="Run").select_option("two")
    expect(spinner.locator("body")).not_to_have_attribute("data-run", before)
    ready(spinner, "twins")
    plot = spinner.get_by_role("img", name="Angular velocity, body axes")
    expect(plot).to_have_accessible_name(re.compile(r"omega 1 0\.10*, omega 2 10\.0*, omega 3 0\.10*$"))


def test_the_page_takes_up_again_when_its_server_comes_back(visit):
    first = Lab(cases=True)
    page = visit(first.host, expected="WebSocket|ERR_CONNECTION_REFUSED").page
    page.goto(first.address("spinner"))
    ready(page, "spinner")
    first.stop()
    expect(sentence(page, "The server has gone")).to_be_visible()
    second = Lab(cases=True, port=first.start.port)
    try:
        expect(sentence(page, "The server has gone")).to_have_count(0)
        choose(page, "twins")
    finally:
        second.stop()


def test_a_page_of_somebody_else_cannot_talk_to_the_lab(lab, visit, spinner):
    """Judge: the browser, which says whose page is asking (Origin), and the lab's own page, which may."""
    stranger = visit(lab.host, "stranger.example", expected="WebSocket").page
    stranger.route("http://stranger.example/", lambda route: route.fulfill(body="<title>a stranger</title>"))
    stranger.goto("http://stranger.example/")
    socket = f"const socket = new WebSocket('ws://{lab.host}/ws?{lab.start.query}')"
    script = (
        f"new Promise(end => {{ {socket}; socket.onopen = () => end('open'); socket.onerror = () => end('shut'); }})"
    )
    assert told(spinner, script) == "open"
    assert told(stranger, script) == "shut"


def test_a_stored_motion_is_viewed(visit, tmp_path):
    """The same page, with one motion and no knobs."""
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    state = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    ph.simulate(box, state, duration=3.0, method="exact").save(tmp_path / "box.zarr")
    server = Lab("view", str(tmp_path / "box.zarr"))
    try:
        page = visit(server.host).page
        page.goto(server.address())
        ready(page)
        assert page.get_by_role("slider", name="Time", exact=True).get_attribute("max") == "3"
        expect(page.get_by_role("region", name="Knobs")).to_have_count(0)
        expect(page.get_by_role("navigation")).to_have_count(0)
        assert share_drawn(painted(page.get_by_role("img", name="Space frame"))) > DRAWN
    finally:
        server.stop()
