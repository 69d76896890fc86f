"""The override of several workers in one database: each worker sees changes, and an outage changes nothing."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.flags import shared_override
from signalbox.flags.override import Override
from signalbox.flags.shared_override import SharedOverride
from signalbox.store.engines.sqlite import SqliteDatabase
from signalbox.store.shared_values import OVERRIDE, get_shared, put_shared
from structlog.testing import capture_logs

pytestmark = pytest.mark.anyio
OFF, ON, HALF = Override("off"), Override("on"), Override("percent", 50)


class Breaking(SqliteDatabase):
    """A database that can fail."""

    is_gone = False

    async def _read(self, work):  # type: ignore[no-untyped-def]
        if self.is_gone:
            raise StoreError(Code.STORE_UNAVAILABLE)
        return await super()._read(work)


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack, None]:
    """Close everything that a test has opened."""
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def database(tmp_path: Path, stack: AsyncExitStack) -> Breaking:
    """Return a database with tables."""
    made = Breaking(tmp_path / "shared.db")
    stack.push_async_callback(made.aclose)
    await made.open()
    return made


async def opened(database: Breaking, stack: AsyncExitStack, before: Override | None = None) -> SharedOverride:
    """Open a worker's override."""
    override = SharedOverride(database)
    await override.open(before, stack)
    return override


async def test_an_override_that_was_never_set_is_none(database: Breaking, stack: AsyncExitStack) -> None:
    """Without a row the environment decides, and looking makes none."""
    override = await opened(database, stack)
    await override.refresh()
    assert override.current() is None
    assert await database.read(get_shared, OVERRIDE) is None


@pytest.mark.parametrize("wanted", [OFF, ON, HALF])
async def test_a_change_reaches_other_workers(database: Breaking, stack: AsyncExitStack, wanted: Override) -> None:
    """The writer has it at once, another worker after a refresh, and a new worker from its start."""
    one, other = await opened(database, stack), await opened(database, stack)
    await one.store(wanted)
    assert (one.current(), other.current()) == (wanted, None)
    await other.refresh()
    assert other.current() == wanted
    assert (await opened(database, stack)).current() == wanted


async def test_workers_refresh_regularly(
    database: Breaking, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change counts even if its notification was lost."""
    monkeypatch.setattr(shared_override, "_REFRESH_SECONDS", 0.001)
    one, other = await opened(database, stack), await opened(database, stack)
    await one.store(ON)
    async with asyncio.timeout(5):
        while other.current() != ON:  # noqa: ASYNC110 - read() is what a new run asks; nothing tells when it changes
            await asyncio.sleep(0)


async def test_an_outage_changes_nothing_and_is_logged_once(database: Breaking, stack: AsyncExitStack) -> None:
    """The last value stays in effect. The outage and its end are logged once each."""
    override = await opened(database, stack)
    await override.store(HALF)
    with capture_logs() as logged:
        database.is_gone = True
        for _ in range(3):
            await override.refresh()
        assert override.current() == HALF
        database.is_gone = False
        await override.refresh()
        await override.refresh()
    assert [line["event"] for line in logged] == ["flag.store_unavailable", "flag.store_available"]


async def test_a_change_that_cannot_be_stored_is_rejected(
    database: Breaking, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller gets an error, and no worker acts on the change."""

    async def refused(work: object) -> None:
        raise StoreError(Code.STORE_UNAVAILABLE)

    override = await opened(database, stack)
    monkeypatch.setattr(database, "_write", refused)
    with pytest.raises(StoreError):
        await override.store(ON)
    assert override.current() is None


@pytest.mark.parametrize("value", [b"", b"no json", b'{"state":"perhaps"}', b"\xff"])
async def test_an_invalid_value_counts_as_off(database: Breaking, stack: AsyncExitStack, value: bytes) -> None:
    """An operator's typing error never leaves a run on V2; it is logged once, not with every refresh."""
    override = await opened(database, stack)
    await override.store(ON)
    await database.write(put_shared, OVERRIDE, value)
    with capture_logs() as logged:
        await override.refresh()
        await override.refresh()
    assert override.current() == OFF
    assert [line["event"] for line in logged] == ["flag.override_unreadable"]


async def test_the_override_of_a_single_worker_is_taken_over(database: Breaking, stack: AsyncExitStack) -> None:
    """The first worker stores its file's override in the database, unless the database already has one."""
    assert (await opened(database, stack, HALF)).current() == HALF
    assert (await opened(database, stack, ON)).current() == HALF
