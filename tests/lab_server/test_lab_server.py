"""The server of the lab: its responses, access control, and robustness."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient, WebSocketDenialResponse

import lab_models
import polhode as ph
from polhode.cli import cli
from polhode.gallery import MODELS
from polhode.lab_server import address, responses
from polhode.lab_server.jobs import Job
from polhode.lab_server.requests import RunRequest
from polhode.lab_server.security import is_loopback, is_wildcard_address, required_token
from polhode.lab_server.server import Lab, create_app
from polhode.lab_server.turnstile import Turnstile
from polhode.web import html_page
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

HOME = "127.0.0.1:8321"
SKELETON = "<!doctype html><!--polhode:policy--><!--polhode:options--><!--polhode:script-->"


@pytest.fixture
def lab(monkeypatch):
    """A lab with the models of lab_models, and a stub of the page."""
    lab_models.install(monkeypatch)
    monkeypatch.setattr(html_page, "_read_asset", lambda name: SKELETON if name == "page.html" else "1")
    with TestClient(create_app(Lab()), f"http://{HOME}") as client:
        yield client
    responses.models_by_theme.cache_clear()


def client_of(lab):
    return TestClient(create_app(lab), f"http://{HOME}")


class Client:
    """The client side of a socket."""

    def __init__(self, socket):
        self.socket = socket
        self.hello = json.loads(socket.receive()["text"])

    def send(self, kind, id, **fields):
        self.socket.send_text(json.dumps({"type": kind, "id": id, **fields}))

    def run(self, id, model, **values):
        self.send("run", id, model=model, values=values)

    def receive(self):
        """The next message other than progress: the header of a motion, or a text message."""
        while True:
            message = self.socket.receive()
            if message.get("bytes") is not None:
                data = message["bytes"]
                length = int.from_bytes(data[:4], "little")
                return {"type": "motion", **json.loads(data[4 : 4 + length])["meta"]}
            found = json.loads(message["text"], parse_constant=pytest.fail)
            if found["type"] != "progress":
                return found

    def receive_progress(self):
        while (found := json.loads(self.socket.receive()["text"]))["type"] != "progress":
            pass
        return found


@contextmanager
def connect_client(client, query="", origin=f"http://{HOME}", host=HOME):
    headers = {"host": host} | ({"origin": origin} if origin is not None else {})
    with client.websocket_connect(f"ws://{HOME}/ws{query}", headers=headers) as socket:
        yield Client(socket)


# Messages ----------------------------------------------------------------------------------------------------------
def test_a_run_is_answered_by_its_motion_and_then_by_its_checks(lab):
    with connect_client(lab) as t:
        assert [model["name"] for model in t.hello["models"]] == list(lab_models.MODELS)
        t.run(7, "spinner", spin=4)
        motion, checks = t.receive(), t.receive()
    assert (motion["type"], motion["id"], motion["name"], motion["runs"]) == ("motion", 7, "spinner", [])
    assert (checks["type"], checks["id"]) == ("checks", 7)
    (check,) = checks["checks"]
    assert check["expected"] == 4.0
    assert check["holds"]
    assert set(check) == {"label", "unit", "found", "expected", "tolerance", "difference", "holds", "source"}


def test_hello_describes_the_whole_gallery():
    responses.models_by_theme.cache_clear()
    messages = json.loads(responses.hello_message())
    assert {model["name"]: model for model in messages["models"]} == {
        name: json.loads(json.dumps(MODELS[name].describe())) for name in MODELS
    }
    order = [messages["themes"].index(model["theme"]) for model in messages["models"]]
    assert order == sorted(order)


def test_another_motion_of_the_last_run_is_sent_without_simulating(lab, monkeypatch):
    with connect_client(lab) as t:
        t.send("motion", 1, run="two")
        assert "no model has been run" in t.receive()["sentence"]
        t.run(2, "twins")
        first = t.receive()
        assert (first["runs"], first["run"]) == (["one", "two"], "one")
        assert t.receive()["type"] == "checks"
        monkeypatch.setattr("polhode.solve.simulate.simulate", pytest.fail)
        t.send("motion", 3, run="two")
        second = t.receive()
        assert (second["type"], second["id"], second["run"]) == ("motion", 3, "two")
        t.send("motion", 4, run="three")
        assert t.receive()["sentence"] == "the last run has no motion 'three'; it has one, two"


def test_invalid_values_are_refused_with_the_error_of_python_and_the_name_of_the_parameter(lab):
    with connect_client(lab) as t:
        t.run(1, "spinner", spin=900)
        refused = t.receive()
    assert (refused["type"], refused["id"], refused["parameter"]) == ("refused", 1, "spin")
    with pytest.raises(ph.PolhodeError) as python:
        lab_models.MODELS["spinner"].values(spin=900)
    assert refused["sentence"] == str(python.value)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("nonsense", "the message is not valid JSON"),
        ('{"type": "run", "id": 1, "model": "spinner", "values": {"spin": NaN}}', "NaN is not a JSON number"),
        (
            '{"type": "run", "id": 1, "model": "spinner", "values": {"spin": -Infinity}}',
            "-Infinity is not a JSON number",
        ),
        ('{"type": "run", "id": 1, "model": "spinner", "values": {"spin": 1e999}}', "spin = inf rad/s is outside"),
        (
            '{"type": "run", "id": 1, "model": "spinner", "values": {"spin": 1%s}}' % ("0" * 400),
            "not a whole number of 1329 bits",
        ),
        ('{"type": "run", "id": 1, "model": "spinner", "values": {"spin": "4"}}', "spin must be a number, but is '4'"),
        (
            '{"type": "run", "id": 1, "model": "spinner", "values": {"spin": true}}',
            "spin must be a number, but is True",
        ),
        ('{"type": "run", "id": 1, "model": "spinner", "values": {"mass": 4}}', "spinner has no parameter 'mass'"),
        ('{"type": "run", "id": 1, "model": "spinner", "values": {"self": 1}}', "spinner has no parameter 'self'"),
        ('{"type": "run", "id": 1, "model": "spinner", "values": [4]}', "the message needs 'values'"),
        ('{"type": "run", "id": 1, "model": "spinnr", "values": {}}', "did you mean 'spinner'?"),
        ('{"type": "run", "id": 1, "model": ["spinner"], "values": {}}', "the message needs 'model', a string"),
        ('{"type": "motion", "id": 1, "run": null}', "the message needs 'run', a string"),
        ('{"type": "jump", "id": 1}', "unknown message type 'jump'"),
        ('{"type": {}, "id": 1}', "unknown message type {}"),
        ('{"type": "run", "id": "1"}', "an id that is a nonnegative integer"),
        ('{"type": "run", "id": true}', "an id that is a nonnegative integer"),
        ("[1, 2]", "must be a JSON object"),
        ("[" * 60_000, "the message is not valid JSON"),
        (" " * 70_000, "is too long: at most 65,536"),
    ],
)
def test_an_invalid_message_is_refused_and_the_session_goes_on(lab, message, sentence):
    with connect_client(lab) as t:
        t.socket.send_text(message)
        refused = t.receive()
        assert refused["type"] == "refused"
        assert sentence in refused["sentence"]
        t.run(2, "spinner")
        assert t.receive()["id"] == 2


def test_binary_messages_are_refused(lab):
    with connect_client(lab) as t:
        t.socket.send_bytes(b"\x00\xff")
        assert t.receive()["type"] == "refused"
        t.run(2, "spinner")
        assert t.receive()["id"] == 2


def test_a_long_run_reports_progress_and_can_be_canceled(lab):
    with connect_client(lab) as t:
        t.run(1, "slow")
        while (progress := t.receive_progress())["done"] == 0:
            pass
        assert progress["id"] == 1
        assert 0 < progress["done"] < 1
        assert re.fullmatch(r"simulating: [\d.e+]+ of 3e\+03 s", progress["text"])
        t.send("cancel", 1)
        assert t.receive() == {"type": "cancelled", "id": 1}
        t.run(2, "spinner")
        assert t.receive()["id"] == 2


def test_a_newer_run_supersedes_earlier_ones(lab):
    with connect_client(lab) as t:
        t.run(1, "slow")
        t.receive_progress()
        t.run(2, "slow")
        t.run(3, "spinner")
        heard = [t.receive() for _ in range(4)]
    assert sorted(m["id"] for m in heard if m["type"] == "cancelled") == [1, 2]
    assert [(m["type"], m["id"]) for m in heard if m["type"] != "cancelled"] == [("motion", 3), ("checks", 3)]


def test_a_newer_run_does_not_wait_for_the_checks_of_the_previous_one(lab):
    with connect_client(lab) as t:
        t.run(1, "pensive")
        assert t.receive()["type"] == "motion"
        t.run(2, "spinner")
        assert t.receive() == {"type": "cancelled", "id": 1}
        assert t.receive()["type"] == "motion"
        lab_models.CHECKS_MAY_FINISH.set()
        assert [t.receive()["type"]] == ["checks"]


def test_two_pages_are_independent(lab):
    with connect_client(lab) as one, connect_client(lab) as other:
        one.run(1, "slow")
        one.receive_progress()
        other.run(1, "spinner", spin=3)
        assert [other.receive()["type"], other.receive()["type"]] == ["motion", "checks"]
        other.send("cancel", 1)  # its own run, which is done
        one.receive_progress()
        one.send("cancel", 1)
        assert one.receive()["type"] == "cancelled"


def test_warnings_of_a_run_are_notes_of_its_motion(lab):
    with connect_client(lab) as t:
        for id in (1, 2):  # the second time too, when Python would suppress the warning
            t.run(id, "missed")
            assert any("an impulse at 99 s is never applied" in note for note in t.receive()["notes"])
            t.receive()


def test_the_motion_of_a_failed_run_is_sent_up_to_the_failure(lab):
    with connect_client(lab) as t:
        t.run(1, "doomed", spin=20)
        motion, refused = t.receive(), t.receive()
    assert motion["type"] == "motion"
    assert any("became infinite or NaN" in note for note in motion["notes"])
    assert refused["type"] == "refused"
    assert refused["parameter"] is None
    assert refused["sentence"].endswith("The motion up to that time is shown.")
    assert ".motion" not in refused["sentence"]


def test_inconsistent_values_are_refused_with_the_error_of_the_model(lab):
    with connect_client(lab) as t:
        t.run(1, "picky", spin=11)
        assert t.receive() == {
            "type": "refused",
            "id": 1,
            "sentence": "a spin above 10 rad/s tears it apart",
            "parameter": None,
        }


def test_an_unexpected_error_is_reported_as_a_bug_and_the_lab_goes_on(lab, capfd):
    with connect_client(lab) as t:
        t.run(1, "broken")
        assert t.receive()["type"] == "motion"
        refused = t.receive()
        assert "this is a bug in Polhode" in refused["sentence"]
        assert "ZeroDivisionError: nobody thought of this" in refused["sentence"]
        t.run(2, "spinner")
        assert t.receive()["id"] == 2
    assert "Traceback" in capfd.readouterr().err


def test_an_unexpected_error_in_parsing_a_request_answers_it(lab, monkeypatch, capfd):
    def broken(model, /, **given):
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr("polhode.gallery.Model.values", broken)
    with connect_client(lab) as t:
        t.run(7, "spinner", spin=3)
        refused = t.receive()
    assert (refused["type"], refused["id"]) == ("refused", 7)
    assert "this is a bug in Polhode" in refused["sentence"]
    assert "Traceback" in capfd.readouterr().err


def test_a_run_canceled_when_its_motion_is_sent_does_not_wait_for_the_checks_of_others():
    heard, checks_lock = [], threading.Lock()

    async def cancelled_when_shown():
        def tell(message):
            heard.append(message)
            if isinstance(message, bytes):
                job.cancel()

        model = lab_models.MODELS["spinner"]
        job = Job(RunRequest(1, model, model.values()), None, tell, checks_lock, Turnstile())
        await asyncio.wait_for(job.done(), 20)

    with checks_lock:
        asyncio.run(cancelled_when_shown())
    assert json.loads(heard[-1]) == {"type": "cancelled", "id": 1}


def test_progress_is_monotonic_and_below_1_until_the_end(lab, monkeypatch):
    monkeypatch.setattr("polhode.lab_server.jobs.PROGRESS_INTERVAL_S", 0.0)
    with connect_client(lab) as t:
        t.run(1, "twins")
        received = [t.socket.receive()]
        while json.loads(received[-1].get("text") or "{}").get("type") != "checks":
            received.append(t.socket.receive())
    (sent,) = (i for i, message in enumerate(received) if message.get("bytes") is not None)
    before, after = ([json.loads(m["text"]) for m in part] for part in (received[:sent], received[sent + 1 : -1]))
    done = [m["done"] for m in before + after]
    assert done == sorted(done)
    assert all(share < 1 for share in done)
    assert before[-1]["text"] == "preparing the motion (compiled on first use)"
    assert any("two, 2 of 2" in m["text"] for m in after), "the first motion does not wait for the second"
    assert after[-1]["text"] == "checking against reference values"


def test_a_viewed_motion_follows_the_greeting(lab):
    motion = ph.simulate(lab_models.MODELS["spinner"].scenario(spin=3.0))
    viewed = encode_record(record_motion(motion, name="stored"))
    with client_of(Lab(viewed=viewed, title="stored")) as client, connect_client(client) as t:
        assert t.hello["models"] == []
        assert t.receive()["name"] == "stored"
        t.run(1, "spinner")
        assert t.receive()["sentence"] == "only one motion is viewed here; use `polhode lab` to run models"
        assert client.get("/").status_code == 200
        assert client.get("/spinner").status_code == 404


# Access control ------------------------------------------------------------------------------------------------------
def test_the_page_has_its_options_and_security_headers(lab):
    for path, model in (("/", ""), ("/spinner?spin=3&fx=low", "spinner")):
        answer = lab.get(path)
        assert answer.status_code == 200
        options = re.search(r'<script id="polhode-options" type="application/json">(.*?)</script>', answer.text)[1]
        assert json.loads(options)["mode"] == "live"
        assert json.loads(options)["model"] == model
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/Spinner", "/SPINNER?spin=3&token=a%20b"])
def test_model_names_are_case_insensitive(lab, path):
    answer = lab.get(path, follow_redirects=False)
    assert answer.status_code == 307
    assert answer.headers["location"] == "." + path.replace("S", "s").replace("PINNER", "pinner")
    assert lab.get(path).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/no-such-model", "/favicon.ico", "/a/b", "/spinner/", "/%2fevil.example", "/ws", "/..%2f..%2fetc%2fpasswd"],
)
def test_unknown_paths_are_not_found(lab, path):
    answer = lab.get(path)
    assert answer.status_code == 404
    assert "there is no" in answer.text
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_only_get_is_allowed(lab):
    assert lab.post("/").status_code == 405


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "", "[bad"])
def test_dns_rebinding_is_refused(lab, host):
    answer = lab.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "open the URL printed by the lab" in answer.text
    with pytest.raises(WebSocketDenialResponse) as refused, connect_client(lab, origin=f"http://{host}", host=host):
        pass
    assert refused.value.status_code == 403


@pytest.mark.parametrize("host", ["localhost:8321", "127.0.0.1", "[::1]:8321", "LOCALHOST"])
def test_loopback_names_are_accepted(lab, host):
    assert lab.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8321", "file://", ""]
)
def test_a_socket_requires_the_origin_of_the_page(lab, origin):
    with pytest.raises(WebSocketDenialResponse) as refused, connect_client(lab, origin=origin):
        pass
    assert refused.value.status_code == 403
    assert "cross-origin request" in refused.value.text


@pytest.mark.parametrize(
    ("bound", "host"),
    [("fd00::2", "[fd00::2]:8321"), ("fd00:0:0:0:0:0:0:2", "[FD00::2]"), ("::ffff:127.0.0.1", "127.0.0.1:8321")],
)
def test_addresses_are_normalized(lab, bound, host):
    with client_of(Lab((bound,))) as client:
        assert client.get("/", headers={"host": host}).status_code == 200
        assert client.get("/", headers={"host": "[fd00::3]"}).status_code == 403


def test_pictures_of_the_gallery_are_served_to_those_with_the_token_and_nothing_else_is(lab):
    with client_of(Lab(("0.0.0.0",), "sesame")) as client:
        assert client.get("/pictures/dzhanibekov.webp").status_code == 403
        answer = client.get("/pictures/dzhanibekov-dark.webp?token=sesame")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
        assert answer.content[:4] == b"RIFF"
        for file in ("none.webp", "..%2F..%2Fdrift.py", "..%5Cdrift.py", "dzhanibekov"):
            assert client.get(f"/pictures/{file}?token=sesame").status_code == 404
        policy = client.get("/?token=sesame").headers["content-security-policy"]
        assert "img-src 'self' data: blob:" in policy


def test_a_token_is_required_if_there_is_one(lab):
    with client_of(Lab(("0.0.0.0",), "open sesame")) as client:
        for query in ("", "?token=", "?token=sesame", "?token=open%20sesam%C3%A9", "?TOKEN=open%20sesame"):
            answer = client.get(f"/spinner{query}")
            assert answer.status_code == 403
            assert "requires a token" in answer.text
            with pytest.raises(WebSocketDenialResponse) as refused, connect_client(client, query):
                pass
            assert refused.value.status_code == 403
        assert client.get("/?token=open%20sesame").status_code == 200
        assert client.get("/?token=open+sesame", headers={"host": "any.name.example"}).status_code == 200
        with connect_client(client, "?token=open%20sesame") as t:
            t.run(1, "spinner")
            assert t.receive()["id"] == 1


def test_a_token_is_generated_unless_the_address_is_loopback():
    assert required_token("127.0.0.1", None) is None
    assert required_token("::ffff:127.0.0.1", None) is None
    assert required_token("127.0.0.1", "mine") == "mine"
    made = {required_token(host, None) for host in ("0.0.0.0", "::", "192.168.1.7", "some.name")}
    assert len(made) == 4
    assert all(len(token) >= 20 for token in made)
    assert is_loopback("::1")
    assert not is_loopback("some.name")


# The commands ---------------------------------------------------------------------------------------------------------
def test_a_port_in_use_is_an_error_and_by_default_the_next_one_is_used(monkeypatch):
    with address.open_listener("127.0.0.1", 0) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(ph.PolhodeError, match=f"port {number} is already in use: choose another"):
            address.open_listener("127.0.0.1", number)
        monkeypatch.setattr(address, "DEFAULT_PORT", number)
        with address.open_listener("127.0.0.1", None) as other:
            assert other.getsockname()[1] != number
    with pytest.raises(ph.PolhodeError, match="not a name or address"):
        address.open_listener("no.such.host.invalid", None)


@pytest.mark.parametrize(
    ("host", "bound", "shown"),
    [
        ("0", "0.0.0.0", "127.0.0.1"),
        ("", "0.0.0.0", "127.0.0.1"),
        ("::", "::", "[::1]"),
        ("::ffff:0.0.0.0", "::ffff:0.0.0.0", "127.0.0.1"),
        ("::1", "::1", "[::1]"),
        ("fd00:0:0:0:0:0:0:2", "fd00::2", "[fd00::2]"),
        ("localhost", "127.0.0.1", "localhost"),
    ],
)
def test_printed_urls_can_be_opened(host, bound, shown):
    listener = SimpleNamespace(getsockname=lambda: (bound, 8321, 0, 0))
    assert address.page_url(host, listener, "drift", {}, None) == f"http://{shown}:8321/drift"
    whole = address.page_url(host, listener, "drift", {"spin": 3.0, "size": 1e-7}, "a b&c")
    assert whole == f"http://{shown}:8321/drift?spin=3&size=1e-07&token=a%20b%26c"
    assert is_wildcard_address(bound) == (shown not in (host, f"[{bound}]"))


def test_a_host_of_zero_is_a_wildcard_and_requires_a_token():
    with address.open_listener("0", 0) as listener:
        bound = listener.getsockname()[0]
    assert is_wildcard_address(bound)
    assert required_token(bound, None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lab", "no-such-model"], "there is no model 'no-such-model'"),
        (["lab", "dzhanibekov", "--spin", "1e9"], "spin = 1e+09 rad/s is outside its range"),
        (["lab", "motion.zarr"], "`polhode view` opens files"),
        (["view", "."], " is not a stored motion"),
        (["view", "x.csv"], "x.csv is not a stored motion"),
        (["lab", "--port", "70000"], "70000 is not in the range"),
        (["lab", "--token", ""], "--token must not be empty"),
        (["view", "nowhere.zarr"], "nowhere.zarr"),
        (["view", "dzhanibekov"], "`polhode lab dzhanibekov` opens it"),
        (["view", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_errors_of_the_commands(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("1, 2")
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code in (1, 2)
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_an_unknown_model_has_the_same_error_in_all_commands():
    lab, picture = (CliRunner().invoke(cli, [command, "dzhanibekow"]) for command in ("lab", "picture"))
    assert lab.exit_code == picture.exit_code == 2
    sentence = "there is no model 'dzhanibekow': did you mean 'dzhanibekov'? `polhode list` shows all of them; "
    assert all(sentence in " ".join(result.output.split()) for result in (lab, picture))


def test_parameters_are_options_of_the_lab_and_part_of_its_url(monkeypatch):
    served = []
    monkeypatch.setattr(sys.modules["polhode.cli.lab"], "serve_page", lambda **given: served.append(given))
    result = CliRunner().invoke(cli, ["lab", "Dzhanibekov", "--spin", "3", "--no-browser"])
    assert result.exit_code == 0, result.output
    assert (served[0]["model"], served[0]["parameters"]) == ("dzhanibekov", {"spin": 3.0})
    assert CliRunner().invoke(cli, ["lab"]).exit_code == 0
    assert (served[1]["model"], served[1]["parameters"]) == ("", {})
    assert "--nudge" in CliRunner().invoke(cli, ["lab", "dzhanibekov", "--help"]).output
    assert "polhode lab NAME --help" in " ".join(CliRunner().invoke(cli, ["lab", "--help"]).output.split())


@pytest.mark.parametrize("name", list(MODELS))
def test_no_parameter_has_the_name_of_an_option_of_the_lab_or_its_page(name):
    taken = {p.name for p in cli.commands["lab"].params} | {"fx", "token", "self", "run"}
    taken |= {"t", "cam", "show", "point", "watch", "panes", "plots", "tab"}  # what is seen: controls/address.ts
    assert not taken & {p.name for p in MODELS[name].parameters}


def test_a_missing_page_is_an_error(monkeypatch):
    def missing(name):
        raise ph.PolhodeError("this installation does not include the interactive page")

    monkeypatch.setattr(html_page, "_read_asset", missing)
    result = CliRunner().invoke(cli, ["lab", "--no-browser", "--port", "0"])
    assert result.exit_code == 1
    assert "this installation does not include the interactive page" in result.output


SCRIPT = f"""
import sys
from polhode.web import html_page
html_page._read_asset = lambda name: {SKELETON!r} if name == "page.html" else "1"
from polhode.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_url_serves_it_and_exits_cleanly(end, tmp_path):
    import urllib.request

    from websockets.sync.client import connect

    stored = tmp_path / "spin.zarr"
    ph.simulate(lab_models.MODELS["spinner"].scenario(spin=3.0)).save(stored)
    command = [sys.executable, "-c", SCRIPT, "view", str(stored), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            home = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/  Press Ctrl-C to stop\n", line)[1]
            with urllib.request.urlopen(f"http://{home}/", timeout=30) as answer:
                assert b"polhode-options" in answer.read()
            with connect(f"ws://{home}/ws", origin=f"http://{home}", max_size=None, compression=None) as socket:
                assert json.loads(socket.recv(30))["models"] == []
                assert isinstance(socket.recv(30), bytes)
                process.send_signal(end)
                out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert (out, err) == ("", "")


def test_a_viewed_motion_keeps_every_body(lab):
    start = ph.State(angular_velocity_body=np.linspace((0.1, 4.0, 0.1), (0.1, 5.0, 0.1), 3))
    many = ph.ensemble(lab_models.BOX, start, duration=1.0, output_step=0.1, method="exact")
    with client_of(Lab(viewed=encode_record(record_motion(many)))) as client, connect_client(client) as t:
        assert t.receive()["members"] == [0, 1, 2]
