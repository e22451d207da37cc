"""What a page that drags a knob needs of the server, and what many pages at once may ask of it."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
from time import sleep

import numpy as np
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from test_lab_server import HOME, SKELETON, connect_client

import lab_models
import polhode as ph
from polhode.errors import CancelledError, InputError
from polhode.gallery import MODELS
from polhode.lab_server import address, responses
from polhode.lab_server.knob_sweep import record_sweep
from polhode.lab_server.security import parse_public_url, required_token
from polhode.lab_server.server import Lab, create_app
from polhode.lab_server.turnstile import Turnstile
from polhode.web import html_page
from polhode.web.record_encoding import encode_record

HUB = "https://hub.example.org"
PREFIX = "/user/ann/proxy/8321"


@pytest.fixture
def lab(monkeypatch):
    """A lab with the models of lab_models, in which one computation runs at a time."""
    lab_models.install(monkeypatch)
    monkeypatch.setattr(html_page, "_read_asset", lambda name: SKELETON if name == "page.html" else "1")
    monkeypatch.setattr("polhode.lab_server.server.Turnstile", lambda: Turnstile(1))
    with TestClient(create_app(Lab()), f"http://{HOME}") as client:
        yield client
    responses.models_by_theme.cache_clear()


# Quick runs --------------------------------------------------------------------------------------------------------
def test_a_quick_run_is_one_motion_without_checks_and_closed_form(lab):
    with connect_client(lab) as t:
        t.send("run", 1, model="twins", values={"spin": 3}, quick=True, run="two")
        motion = t.receive()
        t.send("run", 2, model="spinner", values={}, quick=True)
        other = t.receive()
    assert (motion["id"], motion["run"], motion["runs"]) == (1, "two", ["one", "two"])
    assert motion["hasClosedForm"] is False
    assert (other["type"], other["id"], other["runs"]) == ("motion", 2, [])


def test_a_quick_run_leaves_the_last_complete_one_as_it_is(lab):
    with connect_client(lab) as t:
        t.run(1, "twins", spin=3)
        assert [t.receive()["type"], t.receive()["type"]] == ["motion", "checks"]
        t.send("run", 2, model="twins", values={"spin": 7}, quick=True, run="one")
        assert t.receive()["id"] == 2
        t.send("motion", 3, run="two")
        assert (found := t.receive())["run"] == "two"
        assert found["id"] == 3


def test_a_quick_run_of_an_unknown_scenario_is_that_of_the_first(lab):
    with connect_client(lab) as t:
        t.send("run", 1, model="twins", values={}, quick=True, run="three")
        assert t.receive()["run"] == "one"


@pytest.mark.parametrize("wrong", [{"quick": 1}, {"quick": "yes"}, {"run": 3, "quick": True}])
def test_quick_and_run_are_validated(lab, wrong):
    with connect_client(lab) as t:
        t.send("run", 1, model="twins", values={}, **wrong)
        assert "'quick' must be true or false and 'run' a string" in t.receive()["sentence"]


# Many pages --------------------------------------------------------------------------------------------------------
def test_a_page_waits_for_the_others_and_is_told_so(lab):
    with connect_client(lab) as busy, connect_client(lab) as patient:
        busy.run(1, "slow")
        busy.receive_progress()
        patient.run(1, "spinner")
        assert patient.receive_progress()["text"] == "waiting for 1 other"
        busy.send("cancel", 1)
        assert busy.receive()["type"] == "cancelled"
        assert [patient.receive()["type"], patient.receive()["type"]] == ["motion", "checks"]


def test_the_newest_request_of_a_waiting_page_wins(lab):
    with connect_client(lab) as busy, connect_client(lab) as patient:
        busy.run(1, "slow")
        busy.receive_progress()
        for id in (1, 2, 3):
            patient.run(id, "spinner", spin=id)
        assert sorted(patient.receive()["id"] for _ in range(2)) == [1, 2], "canceled"
        busy.send("cancel", 1)
        assert patient.receive()["id"] == 3


def test_a_page_that_leaves_the_queue_lets_the_next_one_in(lab):
    with connect_client(lab) as busy:
        busy.run(1, "slow")
        busy.receive_progress()
        with connect_client(lab) as gone:
            gone.run(1, "spinner")
            gone.receive_progress()
        busy.send("cancel", 1)
        busy.receive()
        busy.run(2, "spinner")
        assert busy.receive()["type"] == "motion"


def test_a_turnstile_lets_in_so_many_at_once_in_their_order():
    turnstile, order, most = Turnstile(2), [], 0
    gate = threading.Event()

    def enter(number):
        nonlocal most
        with turnstile.turn(lambda ahead: None):
            order.append(number)
            most = max(most, turnstile.inside)
            gate.wait(20)

    threads = [threading.Thread(target=enter, args=(k,)) for k in range(5)]
    for k, thread in enumerate(threads):
        thread.start()
        while len(order) + len(turnstile._queue) < k + 1:
            sleep(0.001)
    assert order == [0, 1]
    gate.set()
    for thread in threads:
        thread.join(20)
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert most == 2
    assert turnstile.inside == 0


def test_an_error_while_waiting_leaves_the_queue():
    turnstile = Turnstile(1)

    def leave(ahead):
        raise CancelledError(f"{ahead} ahead")

    with turnstile.turn(leave), pytest.raises(CancelledError, match="1 ahead"), turnstile.turn(leave):
        pass
    with turnstile.turn(leave):
        assert turnstile.inside == 1


# Aborted sockets ---------------------------------------------------------------------------------------------------
def test_the_terminal_stays_quiet_when_sockets_are_aborted():
    """Sockets are reset during the handshake, the greeting, a run and a flood of quick runs; then it still answers."""
    command = (sys.executable, "-m", "polhode", "lab", "--no-browser", "--port", "0")
    server = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    port = int(re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())[1])
    try:
        _abort(_handshake(port))
        for runs, quick in ((1, False), (1, True), (20, True)):
            for wait in (0.0, 0.05, 0.3):
                one = _handshake(port)
                one.recv(200)
                for id in range(runs):
                    one.sendall(_frame({"type": "run", "id": id, "model": "dzhanibekov", "values": {}, "quick": quick}))
                sleep(wait)
                _abort(one)
        half = socket.create_connection(("127.0.0.1", port))
        half.sendall(b"GET /ws HT")
        _abort(half)
        last = _handshake(port)
        assert b"101 Switching Protocols" in last.recv(100)
        _abort(last)
    finally:
        server.terminate()
        said = server.communicate(timeout=20)[0]
    assert said == ""


def _handshake(port):
    one = socket.create_connection(("127.0.0.1", port))
    lines = (
        "GET /ws HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Origin: http://127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
    )
    one.sendall("\r\n".join((*lines, "", "")).encode())
    return one


def _frame(message):
    data = json.dumps(message).encode()
    assert len(data) < 126
    return bytes((0x81, 0x80 | len(data), 0, 0, 0, 0)) + data


def _abort(one):
    """Close with a reset, as a browser that is killed does."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


