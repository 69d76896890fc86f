"""The simulator's answers have the objects, fields and order of recorded Gemini answers."""

import json

import httpx
import pytest

from tests.unit.simulator.native.gemini.conversation import (
    THOUGHTS,
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

STREAMED = pytest.mark.parametrize("stream", [True, False])


@STREAMED
def test_a_text(gemini: httpx.Client, stream: bool) -> None:
    """A text ends with STOP, and Gemini 3 signs it at its end."""
    received = objects(post(gemini, "sim", asked(user("hello"), tools=None), stream=stream))
    assert text(received).startswith("Hello!")
    assert finish(received) == "STOP"
    signed = [part for part in parts(received) if "thoughtSignature" in part]
    assert signed == parts(received)[-1:]
    assert signed[0]["text"] == ("" if stream else text(received))
    assert len({one["responseId"] for one in received}) == 1
    assert {one["modelVersion"] for one in received} == {"sim"}


def test_field_order(gemini: httpx.Client) -> None:
    """Fields come in the order of the recordings, and lines end in CR LF."""
    response = post(gemini, "sim", asked(user("hello"), tools=None))
    last = objects(response)[-1]
    assert list(last) == ["candidates", "usageMetadata", "modelVersion", "responseId"]
    assert list(last["candidates"][0]) == ["content", "finishReason", "index"]
    assert list(last["candidates"][0]["content"]) == ["parts", "role"]
    assert response.headers["content-type"] == "text/event-stream"
    assert b'data: {"candidates": [{"content": {"parts": [{"text": "Hello!' in response.content


@STREAMED
def test_thoughts_and_usage(gemini: httpx.Client, stream: bool) -> None:
    """Thoughts are sent if the request asks for them, and counted in any case."""
    shown = objects(post(gemini, "sim", asked(generationConfig=THOUGHTS), stream=stream))
    hidden = objects(post(gemini, "sim", asked(), stream=stream))
    assert [part for part in parts(shown) if part.get("thought")]
    assert not [part for part in parts(hidden) if part.get("thought")]
    for received in (shown, hidden):
        counts = received[-1]["usageMetadata"]
        spent = counts["promptTokenCount"] + counts["candidatesTokenCount"] + counts["thoughtsTokenCount"]
        assert counts["totalTokenCount"] == spent
        assert counts["promptTokensDetails"] == [{"modality": "TEXT", "tokenCount": counts["promptTokenCount"]}]


def test_no_thoughts_without_budget(gemini: httpx.Client) -> None:
    """A thinking budget of 0 turns thoughts off."""
    config = {"thinkingConfig": {"thinkingBudget": 0}}
    [*_, last] = objects(post(gemini, "gemini-2.5-flash", asked(generationConfig=config)))
    assert "thoughtsTokenCount" not in last["usageMetadata"]


@STREAMED
def test_parallel_calls(gemini: httpx.Client, stream: bool) -> None:
    """Only the first of parallel calls is signed; Gemini 3 gives each an id, and the finish reason is STOP."""
    received = objects(post(gemini, "sim-parallel", asked(), stream=stream))
    assert [call["name"] for call in calls(received)] == ["get_current_time", "calculate", "search_web"]
    assert all(call["id"].startswith("call_") for call in calls(received))
    signed = ["thoughtSignature" in part for part in parts(received) if "functionCall" in part]
    assert signed == [True, False, False]
    assert finish(received) == "STOP"
    assert received[-1]["candidates"][0]["finishMessage"] == "Model generated function call(s)."


def test_older_models(gemini: httpx.Client) -> None:
    """Gemini 2.5 sends all calls with the finish reason, without ids, and signs the first piece of a text."""
    asking = objects(post(gemini, "gemini-2.5-flash", asked()))
    [call] = calls(asking)
    assert "id" not in call
    assert asking[-1]["candidates"][0]["content"]["parts"][-1]["functionCall"] == call
    answered = objects(post(gemini, "gemini-2.5-flash", asked(user(), model_turn(asking), results(call))))
    assert [at for at, part in enumerate(parts(answered)) if "thoughtSignature" in part] == [0]


def test_streamed_arguments(gemini: httpx.Client) -> None:
    """Arguments come in pieces with JSON paths if the request asks for that; an empty call ends each call."""
    calling = {"functionCallingConfig": {"mode": "AUTO", "streamFunctionCallArguments": True}}
    received = calls(objects(post(gemini, "sim", asked(toolConfig=calling))))
    assert received[0] == {"name": "search_web", "willContinue": True}
    assert received[-1] == {}
    pieces = [piece for call in received for piece in call.get("partialArgs", [])]
    assert {piece["jsonPath"] for piece in pieces} == {"$.query"}
    assert "".join(piece["stringValue"] for piece in pieces) == "tool loop"
    assert [piece.get("willContinue") for piece in pieces][-1] is None


def test_a_stream_without_sse(gemini: httpx.Client) -> None:
    """Without `alt=sse`, a stream is a JSON array of the same objects."""
    response = post(gemini, "sim", asked(user("hello"), tools=None), alt="json")
    array = json.loads(response.content)
    assert text(array) == text(objects(post(gemini, "sim", asked(user("hello"), tools=None))))


def test_implicit_caching(gemini: httpx.Client) -> None:
    """The prefix of an earlier request is cached from 1,024 tokens on."""
    long = "A long story of this test. " * 250
    first = objects(post(gemini, "sim", asked(user(long + "first"), tools=None)))
    assert "cachedContentTokenCount" not in first[-1]["usageMetadata"]
    contents = [user(long + "first"), model_turn(first), user("thanks")]
    counts = objects(post(gemini, "sim", asked(*contents, tools=None)))[-1]["usageMetadata"]
    assert 1024 < counts["cachedContentTokenCount"] < counts["promptTokenCount"]
    assert counts["cacheTokensDetails"] == [{"modality": "TEXT", "tokenCount": counts["cachedContentTokenCount"]}]


def test_an_image(gemini: httpx.Client) -> None:
    """An image model answers with an inline image."""
    config = {"responseModalities": ["TEXT", "IMAGE"]}
    body = asked(user("Draw the sea"), tools=None, generationConfig=config)
    received = objects(post(gemini, "gemini-2.5-flash-image", body))
    [image] = [part["inlineData"] for part in parts(received) if "inlineData" in part]
    assert image["mimeType"] == "image/png"


def test_counted_tokens(gemini: httpx.Client) -> None:
    """`countTokens` counts the prompt as an answer's usage does."""
    body = asked()
    counted = gemini.post("/models/sim:countTokens", json=body).json()["totalTokens"]
    wrapped = gemini.post("/models/sim:countTokens", json={"generateContentRequest": body}).json()["totalTokens"]
    used = objects(post(gemini, "sim", body))[-1]["usageMetadata"]["promptTokenCount"]
    assert counted == wrapped == used
