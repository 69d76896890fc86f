"""Google's errors: HTTP statuses, details, quotas, and errors and blocked prompts inside a stream."""

import json
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.parts import Fault
from signalbox.wire.gemini import errors
from signalbox.wire.gemini.decoder import GeminiStreamDecoder
from signalbox.wire.gemini.errors import error_of_response

from tests.unit.wire.gemini.responses import completed, decode, frame, response


def body(message: str = "", status: str = "", *details: dict[str, Any], code: int = 400) -> bytes:
    """Write an error body."""
    error = {"code": code, "message": message, "status": status, "details": [*details]}
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("http", "status", "message", "code"),
    [
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", Code.UPSTREAM_AUTH),
        (400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", Code.UPSTREAM_AUTH),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Code.CONTEXT_LENGTH_EXCEEDED,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "Function call is missing a thought_signature in functionCall parts.",
            Code.UPSTREAM_SIGNATURE,
        ),
        (400, "INVALID_ARGUMENT", "Corrupted thought signature.", Code.UPSTREAM_SIGNATURE),
        (400, "INVALID_ARGUMENT", "Function calling is not enabled for models/gemma-3-1b-it", Code.UPSTREAM_NO_TOOLS),
        (400, "INVALID_ARGUMENT", 'Unknown name "const"', Code.UPSTREAM_REJECTED),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", Code.UPSTREAM_FORBIDDEN),
        (401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", Code.UPSTREAM_AUTH),
        (403, "PERMISSION_DENIED", "The caller does not have permission", Code.UPSTREAM_FORBIDDEN),
        (404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", Code.UPSTREAM_NOT_FOUND),
        (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", Code.RATE_LIMIT),
        (500, "INTERNAL", "An internal error has occurred.", Code.UPSTREAM_ERROR),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", Code.UPSTREAM_OVERLOADED),
        (504, "DEADLINE_EXCEEDED", "", Code.UPSTREAM_TIMEOUT),
        (413, "", "", Code.UPSTREAM_TOO_LARGE),
        (502, "OF_TOMORROW", "", Code.UPSTREAM_ERROR),
    ],
)
def test_statuses(http: int, status: str, message: str, code: Code) -> None:
    """The canonical status decides; for an invalid argument, only the message names the cause."""
    error = error_of_response(http, body(message, status, code=http), {})
    assert (error.code, error.status) == (code, http)
    assert message in error.message


def test_the_reason_of_an_invalid_key() -> None:
    """`ErrorInfo` names an invalid key, whatever the message says."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    assert error_of_response(400, body("No.", "INVALID_ARGUMENT", info), {}).code is Code.UPSTREAM_AUTH


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.074824224s"}


def quota(quota_id: str) -> dict[str, Any]:
    """Build the detail that names an exceeded quota."""
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


def test_retry_info() -> None:
    """`RetryInfo` gives the delay; the header takes precedence."""
    minute = quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
    data = body("Slow down.", "RESOURCE_EXHAUSTED", minute, RETRY, code=429)
    error = error_of_response(429, data, {})
    assert (error.retry_after, error.retryable) == (34.1, True)
    assert error_of_response(429, data, {"retry-after": "7"}).retry_after == 7


def test_a_daily_quota_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daily quota is reset at midnight Pacific time, although `RetryInfo` names seconds."""
    monkeypatch.setattr(errors, "time", lambda: 1_800_000_000.0)  # 08:00 UTC, in winter midnight in California
    day = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
    error = error_of_response(429, body("Quota.", "RESOURCE_EXHAUSTED", day, RETRY, code=429), {})
    assert (error.retry_after, error.retryable) == (86_400.0, False)
    assert "accepts requests again in about 24 hours" in error.message


@pytest.mark.parametrize("delay", ["soon", 5, None, "", "99999999999999s"])
def test_an_unreadable_delay(delay: object) -> None:
    """A delay in another form is no delay."""
    data = body("", "RESOURCE_EXHAUSTED", {"retryDelay": delay}, code=429)
    assert error_of_response(429, data, {}).retry_after is None


def test_bodies_in_other_forms() -> None:
    """An error may be in an array, a bare sentence or a proxy's page."""
    inner = json.loads(body("No.", "PERMISSION_DENIED"))
    assert error_of_response(403, json.dumps([inner]).encode(), {}).code is Code.UPSTREAM_FORBIDDEN
    assert error_of_response(503, b"<html>", {}).code is Code.UPSTREAM_OVERLOADED
    assert error_of_response(500, b"[]", {}).code is Code.UPSTREAM_ERROR
    assert error_of_response(404, b"<html>", {}).message.endswith("the part before /v1beta.")


def test_keys_are_redacted() -> None:
    """A key that the message quotes is not shown."""
    key = "AIza" + "SyAbm-_oW12aAAxNc8FEEh-84QT7o-9r1Ak"
    error = error_of_response(403, body(f"Consumer 'api_key:{key}' has been suspended.", "PERMISSION_DENIED"), {})
    assert (error.code, key[:12] in error.message) == (Code.UPSTREAM_FORBIDDEN, False)
    assert "'api_key:…' has been suspended" in error.message


def test_an_error_inside_a_stream() -> None:
    """An error after the first parts is a fault with its code; the decoder expects nothing more."""
    error = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
    decoder = GeminiStreamDecoder()
    (fault,) = decoder.feed(frame({"error": error}))
    assert isinstance(fault, Fault)
    assert (fault.error.code, fault.raw, decoder.has_outcome) == (Code.UPSTREAM_OVERLOADED, error, True)


def test_a_blocked_prompt() -> None:
    """A blocked prompt is a separate fault: no model has read it, and another attempt would be blocked, too."""
    feedback = {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []}
    answer = completed({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 5}})
    assert answer.fault is not None
    assert (answer.fault.error.code, answer.fault.error.retryable) == (Code.CONTENT_FILTER, False)
    assert answer.fault.error.message == (
        "Google blocked the prompt before the model could answer (PROHIBITED_CONTENT)."
    )
    assert answer.usage is not None


def test_feedback_without_a_block() -> None:
    """Ratings of the prompt alone are no error."""
    assert decode({"promptFeedback": {"safetyRatings": []}}) == []


def test_a_missing_signature() -> None:
    """The finish reason for a missing signature has the same code as the HTTP error, so that both are repaired."""
    answer = completed(response(finish="MISSING_THOUGHT_SIGNATURE"))
    assert answer.fault is not None
    assert answer.fault.error.code is Code.UPSTREAM_SIGNATURE
