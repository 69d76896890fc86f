"""Upstream errors to codes, sentences without secrets, and seconds to wait."""

import json
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.codes import CODES, Code
from signalbox.wire.http_errors import redact
from signalbox.wire.openrouter.errors import error_of_response, error_of_value

NOW = 1_790_000_000.0


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock."""
    monkeypatch.setattr("signalbox.wire.http_errors.time", lambda: NOW)


def body(error: Any) -> bytes:
    """Write an error body."""
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, Code.UPSTREAM_REJECTED, False),
        (401, Code.UPSTREAM_AUTH, False),
        (402, Code.UPSTREAM_CREDITS, False),
        (403, Code.UPSTREAM_FORBIDDEN, False),
        (404, Code.UPSTREAM_NOT_FOUND, False),
        (408, Code.UPSTREAM_TIMEOUT, True),
        (413, Code.UPSTREAM_TOO_LARGE, False),
        (418, Code.UPSTREAM_REJECTED, False),
        (422, Code.UPSTREAM_REJECTED, False),
        (429, Code.RATE_LIMIT, True),
        (500, Code.UPSTREAM_ERROR, True),
        (502, Code.UPSTREAM_ERROR, True),
        (503, Code.UPSTREAM_OVERLOADED, True),
        (504, Code.UPSTREAM_TIMEOUT, True),
        (524, Code.UPSTREAM_TIMEOUT, True),
        (529, Code.UPSTREAM_OVERLOADED, True),
    ],
)
def test_statuses(status: int, code: Code, retryable: bool) -> None:
    """Each status has its code, in the HTTP line and as the code of an error inside a 200 (quirks E1, F5)."""
    by_line = error_of_response(status, body({"message": "m"}), {})
    inside = error_of_value({"code": status, "message": "m"})
    as_text = error_of_value({"code": str(status), "message": "m"})
    for error in (by_line, inside, as_text):
        assert (error.code, error.retryable, error.status) == (code, retryable, status)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"metadata": {"error_type": "context_length_exceeded"}}, Code.CONTEXT_LENGTH_EXCEEDED),
        ({"code": "context_length_exceeded"}, Code.CONTEXT_LENGTH_EXCEEDED),
        ({"type": "rate_limit_exceeded"}, Code.RATE_LIMIT),
        ({"metadata": {"error_type": "provider_overloaded"}, "code": 500}, Code.UPSTREAM_OVERLOADED),
        ({"metadata": {"error_type": "payment_required"}}, Code.UPSTREAM_CREDITS),
        ({"type": "insufficient_quota", "code": "insufficient_quota"}, Code.UPSTREAM_CREDITS),
        ({"metadata": {"error_type": "content_policy_violation"}}, Code.CONTENT_FILTER),
        ({"type": "invalid_request_error", "code": "tool_use_failed"}, Code.UPSTREAM_REJECTED),
        ({"code": "something_new"}, Code.UPSTREAM_ERROR),
        ({}, Code.UPSTREAM_ERROR),
    ],
)
def test_error_types_have_priority(fields: dict[str, Any], code: Code) -> None:
    """A provider's stable error type has priority over its number."""
    assert error_of_value({"message": "m", **fields}).code is code


@pytest.mark.parametrize(
    "words",
    [
        "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Requested tokens exceed context window of 4096",
        "input has too many tokens",
    ],
)
def test_context_overflow_by_message(words: str) -> None:
    """Without an error type, an overflow is recognised by its message, in a 400 only."""
    assert error_of_response(400, body({"message": words}), {}).code is Code.CONTEXT_LENGTH_EXCEEDED
    assert error_of_value({"message": words}).code is Code.CONTEXT_LENGTH_EXCEEDED
    assert error_of_response(401, body({"message": words}), {}).code is Code.UPSTREAM_AUTH


def test_unknown_model_by_message() -> None:
    """OpenRouter answers an unknown id with a 400 that only its message explains."""
    words = "openai/gtp-5 is not a valid model ID"
    assert error_of_response(400, body({"message": words, "code": 400}), {}).code is Code.UPSTREAM_NOT_FOUND
    assert error_of_value({"message": words}).code is Code.UPSTREAM_NOT_FOUND
    assert error_of_response(401, body({"message": words}), {}).code is Code.UPSTREAM_AUTH
    # Another field's id is another matter.
    assert error_of_response(400, body({"message": "x is not a valid session ID"}), {}).code is Code.UPSTREAM_REJECTED


@pytest.mark.parametrize(
    "words",
    ["Invalid `signature` in `thinking` block", "Invalid `data` in `redacted_thinking` block"],
)
def test_rejected_thinking_by_message(words: str) -> None:
    """Claude's rejection of thinking, signed or encrypted, is recognized in `raw`."""
    raw = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": f"messages.1: {words}"}})
    answer = body({"code": 400, "message": "Provider returned error", "metadata": {"raw": raw}})
    assert error_of_response(400, answer, {}).code is Code.UPSTREAM_SIGNATURE


@pytest.mark.parametrize("page", [b"", b"<html>502 Bad Gateway</html>", b"[]", b"null", b"\xff\xfe", b'{"error":'])
def test_a_body_without_an_error(page: bytes) -> None:
    """A proxy's HTML page is ignored; only the status counts."""
    error = error_of_response(502, page, {})
    assert error.message == CODES[Code.UPSTREAM_ERROR].sentence


@pytest.mark.parametrize(
    "answer",
    [{"error": {"message": "No"}}, {"error": "No"}, {"message": "No"}, {"detail": "No"}, {"error": {"detail": "No"}}],
)
def test_shapes_of_a_body(answer: dict[str, Any]) -> None:
    """The message is found in every shape that providers use."""
    assert error_of_response(400, json.dumps(answer).encode(), {}).message.endswith("The upstream said: No")


