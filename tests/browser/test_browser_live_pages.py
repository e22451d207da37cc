"""Pages with live knobs as files, in Chromium without server and network: what they compute equals `ph.simulate`."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import polhode as ph
from browser_driver import Visit, wait_until_ready
from polhode.gallery import MODELS
from polhode.gallery.live_page import live_page

READ = """async ([values, run]) => {
  const record = await window.polhode.set(values, run);
  const names = ["time", "position", "velocity", "quaternion", "angularVelocity", "angularMomentum"];
  return { ...Object.fromEntries(names.map((name) => [name, [...record[name]]])), findings: record.findings,
           energies: Object.fromEntries(record.energies.map((one) => [one.name, [...one.values]])), run: record.run };
}"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The live pages of two models."""
    folder = tmp_path_factory.mktemp("pages")
    for name in ("dzhanibekov", "gyroscope"):
        (folder / f"{name}.html").write_text(live_page(MODELS[name], MODELS[name].values()))
    return folder


def opened(path, visit, **options) -> Page:
    window: Visit = visit(**options)
    window.context.set_offline(True)
    window.page.goto(f"{path.as_uri()}?fx=low")
    wait_until_ready(window.page)
    return window.page


def computed(page: Page, values: dict[str, float], run: str) -> dict[str, Any]:
    found = page.evaluate(READ, [values, run])
    assert found["run"] == run
    return {name: np.array(part) if isinstance(part, list) else part for name, part in found.items()}


@pytest.mark.parametrize(
    ("name", "run"), [("dzhanibekov", "box"), ("dzhanibekov", "t-handle"), ("gyroscope", "released")]
)
def test_the_page_has_the_bits_of_simulate(name, run, exported, visit):
    page, model = opened(exported / f"{name}.html", visit), MODELS[name]
    extremes = [{p.name: getattr(p, end) for p in model.parameters} for end in ("low", "high")]
    between = {p.name: p.low + 0.3141592653589793 * (p.high - p.low) for p in model.parameters}
    for values in (model.values(), *extremes, between):
        found, motion = computed(page, values, run), ph.simulate(model.scenario(**values)[run])
        q = motion.quaternion_wxyz
        expected = {
            "time": motion.times,
            "position": motion.position,
            "velocity": motion.velocity,
            "quaternion": q / np.linalg.norm(q, axis=-1, keepdims=True),
            "angularVelocity": motion.angular_velocity,
        }
        for quantity, values_of in expected.items():
            assert np.array_equal(found[quantity], np.ravel(values_of)), (quantity, values)


def test_the_audit_of_the_page_is_that_of_the_motion(exported, visit):
    page, model = opened(exported / "gyroscope.html", visit), MODELS["gyroscope"]
    values = model.values(spin=12.5, theta=40.0)
    found = computed(page, values, "slow")
    motion = ph.simulate(model.scenario(**values)["slow"])
    assert np.array_equal(found["energies"]["total"], motion.energy)
    for finding in motion.audit().findings:
        (shown,) = (one for one in found["findings"] if one["quantity"] == finding.quantity)
        assert shown["conserved"] is finding.conserved
        size = finding.departure / finding.relative if finding.relative else np.abs(found["angularMomentum"]).max()
        assert shown["drift"] == pytest.approx(finding.departure, rel=1e-6, abs=1e-15 * size)


def test_dragging_a_slider_moves_the_motion(exported, visit):
    page = opened(exported / "dzhanibekov.html", visit)
    before = page.evaluate("() => window.polhode.record.time.at(-1)")
    slider = page.get_by_role("slider", name="spin")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_timeout(200)
    expect(page.locator("body")).not_to_have_attribute("data-run", "1")
    assert page.evaluate("() => window.polhode.record.time.at(-1)") < before
    assert page.evaluate("() => window.polhode.values.spin") > 5.0


def test_a_value_outside_the_range_is_refused_at_its_knob(exported, visit):
    page = opened(exported / "gyroscope.html", visit)
    field = page.get_by_role("spinbutton", name="theta")
    field.fill("170")
    field.press("Tab")
    expect(page.get_by_text("theta is outside its range: choose from 15 to 75.")).to_be_visible()
    assert page.evaluate("() => window.polhode.values.theta") == 60.0


def test_knobs_are_live_in_a_sandboxed_frame_of_a_notebook(exported, visit, tmp_path):
    content = html.escape((exported / "dzhanibekov.html").read_text(), quote=True)
    style = "width: 1000px; height: 600px"
    frame = f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{content}"></iframe>'
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>a notebook</title>{frame}")
    window: Visit = visit()
    window.context.set_offline(True)
    window.page.goto(path.as_uri())
    inner = window.page.frame_locator("iframe")
    expect(inner.locator("body")).to_have_attribute("data-state", "ready", timeout=60_000)
    inner.get_by_role("slider", name="spin").press("ArrowRight")
    expect(inner.locator("body")).not_to_have_attribute("data-run", "1")
    expect(inner.get_by_text("may not start a worker")).to_have_count(0)


@ph.model
def tilted(spin=ph.Knob(3.0, 1.0, 5.0, "rad/s"), tilt=ph.Knob(0.2, 0.0, 1.0, "rad")):
    """A knob that goes through NumPy's cosine, which a page cannot repeat to the last bit."""
    start = ph.State(
        quaternion_wxyz=(np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0), angular_velocity_body=(0.1, spin, 0.0)
    )
    return ph.Scenario(ph.shapes.box((0.1, 0.2, 0.3), mass=1.0), start, duration=1.0, method="exact")


def test_the_page_names_a_knob_that_is_not_live_and_says_why(visit, tmp_path):
    path = tmp_path / "tilted.html"
    tilted().export_html(path, knobs=True)
    page = opened(path, visit)
    expect(page.get_by_role("slider", name="spin")).to_be_visible()
    expect(page.get_by_role("slider", name="tilt")).to_have_count(0)
    expect(page.get_by_text("tilt is fixed in this page").first).to_contain_text("numpy.cos")
