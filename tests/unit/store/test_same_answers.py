"""SQLite and PostgreSQL return the same results for one random sequence of calls."""

import random
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.conversations import ClientNode, Conversation, Node, case_folded
from signalbox.core.errors import SignalboxError
from signalbox.core.events import Content, Stamped
from signalbox.core.messages import AssistantMessage, Message, UserMessage
from signalbox.core.records import RunRecord
from signalbox.store import conversations, saves
from signalbox.store.conversation_list import conversation_page
from signalbox.store.database import Database
from signalbox.store.runs.flush import PendingWrite, write_pending
from signalbox.store.schema import METADATA
from sqlalchemy import Connection, Table, Text, select

from tests.support.disk import BOTH, Disk, new_disk

pytestmark = pytest.mark.anyio
# What databases take for more than letters, fold in their own way, sort by language, or do not take at all.
TEXTS = (
    *("100 %", "a_b", "50%_off", "\\", "'; DROP TABLE runs; --", '"', "$1", ":x", "?", "", " ", "a\nb"),
    *("Straße", "STRASSE", "İstanbul", "ﬁne", "ΣΊΣΥΦΟΣ", "e\u0301", "é", "Äpfel", "apfel", "zebra"),
    *("👩\u200d👩\u200d👧", "\U0001f600", "nul \0 nul", "\ufffd"),
)
# Their order among those of one moment is each server's own affair, but for such as these.
IDS = ("a", "b", "c1", "c10", "c2", "9", "10", "d-1")
OWNERS = ("", "o", "O")


@dataclass
class Life:
    """Who does what, by one sequence of random numbers."""

    chance: random.Random
    seq: int = 0

    def one(self, of: tuple[str, ...]) -> str:
        return self.chance.choice(of)

    def time(self) -> float:
        return float(self.chance.randrange(6))

    def step(self) -> tuple[Any, ...]:
        """Choose what is done next: a function of a connection, and its arguments."""
        self.seq += 1
        name, other = self.one(IDS), self.one(IDS)
        text, text2 = self.one(TEXTS), self.one(TEXTS)
        owner, when = self.one(OWNERS), self.time()
        chat = Conversation(name, text, created=when, updated=when, owner=owner)
        nodes = [
            ClientNode(Node(f"{name}{self.seq}{n}", None, "user", when, said, digest="d"), (UserMessage(said),))
            for n, said in enumerate((text, text2))
        ]
        line = saves.ListedSave(other, text, when, "r", "m", "v2", "complete", 1, owner)
        cursor = self.chance.choice([None, (when, other)])
        size = self.chance.randrange(1, 5)
        choices: list[tuple[Any, ...]] = [
            (conversations.add_nodes, chat, nodes),
            (conversations.add_nodes, chat, nodes),
            (answer, f"run{self.seq}", name, when, text2, self.chance.random() < 0.7),
            (answer, f"run{self.seq}", name, when, text2, True),
            (conversations.change_conversation, name, text, None),
            (conversations.change_conversation, name, None, other),
            (conversations.tree_of, name),
            (conversations.whole_of, name),
            (conversations.bodies_of, [*IDS, "nul \0"]),
            (conversations.turns_of, [f"run{n}" for n in range(self.seq)]),
            (conversations.events_since_turns, [f"run{n}" for n in range(self.seq)]),
            (conversations.find_conversation, text),
            (conversation_page, owner, size, cursor),
            (conversation_page, owner, 9, None, case_folded(text)),
            (conversation_page, owner, size, cursor, case_folded(text[: self.chance.randrange(1, 4)])),
            (saves.add_save, line, saves.Snapshot({"x": text}, {}, {}), [Stamped(1, 1, Content(text))]),
            (saves.list_saves, owner, size, cursor),
            (saves.snapshot_of, other),
            (saves.events_of, other),
            (saves.delete_save, other, owner),
        ]
        if self.chance.random() < 0.03:
            return (conversations.delete_conversation, name)
        return self.chance.choice(choices)


def answer(  # noqa: PLR0917 - one after another, as all steps are
    connection: Connection, run_id: str, conversation_id: str, started: float, text: str, is_over: bool
) -> None:
    """Write a run of a conversation, where there is one, with what it said and what its model must see again."""
    known = conversations.find_conversation(connection, conversation_id)
    if known is None:
        return
    record = RunRecord(run_id, "m/x", "v2", conversation_id=conversation_id, started=started, owner=known.owner)
    last = replace(record, status="complete", ended=started + 1, cost_estimated=False) if is_over else None
    said = [Stamped(1, 0, Content(text)), Stamped(2, 0, Content("!"))]
    turns: list[tuple[int, int, Message]] = [(0, 1, AssistantMessage(text))]
    write_pending(connection, [PendingWrite(run_id, 2, 9, record, last, said, turns, is_raised=False, is_answer=True)])


async def outcome(database: Database, step: tuple[Any, ...]) -> str:
    """Return what a step comes to, an error among it; the sign for a NUL is the one that is shown."""
    try:
        return repr(_sorted(await database.write(*step))).replace("\\x00", "\ufffd")
    except SignalboxError as error:
        return f"refused: {error.code}"


def _sorted(value: Any) -> Any:
    """Put mappings in order: they have none."""
    if isinstance(value, Mapping):
        return sorted(value.items())
    return tuple(_sorted(one) for one in value) if isinstance(value, tuple) else value


@pytest.fixture
async def disks(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[list[Disk], None]:
    """Open one database of each kind."""
    made = [new_disk(kind, tmp_path, request) for kind in BOTH]
    for disk in made:
        await disk.open()
    yield made
    for disk in made:
        await disk.aclose()


@pytest.mark.parametrize("seed", range(3))
async def test_both_databases_give_the_same_answers(seed: int, disks: list[Disk]) -> None:
    """Order, cursors, search, case and errors are equal, and so are all tables."""
    life = Life(random.Random(seed))
    said: list[str] = []
    for _ in range(250):
        step = life.step()
        one, other = [await outcome(disk, step) for disk in disks]
        assert one == other, step
        said.append(one)
    assert len({*said}) > 40
    assert "refused: INTERNAL" in said  # a save of an id that is there
    for table in METADATA.sorted_tables:
        one, other = [await outcome(disk, (rows_of, table)) for disk in disks]
        assert one == other, table.name


def rows_of(connection: Connection, table: Table) -> list[str]:
    """Return what a table holds."""
    return sorted(repr(row).replace("\\x00", "\ufffd") for row in connection.execute(select(table)))


def test_all_text_columns_accept_nul() -> None:
    """No column is plain text, which PostgreSQL rejects for a NUL."""
    plain = [str(c) for table in METADATA.sorted_tables for c in table.columns if isinstance(c.type, Text)]
    assert plain == []
