"""The Python client over a connection that breaks repeatedly: each event once, in order, from one run."""

from dataclasses import replace

import pytest
from signalbox_client import Done, Event, ToolResult

from tests.scenarios.python_client.conftest import KINDS, read_run
from tests.scenarios.resume.breaking_proxy import BreakingProxy, Bytes, Share
from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import TOOL_RUN, RestartableApp
from tests.scenarios.resume.test_foreign_clients import ANYWHERE, BETWEEN, INSIDE, counts
from tests.support.stream_reader import check_stream

BOTH = pytest.mark.parametrize("kind", KINDS)


def stored(playing: RestartableApp, run_id: str) -> list[tuple[int, object]]:
    """Return the number and the JSON of every event that the server has."""
    heard = check_stream(playing.events(run_id))
    return list(zip(heard.seqs, heard.events, strict=True))


def received(events: list[Event]) -> list[tuple[int, object]]:
    """Return the number and the JSON of every event that the client yielded."""
    return [(event.seq, event.raw) for event in events]


@BOTH
@pytest.mark.parametrize("shares", [BETWEEN, INSIDE, ANYWHERE], ids=["between frames", "inside frames", "anywhere"])
def test_no_event_is_lost_or_doubled(stage: StartApp, kind: str, shares: list[Share]) -> None:
    """The client resumes after its last whole frame; the question is asked once."""
    playing = stage(counts)
    with BreakingProxy(playing.app.port, [replace(share) for share in shares]) as wire:
        events, answer = read_run(kind, wire.url, prompt="Count.")
    assert wire.cuts > 10
    assert received(events) == stored(playing, answer.run_id)
    assert answer.text == "".join(f"{number} " for number in range(60))
    assert (len(playing.upstream.asked), playing.runs()) == (1, 1)


@BOTH
def test_a_cut_at_every_part_of_the_response(stage: StartApp, kind: str) -> None:
    """One cut each: in the head, in the first frame, around calls and results, in `done`."""
    playing = stage(*TOOL_RUN)
    playing.upstream.opened.set()
    whole = playing.post(idempotency_key="one")
    size = len(whole.content) + sum(len(name) + len(value) + 4 for name, value in whole.headers.items())
    for cut in range(0, size, size // 25):
        with BreakingProxy(playing.app.port, [Bytes(cut)]) as wire:
            events, answer = read_run(kind, wire.url, prompt="What is six by seven?", idempotency_key="one")
        assert received(events) == stored(playing, answer.run_id), cut
        assert isinstance(events[-1], Done)
        assert any(isinstance(event, ToolResult) for event in events)
    assert (len(playing.upstream.asked), playing.runs()) == (2, 1)
