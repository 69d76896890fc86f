"""The bench's own parts: what it sends is what OpenRouter sends, and what it counts is there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from signalbox.app import databases, main
from signalbox.chat.response import parse_completion_response
from signalbox.core.parts import Completion, StreamPart
from signalbox.services.http1 import ResponseParser
from signalbox.wire.openrouter import StreamDecoder

from tests.bench.frames import Script, scripted
from tests.bench.load import Job, Load, Stream
from tests.bench.report import Sample, linearity, rows, text
from tests.bench.scenarios import Scenario, scenarios
from tests.bench.server import take_the_journal_away
from tests.support.serving import RunningApp, settings_for


def decoded(script: Script) -> Completion:
    """Read a script's whole answer with the server's own parser and decoder."""
    response = ResponseParser(b"POST")
    response.feed(script.whole)
    assert response.complete
    decoder = StreamDecoder()
    parts: list[StreamPart] = [*decoder.feed(response.take()), *decoder.close()]
    return parse_completion_response(parts, known_names={"work"})


def test_a_text_script_is_an_answer_of_that_many_deltas():
    """A burst has the deltas it is named for, about 340 bytes each, and ends as OpenRouter ends."""
    script = scripted("burst-200")
    answer = decoded(script)
    assert len(script.deltas) == 200
    assert 320 <= len(script.deltas[0]) <= 360
    assert answer.content.startswith("the quick brown fox")
    assert (answer.finish_reason, answer.ended) == ("stop", True)
    assert answer.usage is not None


def test_a_long_call_has_exactly_as_many_bytes_of_arguments():
    """The two sizes whose costs are compared are the sizes they say."""
    for size in (200_000, 1_000_000):
        [call] = decoded(scripted(f"longargs-{size}")).calls
        assert (call.name, len(call.arguments), call.status) == ("work", size, "ok")


def test_the_tool_script_makes_two_calls():
    """A turn with tools is two calls with ids of their own."""
    calls = decoded(scripted("tools")).calls
    assert [(call.name, call.status) for call in calls] == [("work", "ok"), ("work", "ok")]
    assert len({call.id for call in calls}) == 2


@pytest.mark.parametrize("quick", [True, False])
def test_every_load_names_a_script_with_its_events(quick: bool):
    """A figure per event is divided by what the upstream really sends; an empty opening delta does not count."""
    for scenario in scenarios(quick=quick):
        assert scenario.events == pytest.approx(len(scripted(scenario.model).deltas), abs=2)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_the_client_counts_frames_however_they_are_cut(size: int):
    """A frame end that falls between two reads counts once."""
    whole = scripted("burst-20").whole
    stream = Stream(Load(Job(port=1, path="/", body={}, streams=1, connections=1, frames=1, ending="")))
    for at in range(0, len(whole), size):
        stream.count(whole[at : at + size])
    assert stream.frames == 1 + 20 + 3  # the comment, the deltas; the last delta, the bill and [DONE]


def test_a_ratio_is_taken_inside_its_round():
    """A round in which the machine was slow makes both slow; the ratio is the median of the rounds' own."""
    load = Scenario("burst", "burst-200", 200, 10, 1)
    samples = [sample("burst", "relay", cpu) for cpu in (1, 10, 1)]
    samples += [sample("burst", "server", cpu) for cpu in (4, 50, 6)]
    relay, server = rows([load], samples)
    assert (relay.ratio, server.ratio) == (None, 5)
    assert server.cpu_per_100k_events == 600_000
    assert "burst" in text([relay, server])


def test_linearity_compares_the_two_sizes():
    """Five times the arguments for five times the CPU is linear."""
    plan = [Scenario(name, "", 1, 1, 1, relayed=False) for name in ("args 200 KB", "args 1 MB")]
    table = rows(plan, [sample("args 200 KB", "server", 2), sample("args 1 MB", "server", 10)])
    assert linearity(table) == {"arguments": 5}
    assert linearity(table[:1]) == {}


def test_what_the_journal_costs_is_taken_inside_its_round() -> None:
    """The ratio to the server without a journal is the median of the rounds' own, and is put into a sentence."""
    load = Scenario("burst", "burst-200", 200, 10, 1)
    samples = [sample("burst", "bare", cpu) for cpu in (10, 100, 10)]
    samples += [sample("burst", "server", cpu) for cpu in (12, 125, 11)]
    table = rows([load], samples)
    assert [row.journal for row in table] == [None, pytest.approx(1.2)]
    assert "burst: the journal costs +20% CPU (+2000.00 ms per stream)" in text(table)


def test_lengths_are_doubled_and_their_sum_is_not() -> None:
    """Runs of one, two and four times the length are as many events in all, and are compared first with last."""
    plan = [one for one in scenarios(quick=True) if one.name.startswith(("long", "replay"))]
    assert len({(one.events * one.streams, one.compared) for one in plan}) == 1
    assert [one.events // plan[0].events for one in plan] == [1, 2, 4] * 2
    table = rows(plan, [sample(one.name, "server", one.events) for one in plan])
    assert linearity(table) == {"a run": 4, "a replay": 4}


def test_a_replay_asks_for_the_run_and_starts_none() -> None:
    """Its request is a GET of the run's events, without a body."""
    plan = {one.name: one for one in scenarios(quick=True)}
    job = next(one for name, one in plan.items() if name.startswith("replay")).job(1, run_id="abc")
    assert Load(job).request.startswith(b"GET /api/runs/abc/events HTTP/1.1\r\n")
    assert Load(job).request.endswith(b"content-length: 0\r\n\r\n")
    assert Load(plan["burst"].job(1)).request.startswith(b"POST /api/chat/stream HTTP/1.1\r\n")


@pytest.mark.parametrize("is_bare", [False, True])
def test_the_journal_is_there_unless_it_is_taken_away(
    is_bare: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server as it is writes a run with all its events; without the journal it says the same and writes nothing."""
    if is_bare:
        monkeypatch.setattr(main, "JournalStore", main.JournalStore)
        take_the_journal_away()
    with RunningApp(settings_for(tmp_path)) as app:
        heard = app.ask("Hello!")
        app.within(app.parts.runs.store.flush())
        assert app.call(lambda: app.parts.runs.live(heard.ids[0].partition(":")[0])) is None
    with closing(sqlite3.connect(tmp_path / databases.FILE)) as database:
        runs = database.execute("SELECT seq FROM runs").fetchall()
        [(flushes, last)] = database.execute("SELECT count(*), max(last_seq) FROM journal").fetchall()
    assert heard.text
    if is_bare:
        assert (runs, flushes, last) == ([], 0, None)
    else:
        assert (runs, flushes > 0, last) == ([(heard.seqs[-1],)], True, heard.seqs[-1])


def sample(scenario: str, target: str, cpu: float) -> Sample:
    """Return a sample of one event and one stream, of which only the CPU matters."""
    return Sample(scenario, target, 1, 1, 0, cpu, 1.0, (0.1,), (0.2,))
