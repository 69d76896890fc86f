"""The size limit of a run's journal ends the run and keeps the answer so far."""

from collections.abc import Callable
from contextlib import suppress
from math import inf

import pytest
from msgspec import json
from signalbox.chat.answer.output_limit import size_of
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.bounds.in_flight import IN_FLIGHT
from signalbox.core.events import AnyEvent, Call, Content, Done, Reasoning, Stamped, ToolCalls, ToolResult, Warning
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import TextDelta
from signalbox.core.ports import Loop
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import SERVED, ScriptedClient, call, calls, ending, make_tool
from tests.support.fixtures import StartApp
from tests.support.loop_runs import context_for, no_wait
from tests.support.running_app import error_of
from tests.support.scripted_upstream import Exchange, says
from tests.support.stream_reader import check_stream

KB = 1024


async def floods(exchange: Exchange) -> None:
    """Send kilobyte after kilobyte until the client disconnects."""
    await exchange.head()
    with suppress(ConnectionError):
        while True:
            await exchange.send_text("x" * KB)


def test_a_run_that_grows_without_end_is_ended(start_app: StartApp) -> None:
    """The run keeps its answer so far, the upstream is closed, and the replay equals the stream."""
    app, _ = start_app(floods, settings={"signalbox_max_run_mb": 0.25})
    response = app.post(prompt="Go", tools=[])
    heard = check_stream(response.content)
    assert (heard.done["status"], heard.done["code"]) == ("interrupted", "RUN_TOO_LARGE")
    assert heard.warnings == ["RUN_TOO_LARGE"]
    assert len(heard.text) >= 0.2 * KB * KB
    run_id = response.headers["x-run-id"]
    assert app.client.get(f"/api/runs/{run_id}/events").content == response.content
    assert app.client.get(f"/api/runs/{run_id}").json()["code"] == "RUN_TOO_LARGE"


def test_a_large_answer_within_the_limit_is_whole(start_app: StartApp) -> None:
    """The default limit of 64 MB is more than any answer."""
    app, _ = start_app(says(*["x" * 64 * KB] * 64))
    heard = app.ask("Go", tools=[])
    assert (heard.done["status"], len(heard.text)) == ("complete", 4 * KB * KB)


@pytest.mark.parametrize("loop", ["v2", "legacy"])
def test_a_fast_answer_does_not_pass_the_limit(start_app: StartApp, loop: str) -> None:
    """Two megabytes at once: no more than the limit is shown or stored, and no batch is split."""
    app, _ = start_app(
        says(*["x" * 16 * KB] * 128),
        settings={"signalbox_max_run_mb": 0.25, "tool_loop_v2": loop == "v2"},
    )
    response = app.post(prompt="Go", tools=[])
    heard = check_stream(response.content)
    assert (heard.done["status"], heard.done["code"]) == ("interrupted", "RUN_TOO_LARGE")
    assert 0 < len(heard.text) <= 0.25 * KB * KB
    assert len(heard.text) % (16 * KB) == 0
    run_id = response.headers["x-run-id"]
    assert app.client.get(f"/api/runs/{run_id}/events").content == response.content


async def _driven(loop: Loop, most_bytes: float) -> list[AnyEvent]:
    """Drive a run with a size limit; return its events."""
    told: list[AnyEvent] = []
    await drive(loop, context_for(), Progress(clock=lambda: 0.0), told.extend, most_bytes=most_bytes)
    assert first_fault(told) is None, first_fault(told)
    return told


@pytest.mark.anyio
@pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
@pytest.mark.parametrize("most_bytes", [*range(0, 1500, 60), inf])
async def test_every_limit_ends_a_run_honestly(new_loop: Callable[..., Loop], most_bytes: float) -> None:
    """For any limit, announced calls have one result each, then one warning and one `done` follow."""
    tools = [make_tool("f", lambda arguments, context: "y" * 300, eager=True)]
    client = ScriptedClient(
        calls(call(0, "f", '{"q": 1}'), call(1, "f", '{"q": 2}')),
        [[SERVED], [TextDelta("Well. ")], [TextDelta("z" * 200), TextDelta("z" * 50)], ending("stop")],
    )
    inputs = LoopInputs(context_for(tools), client, ToolExecutor(tools), Progress(clock=lambda: 0.0), sleep=no_wait)
    loop = new_loop(inputs)
    told = await _driven(loop, most_bytes)
    done = told[-1]
    assert isinstance(done, Done)
    if done.status == "complete":
        return
    assert (done.status, done.code) == ("interrupted", "RUN_TOO_LARGE")
    assert [event.code for event in told if isinstance(event, Warning)] == ["RUN_TOO_LARGE"]
    said = [event for event in told if not isinstance(event, Warning | Done)]
    if not any(isinstance(event, ToolResult) for event in said):
        assert size_of(said) <= most_bytes
    assert "".join(event.content for event in told if isinstance(event, Content)) in ("", "Well. ")


@pytest.mark.parametrize(
    "events",
    [
        [Content("plain")],
        [Content("plain"), Reasoning("words", 1), Content("")],
        [Content("naïve 日本語 🎈")],
        [Content('"quoted"\n\t\x01')],
        [Content("a"), ToolCalls([Call("c", "f", '{"q": "é"}', "other", "secondary")], 1)],
        [],
    ],
)
def test_no_event_weighs_more_than_it_takes(events: list[AnyEvent]) -> None:
    """The estimated size of an event never exceeds its real size, and is close to it for plain text."""
    at = 1795227719617
    taken = len(json.encode([Stamped(1000 + place, at, event) for place, event in enumerate(events)]))
    assert size_of(events) <= taken
    if all(isinstance(event, Content | Reasoning) and event.content.isprintable() for event in events):
        assert taken - size_of(events) <= 24 * len(events) + 2


def test_large_bodies_share_what_may_be_held_at_once(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body over 1 MB is rejected with 503 if too many are held; a smaller one never is."""
    app, _ = start_app(says("Yes."))
    monkeypatch.setattr(IN_FLIGHT, "most", 100_000)
    refused = app.post(prompt="x" * 2 * KB * KB)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert error_of(refused)["code"] == "TOO_MUCH_AT_ONCE"
    assert app.ask("x" * (KB * KB // 2), tools=[]).done["status"] == "complete"
    assert IN_FLIGHT.held == 0
