"""Tools that start while the reply streams, and what a request then holds (TR-16)."""

import threading

import pytest
from signalbox import Runner, tool

from tests.scenarios.runner.model import answers, model_that
from tests.support.scripted_upstream import DONE, Exchange, call_chunk, chunk

pytestmark = pytest.mark.anyio


async def test_tr_16_a_tool_that_only_reads_starts_while_the_reply_streams() -> None:
    """The model goes on only after the tool has begun; the call runs once, and the next request has all messages."""
    begun = threading.Event()
    looked_at: list[str] = []

    @tool(eager=True, side_effects=False)
    def look(at: str) -> str:
        """Look at something."""
        looked_at.append(at)
        begun.set()
        return "A lamp."

    async def pauses(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk("look", '{"at": "desk"}', call_id="call_0"))
        await exchange.gate_opened()
        await exchange.send(chunk({}, finish="tool_calls") + DONE)

    with model_that(pauses, answers("There is a lamp.")) as model:
        model.server.opened = begun
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[look])
        async for step in run:
            if step.calls:
                assert begun.is_set()
                assert [result.value for result in await step.results()] == ["A lamp."]
        assert (await run.answer()).text == "There is a lamp."
    assert looked_at == ["desk"]
    assert model.roles(2) == ["user", "assistant", "tool"]
