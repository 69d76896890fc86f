"""Data of version 0.1: a call's arguments become text when they are read."""

import pytest
from msgspec import ValidationError
from signalbox.core.events import Call, Stamped, ToolCalls, ToolResult
from signalbox.core.messages import JsonObject
from signalbox.store.conversations import events_of_runs
from signalbox.store.database import Database
from signalbox.store.runs.format_0_1 import event_from, read_events, trace_from
from signalbox.store.runs.reader import journal_of
from signalbox.store.saves import events_of, snapshot_of

from tests.support.disk import BOTH, Disk
from tests.support.version_0_1 import COMPLETE, SAVE, STOPPED, put_rows

pytestmark = pytest.mark.anyio
DATABASES = BOTH


@pytest.fixture
async def database(disk: Disk) -> Database:
    """Open a database that a server of version 0.1 has left."""
    await disk.write(put_rows)
    return disk


def calls_in(events: list[Stamped]) -> list[tuple[str, str]]:
    """Return each announced call with its arguments."""
    return [(c.name, c.arguments) for s in events if isinstance(s.event, ToolCalls) for c in s.event.calls]


TWO = [("calculate", '{"expression":"6*7"}'), ("search_web", '{"qu')]
ONE = [("linger", '{"minutes":5}')]


async def test_a_journal(database: Database) -> None:
    """Numbers and times are unchanged; an argument object becomes its JSON text."""
    events = await database.read(journal_of, COMPLETE)
    assert calls_in(events) == TWO
    assert [stamped.seq for stamped in events] == list(range(1, 10))
    assert (events[1].at, type(events[1].event)) == (1795425076884, ToolCalls)
    announced = [call.id for s in events if isinstance(s.event, ToolCalls) for call in s.event.calls]
    assert sorted(announced) == sorted(s.event.id for s in events if isinstance(s.event, ToolResult))


async def test_the_journals_of_a_conversation(database: Database) -> None:
    """Recall and export read the same events."""
    found = await database.read(events_of_runs, [COMPLETE, STOPPED])
    assert [calls_in(found[run]) for run in (COMPLETE, STOPPED)] == [TWO, ONE]


async def test_a_save(database: Database) -> None:
    """The events and the trace of a save are converted."""
    assert calls_in(await database.read(events_of, SAVE)) == TWO
    snapshot = await database.read(snapshot_of, SAVE)
    assert snapshot is not None
    tools = snapshot.trace["tools"]
    assert isinstance(tools, list)
    assert [(tool["name"], tool["arguments"]) for tool in tools if isinstance(tool, dict)] == TWO
    assert not any("arguments_raw" in tool for tool in tools if isinstance(tool, dict))


def test_damaged_events_raise_the_usual_error() -> None:
    """The error names the current type."""
    with pytest.raises(ValidationError, match="Expected `str`, got `int`"):
        read_events(b'[{"seq":1,"at":1,"event":{"type":"content","content":3}}]')
    with pytest.raises(ValidationError, match="Expected `str`, got `int`"):
        event_from({"type": "content", "content": 3})


def test_current_events_are_not_changed() -> None:
    """Current events and traces do not change, with integers beyond 64 bits."""
    call: JsonObject = {"id": "a", "name": "f", "arguments": '{"n":1}', "category": "other", "visibility": "hidden"}
    assert event_from({"type": "tool_calls", "calls": [call], "step": 2}) == ToolCalls(
        [Call("a", "f", '{"n":1}', "other", "hidden")], 2
    )
    earlier = event_from({"type": "tool_calls", "calls": [{**call, "arguments": {"n": 2**70}}]})
    assert earlier == ToolCalls([Call("a", "f", '{"n":1180591620717411303424}', "other", "hidden")])
    traces: list[JsonObject] = [{"tools": [call, None]}, {"tools": 3}, {}]
    for trace in traces:
        assert trace_from(trace) == trace
