"""Calls on an assistant-ui page: ours run in parallel with the text on screen, the page's own are handed to it."""

import asyncio
import json
import threading
from typing import Any

import httpx
import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolSpec

from tests.scenarios.assistant_ui.page import Page, message
from tests.scenarios.tool_loop.script import Called, answers, calls, fails
from tests.support.fixtures import StartApp

CLOCK = {"wall_clock": {"description": "Read the clock.", "parameters": {"type": "object", "properties": {}}}}
BOTH = {**CLOCK, "thermometer": {"parameters": {"type": "object", "properties": {}}}}


def result_of(call: dict[str, Any], result: object, **fields: Any) -> dict[str, Any]:
    """Return the command with a result."""
    return {"type": "add-tool-result", "toolCallId": call["id"], "toolName": call["name"], "result": result, **fields}


def test_parallel_calls_of_ours(start_app: StartApp) -> None:
    """Each of several calls has its own arguments and result, in the stream as in the stored state."""
    two = (Called("calculate", '{"expression": "6*7"}'), Called("calculate", '{"expression": "2*3"}'))
    app, upstream = start_app(calls(*two, text=("Let me ", "see.")), answers("Done."))
    page = Page(app, config={"tools": ["calculate"]})
    page.ask("Compute")
    assert [tool["function"]["name"] for tool in upstream.asked[0].body["tools"]] == ["calculate"]
    # The first result may arrive before the second call, which then begins another message.
    made = [call for one in page.messages if one["type"] == "ai" for call in one["tool_calls"]]
    assert [call["args"] for call in made] == [{"expression": "6*7"}, {"expression": "2*3"}]
    results = {one["tool_call_id"]: one["content"] for one in page.messages if one["type"] == "tool"}
    assert [("42" in results[call["id"]], "6" in results[call["id"]]) for call in made] == [(True, True), (False, True)]
    assert page.messages[-1]["content"] == [{"type": "text", "text": "Done."}]
    stored = app.client.get("/assistant/state", params={"threadId": "__LOCALID_abcdefg"}).json()
    assert stored["messages"] == page.messages


