"""A database of its own for each test, and a journal on it that waits for nothing."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from signalbox.store import journal
from signalbox.store.journal import JournalStore

from tests.store.disk import Disk


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncGenerator[Disk, None]:
    """Open a database that the test can hold and break."""
    database = Disk(tmp_path / "signalbox.db")
    await database.open()
    yield database
    database.release()
    await database.aclose()


@pytest.fixture
async def store(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[JournalStore, None]:
    """Write at once, and try again at once."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(journal, "_RETRY_SECONDS", 0.0)
    made = JournalStore(disk)
    yield made
    disk.failing = None
    disk.release()
    await made.aclose()
