"""A short storm: 150 runs instead of the 30,000 of `just storm`."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.scenarios.cut_streams.streams import NOTE, STREAMS
from tests.scenarios.storm.jobs import jobs, places
from tests.scenarios.storm.report import details, failures, table
from tests.scenarios.storm.storm import Figures, Look, Storm, stand
from tests.scenarios.storm.tool_names import WRITES

SEED, RUNS, SHARE, AT_ONCE = 4, 110, 0.002, 80


def test_a_short_storm_leaves_nothing_behind(tmp_path: Path) -> None:
    """Runs with faults, stops, disconnects and cuts all end in valid streams, and no task, socket or file leaks."""
    figures = Figures(SEED)
    # No stalls here, so the server can have a long timeout, and a busy machine causes no stall.
    with stand(tmp_path, idle_timeout=10.0, pace=0.0) as server:
        port = urlsplit(server.url).port or 0
        storm = Storm(port, figures, at_once=AT_ONCE, limit=60, most_sockets=4 * AT_ONCE + 100, plain=10)
        asyncio.run(storm.blow(jobs(SEED, RUNS, share=SHARE, stalls=False), first=0))
        assert [line for line in server.errors().splitlines() if '"event":"run.finished"' not in line] == []
    # After so few runs memory still grows, so it is not checked.
    assert failures(figures, judge_memory=False) == [], f"{table(figures)}\n{details(figures)}"
    assert figures.cuts > 0
    assert {"complete", "interrupted", "error"} <= set(figures.endings)


def test_the_same_seed_makes_the_same_storm() -> None:
    """A storm can be repeated: its runs depend only on its seed."""
    assert jobs(7, 50, share=0.001) == jobs(7, 50, share=0.001)
    assert jobs(7, 50, share=0.001) != jobs(8, 50, share=0.001)


def test_the_storm_cuts_at_every_byte() -> None:
    """The full storm cuts the ten streams at every byte, streamed and as one body."""
    streamed = [(number, byte) for number, byte, loop, _ in places() if loop == "v2"]
    assert len(set(streamed)) == len(streamed) == sum(len(stream.raw) + 1 for stream in STREAMS.values())
    whole = [(number, byte) for number, byte, loop, has_tools in places() if loop == "legacy" and has_tools]
    assert len(set(whole)) == len(whole) == sum(len(stream.body) for stream in STREAMS.values())


def test_the_writing_tool_keeps_every_byte_in_its_place() -> None:
    """The storm's tool has a name as long as the one in the streams."""
    assert len(WRITES) == len(NOTE)


@pytest.mark.parametrize("broken", ["invalid", "dishonest", "hung"])
def test_a_storm_that_finds_something_fails(broken: str) -> None:
    """Every finding is a failure and is reported."""
    look = Look(done=0, rss=100, tasks=1, sockets=1, files=[], live=0, written=0, twice=0, names=[])
    figures = Figures(1, seconds=1.0, looks={"start": look, "first": look, "end": look})
    assert failures(figures, judge_memory=True) == []
    getattr(figures, broken).append("a fault")
    assert len(failures(figures, judge_memory=True)) == 1


def test_a_storm_that_leaves_something_fails() -> None:
    """Leaks are reported: tasks, sockets, files, runs, memory, and calls from cut steps."""
    before = Look(done=0, rss=100, tasks=1, sockets=1, files=[], live=0, written=0, twice=0, names=[])
    after = Look(done=9, rss=111, tasks=2, sockets=2, files=["x.tmp"], live=1, written=1, twice=1, names=[])
    figures = Figures(1, seconds=1.0, looks={"start": before, "first": before, "end": after})
    figures.idle, figures.left = 100, 151
    assert len(failures(figures, judge_memory=True)) == 8
    assert len(failures(figures, judge_memory=False)) == 7