def test_results_of_the_pages_tools(start_app: StartApp) -> None:
    """Results arrive one by one, as each is ready: the model goes on after the last one, with all of them."""
    app, upstream = start_app(calls(Called("wall_clock", "{}"), Called("thermometer", "{}")), answers("It is 9."))
    page = Page(app, tools=BOTH)
    page.ask("When, and how warm?")
    first, second = page.messages[1]["tool_calls"]
    assert not any(one["type"] == "tool" for one in page.messages)
    page.send(result_of(first, {"time": "09:41"}))
    assert len(upstream.asked) == 1
    assert [one["content"] for one in page.messages if one["type"] == "tool"] == ['{"time":"09:41"}']
    page.send(result_of(second, "21 °C"))
    assert len(upstream.asked) == 2
    sent = upstream.asked[-1].body["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "tool"]
    assert ("09:41" in sent[2]["content"], "21 °C" in sent[3]["content"]) == (True, True)
    assert page.texts[-1] == "It is 9."
    page.ask("Thanks")
    assert [one["role"] for one in upstream.asked[-1].body["messages"]][-2:] == ["assistant", "user"]


def test_both_results_at_once_and_a_failure(start_app: StartApp) -> None:
    """Results may share a request; one that failed is an error for the model and on the page."""
    app, upstream = start_app(calls(Called("wall_clock", "{}"), Called("thermometer", "{}")), answers("Sorry."))
    page = Page(app, tools=BOTH)
    page.ask("When, and how warm?")
    first, second = page.messages[1]["tool_calls"]
    page.send(result_of(first, "09:41"), result_of(second, "broken", isError=True))
    assert [one["status"] for one in page.messages if one["type"] == "tool"] == ["success", "error"]
    assert "broken" in upstream.asked[-1].body["messages"][-1]["content"]


def test_what_the_model_gets_of_a_result(start_app: StartApp) -> None:
    """`modelContent` replaces the result for the model, and not for the page."""
    app, upstream = start_app(calls(Called("wall_clock", "{}")), answers("Fine."))
    page = Page(app, tools=CLOCK)
    page.ask("When?")
    [call] = page.messages[1]["tool_calls"]
    page.send(result_of(call, {"rows": 1000}, modelContent=[{"type": "text", "text": "A thousand rows."}]))
    sent = upstream.asked[-1].body["messages"][-1]["content"]
    assert ("A thousand rows." in sent, "1000" in sent) == (True, False)
    assert [one["content"] for one in page.messages if one["type"] == "tool"] == ['{"rows":1000}']


def test_a_message_instead_of_a_result(start_app: StartApp) -> None:
    """A chat can go on although the page never answered a call."""
    app, upstream = start_app(calls(Called("wall_clock", "{}")), answers("Never mind."))
    page = Page(app, tools=CLOCK)
    page.ask("When?")
    page.ask("Forget it")
    assert page.texts[-1] == "Never mind."
    roles = [one["role"] for one in upstream.asked[-1].body["messages"]]
    assert roles[-1] == "user"
    assert roles.count("tool") == sum(len(one.get("tool_calls") or ()) for one in upstream.asked[-1].body["messages"])


@pytest.mark.parametrize("forged", ["name", "run", "again"])
def test_a_result_that_answers_no_call(start_app: StartApp, forged: str) -> None:
    """A result of another name, of an unknown run, or a second one, is an error that says so."""
    app, upstream = start_app(calls(Called("wall_clock", "{}")), answers("Fine."))
    page = Page(app, tools=CLOCK)
    page.ask("When?")
    [call] = page.messages[1]["tool_calls"]
    if forged == "again":
        page.send(result_of(call, "09:41"))
    wrong = {
        "name": {**call, "name": "calculate"},
        "run": {**call, "id": f"call_{'f' * 32}_abcdefghi"},
        "again": call,
    }[forged]
    asked = len(upstream.asked)
    response = page.post(result_of(wrong, "10:00"))
    assert response.status_code == 422
    assert response.json()["error"]["field"] in ("commands", "parentId")
    assert len(upstream.asked) == asked


def test_a_cut_call_never_runs(start_app: StartApp) -> None:
    """Arguments that end before their object is complete run no tool; the page has a result that says so."""
    app, _ = start_app(calls(Called("calculate", '{"expression": "6*'), finish="length"))
    page = Page(app)
    page.ask("Compute")
    shown = {call["id"] for one in page.messages if one["type"] == "ai" for call in one["tool_calls"]}
    results = {one["tool_call_id"]: one["status"] for one in page.messages if one["type"] == "tool"}
    assert results == dict.fromkeys(shown, "error")
    assert page.state["run"]["status"] == "length"


def test_text_is_on_screen_while_a_tool_runs(start_app: StartApp) -> None:
    """The text and the running call are streamed before the tool has finished. A client that leaves ends the tool."""
    started, ended = threading.Event(), threading.Event()

    async def wait(_: JsonObject, __: ToolContext) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    slow = Tool(ToolSpec("slow", "Wait.", {"type": "object", "properties": {}}, timeout=60), wait)
    app, _ = start_app(calls(Called("slow", "{}"), text=("One moment.",)), answers("Done."), extra_tools=(slow,))
    body = {"model": "openai/sim", "commands": [message("Go", parentId=None)], "config": {"tools": ["slow"]}}
    with httpx.stream("POST", f"{app.url}/assistant", json=body, timeout=10) as response:
        lines, seen = response.iter_lines(), [""]
        while '"type":"tool_call"' not in seen[-1]:
            seen.append(next(lines))
        assert started.wait(5)
        assert any("One moment." in line for line in seen)
        assert not ended.is_set()
    assert ended.wait(1)


@pytest.mark.parametrize("status", [401, 402, 429, 500])
def test_failures_are_typed_and_redacted(start_app: StartApp, status: int, no_waiting: object) -> None:
    """A failed run is an error chunk with our sentence and a code in the state; the page can go on."""
    app, _ = start_app(fails(status, "key sk-or-v1-secret is bad"), *[fails(status, "sk-or-v1-secret")] * 5)
    page = Page(app)
    response = page.post(message("Hi", parentId=None))
    assert "sk-or-v1-secret" not in response.text
    page.show(response)
    run = page.state["run"]
    assert run["status"] == "error"
    assert run["code"].startswith(("UPSTREAM_", "RATE_LIMIT"))
    assert f"3:{json.dumps(run['error'], ensure_ascii=False)}" in response.text.split("\n")
    assert page.messages[1]["status"] == {"type": "incomplete", "reason": "error", "error": run["error"]}


def test_a_tool_of_both_sides_is_the_pages(start_app: StartApp) -> None:
    """If the page has a tool with the name of one of ours, the model is offered only the page's."""
    app, upstream = start_app(answers("Fine."))
    own = {"calculate": {"description": "The page's own.", "parameters": {"type": "object", "properties": {}}}}
    Page(app, tools=own, config={"tools": ["calculate", "get_current_time"]}).ask("Hello")
    offered = {tool["function"]["name"]: tool["function"] for tool in upstream.asked[0].body["tools"]}
    assert [*offered] == ["get_current_time", "calculate"]
    assert offered["calculate"]["description"] == "The page's own."