# Proxies -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def proxied(monkeypatch):
    lab_models.install(monkeypatch)
    monkeypatch.setattr(html_page, "_read_asset", lambda name: SKELETON if name == "page.html" else "1")
    public = parse_public_url(HUB + PREFIX + "/")
    with TestClient(create_app(Lab(token="secret", public=public)), f"http://{HOME}") as client:
        yield client
    responses.models_by_theme.cache_clear()


@pytest.mark.parametrize("host", ["hub.example.org", "localhost:8321", HOME])
@pytest.mark.parametrize("path", ["/spinner", PREFIX + "/spinner", PREFIX, PREFIX + "/", "/"])
def test_a_proxy_may_pass_on_or_remove_its_part_of_the_path(proxied, host, path):
    answer = proxied.get(f"{path}?token=secret", headers={"host": host})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(("host", "path"), [("hub.example.org", "/ws"), ("localhost:8321", PREFIX + "/ws")])
def test_the_socket_accepts_the_origin_of_the_proxy_with_the_token(proxied, host, path):
    headers = {"host": host, "origin": HUB}
    with proxied.websocket_connect(f"ws://{HOME}{path}?token=secret", headers=headers) as opened:
        assert json.loads(opened.receive()["text"])["type"] == "hello"


@pytest.mark.parametrize(
    ("host", "origin", "query", "why"),
    [
        ("hub.example.org", HUB, "", "requires a token"),
        ("hub.example.org", HUB, "?token=guess", "requires a token"),
        ("hub.example.org", "http://hub.example.org.evil.org", "?token=secret", "cross-origin"),
        ("hub.example.org", f"{HUB}:444", "?token=secret", "cross-origin"),
        ("hub.example.org", None, "?token=secret", "cross-origin"),
        ("evil.org", HUB, "?token=secret", "unknown host"),
        ("evil.org", "http://evil.org", "?token=secret", "unknown host"),
    ],
)
def test_behind_a_proxy_everything_else_is_rejected(proxied, host, origin, query, why):
    headers = {"host": host} | ({} if origin is None else {"origin": origin})
    with pytest.raises(WebSocketDenialResponse) as denied:
        proxied.websocket_connect(f"ws://{HOME}/ws{query}", headers=headers).__enter__()
    assert denied.value.status_code == 403
    assert why in denied.value.text


def test_without_a_public_url_the_origin_of_a_proxy_is_rejected(lab):
    with pytest.raises(WebSocketDenialResponse):
        lab.websocket_connect(f"ws://{HOME}/ws", headers={"host": HOME, "origin": HUB}).__enter__()


