"""kill -9 at every stage of a run, on both loops: text stays, the ending is honest, no effect happens twice."""

import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from signalbox.core.codes import CUT_OFF

from tests.scenarios.crash.restarts import (
    STREAM,
    Cut,
    RestartedServer,
    crash_and_restart,
    serve_until_killed,
    until,
)
from tests.scenarios.crash.stages import NEXT_ANSWER, NEXT_QUESTION, call
from tests.support.scripted_upstream import Exchange, ScriptedUpstream
from tests.support.stream_reader import ParsedStream, check_stream, parse_stream

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module", params=["v2", "legacy"])
def after(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestartedServer]:
    """Return a server, once per loop, that was killed with a run at each stage and restarted."""
    with crash_and_restart(tmp_path_factory.mktemp(request.param), request.param) as second:
        yield second


def replayed(after: RestartedServer, cut: Cut) -> ParsedStream:
    """Replay a run from its start; check the contract."""
    return check_stream(after.replay(cut).content)


def ending(heard: ParsedStream) -> tuple[str, str | None]:
    """Return status and code of a stream."""
    return heard.done["status"], heard.done.get("code")


def test_every_run_ends_honestly(after: RestartedServer) -> None:
    """Within 15 seconds each interrupted run has an ending that says so, and each call one result."""
    assert after.seconds < 15
    for cut in after.cuts:
        heard = replayed(after, cut)
        assert (cut.stage.name, ending(heard)) == (cut.stage.name, cut.stage.ending)
        assert (cut.stage.name, heard.text) == (cut.stage.name, cut.stage.text)
        assert heard.warnings[-1:] == ([] if cut.stage.name == "complete" else ["SERVER_CRASH"])
        assert heard.warnings[:-1] == []
        assert len(heard.calls) == cut.stage.calls
        assert len([code for code in heard.result_codes() if code]) == cut.stage.open
        assert heard.reasoning == ("a thought" if cut.stage.name == "reasoning" else "")


def test_what_was_on_disk_is_told_again_and_nothing_twice(after: RestartedServer) -> None:
    """A replay begins with the events that were on disk, under their numbers; the ending has a much higher number."""
    for cut in after.cuts:
        heard = replayed(after, cut)
        kept = list(zip(heard.seqs, heard.events, strict=True))[: len(cut.durable)]
        assert [event["seq"] for event in cut.durable] == [seq for seq, _ in kept]
        for durable, (_, event) in zip(cut.durable, kept, strict=True):
            assert durable["event"].items() <= event.items()
            assert event.get("ts", durable["at"]) == durable["at"]
        if cut.stage.name != "complete":
            assert heard.seqs[len(kept)] > 1_000_000


def test_a_client_goes_on_where_its_line_broke(after: RestartedServer) -> None:
    """The frames read before the kill and those after a resume form one valid stream without repeated text."""
    for cut in after.cuts:
        seen = parse_stream(cut.seen)
        cursor = {"Last-Event-ID": seen.ids[-1]} if seen.ids else {}
        whole = check_stream(cut.seen + after.replay(cut, **cursor).content)
        assert whole.text == cut.stage.text
        assert ending(whole) == cut.stage.ending
        assert all(first < second for first, second in pairwise(whole.seqs))
        assert after.replay(cut, **{"Last-Event-ID": whole.ids[-1]}).status_code == 204


def test_the_same_key_gives_the_run_and_starts_nothing(after: RestartedServer) -> None:
    """A repeated request after the crash receives its own answer from the start."""
    with after.process.client() as client:
        for cut in after.cuts:
            again = client.post(STREAM, json=cut.stage.body, headers={"Idempotency-Key": cut.stage.name})
            assert (again.status_code, again.headers["x-run-id"]) == (200, cut.run_id)
            assert again.content == after.replay(cut).content
    assert len(after.upstream.asked) == after.asked


def test_no_effect_is_had_twice(after: RestartedServer) -> None:
    """A tool with side effects ran once per started call, and not for the call that had not started."""
    lines = after.lines()
    assert {cut.stage.name: lines.count(cut.stage.name) for cut in after.cuts} == {
        cut.stage.name: cut.stage.lines for cut in after.cuts
    }


