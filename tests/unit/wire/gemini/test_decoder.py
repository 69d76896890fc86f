"""Decoding Gemini's parts: text, thoughts, calls, code, images, usage and origin."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.messages import JsonObject, Native
from signalbox.core.parts import (
    ArgumentStatus,
    CallDelta,
    EndOfStream,
    FinishReason,
    ImageDelta,
    NativeTurn,
    Omitted,
    ReasoningDelta,
    Served,
    StreamPart,
    TextDelta,
    TokenLogprobs,
    Usage,
)
from signalbox.wire.finish_reasons import finish_of
from signalbox.wire.gemini.decoder import GeminiStreamDecoder, parts_of_body

from tests.unit.wire.gemini.responses import completed, decode, frame, response

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_text_and_thoughts() -> None:
    """A thought is reasoning, an empty text is nothing; the native turn holds all parts as they came."""
    parts: list[dict[str, Any]] = [
        {"text": "Hm.", "thought": True},
        {"text": "Hel"},
        {"text": "", "thoughtSignature": "c2ln"},
    ]
    assert decode(response(*parts[:2]), response(parts[2], finish="STOP")) == [
        ReasoningDelta("Hm."),
        TextDelta("Hel"),
        finish_of("STOP"),
        NativeTurn(Native("gemini", tuple(parts))),
    ]


def test_calls_with_and_without_ids() -> None:
    """Each call has its own index; a missing id stays missing, and missing arguments are an empty object."""
    first: JsonObject = {
        "functionCall": {"name": "add", "args": {"b": 3, "a": 2}, "id": "c-1"},
        "thoughtSignature": "c2ln",
    }
    second: JsonObject = {"functionCall": {"name": "add", "args": {"a": 2}}}
    third: JsonObject = {"functionCall": {"name": "now"}}
    assert decode(response(first, second, third, finish="STOP")) == [
        CallDelta(0, "c-1", "add", '{"b":3,"a":2}'),
        CallDelta(1, None, "add", '{"a":2}'),
        CallDelta(2, None, "now", "{}"),
        finish_of("STOP"),
        NativeTurn(Native("gemini", (first, second, third))),
    ]


def test_equal_calls_stay_apart() -> None:
    """Parallel calls with the same name, arguments and no id are as many calls."""
    call = {"functionCall": {"name": "roll", "args": {}}}
    assert [c.name for c in completed(response(call, call, call, finish="STOP")).calls] == ["roll"] * 3


def test_a_call_without_a_name_is_left_out() -> None:
    """A call without a name is neither executed nor sent back: the API would reject it (quirk A17)."""
    answer = completed(response({"functionCall": {"args": {"a": 1}}}, {"text": "Hi"}, finish="STOP"))
    assert answer.calls == ()
    assert answer.native == Native("gemini", ({"text": "Hi"},))


def test_code_and_server_tools_are_only_native() -> None:
    """Code, its result and the calls of server tools are kept for later requests, and are no text and no calls."""
    parts: list[dict[str, Any]] = [
        {"executableCode": {"language": "PYTHON", "code": "print(1)", "id": "x"}, "thoughtSignature": "c2ln"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n", "id": "x"}},
        {"toolCall": {"toolType": "FILE_SEARCH", "id": "y"}, "thoughtSignature": "c2ln"},
        {"toolResponse": {"toolType": "FILE_SEARCH", "id": "y"}},
        {"aPartOfTomorrow": {"a": 1}},
        {"text": "One."},
    ]
    answer = completed(response(*parts, finish="STOP"))
    assert (answer.content, answer.calls, answer.native) == ("One.", (), Native("gemini", tuple(parts)))


def test_an_image_is_shown() -> None:
    """Image data becomes a data URL; a draft of the model's thoughts and other media are not shown."""
    image = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    sound = {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}
    parts = decode(response(image, {**image, "thought": True}, sound))
    assert parts[:2] == [
        ImageDelta(f"data:image/png;base64,{PIXEL}"),
        Omitted("An image in the answer is of an unsupported kind and was left out."),
    ]
    assert len(parts) == 3


