"""The list of runs and the trace, and what they never contain."""

from typing import Any

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, read_until
from tests.support.scripted_upstream import holds, says
from tests.support.stream_reader import check_stream

SECRET = "canary-prompt-7431"
TRACE = {
    "run_id", "status", "code", "model", "loop", "flag", "started", "ended", "steps", "cost", "cost_estimated",
    "settled_at", "conversation_id", "parent_id", "protocol", "simulated", "watchers", "request", "attempts", "tools",
    "warnings", "events", "done",
}  # fmt: skip


def test_the_texts_of_a_conversation_are_in_no_trace(start_app: StartApp) -> None:
    """Prompt, system, history, hint, parts and results appear only with role and length."""
    app, upstream = start_app(says("Fine."))
    call = {"id": "c1", "function": {"name": "calculate", "arguments": f'{{"expression": "{SECRET}"}}'}}
    messages = [
        {"role": "system", "content": SECRET},
        {"role": "user", "content": [{"type": "text", "text": SECRET}]},
        {"role": "assistant", "content": SECRET, "tool_calls": [call], "reasoning": SECRET},
        {"role": "tool", "tool_call_id": "c1", "content": SECRET},
        {"role": "user", "content": SECRET},
    ]
    whole = app.post(messages=messages, system=SECRET, finalize_hint=SECRET, temperature=0.5)
    short = app.post(prompt=SECRET, system=SECRET)
    assert all(SECRET in asked.raw.decode() for asked in upstream.asked)
    for response in (whole, short):
        assert response.status_code == 200
        trace = app.client.get(f"/api/runs/{response.headers['x-run-id']}")
        assert SECRET not in trace.text
    assert SECRET not in app.client.get("/api/runs").text
    request = app.client.get(f"/api/runs/{whole.headers['x-run-id']}").json()["request"]
    assert request["temperature"] == 0.5
    assert [(m["role"], m["characters"]) for m in request["messages"]] == [
        ("system", 18),
        ("system", 18),
        ("user", 18),
        ("assistant", 18),
        ("tool", 18),
        ("user", 18),
    ]


def test_a_trace_describes_a_run(app: RunningApp) -> None:
    """Steps, attempts, tools with their times, usage and cost, and the ending as it was sent."""
    response = app.post(model="openai/sim-searches-3", prompt="What is the tool loop?", conversation_id="c-1")
    received = check_stream(response.content)
    trace: dict[str, Any] = app.client.get(f"/api/runs/{response.headers['x-run-id']}").json()
    assert set(trace) == TRACE
    assert (trace["status"], trace["steps"], trace["watchers"]) == ("complete", 2, 0)
    assert trace["conversation_id"] == "c-1"
    assert trace["events"] == len(received.events)
    assert trace["done"] == {k: v for k, v in received.done.items() if k != "ts"}
    assert [(a["step"], a["number"], a["finish_reason"]) for a in trace["attempts"]] == [
        (1, 1, "tool_calls"),
        (2, 1, "stop"),
    ]
    for attempt in trace["attempts"]:
        assert trace["started"] <= attempt["started"] <= attempt["first_part"] <= attempt["ended"] <= trace["ended"]
        assert attempt["usage"]["cost"] > 0
    assert [tool["name"] for tool in trace["tools"]] == ["search_web"] * 3
    for tool in trace["tools"]:
        assert tool["success"] is True
        assert tool["announced"] <= tool["started"] <= tool["ended"]


def test_the_list_has_active_and_finished_runs(start_app: StartApp) -> None:
    """Newest first, each with its status; an active run has no end."""
    app, _ = start_app(says("One."), holds)
    first = app.post(prompt="Hello!").headers["x-run-id"]
    with app.asking() as response:
        chunks = response.iter_raw()
        read_until(chunks, b"So far")
        second = response.headers["x-run-id"]
        listed = app.client.get("/api/runs").json()["runs"]
        trace = app.client.get(f"/api/runs/{second}").json()
    assert [(run["run_id"], run["status"]) for run in listed] == [(second, "running"), (first, "complete")]
    assert listed[0]["ended"] is None
    assert (trace["done"], trace["watchers"], trace["status"]) == (None, 1, "running")
    assert app.client.get("/api/runs?limit=1").json()["runs"][0]["run_id"] == second


def test_a_failed_run_has_its_code(app: RunningApp) -> None:
    """The list shows why it failed."""
    run_id = app.post(model="openai/sim-error-402", prompt="Hello!").headers["x-run-id"]
    trace = app.client.get(f"/api/runs/{run_id}").json()
    assert (trace["status"], trace["code"]) == ("error", "UPSTREAM_CREDITS")
    assert trace["warnings"][-1]["code"] == "UPSTREAM_CREDITS"
    assert trace["attempts"][0]["error"]
