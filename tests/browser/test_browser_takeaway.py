"""What the page gives away in Chromium: pictures, films, pages, tables, links; and the steps that it offers to try."""

from __future__ import annotations

import io
import re

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect

import polhode as ph
from browser_driver import (
    COMPILE_TIMEOUT,
    DRAWN,
    PHONE,
    evaluate,
    pixels_of,
    share_changed,
    share_drawn,
    unnamed_controls,
    wait_until_drawn,
    wait_until_ready,
)
from polhode.gallery import MODELS


@pytest.fixture
def gyroscope(lab, visit) -> Page:
    """The lab with the gyroscope and the menu open."""
    page = visit(lab.host).page
    page.goto(lab.address("gyroscope"))
    wait_until_ready(page, "gyroscope")
    wait_until_drawn(page)
    page.get_by_role("button", name="Take away").click()
    return page


def download(page: Page, words: str) -> tuple[str, bytes]:
    """Name and contents of what a button gives; the server may have to trace and compile a model first."""
    with page.expect_download(timeout=COMPILE_TIMEOUT) as caught:
        page.get_by_role("button", name=words, exact=True).click()
    return caught.value.suggested_filename, caught.value.path().read_bytes()


def test_a_picture_shows_what_the_views_show(gyroscope):
    opener = gyroscope.get_by_role("button", name="Take away")
    opener.click()
    seen = pixels_of(gyroscope.get_by_role("img", name="Space frame"))
    opener.click()
    gyroscope.get_by_label("Size", exact=True).select_option("1")
    gyroscope.get_by_role("combobox", name="Views").select_option("space")
    name, data = download(gyroscope, "Save PNG")
    assert name == "gyroscope-slow-0s.png"
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)
    rows, columns = (min(a, b) for a, b in zip(picture.shape[:2], seen.shape[:2], strict=True))
    assert abs(picture.shape[0] - seen.shape[0]) <= 1
    assert share_drawn(picture) > DRAWN
    # The frames of the panes, the rings that can be dragged, and the edges of a few letters.
    assert share_changed(picture[:rows, :columns], seen[:rows, :columns]) < 0.02


def test_a_picture_with_plots_in_twice_the_size(gyroscope):
    gyroscope.get_by_label("with plots").check()
    gyroscope.get_by_label("with caption").check()
    _, data = download(gyroscope, "Save PNG")
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)
    views = gyroscope.get_by_role("region", name="Views").bounding_box()
    assert picture.shape[0] > 2 * views["height"] + 400
    assert share_drawn(picture[int(2 * views["height"]) + 20 : -80]) > 0.02
    assert share_drawn(picture[-70:, :600]) > 0.005


def test_a_film_has_the_frames_that_it_promises_and_plays(gyroscope, visit, tmp_path):
    gyroscope.get_by_label("Size", exact=True).select_option("1")
    gyroscope.get_by_label("End of the film, in s").fill("0.5")
    expect(gyroscope.get_by_text("0.5 s, 16 frames")).to_be_visible()
    name, data = download(gyroscope, "Save WebM")
    assert name == "gyroscope-slow.webm"
    assert data[:4] == b"\x1a\x45\xdf\xa3"
    path = tmp_path / name
    path.write_bytes(data)
    frames = imageio_ffmpeg.read_frames(str(path))
    facts = next(frames)
    width, height = facts["size"]
    pictures = [np.frombuffer(frame, np.uint8).reshape(height, width, 3).astype(int) for frame in frames]
    assert facts["fps"] == 30
    assert len(pictures) == 16
    assert abs(facts["duration"] - 16 / 30) < 0.02
    assert share_drawn(pictures[0]) > DRAWN
    assert share_changed(pictures[0], pictures[-1]) > 0.01
    expect(gyroscope.get_by_text("Saved gyroscope-slow.webm")).to_be_visible()
    page = visit().page
    page.goto(path.as_uri())
    page.wait_for_function("() => document.querySelector('video').readyState >= 2")
    assert page.evaluate("() => document.querySelector('video').duration") == pytest.approx(16 / 30, abs=0.02)


