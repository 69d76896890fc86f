"""Product search in the whole app: without a key, over a slow source, and with equal searches."""

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from signalbox.encoders.contract_schema import schema_bytes, table_schema_bytes

from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp, settings_for
from tests.support.scripted_upstream import call_chunk, calls_then, chunk, says
from tests.support.stream_reader import check_stream
from tests.support.web_server import json_reply

MAPPING = """
about = "a shop"
url = "http://127.0.0.1:{port}/search?q={{query}}"
currency = "EUR"
[fields]
title = "name"
url = "link"
price = "price"
"""
EVENTS = Draft202012Validator(json.loads(schema_bytes()))
TABLES = Draft202012Validator(json.loads(table_schema_bytes()))


def mapping_to(shop: socket.socket, folder: Path) -> Path:
    """Write a file that maps a shop's API."""
    file = folder / "shop.toml"
    file.write_text(MAPPING.format(port=shop.getsockname()[1]))
    return file


@pytest.mark.parametrize("loop", [True, False], ids=["v2", "legacy"])
def test_a_table_without_a_key(tmp_path: Path, loop: bool) -> None:
    """The simulator searches the demo catalogue; the events and the table match their schemas (ME-09)."""
    with RunningApp(settings_for(tmp_path / "data", tool_loop_v2=loop)) as app:
        heard = app.ask("find me a red mug under 20 dollars")
        whole = app.client.post("/api/chat", json={"model": "openai/sim", "prompt": "Find a red mug under $20"}).json()
        replayed = check_stream(app.client.get(f"/api/runs/{heard.events[0]['run_id']}/events").content)
    assert all(EVENTS.is_valid(event) for event in heard.events)
    [announced] = [call for event in heard.of("tool_calls") for call in event["calls"]]
    assert json.loads(announced["arguments"]) == {"query": "red mug", "max_price": 20}
    [result] = heard.of("tool_result")
    table = result["artifact"]
    assert TABLES.is_valid(table)
    names = [row["name"].lower() for row in table["data"]]
    assert len(names) >= 4
    assert all("red" in name and "mug" in name for name in names)
    assert all(isinstance(row["price"], int | float) and row["price"] <= 20 for row in table["data"])
    assert "invented" in table["caption"]
    assert "I found" in heard.text
    assert heard.done["status"] == "complete"
    assert replayed.of("tool_result") == heard.of("tool_result")
    [call] = whole["calls"]
    assert call["artifact"]["data"] == table["data"]
    assert call["artifact"]["surfaceId"] != table["surfaceId"]


def test_text_and_the_running_state_are_shown_while_the_source_hangs(start_app: StartApp, tmp_path: Path) -> None:
    """Other users are served meanwhile, and the result comes once the source answers (ME-06)."""
    with socket.create_server(("127.0.0.1", 0)) as shop:
        shop.settimeout(WAIT)
        script = calls_then(chunk({"content": "Let me look."}), call_chunk("search_products", '{"query": "mug"}'))
        settings: dict[str, Any] = {"product_json": mapping_to(shop, tmp_path)}
        app, upstream = start_app(script, says("Hello."), says("Found one."), settings=settings)
        body = {"model": "openai/sim", "prompt": "A mug, please."}
        with app.client.stream("POST", "/api/chat/stream", json=body) as response:
            read = response.iter_raw()
            raw = b""
            while b'"tool_executing"' not in raw:
                raw += next(read)
            connection, _ = shop.accept()
            assert b"Let me look." in raw
            assert b'"tool_result"' not in raw
            assert app.ask("Hello?").text == "Hello."
            with connection:
                connection.recv(65_536)
                connection.sendall(json_reply([{"name": "Mug", "link": "/mug", "price": 5}]))
            raw += b"".join(read)
    heard = check_stream(raw)
    [result] = heard.of("tool_result")
    assert result["artifact"]["data"][0]["price"] == 5
    assert result["artifact"]["columns"][1]["format"] == {"kind": "currency", "currency": "EUR"}
    tool_message = upstream.asked[-1].body["messages"][-1]
    assert tool_message["role"] == "tool"
    assert "surfaceId" not in tool_message["content"]
    assert "Found one." in heard.text


def test_a_stopped_run_leaves_the_source(start_app: StartApp, tmp_path: Path) -> None:
    """The request to the source ends with the run."""
    with socket.create_server(("127.0.0.1", 0)) as shop:
        shop.settimeout(WAIT)
        script = calls_then(call_chunk("search_products", '{"query": "mug"}'))
        app, _ = start_app(script, says("Never."), settings={"product_json": mapping_to(shop, tmp_path)})
        with app.client.stream(
            "POST", "/api/chat/stream", json={"model": "openai/sim", "prompt": "A mug, please."}
        ) as response:
            connection, _ = shop.accept()
            connection.settimeout(WAIT)
            connection.recv(65_536)
            began = time.monotonic()
            assert app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop").status_code < 300
            heard = check_stream(response.read())
            with connection:
                assert connection.recv(1) == b""
    assert time.monotonic() - began < WAIT / 2
    assert heard.done["status"] == "cancelled"
    assert [event["result"]["code"] for event in heard.of("tool_result")] == ["CANCELLED"]


def test_equal_searches_are_sent_once_and_the_clamp_is_shared(start_app: StartApp) -> None:
    """Searches of the web and of products count together; a reused one does not count and has no second table."""
    calls = calls_then(
        call_chunk("search_products", '{"query": "red mug"}', call_id="a"),
        call_chunk("search_products", '{"query": "Red  MUG", "limit": 5}', index=1, call_id="b"),
        call_chunk("search_web", '{"query": "mugs"}', index=2, call_id="c"),
        call_chunk("search_products", '{"query": "tent"}', index=3, call_id="d"),
    )
    app, _ = start_app(calls, says("Done."), settings={"product_source": "demo"})
    heard = app.ask("Find things.", max_searches=2)
    results = {event["id"]: event for event in heard.of("tool_result")}
    first, second, web, third = (results[call["id"]] for event in heard.of("tool_calls") for call in event["calls"])
    assert len(first["artifact"]["data"]) == 5
    assert (second["cached"], "artifact" in second) == (True, False)
    assert second["result"] == first["result"]
    assert web["result"]["success"]
    assert third["result"]["code"] == "TOOL_CLAMP"
    assert [event["code"] for event in heard.of("warning")] == ["TOOL_CLAMP"]


def test_the_list_of_tools_says_why_there_is_none(start_app: StartApp) -> None:
    """With a provider's models no invented products are offered unasked."""
    app, _ = start_app(says("Hello."))
    listed = {tool["name"]: tool for tool in app.client.get("/api/tools").json()["tools"]}
    assert listed["search_products"]["unavailable"] == "no product source is set up (PRODUCT_SOURCE)"
    assert "search_products" not in str(app.ask("Hello").of("tool_calls"))
