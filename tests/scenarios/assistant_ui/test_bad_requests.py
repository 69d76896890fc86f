"""Every request of an assistant-ui page that cannot be followed is a 4xx that names the field."""

from typing import Any

import pytest

from tests.scenarios.assistant_ui.page import message
from tests.support.running_app import RunningApp


def adding(*parts: Any, **fields: Any) -> dict[str, Any]:
    """Return a command with these parts."""
    return {"type": "add-message", "message": {"role": "user", "parts": [*parts], **fields}}


TEXT = {"type": "text", "text": "Hi"}
RESULT = {"type": "add-tool-result", "toolCallId": f"call_{'a' * 32}_abcdefghi", "toolName": "clock", "result": 1}
BAD: list[tuple[Any, str]] = [
    ([], "commands"),
    ("add-message", "commands"),
    ([None], "commands.0"),
    ([{}], "commands.0.type"),
    ([{"type": "add-message"}], "commands.0.message"),
    ([adding()], "commands.0.message.parts"),
    ([adding({"type": "text", "text": "  "})], "commands.0.message.parts"),
    ([adding(TEXT, {"type": "video", "url": "x"})], "commands.0.message.parts.1"),
    ([adding({"type": "image", "image": "file:///etc/passwd"})], "commands.0.message.parts.0.image"),
    ([adding({"type": "text", "text": 5})], "commands.0.message.parts.0.text"),
    ([adding(TEXT, role="assistant")], "commands.0.message.role"),
    ([adding(TEXT), RESULT], "commands.1"),
    ([{**RESULT, "toolCallId": "made-up"}], "commands.0.toolCallId"),
    ([RESULT, {**RESULT, "toolCallId": f"call_{'b' * 32}_abcdefghi"}], "commands"),
    ([adding(TEXT)] * 101, "commands"),
]


@pytest.mark.parametrize(("commands", "field"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_bad_commands(app: RunningApp, commands: Any, field: str) -> None:
    """Commands that cannot be followed name what is wrong."""
    response = app.client.post("/assistant", json={"model": "openai/sim", "commands": commands})
    assert response.status_code == 422
    error = response.json()["error"]
    assert (error["code"], error["field"]) == ("INVALID_REQUEST", field)


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"model": None}, "INVALID_REQUEST", "model"),
        ({"model": "none/such"}, "UNKNOWN_MODEL", "model"),
        ({"threadId": "x" * 201}, "INVALID_REQUEST", "threadId"),
        ({"threadId": 5}, "INVALID_REQUEST", "threadId"),
        ({"config": {"tools": ["none"]}}, "UNKNOWN_TOOL", "config.tools.0"),
        ({"tools": {"not a name": {}}}, "INVALID_REQUEST", "tools.not a name"),
        ({"callSettings": {"temperature": 9}}, "INVALID_REQUEST", "callSettings.temperature"),
        ({"maxSteps": 0}, "INVALID_REQUEST", "maxSteps"),
        ({"parentId": "f" * 32, "threadId": "unknown"}, "UNKNOWN_CONVERSATION", "threadId"),
    ],
)
def test_bad_fields(app: RunningApp, fields: dict[str, Any], code: str, field: str) -> None:
    """So do other fields."""
    body = {"model": "openai/sim", "commands": [message("Hi")], **fields}
    response = app.client.post("/assistant", json=body)
    assert 400 <= response.status_code < 500
    error = response.json()["error"]
    assert (error["code"], error["field"]) == (code, field)


def test_an_unknown_message_of_the_thread(app: RunningApp) -> None:
    """A parent that looks like an id of ours, and is not in the thread, is no silent append."""
    body = {"model": "openai/sim", "threadId": "known", "commands": [message("Hi", parentId=None)]}
    assert app.client.post("/assistant", json=body).status_code == 200
    response = app.client.post("/assistant", json={**body, "commands": [message("Hi", parentId="f" * 32)]})
    assert response.json()["error"]["code"] == "UNKNOWN_MESSAGE"
    assert response.json()["error"]["field"] == "parentId"


def test_unknown_commands_are_accepted(app: RunningApp) -> None:
    """A command that the page defines alone starts no run; beside a message it does no harm."""
    body = {"model": "openai/sim", "threadId": "custom", "commands": [{"type": "navigate", "to": "/"}]}
    alone = app.client.post("/assistant", json=body)
    assert alone.status_code == 200
    assert "x-run-id" not in alone.headers
    both = app.client.post("/assistant", json={**body, "commands": [*body["commands"], message("Hi")]})
    assert both.headers["x-run-id"]


def test_a_state_has_a_size_limit(app: RunningApp) -> None:
    """The state counts as a part of the body."""
    body = {"model": "openai/sim", "state": {"x": "y" * 9_000_000}, "commands": [message("Hi")]}
    response = app.client.post("/assistant", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "BODY_TOO_LARGE")


def test_a_framing_that_does_not_exist(app: RunningApp) -> None:
    """An unknown framing or parameter is named."""
    for query, field in (("protocol=x", "protocol"), ("framing=x", "framing")):
        response = app.client.post(f"/assistant?{query}", json={"commands": [message("Hi")]})
        assert response.json()["error"]["field"] == field