def test_the_table_has_the_numbers_of_python(gyroscope):
    name, data = download(gyroscope, "Save CSV")
    assert name == "gyroscope-slow.csv"
    rows = [line.split(",") for line in data.decode().splitlines()]
    model = MODELS["gyroscope"]
    motion = model.run(**model.values())["slow"]
    table = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    assert list(map(float, table["time_s"])) == motion.times.tolist()
    assert list(map(float, table["quaternion_w"])) == motion.quaternion_wxyz[:, 0].tolist()
    assert list(map(float, table["angular_velocity_x_rad_s"])) == motion.angular_velocity[:, 0].tolist()


def test_the_page_in_one_file_explains_itself_and_needs_no_network(gyroscope, visit, tmp_path):
    name, data = download(gyroscope, "Save HTML")
    path = tmp_path / name
    path.write_bytes(data)
    page = visit().page
    page.goto(path.as_uri())
    wait_until_ready(page, "gyroscope")
    expect(page.get_by_role("complementary", name="What is this?")).to_contain_text("A spinning disk")
    expect(page.locator("#lesson math")).to_have_count(2)
    page.get_by_role("button", name="Take away").click()
    _, again = download(page, "Save HTML")
    copy = tmp_path / "copy.html"
    copy.write_bytes(again)
    _, table = download(page, "Save CSV")
    assert table.count(b"\n") > 100
    other = visit().page
    other.goto(copy.as_uri())
    wait_until_ready(other, "gyroscope")
    assert again.decode().split("polhode-motion")[1] == data.decode().split("polhode-motion")[1].replace(
        "</html>\n", "</html>"
    )


def test_the_page_with_knobs_computes_without_the_server_what_python_computes(gyroscope, visit, tmp_path):
    name, data = download(gyroscope, "HTML with knobs")
    assert name == "gyroscope-slow-live.html"
    (tmp_path / name).write_bytes(data)
    window = visit()
    window.context.set_offline(True)
    window.page.goto((tmp_path / name).as_uri() + "?fx=low")
    wait_until_ready(window.page, "gyroscope")
    assert window.page.locator("body").get_attribute("data-props") == "axle,stand"
    slider = window.page.get_by_role("slider", name="spin")
    slider.focus()
    slider.press("ArrowRight")
    value = float(slider.input_value())
    assert value != MODELS["gyroscope"].values()["spin"]
    found = window.page.evaluate("async (spin) => [...(await window.polhode.set({ spin })).position]", value)
    model = MODELS["gyroscope"]
    assert found == ph.simulate(model.scenario(**model.values(spin=value))["slow"]).position.ravel().tolist()
    window.page.get_by_role("button", name="Step forward").click()
    window.page.wait_for_url(re.compile(rf"#spin={value:g}&t="))
    again = visit().page
    again.goto(window.page.url)
    wait_until_ready(again, "gyroscope")
    assert again.evaluate("() => window.polhode.values.spin") == value
    expect(again.get_by_role("slider", name="spin")).to_have_value(f"{value:g}")
    expect(again.get_by_role("slider", name="Time")).not_to_have_value("0")
    for wrong in ({"spin": 1000}, {"spinn": 8}):
        with pytest.raises(PlaywrightError, match=r"outside its range|is not a knob of this page; its knobs are spin"):
            window.page.evaluate("(values) => window.polhode.set(values)", wrong)


def test_a_model_without_a_live_page_says_why_in_the_menu(lab, visit):
    page = visit(lab.host).page
    page.goto(lab.address("falling-box"))
    wait_until_ready(page, "falling-box")
    page.get_by_role("button", name="Take away").click()
    page.get_by_role("button", name="HTML with knobs").click()
    expect(page.get_by_text("falling-box has no live page")).to_contain_text(
        "Save HTML” saves the motion without knobs"
    )


def test_a_file_keeps_what_is_seen_in_its_address(visit, tmp_path):
    box, spin = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0), ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    ph.simulate(box, spin, duration=3.0, output_step=0.01).export_html(tmp_path / "spin.html")
    page = visit().page
    page.goto((tmp_path / "spin.html").as_uri() + "#t=1.5&cam=10,60,2&show=poinsot,-L")
    wait_until_ready(page)
    expect(page.get_by_role("slider", name="Time")).to_have_value("1.5")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("switch", name="Poinsot's ellipsoid and plane")).to_be_checked()
    expect(page.get_by_role("switch", name="Angular momentum L")).not_to_be_checked()
    page.get_by_role("switch", name="Body axes").uncheck()
    page.wait_for_url(re.compile("#t=1.5&cam=10,60,2&show=-L,-bodyAxes,poinsot"))


