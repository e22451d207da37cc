"""Models of the user's own in the lab: files that change, names, texts, and `ph.lab`."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import polhode as ph
from polhode.cli import cli
from polhode.errors import FileError, InputError
from polhode.gallery import MODELS
from polhode.lab_server import responses, session
from polhode.lab_server.registry import LabModels
from polhode.lab_server.server import Lab, create_app
from polhode.web import html_page

GUIDE = (Path(__file__).parents[2] / "docs" / "howto" / "own-models.md").read_text(encoding="utf-8")
WHEEL = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[0]
HOME = "127.0.0.1:8321"
SKELETON = "<!doctype html><!--polhode:policy--><!--polhode:options--><!--polhode:script-->"


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "wheel.toml"
    path.write_text(WHEEL, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def page(monkeypatch):
    """A stub of the page."""
    monkeypatch.setattr(html_page, "_read_asset", lambda name: SKELETON if name == "page.html" else "1")


def change(path, old, new):
    """Change a file, also in the eyes of a file system with coarse times."""
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    later = time.time() + 5
    os.utime(path, (later, later))


class Socket:
    """The client side of a socket."""

    def __init__(self, socket):
        self.socket = socket

    def send(self, kind, id, /, **fields):
        self.socket.send_text(json.dumps({"type": kind, "id": id, **fields}))

    def receive(self, wanted=""):
        """The next text message other than progress, of this type if given; headers of motions as "motion"."""
        while True:
            message = self.socket.receive()
            if message.get("bytes") is not None:
                data = message["bytes"]
                found = {"type": "motion", **json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["meta"]}
            else:
                found = json.loads(message["text"])
            if found["type"] != "progress" and wanted in ("", found["type"]):
                return found


@contextmanager
def connected(models):
    with (
        TestClient(create_app(Lab(models=models)), f"http://{HOME}") as client,
        client.websocket_connect(f"ws://{HOME}/ws", headers={"host": HOME, "origin": f"http://{HOME}"}) as socket,
    ):
        yield Socket(socket)


# The registry ---------------------------------------------------------------------------------------------------------
def test_own_models_come_first_and_the_gallery_follows(wheel):
    models = LabModels(paths=[wheel])
    assert next(iter(models)) == "wheel"
    assert set(models) == {"wheel", *MODELS}
    assert models["dzhanibekov"] is MODELS["dzhanibekov"]
    assert models.errors == ()


def test_a_file_is_read_again_when_it_changes(wheel):
    models = LabModels(paths=[wheel])
    version = models.version
    first = models["wheel"]
    assert models.refresh() == version
    assert models["wheel"] is first
    change(wheel, "0.0, 25.0]", "0.0, 30.0]")
    assert models.refresh() > version
    assert models["wheel"].values()["spin"] == 30.0


def test_a_file_with_an_error_stays_and_says_what_is_wrong(wheel):
    models = LabModels(paths=[wheel])
    change(wheel, "low = 5.0", "low = 55.0")
    models.refresh()
    broken = models["wheel"]
    assert "outside its range" in broken.explanation
    assert str(wheel.parent) not in broken.explanation
    with pytest.raises(InputError, match=r"wheel\.toml: spin starts at 25 rad/s, .*read again when it is saved"):
        broken.run()
    assert len(models.errors) == 1
    change(wheel, "low = 55.0", "low = 1.0")
    models.refresh()
    assert models["wheel"].parameters[0].low == 1.0
    wheel.unlink()
    models.refresh()
    assert "there is no file" in models["wheel"].explanation


def test_a_folder_offers_its_files_also_those_that_come_later(wheel):
    models = LabModels(paths=[wheel.parent])
    assert [model.name for model in models.own] == ["wheel"]
    (wheel.parent / "Second One.toml").write_text(WHEEL, encoding="utf-8")
    models.refresh()
    assert {model.name for model in models.own} == {"wheel", "second-one"}
    assert models.name_of(wheel) == "wheel"


def _link_to_itself(path):
    path.symlink_to(path.name)


def _unreadable(path):
    path.write_text(WHEEL, encoding="utf-8")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("whoever runs the tests may read everything")


FAULTY = {
    "axes of a torque": (
        lambda path: path.write_text(WHEEL + '\n[[forces]]\nkind = "torque"\ntorque = [1, 0, 0]\naxes = []\n'),
        r"axes \[\] is unknown",
    ),
    "nested brackets": (lambda path: path.write_text("pivot = " + 2000 * "[" + 2000 * "]"), "nested too deeply"),
    "a deep list": (lambda path: path.write_text(f"rtol = {200 * '['}{200 * ']'}\n{WHEEL}"), "rtol must be"),
    "not UTF-8": (lambda path: path.write_bytes(b'title = "\xff\xfe"\n'), "is not UTF-8, as TOML is: byte 9 is 0xff"),
    "not TOML": (lambda path: path.write_text("= 3"), "is not TOML"),
    "endless digits": (lambda path: path.write_text(f"duration = {5000 * '9'}"), "is not TOML"),
    "a huge number": (
        lambda path: path.write_text(WHEEL.replace("duration = ", f"duration = {400 * '9'} #", 1)), "a whole number of",
    ),
    "null characters": (lambda path: path.write_bytes(bytes(100)), "is not TOML"),
    "empty": (lambda path: path.write_text(""), "duration|body"),
    "a link to itself": (_link_to_itself, "cannot be read"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "there is no file"),
    "a folder": (lambda path: path.mkdir(), "is no file that can be read"),
    "a pipe": (os.mkfifo, "is no file that can be read"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "is no file that can be read"),
    "unreadable": (_unreadable, "cannot be read: Permission denied"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_file_in_a_folder_is_listed_and_the_rest_works(wheel, name):
    write, sentence = FAULTY[name]
    write(wheel.parent / "faulty.toml")
    models = LabModels(paths=[wheel.parent])
    assert {model.name for model in models.own} == {"wheel", "faulty"}
    assert models["wheel"]().final.time == 6.0
    (error,) = models.errors
    assert "faulty.toml" in error
    assert re.search(sentence, error)
    assert str(wheel.parent) not in error
    with pytest.raises(InputError, match=r"read again when it is saved"):
        models["faulty"].run()
    with TestClient(create_app(Lab(("127.0.0.1",), None, models=models)), base_url=f"http://{HOME}") as client:
        assert client.get("/wheel").status_code == 200
        assert client.get("/faulty").status_code == 200
    faulty = wheel.parent / "faulty.toml"
    faulty.rmdir() if faulty.is_dir() and not faulty.is_symlink() else faulty.unlink()
    faulty.write_text(WHEEL, encoding="utf-8")
    models.refresh()
    assert models.errors == ()


def test_an_error_that_no_check_has_foreseen_is_listed_too(wheel, monkeypatch):
    from polhode.lab_server import registry

    def fails(path):
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(registry, "read_model", fails)
    models = LabModels(paths=[wheel])
    assert models.errors == (
        "wheel.toml cannot be read, and no check has found out why (ZeroDivisionError: float division by zero)",
    )


def test_names_that_are_taken_get_a_number(wheel, tmp_path):
    (tmp_path / "other").mkdir()
    paths = [wheel, tmp_path / "other" / "wheel.toml", tmp_path / "gyroscope.toml"]
    for path in paths:
        path.write_text(WHEEL, encoding="utf-8")
    models = LabModels(paths=paths)
    assert [model.name for model in models.own] == ["wheel", "wheel-2", "gyroscope-2"]
    assert models.name_of(paths[2]) == "gyroscope-2"
    assert models["gyroscope"] is MODELS["gyroscope"]


def test_missing_files_and_empty_folders_are_refused(tmp_path):
    with pytest.raises(FileError, match=r"there is no file .*nowhere.toml"):
        LabModels(paths=[tmp_path / "nowhere.toml"])
    with pytest.raises(FileError, match="has no scenario file"):
        LabModels(paths=[tmp_path])


# The server -----------------------------------------------------------------------------------------------------------
def test_the_page_is_greeted_with_own_models_and_runs_them(wheel):
    with connected(LabModels(paths=[wheel])) as socket:
        hello = socket.receive("hello")
        assert hello["themes"][0] == hello["models"][0]["theme"] == "your models"
        assert [p["name"] for p in hello["models"][0]["parameters"]] == ["spin", "tilt"]
        socket.send("run", 1, model="wheel", values={"spin": 12.0})
        motion, checks = socket.receive("motion"), socket.receive("checks")
        assert (motion["id"], motion["title"]) == (1, "A bicycle wheel on a stand")
        assert checks["checks"] == []
        socket.send("run", 2, model="wheel", values={"spin": 500.0})
        refused = socket.receive("refused")
        assert refused["parameter"] == "spin"
        socket.send("run", 3, model="wheel", values={"mass": 5.0})
        assert "no parameter 'mass'" in socket.receive("refused")["sentence"]


def test_the_page_is_told_when_a_file_changes(wheel, monkeypatch):
    monkeypatch.setattr(session, "WATCH_INTERVAL_S", 0.05)
    with connected(LabModels(paths=[wheel])) as socket:
        socket.receive("hello")
        change(wheel, "high = 60.0", "high = 70.0")
        again = socket.receive("hello")
        assert again["changed"] == ["wheel"]
        assert again["models"][0]["parameters"][0]["high"] == 70.0


def test_runs_are_sent_as_python_and_toml(wheel, tmp_path):
    with connected(LabModels(paths=[wheel])) as socket:
        socket.receive("hello")
        socket.send("text", 4, kind="python", model="wheel", values={"spin": 12.0}, run="")
        script = socket.receive("text")
        assert (script["id"], script["name"]) == (4, "wheel.py")
        assert "angular_velocity_body=(0.0, 0.0, 12.0)" in script["text"]
        compile(script["text"], "script", "exec")
        socket.send("text", 5, kind="toml", model="wheel", values={"spin": 12.0}, run="")
        (tmp_path / "again.toml").write_text(socket.receive("text")["text"], encoding="utf-8")
        assert ph.model(tmp_path / "again.toml").values() == {"spin": 12.0, "tilt": 70.0}
        socket.send("text", 6, kind="toml", model="dzhanibekov", values={}, run="t-handle")
        assert "parts" in socket.receive("text")["text"]
        socket.send("text", 7, kind="toml", model="dzhanibekov", values={}, run="spoon")
        assert "it has box, t-handle" in socket.receive("refused")["sentence"]
        socket.send("text", 8, kind="word", model="dzhanibekov", values={}, run="")
        assert "no text of kind 'word'" in socket.receive("refused")["sentence"]
        socket.send("text", 9, kind="toml", model="dzhanibekov", values={"spin": 1e9}, run="")
        assert socket.receive("refused")["parameter"] == "spin"


def test_the_greeting_without_own_models_is_that_of_the_gallery():
    assert "your models" not in responses.hello_message()


# The command line -----------------------------------------------------------------------------------------------------
@pytest.fixture
def served(monkeypatch):
    found = []
    monkeypatch.setattr(sys.modules["polhode.cli.lab"], "serve_page", lambda **given: found.append(given))
    return found


def test_files_are_targets_of_the_lab_and_knobs_are_options(wheel, served):
    result = CliRunner().invoke(cli, ["lab", str(wheel), "--spin", "8"])
    assert result.exit_code == 0, result.output
    assert (served[0]["model"], served[0]["parameters"]) == ("wheel", {"spin": 8.0})
    assert [model.name for model in served[0]["models"].own] == ["wheel"]
    result = CliRunner().invoke(cli, ["lab", str(wheel), "--spin", "800"])
    assert "outside its range" in result.output
    assert CliRunner().invoke(cli, ["lab", str(wheel.parent)]).exit_code == 0
    assert served[1]["model"] == "wheel"
    assert CliRunner().invoke(cli, ["lab", "dzhanibekov", str(wheel), "--spin", "3"]).exit_code == 0
    assert (served[2]["model"], served[2]["parameters"]) == ("dzhanibekov", {"spin": 3.0})
    result = CliRunner().invoke(cli, ["lab", "dzhanibekov", "gyroscope"])
    assert "one model of the gallery" in result.output
    assert CliRunner().invoke(cli, ["lab", "nowhere.toml"]).exit_code == 1


def test_a_file_with_an_error_opens_the_lab_and_is_reported_in_the_terminal(wheel, served):
    change(wheel, "low = 5.0", "low = 55.0")
    result = CliRunner().invoke(cli, ["lab", str(wheel)])
    assert result.exit_code == 0
    assert "Error: wheel.toml: spin starts at 25 rad/s" in result.output
    assert served


def test_knobs_are_options_of_run(wheel):
    arguments = ["run", str(wheel), "--spin", "12", "--no-picture", "--json"]
    report = json.loads(CliRunner().invoke(cli, arguments).output)
    assert report["parameters"] == {"spin": 12.0, "tilt": 70.0}
    assert "--tilt" in CliRunner().invoke(cli, ["run", str(wheel), "--help"]).output
    change(wheel, "low = 5.0", "low = 55.0")
    assert "spin starts at" in CliRunner().invoke(cli, ["run", str(wheel)]).output


# ph.lab ---------------------------------------------------------------------------------------------------------------
def read(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode(), answer.headers


def test_ph_lab_serves_from_a_thread_and_offers_more_when_called_again(wheel):
    @ph.model
    def stone(speed=ph.Knob(5.0, 0.0, 20.0, "m/s")):
        return ph.Scenario(ph.particle(1.0), ph.State(velocity=(0, 0, speed)), duration=1.0)

    lab = ph.lab(stone, browser=False, wait=False, port=0)
    try:
        assert lab.url.endswith("/stone")
        text, headers = read(lab.url)
        assert text.startswith("<!doctype html>")
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        again = ph.lab(wheel, browser=False, wait=False, port=0)
        assert again is lab
        assert again.url.endswith("/wheel")
        assert [model.name for model in lab.models.own] == ["stone", "wheel"]
        assert ph.lab("Thin_Rod", browser=False, wait=False, port=0).url.endswith("/thin-rod")
        assert lab.url in lab._repr_html_()
    finally:
        lab.stop()
    assert not lab.is_running
    assert "stopped" in repr(lab)
    lab = ph.lab(browser=False, wait=False, port=0)
    assert lab.url == lab.base
    lab.stop()


def test_ph_lab_refuses_what_it_cannot_open():
    with pytest.raises(InputError, match=r"motion\.show"):
        ph.lab(3, browser=False, wait=False)
    with pytest.raises(InputError, match="did you mean 'dzhanibekov'"):
        ph.lab("dzanibekov", browser=False, wait=False)