def test_log_probabilities() -> None:
    """Tokens get the form of chat completions; a token without alternatives has an empty list of them."""
    chosen = [{"token": "a", "tokenId": 5, "logProbability": -0.1}, {"token": "ü", "logProbability": -0.2}]
    best = [{"candidates": [{"token": "b", "logProbability": -0.3}]}]
    value = response({"text": "aü"})
    value["candidates"][0]["logprobsResult"] = {"chosenCandidates": chosen, "topCandidates": best}
    b = {"token": "b", "logprob": -0.3, "bytes": [98]}
    assert decode(value)[0] == TokenLogprobs(
        (
            {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": [b]},
            {"token": "ü", "logprob": -0.2, "bytes": [195, 188], "top_logprobs": []},
        )
    )


def test_the_last_usage_counts() -> None:
    """Usage is a running total. Tokens of server tools are input, thoughts are output; `prompt` includes the cache."""
    early = {"promptTokenCount": 91, "candidatesTokenCount": 23, "thoughtsTokenCount": 105, "totalTokenCount": 219}
    last = {
        "promptTokenCount": 91,
        "cachedContentTokenCount": 50,
        "candidatesTokenCount": 93,
        "thoughtsTokenCount": 211,
        "toolUsePromptTokenCount": 574,
        "totalTokenCount": 969,
    }
    answer = completed(
        response({"text": "a"}, usageMetadata=early), response(usageMetadata=last), {"usageMetadata": last}
    )
    assert answer.usage == Usage(input=665, output=304, reasoning=211, cached=50)
    assert answer.usage_raw == last


def test_usage_of_a_cut_answer() -> None:
    """An answer without an end has the usage of its last response; the first one is reported at once."""
    decoder = GeminiStreamDecoder()
    first = decoder.feed(frame(response({"text": "a"}, usageMetadata={"promptTokenCount": 9})))
    assert [type(part).__name__ for part in first] == ["TextDelta", "UsageReport"]
    later = frame(response({"text": "b"}, usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 5}))
    assert decoder.feed(later) == [TextDelta("b")]
    assert any(getattr(part, "usage", None) == Usage(input=9, output=5) for part in decoder.close())


def test_origin_is_reported_once() -> None:
    """The id of the response and the version of the model come with every response."""
    origin = {"responseId": "r-1", "modelVersion": "gemini-3-flash"}
    parts = decode(response({"text": "a"}, **origin), response({"text": "b"}, **origin))
    assert [part for part in parts if isinstance(part, Served)] == [Served("r-1", "gemini-3-flash")]


def test_only_the_first_candidate_counts() -> None:
    """Vertex leaves out the index 0; other candidates are not requested."""
    other = {"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "SAFETY"}
    answer = completed({"candidates": [{"index": 0, "content": {"parts": [{"text": "yes"}]}}, other]})
    assert (answer.content, answer.finish.reason) == ("yes", None)


@pytest.mark.parametrize("value", [{}, {"candidates": []}, {"candidates": [{}]}, {"candidates": [{"content": {}}]}])
def test_empty_responses(value: dict[str, Any]) -> None:
    """A response without candidates, content or parts has no parts."""
    assert decode(value) == []


def test_a_first_stop_after_code_is_not_the_outcome() -> None:
    """After code, STOP may precede its result and more text (recorded: rig), which may take longer than a tail."""
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    decoder = GeminiStreamDecoder()
    decoder.feed(frame(response(code, finish="STOP")))
    assert not decoder.has_outcome
    decoder.feed(frame(response({"codeExecutionResult": {"outcome": "OUTCOME_OK"}})))
    decoder.feed(frame(response({"text": "One."}, finish="STOP")))
    assert decoder.has_outcome


def test_a_whole_body_and_an_array() -> None:
    """A body is one response, or the array of a stream without `alt=sse`; anything else is a ValueError."""
    values = [response({"text": "a"}), response({"text": "b"}, finish="STOP")]
    parts = parts_of_body(json.dumps(values).encode())
    assert parts == [*decode(*values), EndOfStream()]
    assert parts_of_body(json.dumps(values[1]).encode())[:2] == [TextDelta("b"), finish_of("STOP")]
    for body in (b"[]", b"1", b"[1]", b"<html>"):
        with pytest.raises(ValueError, match=r".+"):
            parts_of_body(body)


def test_a_mark_of_the_end_is_accepted() -> None:
    """Proxies add `[DONE]`; what follows is ignored."""
    decoder = GeminiStreamDecoder()
    parts = decoder.feed(frame(response({"text": "a"}, finish="STOP")) + b"data: [DONE]\n\n" + frame(response()))
    assert [*parts, *decoder.close()][-2:] == [NativeTurn(Native("gemini", ({"text": "a"},))), EndOfStream()]


def piece(**call: Any) -> dict[str, Any]:
    """Build a response with a piece of a streamed call."""
    return response({"functionCall": call})


def argument(path: str, **value: Any) -> dict[str, Any]:
    """Build a piece of the arguments."""
    return piece(partialArgs=[{"jsonPath": path, **value}], willContinue=True)


def test_streamed_arguments() -> None:
    """The pieces of a call are put together by their paths, and sent back as one part with its signature."""
    start = response({"functionCall": {"name": "order", "willContinue": True, "id": "c"}, "thoughtSignature": "c2ln"})
    answer = completed(
        start,
        argument("$.who.name", stringValue="Bos", willContinue=True),
        argument("$.who.name", stringValue="ton"),
        argument("$.items[0].n", numberValue=2),
        argument("$.items[1]['a key']", boolValue=True),
        argument('$["x.y"]', nullValue="NULL_VALUE"),
        piece(),
        response({"functionCall": {"name": "order", "args": {}}}, finish="STOP"),
    )
    value = {"who": {"name": "Boston"}, "items": [{"n": 2}, {"a key": True}], "x.y": None}
    assert [(call.id, call.name, call.value) for call in answer.calls] == [("c", "order", value), (None, "order", {})]
    assert answer.native is not None
    assert answer.native.items == (
        {"functionCall": {"name": "order", "id": "c", "args": value}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "order", "args": {}}},
    )


