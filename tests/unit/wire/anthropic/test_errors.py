"""Errors of the Messages API: in a stream, in a body and as an HTTP status."""

import json

import pytest
from signalbox.core.codes import Code
from signalbox.wire.anthropic.decoder import parts_of_body
from signalbox.wire.anthropic.errors import error_of_response, error_of_value

from tests.unit.wire.anthropic.messages_events import decode, delta, fault_of, frame, start


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("invalid_request_error", 400, Code.UPSTREAM_REJECTED),
        ("authentication_error", 401, Code.UPSTREAM_AUTH),
        ("billing_error", 402, Code.UPSTREAM_CREDITS),
        ("permission_error", 403, Code.UPSTREAM_FORBIDDEN),
        ("not_found_error", 404, Code.UPSTREAM_NOT_FOUND),
        ("request_too_large", 413, Code.UPSTREAM_TOO_LARGE),
        ("rate_limit_error", 429, Code.RATE_LIMIT),
        ("api_error", 500, Code.UPSTREAM_ERROR),
        ("timeout_error", 504, Code.UPSTREAM_TIMEOUT),
        ("overloaded_error", 529, Code.UPSTREAM_OVERLOADED),
    ],
)
def test_types(kind: str, status: int, code: Code) -> None:
    """Each type has its code, with its HTTP status and in a stream, where there is no status."""
    body = {"type": "error", "error": {"type": kind, "message": "No."}, "request_id": "req_1"}
    error = error_of_response(status, json.dumps(body).encode(), {})
    assert (error.code, error.status) == (code, status)
    assert "No." in error.message
    events = [start(0, "text", text=""), delta(0, "text_delta", text="Hi"), body]
    fault = fault_of(decode(b"".join(map(frame, events))))
    assert (fault.error.code, fault.error.status, fault.raw) == (code, None, body["error"])
    assert fault_of(parts_of_body(json.dumps(body).encode())).error.code is code


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", Code.CONTEXT_LENGTH_EXCEEDED),
        ("input length and `max_tokens` exceed context limit: 1 + 2 > 2", Code.CONTEXT_LENGTH_EXCEEDED),
        ("Your credit balance is too low to access the Anthropic API.", Code.UPSTREAM_CREDITS),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", Code.UPSTREAM_SIGNATURE),
        ("messages.1.content.0: Invalid `data` in `redacted_thinking` block", Code.UPSTREAM_SIGNATURE),
        (
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
            Code.UPSTREAM_SIGNATURE,
        ),
        (
            "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
            Code.UPSTREAM_SIGNATURE,
        ),
        ("The content[].thinking in the thinking mode must be passed back to the API.", Code.UPSTREAM_SIGNATURE),
        ("max_tokens: Field required", Code.UPSTREAM_REJECTED),
    ],
)
def test_causes_of_invalid_requests(message: str, code: Code) -> None:
    """The message distinguishes the causes of a 400."""
    assert error_of_value({"type": "invalid_request_error", "message": message}, 400).code is code


def test_images() -> None:
    """A rejected image is named as the cause, so that the request can be repeated without images."""
    error = error_of_value({"type": "invalid_request_error", "message": "Could not process image"}, 400)
    assert error.about_images


def test_the_wait_is_read() -> None:
    """`retry-after` of a rate limit is in seconds."""
    error = error_of_response(429, b'{"error": {"type": "rate_limit_error", "message": "Slow"}}', {"retry-after": "7"})
    assert error.retry_after == 7


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'"x"', b'{"error": 5}', b'{"error": {"type": [], "message": {}}}'])
def test_strange_bodies(body: bytes) -> None:
    """Any body is an error with the code of the status, and a key in it is not shown."""
    assert error_of_response(503, body, {}).code is Code.UPSTREAM_OVERLOADED


def test_a_url_without_the_api() -> None:
    """A 404 that is not JSON says that the URL is wrong."""
    assert "Messages API" in error_of_response(404, b"<html>", {}).message
