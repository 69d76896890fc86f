"""Calls of an assistant-ui page: limits, streamed arguments, N parallel calls, what the model gets (ME-03 to ME-05)."""

import json
from typing import Any

import httpx
import pytest

from tests.scenarios.assistant_ui.page import Page
from tests.scenarios.shopping_assistant.pages import DATA_STREAM
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.assistant_client import state_after
from tests.support.fixtures import StartApp
from tests.support.running_app import read_until
from tests.support.scripted_upstream import DONE, Exchange, chunk

DEMO: dict[str, Any] = {"product_source": "demo"}
QUERIES = ("mug", "tent", "lamp", "desk", "chair", "red mug", "blue mug", "keyboard")


def search(query: str) -> Called:
    """Return a call of the product search."""
    return Called("search_products", json.dumps({"query": query}))


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_parallel_calls_agree_in_stream_state_and_history(start_app: StartApp, count: int) -> None:
    """Each call has its own arguments and result in the stream, in the stored state and in the next request (ME-05)."""
    made = [search(query) for query in QUERIES[:count]]
    app, upstream = start_app(calls(*made, text=("Let me look.",)), answers("Done."), answers("Bye."), settings=DEMO)
    page = Page(app, maxSearches=count)
    page.ask("Find things.")
    [announced] = [one["tool_calls"] for one in page.messages if one.get("tool_calls")]
    results = {one["tool_call_id"]: one for one in page.messages if one["type"] == "tool"}
    assert [call["args"]["query"] for call in announced] == [*QUERIES[:count]]
    assert [json.loads(results[call["id"]]["content"])["query"] for call in announced] == [*QUERIES[:count]]
    assert [results[call["id"]]["artifact"]["caption"].count(call["args"]["query"]) for call in announced] == [
        1
    ] * count
    stored = app.client.get("/assistant/state", params={"threadId": page.fields["threadId"]}).json()
    assert stored["messages"] == page.messages

    page.ask("Thanks.")
    _, step, *answered = upstream.asked[-1].body["messages"][: count + 2]
    assert step["content"] == "Let me look."
    assert [json.loads(call["function"]["arguments"])["query"] for call in step["tool_calls"]] == [*QUERIES[:count]]
    assert [one["tool_call_id"] for one in answered] == [call["id"] for call in step["tool_calls"]]
    assert all(query in one["content"] for query, one in zip(QUERIES, answered, strict=False))


def test_a_model_that_calls_without_end_is_limited(start_app: StartApp) -> None:
    """The run ends with an answer after `maxSteps` requests; the last one offers no tools (ME-04)."""
    app, upstream = start_app(calls(search("mug")), settings=DEMO)
    page = Page(app, maxSteps=3)
    page.ask("Find things.")
    assert len(upstream.asked) <= 4
    assert page.state["run"]["steps"] <= 4
    assert page.state["run"]["status"] in ("complete", "error")
    assert page.texts[-1]
    by_default = Page(app, "default")
    before = len(upstream.asked)
    by_default.ask("Find things.")
    assert len(upstream.asked) - before <= 9


def test_arguments_are_on_screen_before_the_call_is_complete(start_app: StartApp) -> None:
    """While the model has written half of the arguments, the client shows this half (ME-04)."""

    async def half_of_a_call(exchange: Exchange) -> None:
        await exchange.head()
        function = {"name": "search_products", "arguments": '{"query": "re'}
        await exchange.send(chunk({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}))
        await exchange.gate_opened()
        await exchange.send(chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'd mug"}'}}]}))
        await exchange.send(chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    app, upstream = start_app(half_of_a_call, answers("Found."), settings=DEMO)
    with httpx.stream("POST", f"{app.url}{DATA_STREAM.path}", json=DATA_STREAM.ask("A mug?", "shop")) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b'\\"re"')
        [call] = state_after(seen.decode().split("\n")[:-1])["messages"][1]["tool_calls"]
        assert (call["partial_json"], call["args"]) == ('{"query": "re', {})
        upstream.opened.set()
        seen += b"".join(chunks)
    [call] = state_after(seen.decode().split("\n")[:-1])["messages"][1]["tool_calls"]
    assert call["args"] == {"query": "red mug"}
    assert json.loads(call["partial_json"]) == call["args"]