def test_the_cause_is_in_raw() -> None:
    """OpenRouter's "Provider returned error" hides the provider's own message, sometimes JSON inside JSON."""
    inner = json.dumps({"error": {"message": "max_tokens is too large", "code": "x"}})
    metadata: Any = {"raw": inner, "provider_name": "Groq"}
    error = error_of_value({"code": 400, "message": "Provider returned error", "metadata": metadata})
    assert error.message.endswith("Groq said: max_tokens is too large")
    plain = error_of_value({"code": 400, "message": "Provider returned error", "metadata": {"raw": "too hot"}})
    assert plain.message.endswith("The upstream said: too hot")


def test_long_messages_are_shortened() -> None:
    """A message is one line of limited length."""
    error = error_of_value({"message": "a\n\n b" + "x" * 5000})
    assert "\n" not in error.message
    assert len(error.message) < 500
    assert error.message.endswith("…")


@pytest.mark.parametrize(
    "secret",
    [
        "sk-or-v1-0123456789abcdef",
        "sk-proj-abc_DEF-123456",
        "Bearer abc.def.ghi",
        "user_2aBcDeFgHiJk",
        "org_01ABCDEFGH",
        "key_0123456789ab",
        "123e4567-e89b-12d3-a456-426614174000",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_keys_and_account_ids_are_redacted(secret: str) -> None:
    """No key, token or account id of an upstream's message reaches a client (quirk G4)."""
    for text in (f"Key {secret} is bad", f'{{"k":"{secret}"}}', f"({secret})"):
        assert secret not in redact(text)
        assert secret not in error_of_value({"message": text, "code": 401}).message
        assert secret not in error_of_value({"message": "m", "metadata": {"raw": text}}).message


def test_harmless_text_is_not_redacted() -> None:
    """Model names, tool ids and numbers are no secrets."""
    text = "deepseek/deepseek-chat at user request: task-12 of 200000 tokens, user_name too long, sk-it"
    assert redact(text) == text


def reset(value: Any) -> Any:
    """Write a 429 with OpenRouter's reset in its body."""
    return {"code": 429, "message": "Rate limit", "metadata": {"headers": {"X-RateLimit-Reset": value}}}


@pytest.mark.parametrize("value", [str(int((NOW + 30) * 1000)), int((NOW + 30) * 1000), (NOW + 30) * 1000, NOW + 30])
def test_the_reset_is_in_the_body(value: object) -> None:
    """OpenRouter has no Retry-After: the reset is epoch milliseconds (or seconds) in the body (quirk F1)."""
    assert error_of_value(reset(value)).retry_after == 30.0


@pytest.mark.parametrize("value", ["soon", "", None, [], "inf", "nan", float("inf"), "1e400"])
def test_an_invalid_reset_is_ignored(value: object) -> None:
    """A reset that is not a finite number is ignored."""
    assert error_of_value(reset(value)).retry_after is None


def test_a_reset_in_the_past_is_now() -> None:
    """A reset in the past is a wait of 0."""
    assert error_of_value(reset(1000)).retry_after == 0.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("17", 17.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        (formatdate(NOW + 60, usegmt=True), 60.0),
        (formatdate(NOW - 60, usegmt=True), 0.0),
        ("later", None),
        ("inf", None),
        ("nan", None),
        ("1e999", None),
        ("Mon, 99 Foo 2026 00:00:00 GMT", None),
    ],
)
def test_retry_after_header(header: str, seconds: float | None) -> None:
    """The header is seconds or a date; an infinite one is ignored."""
    assert error_of_response(429, b"", {"retry-after": header}).retry_after == seconds


def test_the_header_has_priority_over_the_body() -> None:
    """`Retry-After` has priority over the reset in the body."""
    both = json.dumps({"error": reset((NOW + 30) * 1000)}).encode()
    assert error_of_response(429, both, {"retry-after": "5"}).retry_after == 5.0


@pytest.mark.parametrize(
    ("seconds", "retryable", "words"),
    [
        (30, True, None),
        (600, True, None),
        (601, False, "in about 11 minutes."),
        (3600, False, "in about 60 minutes."),
        (5 * 3600, False, "in about 5 hours."),
        (5 * 3600 + 1, False, "in about 6 hours."),
    ],
)
def test_a_limit_that_resets_in_hours_is_not_retryable(seconds: int, retryable: bool, words: str | None) -> None:
    """A wait of hours is not retryable; the sentence and `retry_after` state it (F1)."""
    error = error_of_value(reset((NOW + seconds) * 1000))
    assert (error.retryable, error.retry_after) == (retryable, seconds)
    assert (words or "Too many requests") in error.message
    assert ("again" in error.message) is (words is not None)


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [
        (429, str(int((NOW + 30) * 1000)), 30.0),
        (429, str(int(NOW + 30)), 30.0),
        (429, "30", None),
        (429, "6m0s", None),
        (400, str(int((NOW + 30) * 1000)), None),
    ],
)
def test_the_reset_header(status: int, value: str, seconds: float | None) -> None:
    """OpenRouter's reset header counts for rate limits, and only as a point in time (F1)."""
    assert error_of_response(status, b"{}", {"x-ratelimit-reset": value}).retry_after == seconds


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["code", "message", "metadata", "raw", "headers", "X-RateLimit-Reset", "type", "detail", "error"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_an_error(value: Any) -> None:
    """Every JSON value becomes an UpstreamError."""
    error = error_of_value(value)
    assert error.code in CODES
    assert error.message
    assert error.retry_after is None or 0 <= error.retry_after < float("inf")