@pytest.mark.parametrize(
    ("finish", "status"),
    [("STOP", ArgumentStatus.OK), ("MAX_TOKENS", ArgumentStatus.TRUNCATED), (None, ArgumentStatus.TRUNCATED)],
)
def test_a_streamed_call_without_its_end(finish: str | None, status: ArgumentStatus) -> None:
    """The empty call that marks the end may be missing before STOP. Otherwise, the call is cut and is not executed."""
    last = argument("$.path", stringValue="/tmp")
    last["candidates"][0] |= {"finishReason": finish} if finish else {}
    (call,) = completed(piece(name="delete", willContinue=True), last).calls
    assert call.status is status


@pytest.mark.parametrize("path", ["", "$", "path", "$.a[7]", "$[0]", "$..a", "$.a[*]", "$.a" * 200])
def test_a_path_that_cannot_be_read(path: str) -> None:
    """A call with an argument at an unknown place is not executed."""
    (call,) = completed(piece(name="f", willContinue=True), argument(path, stringValue="x"), piece()).calls
    assert call.status is ArgumentStatus.TRUNCATED


KEYS = [
    "candidates",
    "content",
    "parts",
    "text",
    "thought",
    "thoughtSignature",
    "functionCall",
    "name",
    "args",
    "id",
    "partialArgs",
    "jsonPath",
    "stringValue",
    "numberValue",
    "willContinue",
    "inlineData",
    "mimeType",
    "data",
    "executableCode",
    "finishReason",
    "index",
    "usageMetadata",
    "promptTokenCount",
    "promptFeedback",
    "blockReason",
    "groundingMetadata",
    "groundingChunks",
    "groundingSupports",
    "segment",
    "endIndex",
    "groundingChunkIndices",
    "logprobsResult",
    "chosenCandidates",
    "topCandidates",
    "web",
    "uri",
    "error",
    "details",
    "violations",
    "retryDelay",
    "code",
    "message",
    "status",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a", "$.a[0]", "STOP", "$.a.b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4))
def test_no_json_breaks_the_decoder(values: list[Any]) -> None:
    """No JSON makes the decoder raise, and any split of the bytes gives the same parts."""
    wrapped = [{"candidates": [value, {"content": {"parts": value}}], "usageMetadata": value} for value in values]
    nested = [{"candidates": [{"content": {"parts": [value, {"functionCall": value}]}}]} for value in values]
    stream = b"".join(frame(value) for value in (*values, *wrapped, *nested))
    decoder, again = GeminiStreamDecoder(), GeminiStreamDecoder()
    parts = [*decoder.feed(stream), *decoder.close()]
    assert all(isinstance(part, StreamPart) for part in parts)
    pieces = [part for at in range(0, len(stream), 7) for part in again.feed(stream[at : at + 7])]
    assert repr([*pieces, *again.close()]) == repr(parts)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", FinishReason.STOP),
        ("MAX_TOKENS", FinishReason.LENGTH),
        *(
            (word, FinishReason.WITHHELD)
            for word in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
        ),
        *((word, FinishReason.WITHHELD) for word in ("IMAGE_SAFETY", "IMAGE_OTHER", "LANGUAGE", "MODEL_ARMOR")),
        ("MALFORMED_FUNCTION_CALL", FinishReason.MALFORMED_CALL),
        ("UNEXPECTED_TOOL_CALL", FinishReason.UNEXPECTED_CALL),
        *((word, FinishReason.FAILED) for word in ("TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "NO_IMAGE")),
        *((word, FinishReason.UNKNOWN) for word in ("OTHER", "FINISH_REASON_UNSPECIFIED", "OF_TOMORROW")),
    ],
)
def test_finish_reasons(word: str, reason: FinishReason) -> None:
    """Each finish reason has its own outcome; OTHER gives no reason, so that it is unknown."""
    finish = completed(response({"text": "a"}, finish=word)).finish
    assert (finish.reason, finish.word) == (reason, word)
