"""Artifacts of results: emitted to clients once, and not sent to the model."""

import asyncio
from dataclasses import replace

import pytest
from msgspec import UNSET
from signalbox.core.codes import Code
from signalbox.core.tools import Tool, ToolReturn

from tests.support.fakes import make_tool
from tests.unit.chat.calls.executions import execute, execution_of, named, results

pytestmark = pytest.mark.anyio

TABLE = {"surfaceId": "s1", "columns": [], "data": []}


def searching(gate: asyncio.Event | None = None, arrived: asyncio.Event | None = None) -> Tool:
    """Return a search tool with an artifact."""

    async def run(*_: object) -> ToolReturn:
        if gate is not None and arrived is not None:
            arrived.set()
            await gate.wait()
        return ToolReturn({"found": 3}, TABLE)  # type: ignore[arg-type]

    tool = make_tool("shop", run)
    return replace(tool, spec=replace(tool.spec, search_key=lambda _: "same"))


async def test_clients_get_it_and_the_model_does_not() -> None:
    """The event has both, the tool message only the result."""
    execution = execution_of([make_tool("shop", lambda *_: ToolReturn({"found": 3}, TABLE)), make_tool("plain")])  # type: ignore[arg-type]
    shown, plain = results(await execute(execution, named("shop"), named("plain")))
    assert (shown.artifact, plain.artifact) == (TABLE, UNSET)
    _, message = execution.calls[0].message()
    assert message is not None
    assert message.content == '{"found":3}'


async def test_a_reused_search_does_not_repeat_it() -> None:
    """Two tables with one surface id would be two elements with one id on a page."""
    first, second, third = results(await execute(execution_of([searching()]), *[named("shop")] * 3))
    assert [one.artifact for one in (first, second, third)] == [TABLE, UNSET, UNSET]
    assert [one.cached is True for one in (first, second, third)] == [False, True, True]


async def test_the_call_that_gets_the_result_has_it() -> None:
    """If the call that sent the search was withdrawn, the next equal call has the artifact."""
    gate, arrived = asyncio.Event(), asyncio.Event()
    execution = execution_of([searching(gate, arrived)])
    gone, stays = execution.announce([named("shop"), named("shop")], 1)
    execution.start(gone)
    execution.start(stays)
    await arrived.wait()
    execution.withdraw(gone, Code.SUPERSEDED)
    gate.set()
    await execution.wait_for_results()
    assert [one.artifact for one in results(execution.seen)] == [UNSET, TABLE]