def test_a_redirect_behind_a_proxy_is_relative(proxied):
    answer = proxied.get(f"{PREFIX}/Spinner?token=secret", headers={"host": "hub.example.org"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "./spinner?token=secret")


def test_the_printed_url_is_that_of_the_proxy_and_has_a_token():
    public = parse_public_url("https://x-8321.app.example.dev")
    token = required_token("127.0.0.1", None, is_public=True)
    assert token is not None
    assert len(token) > 16
    with address.open_listener("127.0.0.1", 0) as listener:
        url = address.page_url("127.0.0.1", listener, "dzhanibekov", {"spin": 3.0}, token, public)
    assert url == f"https://x-8321.app.example.dev/dzhanibekov?spin=3&token={token}"


@pytest.mark.parametrize(
    ("given", "origin", "path"),
    [
        ("https://hub.example.org/user/ann/proxy/8321/", HUB, PREFIX),
        ("https://HUB.example.org:443", HUB, ""),
        ("http://[fd00::2]:8080/lab", "http://[fd00::2]:8080", "/lab"),
    ],
)
def test_parts_of_a_public_url(given, origin, path):
    found = parse_public_url(given)
    assert (found.origin, found.path) == (origin, path)


@pytest.mark.parametrize(
    "wrong",
    ["hub.example.org", "ftp://hub.example.org", "https://", "https://h/?a=1", "https://h:99999/", "https://u@h/"],
)
def test_a_wrong_public_url_is_refused(wrong):
    with pytest.raises(InputError, match="public URL"):
        parse_public_url(wrong)


# Sweeps ------------------------------------------------------------------------------------------------------------
def test_a_sweep_is_an_ensemble_whose_members_are_the_runs_at_each_value(lab):
    with connect_client(lab) as t:
        sweep = {"model": "twins", "values": {"spin": 4}, "knob": "spin", "low": 2, "high": 6, "members": 5}
        t.send("sweep", 9, **sweep, run="two")
        found = t.receive()
    assert (found["type"], found["id"], found["axis"]) == ("motion", 9, "member")
    assert (found["runs"], found["run"], found["members"]) == (["one", "two"], "two", list(range(5)))
    assert found["colors"] == {"knob": "spin", "unit": "rad/s", "values": [2.0, 3.0, 4.0, 5.0, 6.0]}


@pytest.mark.parametrize("name", ["dzhanibekov", "gyroscope", "falling-phone", "buttered-toast"])
def test_each_member_of_a_sweep_is_the_run_of_the_model_with_its_value(name):
    """Against runs of the model by itself, which knows nothing of sweeps."""
    model = MODELS[name]
    knob = model.parameters[0]
    levels = np.linspace(knob.default, 0.5 * (knob.default + knob.high), 5).tolist()
    record = record_sweep(model, model.values(), knob.name, levels)
    times = record.arrays["time"]
    for k in (0, 4):
        made = model.scenario(**{**model.values(), knob.name: levels[k]})
        alone = ph.simulate(next(iter(made.values())) if isinstance(made, dict) else made)
        inside = times[times <= alone.times[-1]][::50]
        for t in inside:
            state = alone.at(t)
            row = int(np.flatnonzero(times == t)[0])
            there = record.arrays["position"][row, k] + record.meta["origin"]
            np.testing.assert_allclose(there, state.position, rtol=1e-9, atol=1e-9)
            q = record.arrays["quaternion"][row, k]
            assert abs(abs(np.dot(q, state.quaternion_wxyz)) - 1) < 1e-9
            np.testing.assert_allclose(record.arrays["angular_velocity"][row, k], state.angular_velocity, atol=1e-7)
    decoded = encode_record(record)
    assert len(decoded) > 0


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"knob": "speed"}, "has no knob 'speed'"),
        ({"low": 7}, "from a smaller to a larger"),
        ({"high": 1e9}, "outside its range"),
        ({"low": "a"}, "between numbers"),
        ({"members": 4}, "5 to 41 members"),
        ({"members": 42}, "5 to 41 members"),
        ({"members": 7.5}, "5 to 41 members"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(lab, changed, why):
    good = {"model": "spinner", "values": {}, "knob": "spin", "low": 2, "high": 6, "members": 5}
    with connect_client(lab) as t:
        t.send("sweep", 1, **(good | changed))
        refused = t.receive()
    assert (refused["type"], refused["id"]) == ("refused", 1)
    assert why in refused["sentence"]


def test_a_system_of_bodies_is_not_swept():
    model = next(m for m in map(MODELS.__getitem__, MODELS) if m.parameters and _is_system(m))
    knob = model.parameters[0]
    with pytest.raises(InputError, match="only models of a single body can be swept"):
        record_sweep(model, model.values(), knob.name, np.linspace(knob.low, knob.high, 5).tolist())


def _is_system(model):
    made = model.scenario(**model.values())
    first = next(iter(made.values())) if isinstance(made, dict) else made
    return first.members is not None or len(first.bodies) > 1
