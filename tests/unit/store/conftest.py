"""A fresh database for each test, and a journal on it that flushes without delay."""

import pytest
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import disk, kind, pytest_generate_tests, store

__all__ = ["disk", "kind", "pytest_generate_tests", "store"]


@pytest.fixture
async def buffered(store: JournalStore) -> JournalStore:
    """Return a store that uses the write buffer, because it has checked for rows of a crashed process."""
    assert await store.claim_unfinished() == []
    return store
