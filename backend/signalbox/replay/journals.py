"""Loads journals of runs and snapshots from the database, and of snapshots from files; read-only."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import msgspec

from signalbox.chat.loops.progress import Attempt
from signalbox.conversations.continuing import continuation_prompt
from signalbox.conversations.history import history_of, stored_turns
from signalbox.conversations.restored_turns import StoredTurns
from signalbox.conversations.tree import Tree, system_of
from signalbox.core.conversations import Conversation
from signalbox.core.errors import RequestError
from signalbox.core.events import Done, LoopName, Stamped
from signalbox.core.messages import JsonObject, Message, SystemMessage
from signalbox.core.order.invariants import first_stamp_fault
from signalbox.core.records import V1, RunRecord
from signalbox.intakes.v1_question import runs_named_in_question
from signalbox.replay.outcome import CallOutcome, Outcome, calls_in, outcome_of
from signalbox.runs.attempts_codec import progress_of
from signalbox.runs.journal import read_all
from signalbox.store.conversations import tree_of
from signalbox.store.database import Database
from signalbox.store.runs.format_0_1 import event_from
from signalbox.store.runs.journal import JournalStore
from signalbox.store.saves import Snapshot, events_of, find_save, snapshot_of
from signalbox.wire.json_text import loads


class NoJournal(Exception):
    """No journal can be replayed; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A stored run: its request, its events and its upstream requests.

    `messages`: what the model received; None if `question` contains all of it. `open_loop` is how many of them, the
    last ones, belong to the tool loop that the run continued.
    `lacks_history`: the run belonged to a conversation whose earlier messages are not available. `protocol` is the
    client's; `stored` are the turns of the runs that the question continues.
    """

    run_id: str
    model: str
    loop: LoopName
    question: JsonObject
    events: tuple[Stamped, ...]
    attempts: tuple[Attempt, ...] = ()
    messages: tuple[Message, ...] | None = None
    open_loop: int = 0
    conversation_id: str | None = None
    lacks_history: bool = False
    simulated: bool = False
    protocol: str = V1
    stored: StoredTurns = field(default_factory=dict[str, list[Message]])

    @property
    def calls(self) -> tuple[CallOutcome, ...]:
        """The calls with their results."""
        return calls_in([stamped.event for stamped in self.events])

    @property
    def offered(self) -> list[str]:
        """The names of the tools that its requests offered."""
        offered = [name for attempt in self.attempts for name in attempt.tools]
        return [*dict.fromkeys(offered)]

    @property
    def outcome(self) -> Outcome:
        """The outcome of the run."""
        return outcome_of(self.events, self.attempts, self.loop, self.model)


# --- from the database ------------------------------------------------------------------------------------------


async def load_journal(database: Database, name: str, ours: Collection[str]) -> Journal:
    """Load a run or a snapshot by its id; `ours` are the tools with trusted results.

    Raises NoJournal and StoreError.
    """
    store = JournalStore(database)
    record = await store.find(name)
    if record is None:
        return await _load_snapshot(database, name, ours)
    events = await read_all(partial(store.read_events, record.id))
    if not record.is_over:
        raise NoJournal(f"The run {name} has not finished yet. Wait until it finishes, or stop it.")
    return await _with_conversation(database, record, events, ours)


async def newest_run_ids(database: Database, count: int) -> list[str]:
    """Return the ids of the newest finished runs."""
    return [record.id for record in await JournalStore(database).recent(count) if record.is_over]


async def _load_snapshot(database: Database, save_id: str, ours: Collection[str]) -> Journal:
    line, snapshot, events = await database.read(
        lambda c: (find_save(c, save_id), snapshot_of(c, save_id), events_of(c, save_id))
    )
    if line is None or snapshot is None:
        raise NoJournal(
            f"There is no run, snapshot or file {save_id!r}. GET /api/runs and GET /api/saves list runs and snapshots."
        )
    record = await JournalStore(database).find(line.run_id)
    if record is not None:  # the run's record names its conversation
        return await _with_conversation(database, record, events, ours)
    return _journal_of(line.run_id, snapshot, events)


async def _with_conversation(
    database: Database, record: RunRecord, events: Sequence[Stamped], ours: Collection[str]
) -> Journal:
    journal = Journal(
        run_id=record.id,
        model=record.model,
        loop=record.loop,
        question=record.question,
        events=tuple(events),
        attempts=tuple(progress_of(record).attempts),
        conversation_id=record.conversation_id,
        simulated=record.simulated,
        protocol=record.protocol,
    )
    if record.conversation_id is None:
        named = runs_named_in_question(record.question)
        stored = await stored_turns(database, named, record.owner, ours)
        return replace(journal, stored=stored)
    _, nodes = await database.read(tree_of, record.conversation_id)
    path = Tree(nodes).path(record.parent_id)
    conversation = Conversation(record.conversation_id, owner=record.owner)
    try:
        history = await history_of(database, conversation, path, ours, until=record.started)
    except RequestError:
        raise NoJournal(f"The conversation of {record.id} has been deleted.") from None
    system = system_of(path)
    head = [SystemMessage(system)] if system else []
    prompt = continuation_prompt(path)
    messages = (*head, *history.messages, *prompt)
    return replace(journal, messages=messages, open_loop=0 if prompt else history.open_loop)


# --- from a file ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Trace:
    """The fields of a snapshot's trace that a replay needs; others are ignored."""

    run_id: str
    model: str
    loop: LoopName
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    conversation_id: str | None = None
    simulated: bool = False
    protocol: str = V1


