"""A stop from any connection at any moment ends upstream requests, tools and costs immediately, and is final."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from signalbox.chat.loops import retry
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import LOOPS, QUESTION, TOOL_RUN, RestartableApp, ended, subscribe
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fakes import make_tool
from tests.support.running_app import WAIT, error_of
from tests.support.scripted_upstream import Exchange, Script, chunk
from tests.support.stream_reader import check_stream


@dataclass
class Blocked:
    """An upstream or a tool that blocks until the run cancels it."""

    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def script(self, *first: bytes) -> Script:
        """Send these frames if a stream is requested, else nothing, and block until the client disconnects."""

        async def plays(exchange: Exchange) -> None:
            if exchange.asked.body["stream"]:
                await exchange.head()
                for frame in first:
                    await exchange.send(frame)
            self.begun.set()
            await exchange.client_left()
            self.ended.set()

        return plays

    async def work(self, arguments: JsonObject, context: ToolContext) -> None:
        """Work until cancelled."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


@pytest.fixture
def blocked() -> Blocked:
    """Return one upstream or tool that blocks."""
    return Blocked()


def final(playing: RestartableApp, run_id: str, kept: bytes) -> None:
    """Check that a stop is final: in a second stop, in a replay, and after a restart; no further request is sent."""
    before = len(playing.upstream.asked)
    for _ in range(2):
        told = playing.stop(run_id)
        assert told == {"run_id": run_id, "stopped": False, "status": "cancelled"}
        assert ended(playing.events(run_id), "cancelled") == kept
        playing.restart()
    assert len(playing.upstream.asked) == before


MOMENTS = {
    "text": (chunk({"content": "So far"}),),
    "reasoning": (chunk({"reasoning": "Let me see"}),),
    "a call that is being written": (
        chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "calculate", "arguments": '{"exp'}}]}),
    ),
    "silence": (),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("loop", LOOPS)
def test_while_the_model_answers(stage: StartApp, blocked: Blocked, loop: str, moment: str) -> None:
    """The upstream connection closes, both subscribers receive the same ending, and the text stays."""
    playing = stage(blocked.script(*MOMENTS[moment]), answers("Never."), loop=loop)
    with playing.asking() as first, subscribe(playing.app, "GET", f"/api/runs/{first.run_id}/events") as second:
        assert blocked.begun.wait(WAIT)
        if moment in ("text", "reasoning") and loop == "v2":
            first.until(b"So far" if moment == "text" else b"Let me")
        assert playing.stop(first.run_id)["stopped"] is True
        assert blocked.ended.wait(WAIT)
        whole = ended(first.rest(), "cancelled")
        assert second.rest() == whole
    assert check_stream(whole).warnings == []
    if loop == "v2":
        assert (check_stream(whole).text, check_stream(whole).reasoning) == {
            "text": ("So far", ""),
            "reasoning": ("", "Let me see"),
        }.get(moment, ("", ""))
    final(playing, first.run_id, whole)


@pytest.mark.parametrize("loop", LOOPS)
def test_while_a_tool_runs(stage: StartApp, blocked: Blocked, loop: str) -> None:
    """The tool is cancelled, its call has a result, and no further step follows."""
    tool = make_tool("bell", blocked.work, timeout=60)
    playing = stage(calls(Called("bell", "{}")), answers("Never."), loop=loop, extra_tools=[tool])
    with playing.asking({**QUESTION, "tools": ["bell"]}) as first:
        assert blocked.begun.wait(WAIT)
        assert playing.stop(first.run_id)["stopped"] is True
        assert blocked.ended.wait(WAIT)
        whole = ended(first.rest(), "cancelled")
    assert check_stream(whole).result_codes() == ["CANCELLED"]
    assert len(playing.upstream.asked) == 1
    final(playing, first.run_id, whole)


