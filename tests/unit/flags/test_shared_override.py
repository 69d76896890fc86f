"""The lever of several workers: one database, each hears what another one pulled, and an outage changes nothing."""

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
    """A database that can be gone."""

    is_gone = False

    async def _read(self, work):  # type: ignore[no-untyped-def]
        if self.is_gone:
            raise StoreError(Code.STORE_UNAVAILABLE)
        return await super()._read(work)


@pytest.fixture
async def stack() -> AsyncGenerator[AsyncExitStack, None]:
    """End what a test has opened."""
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def database(tmp_path: Path, stack: AsyncExitStack) -> Breaking:
    """Give a database of tables."""
    made = Breaking(tmp_path / "shared.db")
    stack.push_async_callback(made.aclose)
    await made.open()
    return made


async def opened(database: Breaking, stack: AsyncExitStack, before: Override | None = None) -> SharedOverride:
    """Start a worker's lever."""
    lever = SharedOverride(database)
    await lever.open(before, stack)
    return lever


async def test_a_lever_that_was_never_pulled_is_none(database: Breaking, stack: AsyncExitStack) -> None:
    """Without a row the environment decides, and looking makes none."""
    lever = await opened(database, stack)
    await lever.refresh()
    assert lever.current() is None
    assert await database.read(get_shared, OVERRIDE) is None


@pytest.mark.parametrize("wanted", [OFF, ON, HALF])
async def test_a_pull_is_heard_by_others(database: Breaking, stack: AsyncExitStack, wanted: Override) -> None:
    """Who pulled knows at once, another worker when it looks, and one that starts later from its start on."""
    one, other = await opened(database, stack), await opened(database, stack)
    await one.store(wanted)
    assert (one.current(), other.current()) == (wanted, None)
    await other.refresh()
    assert other.current() == wanted
    assert (await opened(database, stack)).current() == wanted


async def test_workers_look_by_themselves(
    database: Breaking, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pull whose notice was lost acts all the same."""
    monkeypatch.setattr(shared_override, "_REFRESH_SECONDS", 0.001)
    one, other = await opened(database, stack), await opened(database, stack)
    await one.store(ON)
    async with asyncio.timeout(5):
        while other.current() != ON:  # noqa: ASYNC110 - read() is what a new run asks; nothing tells when it changes
            await asyncio.sleep(0)


async def test_an_outage_changes_nothing_and_is_told_once(database: Breaking, stack: AsyncExitStack) -> None:
    """The last known state stays; one line when the database goes, one when it is back, however often it was asked."""
    lever = await opened(database, stack)
    await lever.store(HALF)
    with capture_logs() as said:
        database.is_gone = True
        for _ in range(3):
            await lever.refresh()
        assert lever.current() == HALF
        database.is_gone = False
        await lever.refresh()
        await lever.refresh()
    assert [line["event"] for line in said] == ["flag.unheard", "flag.heard_again"]


async def test_a_pull_that_is_not_kept_is_refused(
    database: Breaking, stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever pulls is told, and nothing acts as if it had been kept."""

    async def refused(work: object) -> None:
        raise StoreError(Code.STORE_UNAVAILABLE)

    lever = await opened(database, stack)
    monkeypatch.setattr(database, "_write", refused)
    with pytest.raises(StoreError):
        await lever.store(ON)
    assert lever.current() is None


@pytest.mark.parametrize("value", [b"", b"no json", b'{"state":"perhaps"}', b"\xff"])
async def test_what_cannot_be_understood_is_off(database: Breaking, stack: AsyncExitStack, value: bytes) -> None:
    """An operator's slip must leave nobody on V2; it is told once, not with every look."""
    lever = await opened(database, stack)
    await lever.store(ON)
    await database.write(put_shared, OVERRIDE, value)
    with capture_logs() as said:
        await lever.refresh()
        await lever.refresh()
    assert lever.current() == OFF
    assert [line["event"] for line in said] == ["flag.unreadable"]


async def test_a_lever_of_one_is_brought_along(database: Breaking, stack: AsyncExitStack) -> None:
    """The first worker brings the lever that it had to itself; where one was pulled since, that one stands."""
    assert (await opened(database, stack, HALF)).current() == HALF
    assert (await opened(database, stack, ON)).current() == HALF
