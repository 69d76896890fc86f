"""Tables of searches: unique, made once, and still there when an old conversation is opened (ME-09)."""

import json
from pathlib import Path
from typing import Any

import httpx

from tests.scenarios.assistant_ui.page import Page, message
from tests.scenarios.limits.test_retention import age, in_files, until
from tests.scenarios.shopping_assistant.pages import AI_SDK, DATA_STREAM
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream
from tests.support.stream_reader import check_stream
from tests.support.ui_message import UiMessageReader

DEMO: dict[str, Any] = {"product_source": "demo"}
FIND_MUGS = calls(Called("search_products", '{"query": "red mug"}'))
CHART = {"draw_chart": {"parameters": {"type": "object", "properties": {}}}}


def tables_in(page: Page) -> list[Any]:
    """Return the artifacts that a page shows."""
    return [one["artifact"] for one in page.messages if "artifact" in one]


def test_tables_of_a_thread_are_unique_and_equal_searches_are_made_once(start_app: StartApp) -> None:
    """Two equal calls of a step have one table; a later search of the same words has a table with another id."""
    twice = calls(Called("search_products", '{"query": "red mug"}'), Called("search_products", '{"query": "Red  MUG"}'))
    app, upstream = start_app(twice, answers("Found."), FIND_MUGS, answers("Found again."), settings=DEMO)
    page = Page(app)
    page.ask("A red mug, please.")
    [first] = tables_in(page)
    results = [one["content"] for one in page.messages if one["type"] == "tool"]
    assert results[0] == results[1]
    page.ask("Search again.")
    again = tables_in(page)
    assert again[0] == first
    assert again[1]["data"] == first["data"]
    assert len({table["surfaceId"] for table in again}) == 2
    sent = json.dumps([asked.body for asked in upstream.asked])
    assert "surfaceId" not in sent
    assert len(sent) < 40_000


def test_a_table_outlives_retention_and_restarts(tmp_path: Path) -> None:
    """The events of a run are kept as long as its conversation, so every client still has the table."""
    with ScriptedUpstream(FIND_MUGS, answers("Found."), FIND_MUGS, answers("Found."), answers("Yes.")) as upstream:
        made = settings_for(tmp_path, openrouter_base_url=upstream.base_url, signalbox_retention_days=30, **DEMO)
        with RunningApp(made) as app:
            page = Page(app, "old-thread")
            page.ask("A red mug, please.")
            shown = page.messages
            run_id = page.state["run"]["id"]
            app.client.post(AI_SDK.path, json=AI_SDK.ask("A red mug, please.", "old-chat"))
            app.ask("What is gone?", tools=[])
        age(tmp_path, 40, "Found.")  # older than the period, but in conversations that are not
        age(tmp_path, 40, "Yes.")
        with RunningApp(made) as app:
            until(lambda: not in_files(tmp_path, "What is gone?"))
            page = Page(app, "old-thread")
            page.state = app.client.get("/assistant/state", params={"threadId": "old-thread"}).json()
            assert page.messages == shown
            [table] = tables_in(page)
            [result] = check_stream(app.client.get(f"/api/runs/{run_id}/events").content).of("tool_result")
            assert result["artifact"] == table
            exported = app.client.get("/api/conversations/old-thread/export", params={"format": "json"}).json()
            assert table in [event.get("artifact") for one in exported["messages"] for event in one.get("events", ())]
            finished = app.client.get(f"{AI_SDK.path}/old-chat/stream", params={"finished": "true"}).content
            outputs = [part["output"] for part in UiMessageReader().read_stream(finished).parts if "output" in part]
            assert [output["data"] for output in outputs] == [table["data"]]


def test_a_table_is_there_when_an_answer_is_resumed(start_app: StartApp) -> None:
    """`resumeStateApi` gives the earlier answers with their tables, and the stream of the running one."""

    async def half(exchange: Any) -> None:
        await exchange.head()
        await exchange.send_text("Half ")
        await exchange.gate_opened()
        await exchange.end()

    app, upstream = start_app(FIND_MUGS, answers("Found."), half, settings=DEMO)
    page = Page(app, "shop", onDisconnect="continue")
    page.ask("A red mug, please.")
    [table] = tables_in(page)
    body = {**DATA_STREAM.ask("And now?", "shop"), "onDisconnect": "continue"}
    body["commands"] = [message("And now?", parentId=page.messages[-1]["id"])]
    with httpx.stream("POST", f"{app.url}{DATA_STREAM.path}", json=body, timeout=10) as response:
        next(line for line in response.iter_lines() if "Half" in line)
    found = app.client.post("/assistant/resume-state?threadId=shop", json={}).json()
    assert [one["artifact"] for one in found["state"]["messages"] if "artifact" in one] == [table]
    upstream.opened.set()
    page.state = found["state"]
    page.show(app.client.post("/assistant/resume", json={"runId": found["runId"]}))
    assert tables_in(page) == [table]
    assert page.texts[-1] == "Half "


def test_the_artifact_of_the_pages_own_tool_is_kept_for_people(start_app: StartApp) -> None:
    """It is stored, shown again and exported, and no model gets it."""
    app, upstream = start_app(calls(Called("draw_chart", "{}")), answers("Here."), answers("Fine."))
    page = Page(app, "charts", tools=CHART)
    page.ask("Draw it.")
    [call] = page.messages[1]["tool_calls"]
    result = {"type": "add-tool-result", "toolCallId": call["id"], "toolName": "draw_chart", "result": "drawn"}
    chart = {"points": [1, 2.5, None], "title": "SECRET"}
    page.send({**result, "artifact": chart})
    assert tables_in(page) == [chart]
    page.ask("Thanks.")
    assert tables_in(page) == [chart]
    assert len(upstream.asked) == 3
    assert not any("SECRET" in asked.raw.decode() for asked in upstream.asked)
    assert "drawn" in upstream.asked[1].raw.decode()
    stored = app.client.get("/assistant/state", params={"threadId": "charts"}).json()
    assert stored["messages"] == page.messages
    exported = app.client.get("/api/conversations/charts/export", params={"format": "json"}).json()
    calls_of = [one for node in exported["messages"] for one in node.get("calls", ())]
    assert [one["artifact"] for one in calls_of if "artifact" in one] == [chart]


def test_an_artifact_of_a_page_has_a_size_limit(start_app: StartApp) -> None:
    """It is as large as that of a tool of ours; a larger one is not cut."""
    app, _ = start_app(calls(Called("draw_chart", "{}")), answers("Here."))
    page = Page(app, tools=CHART)
    page.ask("Draw it.")
    [call] = page.messages[1]["tool_calls"]
    result = {"type": "add-tool-result", "toolCallId": call["id"], "toolName": "draw_chart", "result": "drawn"}
    response = page.post({**result, "artifact": "x" * 600_000})
    assert (response.status_code, response.json()["error"]["field"]) == (422, "commands.0.artifact")
