"""The dialect of docs/adding-a-dialect.md works in the whole app against a server that speaks Beacon."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from signalbox.cli import main
from signalbox.core.events import LoopName
from signalbox.wire.dialect import Dialect
from signalbox.wire.dialects import DIALECTS

from tests.project.docs.pages import codes_in, page, rows
from tests.project.docs.snippets import block, module, patched
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream

PAGE = page("adding-a-dialect.md")
FOLDER = "signalbox.wire.beacon"
FILES = {"request": "A Request to Beacon's JSON", "answer": "Beacon's answers", "dialect": "Beacon's API"}
KEY = "bk-canary-0123456789"
BOTH_LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


@pytest.fixture(autouse=True)
def beacon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the page's three files and its row of the table."""
    monkeypatch.setitem(sys.modules, FOLDER, ModuleType(FOLDER))
    for name, beginning in FILES.items():
        made = module(f"{FOLDER}.{name}", block(PAGE, beginning))
        monkeypatch.setitem(sys.modules, made.__name__, made)
    path, text = patched(*PAGE.blocks("diff"))
    assert path == "backend/signalbox/wire/dialects.py"
    table: dict[str, Any] = module("signalbox.wire.dialects", text).DIALECTS
    assert set(table) == {*DIALECTS, "beacon"}
    monkeypatch.setitem(DIALECTS, "beacon", table["beacon"])


class BeaconServer(ScriptedUpstream):
    """A scripted upstream with Beacon's paths."""

    def _is_chat(self, path: str) -> bool:
        return path.endswith((":stream", ":answer"))