def test_figures_outlive_the_crash(after: RestartedServer) -> None:
    """The run list has steps and the cost of finished steps; the cost of a cut attempt is fetched later."""
    listed = {run["run_id"]: run for run in after.get("/api/runs")["runs"]}
    assert len(listed) == len(after.cuts)
    for cut in after.cuts:
        run, stage = listed[cut.run_id], cut.stage
        assert (run["status"], run["code"]) == stage.ending
        assert (stage.name, run["steps"]) == (stage.name, stage.steps)
        assert (stage.name, run["cost_estimated"]) == (stage.name, stage.finished < stage.steps)
        assert run["cost"] == (0.001 if stage.finished else None)
        attempts = after.get(f"/api/runs/{cut.run_id}")["attempts"]
        assert [attempt["code"] for attempt in attempts[stage.finished :]] == ["SERVER_CRASH"] * (
            stage.steps - stage.finished
        )
        assert len(attempts) == stage.steps


def test_the_bill_is_fetched_after_the_crash(after: RestartedServer) -> None:
    """If the generation id was known, the provider's cost replaces the estimate; otherwise the estimate stays."""
    after.billing.is_open.set()
    known = [cut for cut in after.cuts if cut.stage.finished < cut.stage.steps and has_generation(after, cut)]
    assert {cut.stage.name for cut in known} >= {"text", "reasoning", "end"}
    for cut in known:
        until(lambda cut=cut: after.get(f"/api/runs/{cut.run_id}")["settled_at"] is not None)
        run = after.get(f"/api/runs/{cut.run_id}")
        assert run["cost"] == pytest.approx(0.5 + 0.001 * cut.stage.finished)
        assert run["cost_estimated"] is False
    [silent] = [cut for cut in after.cuts if cut.stage.name == "silent"]
    assert after.get(f"/api/runs/{silent.run_id}")["cost_estimated"] is True


def test_the_conversation_goes_on(after: RestartedServer) -> None:
    """A later question is answered, and its model receives the earlier text and which calls have no result."""
    before = after.lines()
    for cut in after.cuts:
        asked = {"model": "openai/sim", "conversation_id": cut.stage.name, "prompt": NEXT_QUESTION, "tools": []}
        with after.process.client() as client:
            answer = client.post(STREAM, json=asked)
        assert (cut.stage.name, answer.status_code) == (cut.stage.name, 200)
        heard = check_stream(answer.content)
        assert (cut.stage.name, ending(heard), heard.text) == (cut.stage.name, ("complete", None), NEXT_ANSWER)
        told = after.upstream.asked[-1].body["messages"]
        assert [message["content"] for message in told if message["role"] == "user"] == [cut.stage.name, NEXT_QUESTION]
        said = "".join(message["content"] or "" for message in told if message["role"] == "assistant")
        assert said == cut.stage.text
        calls = [call["id"] for message in told for call in message.get("tool_calls") or []]
        results = {message["tool_call_id"]: message["content"] for message in told if message["role"] == "tool"}
        assert (len(calls), set(results)) == (cut.stage.calls, set(calls))
        without = [result for result in results.values() if "STEP_FAILED" in result]
        assert (cut.stage.name, len(without)) == (cut.stage.name, cut.stage.open)
        assert sum("may or may not have done" in result for result in without) == min(cut.stage.open, 8)
    assert after.lines() == before


@pytest.mark.parametrize("loop", ["v2", "legacy"])
def test_an_effect_is_never_forgotten(tmp_path: Path, loop: str) -> None:
    """A tool kills the server during its side effect: the call is known afterwards and is not repeated."""

    async def calls(exchange: Exchange) -> None:
        await call(exchange, "keep_line", "die", "gen-die")

    asked = {"model": "openai/sim", "prompt": "Do it.", "tools": ["keep_line"]}
    key = {"Idempotency-Key": "a key"}
    with ScriptedUpstream(calls) as upstream:
        with serve_until_killed(tmp_path, upstream, loop) as process, process.client() as client:
            with pytest.raises(httpx.TransportError):
                client.post(STREAM, json=asked, headers=key)
            assert process.end() == -signal.SIGKILL
        with serve_until_killed(tmp_path, upstream, loop) as process, process.client() as client:
            heard = check_stream(client.post(STREAM, json=asked, headers=key).content)
        assert len(upstream.asked) == 1
    assert [told["name"] for told in heard.calls] == ["keep_line"]
    assert len(heard.of("tool_executing")) == 1
    assert heard.of("tool_result")[0]["result"]["error"] == CUT_OFF
    assert (tmp_path / "lines").read_text().split() == ["die"]


def has_generation(after: RestartedServer, cut: Cut) -> bool:
    """Return whether the last attempt's generation id was known before the kill."""
    return after.get(f"/api/runs/{cut.run_id}")["attempts"][-1]["generation_id"] is not None
