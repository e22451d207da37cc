"""What the lab makes to take away: pages, tables and figures, judged by reading them again."""

from __future__ import annotations

import asyncio
import base64
import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest

import lab_models
import polhode as ph
from polhode.errors import PolhodeError
from polhode.gallery import MODELS
from polhode.lab_server import responses
from polhode.lab_server.requests import RefusedRequestError, TakeRequest, parse_request
from polhode.lab_server.session import MAX_TAKING, Session
from polhode.lab_server.takeaway import TakeawayDesk
from polhode.web import html_page
from polhode.web.motion_record import record_motion
from polhode.web.record_encoding import encode_record

SKELETON = "<!--polhode:options--><!--polhode:motion-->"


@pytest.fixture
def stub_page(monkeypatch):
    monkeypatch.setattr(html_page, "_read_asset", lambda name: SKELETON if name == "page.html" else "1")


def ask(kind: str, model: str, run: str = "", **values: float) -> TakeRequest:
    text = json.dumps({"type": kind, "id": 7, "model": model, "values": values, "run": run})
    request = parse_request(text)
    assert isinstance(request, TakeRequest)
    return request


def test_the_table_has_the_motion_bit_for_bit():
    answer = json.loads(TakeawayDesk().answer(ask("csv", "dzhanibekov", run="t-handle", spin=4.0)))
    assert (answer["id"], answer["name"]) == (7, "dzhanibekov-t-handle.csv")
    rows = list(csv.DictReader(io.StringIO(answer["text"])))
    motion = MODELS["dzhanibekov"].run(**MODELS["dzhanibekov"].values(spin=4))["t-handle"]
    found = np.array([[float(row[f"quaternion_{c}"]) for c in "wxyz"] for row in rows])
    assert np.array_equal(found, motion.quaternion_wxyz)


def test_the_figure_is_a_drawing_without_background():
    answer = json.loads(TakeawayDesk().answer(ask("figure", "gyroscope")))
    assert answer["mime"] == "image/svg+xml"
    drawing = ElementTree.fromstring(base64.b64decode(answer["data"]))
    assert drawing.tag.endswith("svg")
    assert len(list(drawing.iter())) > 100


def test_the_page_has_the_explanation_and_those_steps_that_need_no_other_motion(stub_page):
    model = MODELS["gyroscope"]
    text = json.loads(TakeawayDesk().answer(ask("page", "gyroscope", run="released")))["text"]
    options = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
    assert options["mode"] == "file"
    assert options["about"]["explanation"] == model.explanation
    assert [step["run"] for step in options["about"]["lesson"]["steps"]] == ["released"]
    other = json.loads(TakeawayDesk().answer(ask("page", "gyroscope", run="released", spin=20.0)))["text"]
    assert '"steps": []' in other
    assert '"polhode-motion"' in text


def ask_live(model: str, run: str = "", live: object = True, **values: float) -> TakeRequest:
    text = json.dumps({"type": "page", "id": 7, "model": model, "values": values, "run": run, "live": live})
    request = parse_request(text)
    assert isinstance(request, TakeRequest)
    return request


def test_the_page_with_knobs_begins_with_what_is_shown(stub_page):
    answer = json.loads(TakeawayDesk().answer(ask_live("rotating-frame", speed=1.5)))
    assert answer["name"] == "rotating-frame-live.html"
    program = json.loads(answer["text"].split('id="polhode-program" type="application/json">')[1].split("</script>")[0])
    assert program["values"]["speed"] == 1.5
    assert program["knobs"]


def test_a_model_that_no_page_can_compute_says_why():
    with pytest.raises(PolhodeError, match=r"falling-box has no live page: .*contacts"):
        TakeawayDesk().answer(ask_live("falling-box"))
    with pytest.raises(RefusedRequestError, match="no such run; it has"):
        TakeawayDesk().answer(ask_live("rotating-frame", run="cube"))
    with pytest.raises(RefusedRequestError, match="'live' must be true or false, but is 'yes'"):
        ask_live("falling-box", live="yes")


def test_motions_are_computed_once_for_the_same_values(monkeypatch):
    desk = TakeawayDesk()
    desk.answer(ask("csv", "dzhanibekov"))
    monkeypatch.setattr(type(MODELS["dzhanibekov"]), "run", lambda *_, **__: pytest.fail("computed again"))
    assert "box" in json.loads(desk.answer(ask("csv", "dzhanibekov")))["name"]


def test_a_run_that_does_not_exist_is_refused():
    with pytest.raises(RefusedRequestError, match=r"no run 'cube'.*t-handle"):
        TakeawayDesk().answer(ask("csv", "dzhanibekov", run="cube"))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"type": "csv", "model": "dzhanibekof", "run": "", "values": {}}, "dzhanibekov"),
        ({"type": "csv", "model": "dzhanibekov", "run": 3, "values": {}}, "'run', a string"),
        ({"type": "figure", "model": "dzhanibekov", "run": "", "values": {"spin": 1e9}}, "outside its range"),
        ({"type": "page", "model": None, "run": "", "values": {}}, "'model', a string"),
    ],
)
def test_requests_are_validated(message, sentence):
    with pytest.raises(RefusedRequestError, match=sentence):
        parse_request(json.dumps({**message, "id": 1}))


def test_a_viewed_motion_can_be_taken_away_as_a_page(stub_page):
    box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    motion = ph.simulate(box, ph.State(angular_velocity_body=(0.1, 5.0, 0.1)), duration=1.0, output_step=0.1)
    viewed = encode_record(record_motion(motion))
    desk = TakeawayDesk(viewed, "spin")
    answer = json.loads(desk.answer(ask("page", "")))
    assert answer["name"] == "spin.html"
    assert base64.b64encode(viewed).decode() in answer["text"]
    with pytest.raises(RefusedRequestError, match="no model"):
        desk.answer(ask("csv", ""))


def test_a_session_answers_beside_its_runs_and_refuses_too_many(monkeypatch):
    lab_models.install(monkeypatch)
    name = next(iter(lab_models.MODELS))
    sent: list[str] = []
    asked = [{"type": "csv", "id": k, "model": name, "values": {}, "run": ""} for k in range(1, MAX_TAKING + 2)]

    async def talk() -> None:
        texts = iter([json.dumps(one) for one in asked])

        async def receive() -> str | None:
            for text in texts:
                return text
            while len([m for m in sent if isinstance(m, str)]) < len(asked) + 1:
                await asyncio.sleep(0.01)
            return None

        async def send(message: str | bytes) -> None:
            if isinstance(message, str):
                sent.append(message)

        await asyncio.wait_for(Session(send).handle_messages(receive), 60)

    asyncio.run(talk())
    responses.models_by_theme.cache_clear()
    kinds = {m["id"]: m for m in map(json.loads, sent) if "id" in m}
    assert sorted(m["type"] for m in kinds.values()) == ["refused"] + MAX_TAKING * ["taken"]
    assert "wait for" in next(m["sentence"] for m in kinds.values() if m["type"] == "refused")