def test_a_link_restores_time_camera_switches_and_the_watched_body(lab, visit):
    page = visit(lab.host).page
    page.goto(lab.address("two-bodies-on-a-spring", t="2.5", cam="100,45,1.6", show="trailL", watch=1))
    wait_until_ready(page, "two-bodies-on-a-spring")
    expect(page.get_by_role("slider", name="Time")).to_have_value("2.5")
    expect(page.get_by_role("combobox", name="Watch")).to_have_value("1")
    page.get_by_role("button", name="Step forward").click()
    page.wait_for_url(lambda address: "t=2.5&" not in address)
    for part in ("cam=100,45,1.6", "show=trailL", "watch=1"):
        assert part in page.url
    link = page.url
    wait_until_drawn(page)
    before = pixels_of(page.get_by_role("img", name="Space frame"))
    other = visit(lab.host).page
    other.goto(link)
    wait_until_ready(other, "two-bodies-on-a-spring")
    wait_until_drawn(other)
    assert other.url == link
    assert share_changed(pixels_of(other.get_by_role("img", name="Space frame")), before) < 0.002


def test_what_is_wrong_in_a_link_is_said(lab, visit):
    page = visit(lab.host).page
    page.goto(lab.address("dzhanibekov", t="900", cam="up", show="sparkles"))
    wait_until_ready(page, "dzhanibekov")
    notice = page.get_by_text("The URL sets t = 900")
    expect(notice).to_contain_text("lasts from 0 to")
    expect(notice).to_contain_text('cam = "up"')
    expect(notice).to_contain_text("sparkles")


def test_a_step_sets_parameters_run_and_time(lab, visit):
    page = visit(lab.host).page
    page.goto(lab.address("gyroscope", spin=25))
    wait_until_ready(page, "gyroscope")
    page.get_by_role("complementary", name="What is this?").get_by_role(
        "button", name="Released with spin only"
    ).click()
    page.wait_for_url(re.compile("run=released"))
    wait_until_ready(page, "gyroscope")
    assert float(page.get_by_role("spinbutton", name="spin", exact=True).input_value()) == 10.0
    expect(page.get_by_role("combobox", name="Run")).to_have_value("released")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_the_figure_of_the_model_is_drawn_beside_the_view(gyroscope):
    gyroscope.keyboard.press("Escape")
    gyroscope.get_by_role("button", name="Figure", exact=True).click()
    picture = gyroscope.get_by_role("img", name="Figure of A gyroscope")
    expect(picture).to_be_visible()
    assert evaluate(gyroscope, "document.querySelector('.figure img').decode().then(() => 1)") == 1
    assert share_drawn(pixels_of(picture)) > 0.01
    gyroscope.wait_for_url(re.compile("tab=figure"))
    gyroscope.get_by_role("button", name="View", exact=True).click()
    expect(picture).to_be_hidden()


def test_the_menu_and_the_explanation_fit_on_a_phone_and_have_names(lab, visit):
    page = visit(lab.host, viewport=PHONE).page
    page.goto(lab.address("gyroscope"))
    wait_until_ready(page, "gyroscope")
    page.get_by_role("button", name="Take away").click()
    assert unnamed_controls(page) == []
    assert evaluate(page, "document.documentElement.scrollWidth") <= PHONE["width"]
    box = page.get_by_role("button", name="Copy link", exact=True).first.bounding_box()
    assert box["x"] + box["width"] <= PHONE["width"]


def test_the_scenario_can_be_read_and_saved_as_text(gyroscope):
    gyroscope.get_by_role("button", name="As TOML", exact=True).click()
    dialog = gyroscope.get_by_role("dialog", name="As TOML")
    expect(dialog.get_by_role("textbox")).to_have_value(re.compile("duration"))
    name, data = download(gyroscope, "Save")
    assert name == "gyroscope-slow.toml"
    assert data.decode() == dialog.get_by_role("textbox").input_value()
    dialog.get_by_role("button", name="Close").click()
    gyroscope.get_by_role("button", name="Take away").click()
    gyroscope.get_by_role("button", name="As Python", exact=True).click()
    expect(gyroscope.get_by_role("dialog", name="As Python").get_by_role("textbox")).to_have_value(re.compile("import"))
