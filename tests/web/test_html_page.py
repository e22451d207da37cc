"""The page as one file, checked by parsing its HTML."""

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

import polhode as ph
from polhode.errors import FileError
from polhode.web.browser import open_url
from polhode.web.html_page import build_iframe, build_motion_page, build_page, content_security_policy
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

NAME = '</script><img src="https://example.org/x" onerror="alert(1)">'


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the contents of scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.within = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
            self.within = True

    def handle_endtag(self, tag):  # noqa: ARG002
        self.within = False

    def handle_data(self, data):
        if self.within:
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))


@pytest.fixture(scope="module")
def motion():
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    spin = ph.State(angular_velocity_body=(0.1, 5.0, 0.1))
    return ph.simulate(box, spin, duration=1.0, method="exact", output_step=0.01, name=NAME)


def test_the_file_has_no_external_references(motion):
    for tag, attributes in Elements(build_motion_page(motion)).elements:
        for name in ("src", "href", "action", "srcset", "poster"):
            assert attributes.get(name, "data:").startswith(("data:", "#")), (tag, attributes)
        assert tag not in ("img", "iframe", "object", "embed")
        assert not any(name.startswith("on") for name in attributes)


def test_the_policy_allows_the_script_of_the_page_and_no_connections(motion):
    parsed = Elements(build_motion_page(motion))
    (content,) = [a["content"] for t, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert content == content_security_policy(live=False)
    assert "default-src 'none'" in content
    assert "connect-src" not in content
    (script,) = [data for attributes, data in parsed.scripts if "type" not in attributes]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in content
    assert "connect-src 'self'" in content_security_policy(live=True)


def test_the_file_contains_the_encoded_motion(motion):
    parsed = Elements(build_motion_page(motion))
    (data,) = [data for attributes, data in parsed.scripts if attributes.get("id") == "polhode-motion"]
    assert base64.b64decode(data) == encode_record(record_motion(motion, name=NAME, title=NAME))


def test_the_file_without_its_data_has_at_most_1_5_megabytes(motion):
    data = len(base64.b64encode(encode_record(record_motion(motion))))
    assert len(build_motion_page(motion).encode()) - data <= 1.5e6


def test_licenses_of_what_is_bundled_are_in_the_file(motion):
    text = build_motion_page(motion)
    assert "three.js authors" in text
    assert "Leon Sorokin" in text


def test_the_frame_in_a_notebook_may_only_run_scripts(motion):
    ((tag, attributes),) = Elements(build_iframe(motion)).elements
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["srcdoc"] == build_motion_page(motion)
    assert motion._repr_html_() == build_iframe(motion)


def test_a_motion_without_output_has_no_html_representation(motion):
    empty = ph.simulate(ph.particle(1.0), duration=1.0, method="exact")
    empty.run_result.times, empty.run_result.samples = empty.run_result.times[:0], empty.run_result.samples[:0]
    assert empty._repr_html_() is None


def test_page_options_cannot_end_their_script_element():
    title = "</script><script>alert(1)</script>"
    parsed = Elements(build_page({"mode": "live", "title": title}))
    (content,) = [data for attributes, data in parsed.scripts if attributes.get("id") == "polhode-options"]
    assert json.loads(content)["title"] == title
    assert len([attributes for attributes, _ in parsed.scripts if "type" not in attributes]) == 1


def test_a_missing_folder_is_created(motion, tmp_path):
    motion.export_html(tmp_path / "no" / "such.HTM")
    assert (tmp_path / "no" / "such.HTM").read_text(encoding="utf-8") == build_motion_page(motion)


@pytest.mark.parametrize("path", [".", "x.txt", "x"])
def test_a_wrong_file_suffix_is_refused(motion, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=r"a page cannot be written to .*: its name must end with .html or .htm"):
        motion.export_html(path)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_export_leaves_the_existing_file(motion, tmp_path, monkeypatch):
    path = tmp_path / "x.html"
    path.write_text("old")

    def interrupted(self, content):
        self.open("wb").close()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        motion.export_html(path)
    assert [p.name for p in tmp_path.iterdir()] == ["x.html"]
    assert path.read_text() == "old"


def test_a_path_that_cannot_be_written_raises_a_file_error(motion, tmp_path):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(FileError, match="cannot be written"):
        motion.export_html(tmp_path / "folder.html")
    assert [p.name for p in tmp_path.iterdir()] == ["folder.html"]


def test_show_opens_the_file_in_the_browser_and_returns_its_path(motion, monkeypatch):
    seen = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda address: not seen.append(address))
    path = motion.show()
    assert seen == [path.as_uri()]
    assert path.read_text(encoding="utf-8") == build_motion_page(motion)


def test_show_warns_if_no_browser_can_be_opened(motion, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    with pytest.warns(UserWarning, match="could not open a browser: open .*html yourself"):
        motion.show()


def test_without_a_display_no_browser_is_tried(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("webbrowser.open", pytest.fail)
    assert not open_url("http://127.0.0.1:8321/")


def test_a_motion_without_a_name_has_the_title_of_its_file(tmp_path):
    ph.simulate(ph.particle(1.0), duration=1.0, method="exact").export_html(tmp_path / "drop.html")
    parsed = Elements((tmp_path / "drop.html").read_text(encoding="utf-8"))
    (content,) = [data for attributes, data in parsed.scripts if attributes.get("id") == "polhode-options"]
    assert json.loads(content)["title"] == "drop"
