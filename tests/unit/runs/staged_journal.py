"""A journal over a disk that tests control, with a short tail in memory."""

import asyncio
from dataclasses import dataclass, field

import pytest
from signalbox.core.events import Content, Stamped
from signalbox.runs import journal as module
from signalbox.runs.journal import Journal
from signalbox.store.runs.in_memory import MemoryStore

KEPT = 4


PAGE = 3


class Slow(MemoryStore):
    """A disk that writes when the test says so, and reads a few events at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.disk: list[Stamped] = []
        self.coming: list[Stamped] = []
        self.reads = 0

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        self.coming += batch

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        self.reads += 1
        await asyncio.sleep(0)  # the journal continues meanwhile
        return self.disk[after : after + PAGE]


@dataclass
class Stage:
    """A journal over such a disk, and what each subscriber has seen."""

    store: Slow = field(default_factory=Slow)
    appended: int = 0
    seen: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open the journal, with nothing reserved."""
        self.journal = Journal("r", self.store)

    def append(self, count: int) -> None:
        self.journal.append([Content(str(n)) for n in range(self.appended + 1, self.appended + count + 1)])
        self.appended += count

    def write(self, count: int | None = None, reserve: int = 0) -> None:
        """Write this many pending events (all by default), and reserve this many numbers above them."""
        count = len(self.store.coming) if count is None else count
        self.store.disk += self.store.coming[:count]
        del self.store.coming[:count]
        durable = len(self.store.disk)
        self.journal.mark_durable(durable, max(self.journal.reserved, durable + reserve))

    def held(self) -> int:
        return len(self.journal._tail)


@pytest.fixture(autouse=True)
def small_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tail in memory small_tail, so that short runs exceed it."""
    monkeypatch.setattr(module, "_IN_MEMORY", KEPT)


async def let_tasks_run() -> None:
    """Let every task continue until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)