@pytest.mark.parametrize("loop", LOOPS)
def test_while_a_retry_waits(stage: StartApp, loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with ten minutes left before its retry ends immediately, without a further request."""
    monkeypatch.setattr(retry, "LONGEST_WAIT", 600.0)
    refused = threading.Event()

    async def refuses(exchange: Exchange) -> None:
        await exchange.whole(503, b"{}", **{"retry-after": "600"})
        refused.set()

    playing = stage(refuses, answers("Never."), loop=loop)
    with playing.asking() as first:
        assert refused.wait(WAIT)
        assert playing.stop(first.run_id)["stopped"] is True
        whole = ended(first.rest(), "cancelled")
    assert len(playing.upstream.asked) == 1
    final(playing, first.run_id, whole)


def test_while_a_keyed_question_is_answered(stage: StartApp, blocked: Blocked) -> None:
    """The key keeps the stopped run: a repeated request receives its end, and the model is not asked."""
    playing = stage(blocked.script(chunk({"content": "So far"})), answers("Never."))
    with playing.asking(idempotency_key="k") as first, playing.asking(idempotency_key="k") as second:
        first.until(b"So far")
        playing.stop(first.run_id)
        assert blocked.ended.wait(WAIT)
        whole = ended(first.rest(), "cancelled")
        assert second.rest() == whole
    assert playing.post(idempotency_key="k").content == whole
    final(playing, first.run_id, whole)


def test_what_a_stop_says(stage: StartApp) -> None:
    """A finished run is unchanged by a stop, and an unknown run is a 404."""
    playing = stage(*TOOL_RUN)
    playing.upstream.opened.set()
    first = playing.post()
    run_id = first.headers["x-run-id"]
    for _ in range(2):
        assert playing.stop(run_id) == {"run_id": run_id, "stopped": False, "status": "complete"}
        assert playing.events(run_id) == first.content
        playing.restart()
    unknown = playing.app.client.post(f"/api/runs/{'0' * 32}/stop")
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "UNKNOWN_RUN")


def test_many_stops_at_once(stage: StartApp, blocked: Blocked) -> None:
    """Eight simultaneous stops give one ending, and each receives it."""
    playing = stage(blocked.script(chunk({"content": "So far"})))
    told: list[dict[str, object]] = []
    with playing.asking() as first:
        first.until(b"So far")
        threads = [threading.Thread(target=lambda: told.append(playing.stop(first.run_id))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        whole = ended(first.rest(), "cancelled")
    assert [one["status"] for one in told] == ["cancelled"] * 8
    assert any(one["stopped"] for one in told)
    final(playing, first.run_id, whole)


def test_a_stop_is_on_disk_when_it_is_answered(stage: StartApp, blocked: Blocked) -> None:
    """After the response to a stop, the run is stopped even after a crash."""
    playing = stage(blocked.script(chunk({"content": "So far"})))
    store = playing.app.parts.runs.store
    with playing.asking() as first:
        first.until(b"So far")
        playing.stop(first.run_id)
        kept = playing.app.within(store.find(first.run_id))
        assert kept is not None
        assert kept.status == "cancelled"


def _pieces() -> Iterator[bytes]:
    for number in range(5000):
        yield chunk({"content": f"{number} "})


def test_nothing_is_taken_in_after_the_stop(stage: StartApp) -> None:
    """A model that keeps sending is no longer read: the text ends at the stop."""
    left = threading.Event()

    async def writes(exchange: Exchange) -> None:
        await exchange.head()
        try:
            for piece in _pieces():
                await exchange.send(piece)
                await asyncio.sleep(0)
        except ConnectionError:
            pass
        left.set()
        await exchange.client_left()

    playing = stage(writes)
    with playing.asking() as first:
        first.until(b'"20 "')
        playing.stop(first.run_id)
        whole = ended(first.rest(), "cancelled")
    assert left.wait(WAIT)
    numbers = [int(word) for word in check_stream(whole).text.split()]
    assert numbers == list(range(len(numbers)))
    final(playing, first.run_id, whole)
