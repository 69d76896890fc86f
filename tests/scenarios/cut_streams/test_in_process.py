"""Both loops in this process: ten streams cut at every byte, with a clean end or a broken connection."""

from collections.abc import Iterable, Iterator

import pytest

from tests.scenarios.cut_streams.in_process import ByteClient, Result, Sent, fault, run, whole
from tests.scenarios.cut_streams.oracle import Expected, after, always
from tests.scenarios.cut_streams.streams import LARGEST, STREAMS, Stream, broken_off

pytestmark = pytest.mark.anyio
PLAIN = [name for name, stream in STREAMS.items() if not stream.has_calls]
each_stream = pytest.mark.parametrize("name", STREAMS)
each_end = pytest.mark.parametrize("breaks", [False, True], ids=["clean", "broken"])


def test_the_streams_are_ten_and_small() -> None:
    """There are ten streams of at most 4 kB, each also as one body."""
    assert len(STREAMS) == 10
    assert max(len(stream.raw) for stream in STREAMS.values()) <= LARGEST


class Faults:
    """Collects differences and their positions."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.runs = 0

    def judge(self, place: object, result: Result, expected: Expected) -> None:
        self.runs += 1
        if wrong := fault(result, expected):
            self.found.append(f"{place}: {wrong}")

    def none_in(self, runs: int) -> None:
        assert self.found == [], f"{len(self.found)} of {self.runs} runs"
        assert self.runs == runs


def cuts(end: int) -> Iterator[tuple[int, bool]]:
    """Return every byte to cut at, and whether the connection breaks there: clean ends and broken ones alternate."""
    return ((cut, cut % 2 == 1) for cut in range(end))


@each_stream
async def test_a_stream_cut_at_every_byte_ends_honestly(name: str) -> None:
    """The V2 loop emits everything that arrived, runs no cut call, and reports how the run ended, for every cut."""
    stream, faults = STREAMS[name], Faults()
    for cut, breaks in cuts(len(stream.raw) + 1):
        result = await run("v2", stream, ByteClient(Sent(stream.reads(cut), breaks), whole(stream)))
        faults.judge(cut, result, after(stream, stream.raw[:cut]))
    faults.none_in(len(stream.raw) + 1)


@each_stream
async def test_a_whole_answer_cut_at_every_byte_is_asked_for_again(name: str) -> None:
    """The legacy loop has emitted nothing when a body is cut, so it retries, and nothing is repeated."""
    stream, faults = STREAMS[name], Faults()
    again = Sent([stream.body])
    for cut, breaks in cuts(len(stream.body)):
        result = await run("legacy", stream, ByteClient(Sent([stream.body[:cut]], breaks), again))
        faults.judge(cut, result, after(stream, stream.body[:cut], streamed=False))
    faults.none_in(len(stream.body))


@pytest.mark.parametrize("name", PLAIN)
async def test_the_legacy_loops_last_answer_cut_at_every_byte_ends_honestly(name: str) -> None:
    """The legacy loop streams without tools, and then behaves like V2."""
    stream, faults = STREAMS[name], Faults()
    for cut, breaks in cuts(len(stream.raw) + 1):
        client = ByteClient(Sent(stream.reads(cut), breaks), whole(stream))
        faults.judge(cut, await run("legacy", stream, client, offered=()), after(stream, stream.raw[:cut]))
    faults.none_in(len(stream.raw) + 1)


@each_stream
@pytest.mark.parametrize("goes_on", [False, True], ids=["ends", "goes on"])
async def test_an_error_chunk_between_any_two_frames_ends_honestly(name: str, goes_on: bool) -> None:
    """An error in the stream ends the run with what arrived, or is retried if nothing was visible."""
    stream, faults = STREAMS[name], Faults()
    for place in range(len(stream.frames) + 1):
        rest = stream.frames[place:] if goes_on else ()
        reads = [*stream.frames[:place], broken_off(stream.model), *rest]
        expected = after(stream, b"".join(reads))
        faults.judge(place, await run("v2", stream, ByteClient(Sent(reads), whole(stream))), expected)
        if not stream.has_calls:
            client = ByteClient(Sent(reads), whole(stream))
            faults.judge(place, await run("legacy", stream, client, offered=()), expected)
    faults.none_in((len(stream.frames) + 1) * (1 if stream.has_calls else 2))


@each_stream
@each_end
async def test_a_stream_that_is_always_cut_ends_interrupted(name: str, breaks: bool) -> None:
    """If every attempt is cut, the number of requests is limited and the run ends as interrupted."""
    stream, faults = STREAMS[name], Faults()
    borders = list(_unfinished(stream))
    for cut in borders:
        sent = Sent(stream.reads(cut), breaks)
        faults.judge(cut, await run("v2", stream, ByteClient(sent, sent)), always(stream.raw[:cut]))
    faults.none_in(len(borders))


def _unfinished(stream: Stream) -> Iterable[int]:
    """Return the borders before the frame with the finish reason, and one byte after each."""
    for border in stream.borders():
        if b'"finish_reason":"' in stream.raw[:border]:
            return
        yield from (border, border + 1)
