"""Requests of AG-UI that start no run: a status, a reason, and the field."""

from typing import Any

import pytest

from tests.scenarios.ag_ui.agent import PATH, Agent, Json
from tests.support.running_app import RunningApp

CLOCK = {"name": "wall_clock", "description": "Read the clock.", "parameters": {"type": "object", "properties": {}}}
USER = {"id": "m1", "role": "user", "content": "Hi"}
OURS = "a" * 32
HANDED = f"call_{OURS}_abcdefghi"


def assistant(**fields: Any) -> Json:
    """Return a message of an answer."""
    return {"id": OURS, "role": "assistant", "content": "Hello!", **fields}


def calling(name: str = "wall_clock") -> Json:
    """Return a message with a call that was handed over."""
    return assistant(toolCalls=[{"id": HANDED, "type": "function", "function": {"name": name, "arguments": "{}"}}])


def result(**fields: Any) -> Json:
    """Return a result of the client's."""
    return {"id": "r1", "role": "tool", "toolCallId": HANDED, "content": "09:41", **fields}


def image(source: Json) -> Json:
    """Return a message with an image."""
    return {**USER, "content": [{"type": "image", "source": source}]}


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"threadId": ""}, "threadId", "threadId: "),
        ({"threadId": "x" * 201}, "threadId", "threadId: "),
        ({"runId": None}, "runId", "runId: "),
        ({"messages": None}, "messages", "messages: "),
        ({"messages": []}, "messages", "add a message of the user"),
        ({"messages": [1]}, "messages.0", "messages.0: "),
        ({"messages": [{"id": "m", "role": "robot"}]}, "messages.0.role", "messages.0.role: "),
        ({"messages": [{"role": "user", "content": "Hi"}]}, "messages.0.id", "messages.0.id: "),
        ({"messages": [{**USER, "content": None}]}, "messages.0.content", "messages.0.content"),
        ({"messages": [{**USER, "content": " "}]}, "messages.0.content", "blank"),
        ({"messages": [USER, assistant()]}, "messages", "add a message of the user"),
        ({"messages": [assistant(), USER]}, "messages", "not stored"),
        ({"messages": [USER, result()]}, "messages.1.toolCallId", "no answer before it has this call"),
        ({"messages": [USER, calling(), result(toolCallId="c1")]}, "messages.2.toolCallId", "no answer before it"),
        ({"messages": [USER, calling(), result()]}, "messages", "not stored"),
        ({"messages": [USER, {**calling(), "id": "b" * 32}, result()]}, "messages", "do not belong to the last answer"),
        ({"messages": [USER, calling(), result(content=5)]}, "messages.2.content", "messages.2.content"),
        ({"messages": [{"id": "s", "role": "system"}, USER]}, "messages.0.content", "messages.0.content: "),
        ({"messages": [image({"type": "file", "value": "f1"})]}, "messages.0.content.0.source", "source"),
        ({"messages": [image({"type": "url", "value": "ftp://a"})]}, "messages.0.content.0.source.value", "value: "),
        (
            {"messages": [image({"type": "data", "value": "AA", "mimeType": "text/html"})]},
            "messages.0.content.0.source",
            "not an image",
        ),
        ({"tools": [CLOCK, CLOCK]}, "tools.1.name", "two tools"),
        ({"tools": [{"name": "no spaces please"}]}, "tools.0.name", "tools.0.name: "),
        ({"tools": [{**CLOCK, "parameters": 1}]}, "tools.0.parameters", "tools.0.parameters: "),
        ({"context": [{"value": "x"}]}, "context.0.description", "context.0.description: "),
        ({"forwardedProps": []}, "forwardedProps", "not an object"),
        ({"forwardedProps": {}}, "forwardedProps.model", "SIGNALBOX_DEFAULT_MODEL"),
        ({"forwardedProps": {"model": "no/such"}}, "forwardedProps.model", "no/such"),
        ({"forwardedProps": {"model": "openai/sim", "tools": ["no_such"]}}, "forwardedProps.tools.0", "no_such"),
        ({"forwardedProps": {"model": "openai/sim", "max_steps": 0}}, "forwardedProps.max_steps", "max_steps: "),
        ({"resume": [{"interruptId": "i", "status": "resolved"}]}, "resume", "leave out resume"),
    ],
)
def test_the_field_and_the_reason_are_named(app: RunningApp, body: Json, field: str, words: str) -> None:
    """The client shows the body of the error."""
    agent = Agent(app, "agui-bad")
    agent.messages = [USER]
    response = agent.post(**body)
    assert response.status_code == 422, response.text
    error = response.json()["error"]
    assert error["field"] == field, error
    assert words in error["message"]


def test_an_unfinished_call_of_another_tool_is_rejected(app: RunningApp) -> None:
    """A result is accepted only for a call that the model made, under its name, and of the client's tools."""
    agent = Agent(app, "agui-made-up", model="anthropic/sim-parallel", tools=["calculate"])
    agent.tools = [CLOCK]
    first = agent.send("What is 6 * 7, and what time is it in Tokyo?")
    ours = next(call_id for call_id, call in first.calls.items() if call["name"] == "calculate")
    owner = next(message for message in agent.messages if message["role"] == "assistant")
    for call_id, name in ((ours, "calculate"), ("abcdefghi", "wall_clock")):
        handed = f"call_{owner['id']}_{call_id}"
        forged = {"id": handed, "type": "function", "function": {"name": name, "arguments": "{}"}}
        calls = [*owner["toolCalls"], forged]
        messages = [agent.messages[0], {**owner, "toolCalls": calls}, result(toolCallId=handed, content="43")]
        response = agent.post(messages=messages)
        assert response.status_code == 422, response.text
        assert "belongs to no open call" in response.json()["error"]["message"]


def test_other_bodies_methods_and_parameters(app: RunningApp) -> None:
    """Not JSON, no object, GET, an unknown query parameter."""
    for body, code in ((b"{", "INVALID_JSON"), (b"[]", "INVALID_REQUEST")):
        response = app.client.post(PATH, content=body, headers={"content-type": "application/json"})
        assert (400 <= response.status_code < 500, response.json()["error"]["code"]) == (True, code)
    assert app.client.get(PATH).status_code == 405
    assert app.client.post(f"{PATH}?x=1", json={}).status_code == 422


def test_fields_of_later_versions_are_accepted(app: RunningApp) -> None:
    """Also properties of the page in `forwardedProps`, activities, and messages that the page made itself."""
    agent = Agent(app, "agui-later", tools=[], theme="dark")
    agent.messages = [
        {"id": "hello", "role": "assistant", "content": "How can I help?"},
        {"id": "a1", "role": "activity", "activityType": "PLAN", "content": {}},
    ]
    assert agent.send("Hello!", later=True, parentRunId="p1").last["type"] == "RUN_FINISHED"
