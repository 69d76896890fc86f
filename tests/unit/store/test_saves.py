"""Saves: round trip, pages, and the question of a run in a conversation."""

from dataclasses import replace

import pytest
from signalbox.core.events import Content, Done, Stamped
from signalbox.core.records import RunRecord
from signalbox.store import saves
from signalbox.store.database import Database
from signalbox.store.tables import CONVERSATIONS, MESSAGES
from sqlalchemy import Connection, Table, insert

from tests.support.disk import BOTH, Disk

DATABASES = BOTH

EVENTS = [Stamped(1, 10, Content("é\x00💾")), Stamped(1_000_001, 20, Done(done=True, status="interrupted"))]
LINE = saves.ListedSave("0" * 32, "T", 5.25, "r" * 32, "openai/sim", "v2", "interrupted", 1_000_001)
SNAPSHOT = saves.Snapshot({"prompt": "Hi"}, {"big": 2**80, "steps": 1}, {"view": [1.5, None]})
NAMES = "abc"


@pytest.fixture
async def database(disk: Disk) -> Database:
    """Open a fresh database."""
    return disk


@pytest.mark.anyio
async def test_a_save_round_trips(database: Database) -> None:
    """Line, snapshot and events round-trip, with integers beyond 64 bits."""
    await database.write(lambda c: saves.add_save(c, LINE, SNAPSHOT, EVENTS))
    assert await database.read(lambda c: saves.find_save(c, LINE.id)) == LINE
    assert await database.read(lambda c: saves.snapshot_of(c, LINE.id)) == SNAPSHOT
    assert await database.read(lambda c: saves.events_of(c, LINE.id)) == EVENTS
    assert await database.read(lambda c: saves.events_of(c, LINE.id, after=1)) == EVENTS[1:]
    assert await database.read(lambda c: saves.events_of(c, LINE.id, after=1_000_001)) == []


@pytest.mark.anyio
async def test_an_unknown_save_is_none(database: Database) -> None:
    """An unknown or deleted id has no line, snapshot or events, and nothing to delete."""
    await database.write(lambda c: saves.add_save(c, LINE, SNAPSHOT, EVENTS))
    assert await database.write(lambda c: saves.delete_save(c, LINE.id, ""))
    for name in (LINE.id, "", "none"):
        assert await database.read(lambda c, name=name: saves.find_save(c, name)) is None
        assert await database.read(lambda c, name=name: saves.snapshot_of(c, name)) is None
        assert await database.read(lambda c, name=name: saves.events_of(c, name)) == []
        assert not await database.write(lambda c, name=name: saves.delete_save(c, name, ""))


@pytest.mark.anyio
async def test_saves_of_one_moment_are_all_listed_once(database: Database) -> None:
    """Saves with equal times are ordered by id, so that a page boundary neither loses nor repeats one."""
    made = [replace(LINE, id=name * 32, created=created) for created in (1.5, 2.5) for name in NAMES]
    made = [replace(line, id=f"{at}{line.id[1:]}") for at, line in enumerate(made)]
    for line in made:
        await database.write(lambda c, line=line: saves.add_save(c, line, SNAPSHOT, EVENTS))
    seen: list[saves.ListedSave] = []
    before = None
    while page := await database.read(lambda c, before=before: saves.list_saves(c, "", 2, before)):
        seen += page
        before = (page[-1].created, page[-1].id)
    assert seen == made[::-1]


def with_a_message(connection: Connection, role: str = "user") -> None:
    """Keep a conversation of one message, `m`."""
    connection.execute(insert(CONVERSATIONS).values(**blank(CONVERSATIONS), id="c"))
    message = {"id": "m", "conversation_id": "c", "role": role, "text": "And?"}
    connection.execute(insert(MESSAGES).values(**{**blank(MESSAGES), **message}))


def blank(table: Table) -> dict[str, object]:
    """Return a row of nothing for the columns that need something."""
    return {c.name: c.type.python_type() for c in table.columns if not c.nullable and not c.primary_key}


@pytest.mark.parametrize(
    ("record", "question"),
    [
        (
            RunRecord("r", "m/x", "v2", parent_id="m", question={"model": "m/x"}),
            {"model": "m/x", "prompt": "And?"},
        ),
        (RunRecord("r", "m/x", "v2", parent_id="m", question={"prompt": "Own"}), {"prompt": "Own"}),
        (RunRecord("r", "m/x", "v2", parent_id="m", question={"messages": []}), {"messages": []}),
        (RunRecord("r", "m/x", "v2", parent_id="gone", question={"model": "m/x"}), {"model": "m/x"}),
        (RunRecord("r", "m/x", "v2", question={"model": "m/x"}), {"model": "m/x"}),
    ],
)
@pytest.mark.anyio
async def test_a_question_of_a_conversation_has_its_text(
    database: Database, record: RunRecord, question: dict[str, object]
) -> None:
    """A question without messages gets the text of the message that the run answers."""
    await database.write(with_a_message)
    assert await database.read(lambda c: saves.question_of(c, record)) == question


@pytest.mark.anyio
async def test_only_a_user_message_is_a_question(database: Database) -> None:
    """A message of another role is not used."""
    await database.write(lambda c: with_a_message(c, role="tool"))
    record = RunRecord("r", "m/x", "v2", parent_id="m", question={"model": "m/x"})
    assert await database.read(lambda c: saves.question_of(c, record)) == {"model": "m/x"}
