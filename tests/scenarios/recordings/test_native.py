"""Every recorded response of a native API decodes to its `expect`, however the network splits its bytes."""

from pathlib import Path
from typing import Any

import pytest
from signalbox.decode import decode_capture, decode_stream
from signalbox.wire.dialects import DIALECTS

from tests.conftest import recordings_folder
from tests.scenarios.recordings.conftest import Count, known
from tests.scenarios.recordings.recorded import NATIVE, Recorded, as_text, load

ALL = load(recordings_folder(), NATIVE)
STREAMS = [recorded for recorded in ALL if recorded.file.suffix == ".sse"]
known("native recordings", len(ALL))
# Fields that are compared in another way, or that describe the recording.
COMPARED = {"content", "reasoning", "tool_calls", "ends_in_error", "reasoning_details"}
STATUSES = {"object": "ok", "non-object": "non_object", "custom-text": "custom_text"}


def assert_means(got: dict[str, Any], recorded: Recorded) -> None:
    """Compare every field of `expect` that the command prints."""
    expect = recorded.expect
    for text in ("content", "reasoning"):
        assert got[text] == (expect[text] or ""), text
    for name in sorted((expect.keys() & got.keys()) - COMPARED):
        assert as_text(got[name] or None) == as_text(expect[name] or None), name
    calls = [(call["id"], call["name"], call["arguments"], _status(call["status"])) for call in got["tool_calls"]]
    assert calls == [
        (call["id"], call["name"], call["arguments"], STATUSES.get(status := call["arguments_status"], status))
        for call in recorded.calls
    ]


def _status(status: str) -> str:
    """Return the status as the recordings have it: they do not distinguish text that was cut."""
    return "invalid" if status == "truncated" else status


def test_every_native_dialect_has_recordings(recordings: Path) -> None:
    """The folder has streams of all native dialects."""
    assert {recorded.facts["dialect"] for recorded in STREAMS} == set(NATIVE)


@pytest.mark.parametrize("recorded", ALL, ids=lambda recorded: recorded.stem)
def test_whole(recorded: Recorded, counted: Count) -> None:
    """A recorded body decodes to its `expect` in one piece."""
    with counted("native recordings", recorded.stem):
        assert_means(decode_capture(recorded.body, DIALECTS[recorded.dialect])[0], recorded)


@pytest.mark.parametrize("recorded", STREAMS, ids=lambda recorded: recorded.stem)
def test_in_pieces(recorded: Recorded, counted: Count) -> None:
    """A recorded stream decodes to its `expect` byte by byte, in its network chunks and in reads of 61 bytes."""
    body, dialect = recorded.body, DIALECTS[recorded.dialect]
    with counted("native recordings", recorded.stem):
        for size in (1, 61):
            reads = [body[at : at + size] for at in range(0, len(body), size)]
            assert_means(decode_stream(reads, dialect)[0], recorded)
        assert_means(decode_stream(recorded.reads(), dialect)[0], recorded)
