"""Answers that end badly do so in the words of Gemini's API."""

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.native.gemini.conversation import (
    asked,
    calls,
    finish,
    model_turn,
    objects,
    parts,
    post,
    results,
    text,
    user,
)

NONE = {"functionCallingConfig": {"mode": "NONE"}}
STREAMED = pytest.mark.parametrize("stream", [True, False])


@STREAMED
@pytest.mark.parametrize(
    ("model", "reason", "kinds"),
    [
        ("sim-empty", "STOP", set()),
        ("sim-reasoning-only", "STOP", set()),
        ("sim-length", "MAX_TOKENS", {"text"}),
        ("sim-length-empty", "MAX_TOKENS", set()),
        ("sim-length-tool", "MAX_TOKENS", set()),
        ("sim-filter", "SAFETY", {"text"}),
        ("sim-late-stop", "STOP", {"functionCall"}),
        ("sim-unknown-tool", "STOP", {"functionCall"}),
        ("sim-same-id", "STOP", {"functionCall"}),
        ("sim-bad-args", "STOP", {"functionCall"}),
        ("sim-quirk-a13", "MALFORMED_FUNCTION_CALL", {"text"}),
        ("sim-quirk-a13-call-always", "MALFORMED_FUNCTION_CALL", {"functionCall"}),
        ("sim-quirk-a13-unexpected-always", "UNEXPECTED_TOOL_CALL", set()),
    ],
)
def test_finish_reasons(gemini: httpx.Client, model: str, reason: str, kinds: set[str], stream: bool) -> None:
    """Each fault has its finish reason; arguments that are no object do not exist."""
    received = objects(post(gemini, model, asked(user(f"Search for {model} {stream}")), stream=stream))
    assert finish(received) == reason
    assert (bool(text(received)), bool(calls(received))) == ("text" in kinds, "functionCall" in kinds)
    assert all(isinstance(call["args"], dict) for call in calls(received))


@STREAMED
def test_a_blocked_prompt(gemini: httpx.Client, stream: bool) -> None:
    """A refusal blocks the prompt: there is no candidate."""
    [received] = objects(post(gemini, "sim-refusal", asked(), stream=stream))
    assert received["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert "candidates" not in received


@STREAMED
def test_calls_that_are_not_allowed(gemini: httpx.Client, stream: bool) -> None:
    """A call in spite of mode NONE ends with UNEXPECTED_TOOL_CALL, without the call (quirk D3)."""
    received = objects(post(gemini, "sim-stubborn", asked(toolConfig=NONE), stream=stream))
    assert finish(received) == "UNEXPECTED_TOOL_CALL"
    assert not parts(received)


def test_a_finalize_step(gemini: httpx.Client) -> None:
    """With mode NONE, the model answers from the results."""
    asking = objects(post(gemini, "sim", asked()))
    contents = [user(), model_turn(asking), results(*calls(asking))]
    received = objects(post(gemini, "sim", asked(*contents, toolConfig=NONE)))
    assert not calls(received)
    assert "A step is one model call." in text(received)


def test_forced_calls(gemini: httpx.Client) -> None:
    """Mode ANY calls a function; with allowed names, one of these."""
    for names, expected in (([], "search_web"), (["calculate"], "calculate")):
        calling = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": names}}
        received = objects(post(gemini, "sim", asked(user("Write a poem"), toolConfig=calling)))
        assert [call["name"] for call in calls(received)] == [expected]


def test_broken_streams(gemini: httpx.Client) -> None:
    """Streams without an end, with an error inside, and with data that is not JSON."""
    for model in ("sim-cut", "sim-cut-40", "sim-cut-tool"):
        with pytest.raises(httpx.RemoteProtocolError):
            post(gemini, model, asked())
    ended = objects(post(gemini, "sim-eof", asked()))
    assert "finishReason" not in ended[-1]["candidates"][0]
    failed = objects(post(gemini, "sim-midstream-error", asked()))
    assert failed[-1]["error"]["status"] == "UNAVAILABLE"
    assert post(gemini, "sim-done-only", asked()).content == b""
    assert b"half a fra\r\n\r\n" in post(gemini, "sim-malformed", asked()).content
    assert finish(objects(post(gemini, "sim-drip", asked()))) == "STOP"
    [error] = objects(post(gemini, "sim-json-error", asked()))
    assert error["error"]["status"] == "RESOURCE_EXHAUSTED"


def test_a_stream_that_stalls(gemini: httpx.Client, simulator: BackgroundSimulator) -> None:
    """A stalled stream ends when the client disconnects."""
    with gemini.stream("POST", "/models/sim-stall:streamGenerateContent?alt=sse", json=asked()) as response:
        assert next(response.iter_raw()).startswith(b"data: ")
    assert simulator.wait_until(lambda state: state.requests[-1].closed_early is True)
    assert simulator.state.requests[-1].authorized