class _SnapshotFile(msgspec.Struct):
    """The fields of a snapshot file that a replay needs."""

    run_id: str
    question: dict[str, Any]
    trace: dict[str, Any]
    events: list[dict[str, Any]]


class _Stamp(msgspec.Struct):
    """The fields that every event of a snapshot file has."""

    seq: int
    at: int


def parse_snapshot(data: bytes, name: str) -> Journal:
    """Parse a snapshot as returned by GET /api/saves/ID; raises NoJournal if the data is invalid."""
    try:
        whole = msgspec.convert(loads(data), _SnapshotFile)
        return _journal_of(whole.run_id, Snapshot(whole.question, whole.trace, {}), _stamped(whole.events))
    except (ValueError, msgspec.MsgspecError) as error:  # invalid JSON, fields or order of events
        reason = str(error).removesuffix(".")
        raise NoJournal(f"{name} is not a snapshot as returned by GET /api/saves/ID: {reason}.") from None


def _stamped(events: Sequence[JsonObject]) -> list[Stamped]:
    """Parse the events of a snapshot; raises ValueError if they are not a complete run."""
    stamped: list[Stamped] = []
    for place, one in enumerate(events, 1):
        try:
            stamp = msgspec.convert(one, _Stamp)
            stamped.append(Stamped(stamp.seq, stamp.at, event_from(one)))
        except msgspec.ValidationError as error:
            raise ValueError(f"its event {place} cannot be read ({error})") from None
    if fault := first_stamp_fault(stamped):
        raise ValueError(fault)
    if not stamped or not isinstance(stamped[-1].event, Done):
        raise ValueError("its last event is not done")
    return stamped


def _journal_of(run_id: str, snapshot: Snapshot, events: Sequence[Stamped]) -> Journal:
    """Convert a snapshot, which does not contain earlier messages of its conversation."""
    trace = msgspec.convert(snapshot.trace, _Trace)
    return Journal(
        run_id=run_id,
        model=trace.model,
        loop=trace.loop,
        question=snapshot.question,
        events=tuple(events),
        attempts=tuple(trace.attempts),
        lacks_history=trace.conversation_id is not None,
        simulated=trace.simulated,
        protocol=trace.protocol,
    )
