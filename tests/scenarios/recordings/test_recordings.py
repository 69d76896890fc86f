"""Every recorded response decodes to its `expect`: whole, byte by byte, and in its network chunks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.answer.response import parse_completion_response
from signalbox.decode import decode_capture, decode_stream, describe
from signalbox.wire.dialects import DIALECTS
from signalbox.wire.openrouter.decoder import parts_of_body

from tests.conftest import recordings_folder
from tests.scenarios.recordings.conftest import Count, known
from tests.scenarios.recordings.recorded import Recorded, as_text, load, merged

ALL = load(recordings_folder())
STREAMS = [r for r in ALL if r.file.suffix == ".sse"]
known("recordings whole", len(ALL))
known("recordings byte by byte", len(STREAMS))
known("recordings at network chunks", sum(bool(r.facts.get("chunk_sizes")) for r in STREAMS))


def whole(recorded: Recorded) -> dict[str, Any]:
    """Decode a body in one piece."""
    return decode_capture(recorded.body, DIALECTS[recorded.facts["dialect"]])[0]


def at_sizes(recorded: Recorded, reads: list[bytes]) -> dict[str, Any]:
    """Decode a stream cut into these reads."""
    return decode_stream(reads, DIALECTS[recorded.facts["dialect"]])[0]


def assert_means(got: dict[str, Any], recorded: Recorded) -> None:
    """Compare every field of `expect`."""
    expect = recorded.expect
    for text in ("content", "reasoning"):
        assert got[text] == (expect[text] or ""), text
    for name in ("finish_reason", "native_finish_reason", "usage", "error", "refusal"):
        assert got[name] == (expect.get(name) or None), name
    assert as_text(got["reasoning_details"]) == as_text(merged(expect.get("reasoning_details") or []))
    assert len(got["tool_calls"]) == len(recorded.calls)
    for call, wanted in zip(got["tool_calls"], recorded.calls, strict=True):
        assert (call["id"], call["name"], call["arguments"]) == (wanted["id"], wanted["name"], wanted["arguments"])
        status = wanted["arguments_status"].replace("-", "_")
        # The recordings have one code for text that does not parse; the decoder also distinguishes cut text.
        assert call["status"] == status or (status, call["status"]) == ("invalid", "truncated")


def test_there_are_recordings(recordings: Path) -> None:
    """The folder has streams and complete bodies of both dialects."""
    assert {r.facts["dialect"] for r in ALL} == {"openrouter-chat", "openai-chat"}
    assert {r.file.suffix for r in ALL} == {".sse", ".json"}


@pytest.mark.parametrize("recorded", ALL, ids=lambda r: r.stem)
def test_whole(recorded: Recorded, counted: Count) -> None:
    """A recorded body decodes to its `expect` in one piece."""
    with counted("recordings whole", recorded.stem):
        assert_means(whole(recorded), recorded)


@pytest.mark.parametrize("recorded", STREAMS, ids=lambda r: r.stem)
def test_byte_by_byte(recorded: Recorded, counted: Count) -> None:
    """A recorded stream decodes to its `expect` one byte at a time."""
    with counted("recordings byte by byte", recorded.stem):
        assert_means(at_sizes(recorded, [bytes([byte]) for byte in recorded.body]), recorded)


@pytest.mark.parametrize("recorded", [r for r in STREAMS if r.facts.get("chunk_sizes")], ids=lambda r: r.stem)
def test_at_network_chunks(recorded: Recorded, counted: Count) -> None:
    """A recorded stream decodes to its `expect` in its recorded chunks."""
    with counted("recordings at network chunks", recorded.stem):
        assert_means(at_sizes(recorded, recorded.reads()), recorded)


# Variants: the same data in other framings that SSE allows or providers use.
def _crlf(body: bytes) -> bytes:
    return body.replace(b"\n", b"\r\n") if b"\r\n" not in body else body.replace(b"\r\n", b"\n")


def _cr(body: bytes) -> bytes:
    return body.replace(b"\r\n", b"\n").replace(b"\n", b"\r")


def _no_space(body: bytes) -> bytes:
    return body.replace(b"data: ", b"data:")


def _bom(body: bytes) -> bytes:
    return b"\xef\xbb\xbf" + body


def _comments(body: bytes) -> bytes:
    return b": OPENROUTER PROCESSING\n\n" + body.replace(b"\n\n", b"\n\n: OPENROUTER PROCESSING\n\n")


def _keep_alives(body: bytes) -> bytes:
    return body.replace(b"\n\n", b"\n\ndata: : keepalive\n\ndata:\n\n")


def _no_done(body: bytes) -> bytes:
    return body.replace(b"data: [DONE]\n\n", b"").replace(b"data: [DONE]", b"")


def _no_last_blank_line(body: bytes) -> bytes:
    return body.rstrip(b"\r\n")


def _ids(body: bytes) -> bytes:
    return body.replace(b"\ndata: ", b"\nid: 7\nretry: 100\ndata: ")


DRESSES = (_crlf, _cr, _no_space, _bom, _comments, _keep_alives, _no_done, _no_last_blank_line, _ids)


@pytest.mark.parametrize("dress", DRESSES, ids=lambda d: d.__name__.strip("_"))
def test_any_framing(dress: Callable[[bytes], bytes], recordings: Path) -> None:
    """Every recorded stream decodes equally in any framing that SSE allows or providers use."""
    for recorded in STREAMS:
        body = dress(recorded.body)
        reads = [body[at : at + 61] for at in range(0, len(body), 61)]
        assert_means(at_sizes(recorded, reads), recorded)


def test_expect_was_not_read_by_us(recordings: Path) -> None:
    """A stream without its calls no longer matches its `expect`, so the comparison can fail."""
    with_calls = [r for r in STREAMS if r.calls]
    assert with_calls
    for recorded in with_calls:
        with pytest.raises(AssertionError):
            assert_means(at_sizes(recorded, [recorded.body.replace(b'"tool_calls"', b'"calls"')]), recorded)


def test_a_whole_body_decodes_like_its_parts(recordings: Path) -> None:
    """The command's result for a body equals its folded parts."""
    for recorded in ALL:
        if recorded.file.suffix == ".json":
            assert whole(recorded) == describe(parse_completion_response(parts_of_body(recorded.body)))
