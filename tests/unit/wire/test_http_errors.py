"""An overload has the same code in all dialects."""

import json
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.parts import Fault
from signalbox.wire.dialects import DIALECTS

BUSY = "The server is currently overloaded with other requests. Sorry about that!"
CHAT = ("openai-chat", "openrouter-chat")
# What each API sends inside a stream that has begun with a 200.
OVERLOADS: list[tuple[str, dict[str, Any]]] = [
    *((name, {"error": {"message": BUSY, "type": "server_error", "code": None}}) for name in CHAT),
    *((name, {"error": {"message": "Overloaded", "code": 502}}) for name in CHAT),
    *((name, {"error": {"message": "Overloaded", "type": "overloaded_error"}}) for name in CHAT),
    *((name, {"error": {"message": "Wait.", "code": "server_is_overloaded"}}) for name in CHAT),
    ("openai-responses", {"type": "error", "error": {"type": "server_error", "code": "server_error", "message": BUSY}}),
    ("openai-responses", {"type": "error", "code": "server_is_overloaded", "message": "Wait."}),
    (
        "openai-responses",
        {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "server_error", "message": BUSY}},
        },
    ),
    ("anthropic-messages", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ("anthropic-messages", {"type": "error", "error": {"type": "api_error", "message": "Overloaded"}}),
    ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Wait."}}),
    ("gemini", {"error": {"code": 500, "status": "INTERNAL", "message": "The model is overloaded."}}),
]


@pytest.mark.parametrize(("dialect", "event"), OVERLOADS)
def test_an_overload_in_a_stream(dialect: str, event: dict[str, Any]) -> None:
    """By the type, by the code or by the message: the client always gets UPSTREAM_OVERLOADED, which is retryable."""
    decoder = DIALECTS[dialect].stream_decoder()
    name = b"event: %b\n" % event["type"].encode() if "type" in event else b""
    parts = [*decoder.feed(name + b"data: " + json.dumps(event).encode() + b"\n\n"), *decoder.close()]
    (fault,) = [part for part in parts if isinstance(part, Fault)]
    assert fault.error.code is Code.UPSTREAM_OVERLOADED


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (500, "The model is overloaded.", Code.UPSTREAM_OVERLOADED),
        (502, "No capacity.", Code.UPSTREAM_ERROR),
        (500, "We are at capacity.", Code.UPSTREAM_OVERLOADED),
        (400, "The parameter is overloaded.", Code.UPSTREAM_REJECTED),
        (429, "The model is overloaded.", Code.RATE_LIMIT),
    ],
)
def test_an_overload_with_a_general_status(dialect: str, status: int, message: str, code: Code) -> None:
    """Only errors of the server are read this way: other statuses are more specific than the message."""
    body = json.dumps({"error": {"message": message}}).encode()
    assert DIALECTS[dialect].error_of_response(status, body, {}).code is code