@pytest.fixture
def start_app(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> StartApp:
    """Run an app over a Beacon server, selected by its base URL."""
    monkeypatch.setattr("tests.support.fixtures.ScriptedUpstream", BeaconServer)

    def start(*scripts: Script, loop: LoopName = "v2", **more: Any) -> tuple[RunningApp, ScriptedUpstream]:
        settings = {"openrouter_api_key": KEY, "tool_loop_v2": loop == "v2"}
        return start_app(*scripts, models=_catalogue, path="/beacon/v1", settings=settings, **more)

    return start


async def _catalogue(exchange: Exchange) -> None:
    models = [{"model": "beacon-1", "window": 8192, "usd_in": 1e-6, "usd_out": 2e-6}]
    await exchange.whole(200, json.dumps({"models": models}).encode())


def answers(text: str = "", *calls: dict[str, Any], why: str = "finished", tokens: int = 5) -> Script:
    """Answer as the path requires: with events, or with one object."""
    started, ended = {"answer": "b-1", "model": "beacon-1"}, {"why": why, "tokens": {"in": 10, "out": tokens}}

    async def script(exchange: Exchange) -> None:
        if exchange.asked.path.endswith(":answer"):
            await exchange.whole(200, json.dumps({**started, "text": text, "calls": calls, **ended}).encode())
            return
        events = [("started", started), *([("text", {"text": text})] if text else [])]
        events += [*(("call", call) for call in calls), ("ended", ended)]
        await exchange.head(x_beacon_answer="b-1")
        for kind, value in events:
            await exchange.send(f"event: {kind}\ndata: {json.dumps(value)}\n\n".encode())
        await exchange.raw(b"0\r\n\r\n")

    return script


@BOTH_LOOPS
def test_text_usage_and_key(start_app: StartApp, loop: LoopName) -> None:
    """Text and tokens reach the client, and the key is sent only in Beacon's header."""
    app, upstream = start_app(answers("It is sunny."), loop=loop)
    heard = app.ask("How is the weather?", model="beacon-1", max_tokens=50, system="Be brief.")
    assert (heard.text, heard.done["status"], heard.done["provider"]) == ("It is sunny.", "complete", "Beacon")
    assert (heard.done["usage"]["input"], heard.done["usage"]["output"]) == (10, 5)
    [asked] = upstream.asked
    assert asked.path.startswith("/beacon/v1/models/beacon-1:")
    assert (asked.headers["x-beacon-key"], asked.headers["beacon-version"]) == (KEY, "2026-11-01")
    assert "authorization" not in asked.headers
    assert asked.body["limit"] == 50
    assert asked.body["turns"][0]["from"] == "rules"
    assert asked.body["turns"][-1] == {"from": "user", "text": "How is the weather?"}
    assert KEY.encode() not in heard.raw


@BOTH_LOOPS
def test_a_tool_call_round(start_app: StartApp, loop: LoopName) -> None:
    """A call is executed, its result is sent in Beacon's format, and the next answer ends the run."""
    call = {"place": 0, "ref": "c1", "name": "price", "input": '{"a":1}'}
    app, upstream = start_app(
        answers("", call, why="calls"), answers("Seven."), loop=loop, extra_tools=[make_tool("price")]
    )
    heard = app.ask(model="beacon-1", tools=["price"])
    assert (heard.text, heard.done["status"]) == ("Seven.", "complete")
    assert [result["name"] for result in heard.of("tool_result")] == ["price"]
    first, second = (asked.body for asked in upstream.asked)
    assert [function["name"] for function in first["functions"]] == ["price"]
    said, result = second["turns"][-2:]
    assert said["calls"] == [{"ref": result["ref"], "name": "price", "input": {"a": 1}}]
    assert (said["from"], result["from"]) == ("model", "function")


@pytest.mark.parametrize(
    ("why", "status", "code"),
    [
        ("limit", "length", "LENGTH"),
        ("refused", "content_filter", "CONTENT_FILTER"),
        ("odd", "interrupted", "STOP_UNKNOWN"),
    ],
)
def test_stop_reasons(start_app: StartApp, why: str, status: str, code: str) -> None:
    """A bad stop reason ends the run with the status of other dialects."""
    app, _ = start_app(answers("It is", why=why))
    heard = app.ask(model="beacon-1")
    assert (heard.done["status"], heard.done["code"]) == (status, code)


async def _unknown_model(exchange: Exchange) -> None:
    await exchange.whole(404, json.dumps({"kind": "unknown", "text": f"No such model; your key is {KEY}."}).encode())


async def _too_long(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send(b'event: failed\ndata: {"kind": "too_long", "text": "Shorten it."}\n\n')
    await exchange.raw(b"0\r\n\r\n")


async def _busy(exchange: Exchange) -> None:
    await exchange.whole(503, b'{"kind": "busy", "text": "Try again."}')


@pytest.mark.parametrize(
    ("script", "code"), [(_unknown_model, "UPSTREAM_NOT_FOUND"), (_too_long, "CONTEXT_LENGTH_EXCEEDED")]
)
def test_errors(start_app: StartApp, script: Script, code: str) -> None:
    """An error status and an error inside a stream become codes, with the upstream's message and without the key."""
    app, _ = start_app(script)
    heard = app.ask(model="beacon-1")
    assert (heard.done["status"], heard.done["code"]) == ("error", code)
    assert KEY.encode() not in heard.raw


def test_a_busy_upstream_is_asked_again(start_app: StartApp, no_waiting: list[Any]) -> None:
    """The loops retry errors that the dialect reports as overloaded."""
    app, upstream = start_app(_busy, answers("At last."))
    assert app.ask(model="beacon-1").text == "At last."
    assert (len(upstream.asked), len(no_waiting)) == (2, 1)


def test_the_catalogue_is_listed(start_app: StartApp) -> None:
    """Models have the limits and prices of the page's `facts_of`; an unlisted model is a 422."""
    app, _ = start_app(answers("Unasked."))
    [listed] = app.client.get("/api/models").json()["models"]
    assert (listed["id"], listed["context_length"]) == ("beacon-1", 8192)
    assert app.post(prompt="Hello!", model="beacon-2").status_code == 422


def test_the_page_decodes_its_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`signalbox decode` prints what the page shows."""
    capture = tmp_path / "captured.sse"
    capture.write_text(*PAGE.blocks("text"))
    assert main(["decode", "--dialect", "beacon", str(capture)]) == 0
    assert capsys.readouterr().out == PAGE.blocks("json")[0]


def test_the_pages_own_test_passes() -> None:
    """Its stream gives the same parts for every read size."""
    test = module("test_beacon", block(PAGE, "Beacon's stream decodes"))
    for size in range(1, len(test.STREAM) + 1):
        test.test_any_split(size)


def test_the_page_names_every_member() -> None:
    """Its table lists the public members of `Dialect` and marks the optional ones."""
    table = list(rows(PAGE.section("Describing the API")))
    listed = {name: optional == "yes" for names, optional, _ in table for name in codes_in(names)}
    members = {name for name in {*vars(Dialect), *Dialect.__annotations__} if not name.startswith("_")}
    assert set(listed) == members
    left_out = members - Dialect.__abstractmethods__ - {"name", "models"}
    assert {name for name, is_optional in listed.items() if is_optional} == left_out
