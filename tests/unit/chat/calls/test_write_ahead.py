"""Side-effecting calls are flushed to disk before they run."""

import asyncio

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

from tests.support.fakes import make_tool
from tests.support.loop_runs import Seen
from tests.unit.chat.calls.executions import Watched, codes, execute, execution_of, named

pytestmark = pytest.mark.anyio


class Disk:
    """A store whose flush blocks until the test lets it succeed or fail."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.told_before: list[str] = []
        self.waits: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

    async def recorded(self) -> None:
        self.told_before = self.seen.kinds
        wait: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waits.put_nowait(wait)
        await wait


def on_disk(ran: list[str], *, eager: bool = False) -> tuple[Watched, Disk]:
    """Return an execution of one tool that records when it runs, over this store."""
    tool = make_tool("write", lambda arguments, context: ran.append("write"), eager=eager)
    execution = execution_of([tool])
    disk = Disk(execution.seen)
    execution.context.flush = disk.recorded
    return execution, disk


async def test_a_side_effecting_call_is_flushed_before_it_runs() -> None:
    """Its announcement is emitted, then flushed, then the tool runs: after a crash the model knows of the call."""
    ran: list[str] = []
    execution, disk = on_disk(ran)
    [call] = execution.announce([named("write")], 1)
    execution.start(call)
    wait = await asyncio.wait_for(disk.waits.get(), 30)
    assert disk.told_before == ["ToolCalls", "ToolExecuting"]
    for _ in range(5):
        await asyncio.sleep(0)
    assert ran == []
    wait.set_result(None)
    await execution.wait_for_results()
    assert ran == ["write"]
    assert codes(execution.seen) == [None]


async def test_a_call_that_cannot_be_flushed_does_not_run() -> None:
    """If the store fails, the result says that the tool did not run, and the run continues."""
    ran: list[str] = []
    execution, disk = on_disk(ran)

    async def fails() -> None:
        (await disk.waits.get()).set_exception(StoreError(Code.STORE_UNAVAILABLE))

    failing = asyncio.create_task(fails())
    assert codes(await execute(execution, named("write"))) == [Code.STORE_UNAVAILABLE]
    assert ran == []
    await failing


async def test_a_read_only_call_does_not_wait_for_the_store() -> None:
    """It may be repeated after a crash, so it starts at once."""
    ran: list[str] = []
    execution, disk = on_disk(ran, eager=True)
    assert codes(await execute(execution, named("write"))) == [None]
    assert (ran, disk.waits.empty()) == (["write"], True)


async def test_a_call_withdrawn_during_the_flush_never_runs() -> None:
    """A stop during the flush gives the call its one result."""
    ran: list[str] = []
    execution, disk = on_disk(ran)
    [call] = execution.announce([named("write")], 1)
    execution.start(call)
    wait = await asyncio.wait_for(disk.waits.get(), 30)
    execution.withdraw(call, Code.CANCELLED)
    await execution.aclose()
    assert wait.cancelled()
    assert codes(execution.seen) == [Code.CANCELLED]
    assert ran == []
