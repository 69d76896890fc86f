"""Errors of the Responses API: by code, by message and by status."""

import json

import pytest
from signalbox.core.codes import Code
from signalbox.wire.openai_responses.errors import error_of, error_of_response


def body(message: str = "", code: str | None = None, kind: str | None = "invalid_request_error") -> bytes:
    """Write an error body."""
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()


@pytest.mark.parametrize(
    ("status", "message", "word", "code"),
    [
        (401, "Incorrect API key provided: …", "invalid_api_key", Code.UPSTREAM_AUTH),
        (403, "Country not supported", "unsupported_country_region_territory", Code.UPSTREAM_FORBIDDEN),
        (404, "The model `gpt-9` does not exist.", "model_not_found", Code.UPSTREAM_NOT_FOUND),
        (400, "The requested model 'x' does not exist.", "model_not_found", Code.UPSTREAM_NOT_FOUND),
        (429, "Rate limit reached for gpt-5.", "rate_limit_exceeded", Code.RATE_LIMIT),
        (429, "You exceeded your current quota.", "insufficient_quota", Code.UPSTREAM_CREDITS),
        (503, "Slow down.", "slow_down", Code.UPSTREAM_OVERLOADED),
        (500, "The server had an error.", "server_error", Code.UPSTREAM_ERROR),
        (503, "The server is currently overloaded.", "server_error", Code.UPSTREAM_OVERLOADED),
        (408, "Request timed out.", "server_error", Code.UPSTREAM_TIMEOUT),
        (400, "Your input exceeds the context window.", "context_length_exceeded", Code.CONTEXT_LENGTH_EXCEEDED),
        (400, "Your input exceeds the context window.", None, Code.CONTEXT_LENGTH_EXCEEDED),
        (400, "Unsupported parameter: 'temperature'.", "unsupported_parameter", Code.UPSTREAM_REJECTED),
        (400, "The encrypted content gAAA could not be read.", "invalid_encrypted_content", Code.UPSTREAM_SIGNATURE),
        (400, "The encrypted content gAAA could not be read.", None, Code.UPSTREAM_SIGNATURE),
        (404, "Item 'rs_1' not found. Items are not persisted when …", None, Code.UPSTREAM_SIGNATURE),
        (400, "'function_call' was provided without its required 'reasoning' item.", None, Code.UPSTREAM_SIGNATURE),
        (400, "The response was filtered.", "content_filter", Code.CONTENT_FILTER),
        (400, "Your request was rejected.", "moderation_blocked", Code.CONTENT_FILTER),
        (413, "Too large.", None, Code.UPSTREAM_TOO_LARGE),
    ],
)
def test_statuses_and_codes(status: int, message: str, word: str | None, code: Code) -> None:
    """The code decides, then the message, then the status; the message is shown."""
    error = error_of_response(status, body(message, word), {})
    assert (error.code, error.status) == (code, status)
    assert message[:20] in error.message


@pytest.mark.parametrize("word", ["invalid_image", "image_too_large", "unsupported_image_media_type"])
def test_images_may_be_the_cause(word: str) -> None:
    """A rejected image is left out of the next attempt."""
    error = error_of_response(400, body("Bad.", word), {})
    assert (error.code, error.about_images) == (Code.UPSTREAM_REJECTED, True)


def test_the_wait_comes_from_the_headers() -> None:
    """`Retry-After` counts for every error."""
    assert error_of_response(429, body("Slow.", "rate_limit_exceeded"), {"retry-after": "7"}).retry_after == 7
    assert error_of_response(503, body("Slow.", "slow_down"), {"retry-after": "2"}).retry_after == 2
    assert error_of_response(429, body("Slow.", "rate_limit_exceeded"), {}).retry_after is None


def test_a_quota_is_not_retried() -> None:
    """An empty account stays empty; a rate limit does not."""
    assert not error_of_response(429, body("", "insufficient_quota"), {}).retryable
    assert error_of_response(429, body("", "rate_limit_exceeded"), {}).retryable


@pytest.mark.parametrize("text", [b"<html>", b"", b"[]", b"null"])
def test_a_body_that_is_no_error_object(text: bytes) -> None:
    """A proxy's page counts by its status; a 404 says that the URL is wrong."""
    assert error_of_response(502, text, {}).code is Code.UPSTREAM_ERROR
    missing = error_of_response(404, text, {})
    assert missing.code is Code.UPSTREAM_NOT_FOUND
    assert "Responses API" in missing.message


@pytest.mark.parametrize("value", [None, 5, "words", [], {}, {"code": 5, "message": ["x"]}, {"type": {}}])
def test_any_value_is_an_error(value: object) -> None:
    """No JSON makes the reading fail."""
    assert error_of(value).code is Code.UPSTREAM_ERROR  # type: ignore[arg-type]


def test_keys_are_removed() -> None:
    """A key in a message is not shown."""
    assert (
        "sk-"
        not in error_of_response(401, body("Incorrect API key: sk-proj-abcdefgh12345", "invalid_api_key"), {}).message
    )
