"""Stored values round-trip: records, messages with opaque reasoning, attempts, events."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from msgspec.structs import replace
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.events import AnyEvent, Content, Flag, Stamped, Success, ToolResult
from signalbox.core.messages import (
    AssistantMessage,
    FilePart,
    ImagePart,
    Message,
    Native,
    ReasoningDetail,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.parts import Usage
from signalbox.core.records import RunRecord
from signalbox.runs.attempts_codec import progress_of, with_figures
from signalbox.store.message_codec import dump_message, dumps, load_message, loads
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import BOTH, Disk, a_run

DATABASES = BOTH

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
MAYBE = st.sampled_from([None, ""]) | TEXT
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([2**63, -(2**64), 10**30])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)
PARTS = st.one_of(
    st.builds(TextPart, TEXT), st.builds(ImagePart, TEXT, MAYBE), st.builds(FilePart, filename=TEXT, data=TEXT)
)
CONTENT = TEXT | st.lists(PARTS, max_size=3).map(tuple)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(SystemMessage, CONTENT),
    st.builds(UserMessage, CONTENT),
    st.builds(
        ToolMessage, TEXT, TEXT, TEXT, untrusted=st.booleans(), artifact=JSON, is_error=st.booleans(), shown=MAYBE
    ),
    st.builds(
        AssistantMessage,
        content=TEXT,
        calls=st.lists(st.builds(ToolCall, TEXT, TEXT, OBJECTS, MAYBE), max_size=2).map(tuple),
        reasoning=TEXT,
        reasoning_details=st.lists(st.builds(ReasoningDetail, OBJECTS), max_size=2).map(tuple),
        reasoning_field=MAYBE,
        model=MAYBE,
        provider=MAYBE,
        images=st.lists(st.builds(ImagePart, TEXT), max_size=2).map(tuple),
        native=st.none() | st.builds(Native, TEXT, st.lists(OBJECTS, max_size=2).map(tuple), TEXT),
        upstream=TEXT,
    ),
)


@given(MESSAGES)
def test_messages_round_trip(message: Message) -> None:
    """Empty fields and numbers of any size round-trip with their types."""
    assert repr(load_message(dump_message(message))) == repr(message)


@given(OBJECTS)
def test_opaque_reasoning_round_trips_byte_for_byte(raw: dict[str, Any]) -> None:
    """Key order, spelling of numbers and empty values do not change: providers sign them (quirks B1 to B4)."""
    message = AssistantMessage(reasoning_details=(ReasoningDetail(raw),))
    back = load_message(dump_message(message))
    assert isinstance(back, AssistantMessage)
    assert json.encode(back.reasoning_details[0].raw) == json.encode(raw)


def test_a_lone_surrogate_does_not_lose_the_message() -> None:
    """A lone surrogate is replaced, and the rest of the message is stored."""
    back = load_message(dump_message(AssistantMessage("so \ud83d far", reasoning="why")))
    assert back == AssistantMessage("so \ufffd far", reasoning="why")


FIGURES = {
    "input": st.integers(0, 10**9),
    "output": st.integers(0, 10**9),
    "cost": st.none() | st.floats(0, 1000, allow_nan=False),
}
USAGE = st.none() | st.builds(Usage, **FIGURES)
SOON = st.floats(0, 4e9, allow_nan=False)


async def kept(disk: Disk, record: RunRecord) -> RunRecord | None:
    """Write a record and read it with another store."""
    store = JournalStore(disk)
    await store.open(replace(record, ended=None, status=None), lambda seq, reserved: None)
    store.save_figures(record.id, lambda: record)
    await store.aclose()
    return await JournalStore(disk).find(record.id)


@pytest.mark.anyio
async def test_a_record_round_trips(disk: Disk) -> None:
    """Each field has a different value, so that none can be missing or swapped."""
    usage = Usage(input=11, output=12, reasoning=13, cached=14, cost=0.015)
    record = RunRecord(
        id="r", model="openai/x", loop="legacy", owner="o", group="g", flag=Flag("on", "SPLIT"), simulated=True,
        key="k", digest="d", request={"seed": 10**30, "é": [None, {}]}, question={"prompt": "warum?", "n": 2**64},
        started=1.5, ended=2.5, status="error", code="INTERNAL", steps=3, attempts=({"a": 1}, {"b": [10**25]}),
        protocol="chat", echo={"include_usage": True}, usage=usage, cost_estimated=True, settled_at=9.25,
        seq=77, reserved=1_000_000, tools=("calculate", "search_web"), first_token_ms=41,
    )  # fmt: skip
    default = a_run("x")
    same = [name for name in RunRecord.__struct_fields__ if getattr(record, name) == getattr(default, name)]
    assert same == ["conversation_id", "parent_id", "estimate"]  # these need a conversation; it is not stored
    assert await kept(disk, record) == record
    assert disk.rows("SELECT cost FROM runs") == [(0.015,)]


@pytest.mark.anyio
async def test_an_empty_record_round_trips(disk: Disk) -> None:
    """Missing fields stay missing."""
    record = a_run("r")
    assert await kept(disk, record) == replace(record, reserved=1_000_000)


ATTEMPTS = st.builds(
    Attempt,
    step=st.integers(1, 9),
    number=st.integers(1, 9),
    final=st.booleans(),
    model=TEXT,
    tools=st.lists(TEXT, max_size=2),
    tool_choice=JSON,
    messages=st.integers(0, 99),
    params=st.lists(TEXT, max_size=2),
    started=SOON,
    changes=st.lists(TEXT, max_size=2),
    first_part=st.none() | SOON,
    ended=st.none() | SOON,
    generation_id=MAYBE,
    served_model=MAYBE,
    provider=MAYBE,
    finish_reason=MAYBE,
    native_finish_reason=MAYBE,
    usage=USAGE,
    error=MAYBE,
    code=MAYBE,
    streamed=st.booleans(),
    settled=st.booleans(),
    cancelled=st.none() | st.booleans(),
)


@given(st.lists(ATTEMPTS, max_size=3), st.integers(0, 20), st.none() | SOON)
def test_attempts_round_trip(attempts: list[Attempt], steps: int, settled_at: float | None) -> None:
    """After a restart, a late cost is assigned to the right attempt."""
    progress = Progress(steps=steps, attempts=attempts, settled_at=settled_at)
    record = with_figures(a_run("r"), progress)
    written = replace(record, attempts=tuple(loads(dumps([*record.attempts]))))  # type: ignore[arg-type]
    back = progress_of(written)
    assert (back.attempts, back.steps, back.settled_at) == (attempts, steps, settled_at)
    assert (back.usage, back.is_estimate) == (progress.usage, progress.is_estimate)


def test_an_attempt_of_a_later_version_can_be_read() -> None:
    """Unknown fields are ignored."""
    progress = Progress(attempts=[Attempt(1, 1, False, "m", [], None, 1, [], 0.0)])
    (attempt,) = with_figures(a_run("r"), progress).attempts
    assert progress_of(a_run("r", attempts=({**attempt, "weather": "fine"},))).attempts == progress.attempts


EVENTS: list[AnyEvent] = [
    Content("é \U0001f600 \x00\n"),
    ToolResult("c", "t", Success(True, {"big": 10**40, "f": 1.0, "z": -(2**63), "e": {}}), "other", "hidden"),
]


@pytest.mark.anyio
async def test_events_round_trip(disk: Disk) -> None:
    """A stream has the same bytes whether its events come from memory or from disk."""
    from signalbox.encoders.sse_v1 import SseV1Encoder

    store = JournalStore(disk)
    opened = a_run("r")
    await store.open(opened, lambda seq, reserved: None)
    stamped = [Stamped(seq, 1000 + seq, event) for seq, event in enumerate(EVENTS, 1)]
    store.append("r", stamped)
    await store.aclose()
    back = await JournalStore(disk).read_events("r", 0)
    assert SseV1Encoder(opened).encode(back) == SseV1Encoder(opened).encode(stamped)
