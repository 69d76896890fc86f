"""Responses that differ only in text and counts give the same parts on the fast path as on the slow one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.parts import StreamPart, TextDelta, UsageReport
from signalbox.wire.gemini.decoder import GeminiStreamDecoder
from signalbox.wire.gemini.text_template import TextTemplate

from tests.unit.wire.gemini.responses import frame, response


def said(text: str, count: int = 1, **other: Any) -> dict[str, Any]:
    """Build a response with a piece of text, as Google writes it."""
    value = response({"text": text}, usageMetadata={"promptTokenCount": 8, "candidatesTokenCount": count}, **other)
    return {**value, "modelVersion": "gemini-3", "responseId": "r-1"}


def slowly(stream: bytes) -> list[StreamPart]:
    """Decode byte by byte, so that no read holds a whole frame."""
    decoder = GeminiStreamDecoder()
    parts = [part for byte in stream for part in decoder.feed(bytes([byte]))]
    return [*parts, *decoder.close()]


def decoded(*reads: bytes) -> list[StreamPart]:
    """Decode these reads."""
    decoder = GeminiStreamDecoder()
    parts = [part for read in reads for part in decoder.feed(read)]
    return [*parts, *decoder.close()]


PLAIN = [frame(said(text, number)) for number, text in enumerate(["a", "b\\n", 'a "quote"', "ü", "🙂", "}]"] * 8)]
ODD = {
    "nothing": b"",
    "a thought": frame(response({"text": "Hm.", "thought": True})),
    "a signature": frame(response({"text": "x", "thoughtSignature": "c2ln"}, modelVersion="gemini-3")),
    "an empty text": frame(said("")),
    "two parts": frame(response({"text": "x"}, {"text": "y"}, modelVersion="gemini-3")),
    "another candidate": frame({"candidates": [*said("x")["candidates"], {"index": 1}]}),
    "another model": frame({**said("x"), "modelVersion": "gemini-4"}),
    "another usage": frame({**said("x"), "usageMetadata": {"thoughtsTokenCount": 5}}),
    "an error": frame({**said("x"), "error": {"code": 503}}),
    "a call": frame(response({"functionCall": {"name": "f", "willContinue": True}})),
    "a finish reason": frame({"candidates": [{**said("x")["candidates"][0], "finishReason": "STOP"}]}),
    "a comment": b": keep-alive\r\n\r\n",
    "an event": b"event: message\r\n" + frame(said("named")),
    "two lines": b'data: {"candidates":\r\ndata: []}\r\n\r\n',
    "other line ends": frame(said("x")).replace(b"\r\n", b"\n"),
    "no JSON": b'data: {"candidates": [{"content": {"parts": [{"text": "x\r\n\r\n',
    "a joined frame": frame(said("x"))[:60] + frame(said("y")),
    "the end": b"data: [DONE]\r\n\r\n",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_something_else_between_plain_text(odd: bytes) -> None:
    """The fast path decodes nothing that it cannot decode exactly, in reads of one frame, of many, and of any size."""
    frames = [*PLAIN, odd, *PLAIN, odd, odd, *PLAIN]
    stream = b"".join(frames)
    expected = repr(slowly(stream))  # errors are equal only to themselves
    assert repr(decoded(*frames)) == expected
    assert repr(decoded(stream)) == expected
    for size in (100, 333, 1000):
        assert repr(decoded(*(stream[at : at + size] for at in range(0, len(stream), size)))) == expected


@given(st.lists(st.text(max_size=5), max_size=6))
def test_any_text(texts: list[str]) -> None:
    """Every text, escaped or not, is the same on both paths."""
    for is_ascii in (True, False):
        frames = [b"data: " + json.dumps(said(text), ensure_ascii=is_ascii).encode("utf-8", "surrogatepass") + b"\n\n"
                  for text in ["first", *texts]]  # fmt: skip
        assert decoded(*frames) == slowly(b"".join(frames))


def test_plain_text_takes_the_fast_path() -> None:
    """A response like the one before is recognised, whatever its text and its counts."""
    template = TextTemplate()
    template.learn(PLAIN[0])
    for number, text in enumerate(["a", 'a "quote"', "\n", "ü"]):
        whole = frame(said(text, 10**number))
        run = template.run_at(b"--" + whole + whole[:-1], 2)
        assert run is not None
        assert (run.texts, run.size) == ([text], len(whole))
        assert json.loads(run.usage_at(0))["candidatesTokenCount"] == 10**number
    run = template.run_at(b"".join(PLAIN), 0)
    assert run is not None
    assert (len(run.texts), run.size) == (len(PLAIN), len(b"".join(PLAIN)))
    template.learn(frame(response({"text": "Hm.", "thought": True})))
    assert template.run_at(PLAIN[1], 0) is None


@pytest.mark.parametrize(
    "texts",
    [["a", "b\\", "c"], ["a\\", ',"b'], ['a","b'], ["a", "\n"], ["a", "\\u12"], ["a", "\xff"]],
    ids=[
        "a backslash",
        "two that are two strings together",
        "two strings",
        "a control character",
        "an escape",
        "no UTF-8",
    ],
)
def test_invalid_text_is_never_part_of_a_run(texts: list[str]) -> None:
    """Text that is not one JSON string gives the same parts as on the slow path, wherever it is in a read."""
    plain = frame(said("TEXT"))
    frames = [plain.replace(b"TEXT", text.encode("latin-1")) for text in texts]
    for reads in ([plain, *frames, plain], [plain, b"".join([plain, *frames, plain])]):
        assert repr(decoded(*reads)) == repr(slowly(b"".join(reads)))


def test_the_last_usage_of_plain_text_counts() -> None:
    """Some of the reports are left out, but not the last one."""
    parts = decoded(*(frame(said("x", number)) for number in range(100)))
    reports = [part for part in parts if isinstance(part, UsageReport)]
    assert len([part for part in parts if isinstance(part, TextDelta)]) == 100
    assert len(reports) < 10
    assert reports[-1].usage.output == 99
