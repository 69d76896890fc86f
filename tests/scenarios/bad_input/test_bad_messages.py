"""Invalid messages give a 4xx that names the field: no run, no upstream request, no stack trace."""

from typing import Any

import pytest

from tests.scenarios.bad_input.rejections import refused
from tests.support.running_app import RunningApp

pytestmark = pytest.mark.usefixtures("no_run_started")

USER = {"role": "user", "content": "Hello!"}
CALL = {"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
MESSAGES: list[tuple[str, list[Any], str, str | None]] = [
    ("empty list", [], "INVALID_REQUEST", "messages"),
    ("no object", ["hi"], "INVALID_REQUEST", "messages.0"),
    ("unknown role", [{"role": "robot", "content": "x"}], "INVALID_REQUEST", "messages.0"),
    ("no role", [{"content": "x"}], "INVALID_REQUEST", "messages.0"),
    ("no content", [{"role": "user"}], "INVALID_REQUEST", "messages.0.content"),
    ("null content", [{"role": "user", "content": None}], "INVALID_REQUEST", "messages.0.content"),
    ("number content", [USER, {"role": "user", "content": 5}], "INVALID_REQUEST", "messages.1.content"),
    ("no parts", [{"role": "user", "content": []}], "INVALID_REQUEST", "messages.0.content"),
    ("unknown part", [{"role": "user", "content": [{"type": "video"}]}], "INVALID_REQUEST", "messages.0.content.0"),
    (
        "text of a number",
        [{"role": "user", "content": [{"type": "text", "text": 5}]}],
        "INVALID_REQUEST",
        "messages.0.content.0.text",
    ),
    (
        "image of ftp",
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://x"}}]}],
        "INVALID_REQUEST",
        "messages.0.content.0.image_url.url",
    ),
    (
        "image of javascript",
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "javascript:1"}}]}],
        "INVALID_REQUEST",
        "messages.0.content.0.image_url.url",
    ),
    (
        "file without data",
        [{"role": "user", "content": [{"type": "file", "file": {"filename": "a"}}]}],
        "INVALID_REQUEST",
        "messages.0.content.0.file.file_data",
    ),
    (
        "unknown field in a part",
        [{"role": "user", "content": [{"type": "text", "text": "x", "user": 1}]}],
        "UNKNOWN_FIELD",
        "messages.0.content.0.user",
    ),
    ("unknown field in a message", [{**USER, "tool": 1}], "UNKNOWN_FIELD", "messages.0.tool"),
    ("blank", [{"role": "user", "content": " \n\t"}], "INVALID_REQUEST", "messages.0.content"),
    (
        "blank parts",
        [{"role": "user", "content": [{"type": "text", "text": " "}]}],
        "INVALID_REQUEST",
        "messages.0.content",
    ),
    ("assistant last", [USER, {"role": "assistant", "content": "x"}], "INVALID_REQUEST", "messages.1"),
    ("system alone", [{"role": "system", "content": "x"}], "INVALID_REQUEST", "messages.0"),
    ("call last", [USER, CALLED], "INVALID_REQUEST", "messages.1"),
    (
        "result without call",
        [USER, {"role": "tool", "tool_call_id": "c1", "content": "2"}],
        "INVALID_REQUEST",
        "messages.1.tool_call_id",
    ),
    (
        "result of another call",
        [USER, CALLED, {"role": "tool", "tool_call_id": "c2", "content": "2"}],
        "INVALID_REQUEST",
        "messages.2.tool_call_id",
    ),
    (
        "result without id",
        [USER, CALLED, {"role": "tool", "content": "2"}],
        "INVALID_REQUEST",
        "messages.2.tool_call_id",
    ),
    (
        "call without name",
        [USER, {"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": ""}}]}],
        "INVALID_REQUEST",
        "messages.1.tool_calls.0.function.name",
    ),
    (
        "arguments of a number",
        [USER, {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "x", "arguments": 5}}]}],
        "INVALID_REQUEST",
        "messages.1.tool_calls.0.function.arguments",
    ),
    ("10,001 messages", [USER] * 10_001, "INVALID_REQUEST", "messages"),
]


@pytest.mark.parametrize(("messages", "code", "field"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES])
def test_a_conversation_that_cannot_stand(app: RunningApp, messages: list[Any], code: str, field: str) -> None:
    """An error in a conversation is reported with its position in the body."""
    refused(app, {"model": "openai/sim", "messages": messages}, 422, code, field)


@pytest.mark.parametrize("body", [{}, {"prompt": ""}, {"prompt": "  \n"}, {"system": "Be brief."}])
def test_no_question_is_refused(app: RunningApp, body: dict[str, Any]) -> None:
    """A request without messages and without a prompt is rejected."""
    assert "prompt" in refused(app, {"model": "openai/sim", **body}, 422, "INVALID_REQUEST", None)
