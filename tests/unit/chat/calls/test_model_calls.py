"""Model calls of tools: attempts of the run, which count for its usage, cost and cost limit."""

import asyncio
from collections.abc import Sequence

import pytest
from signalbox.chat.budget import IMAGE_TOKENS, Budget
from signalbox.chat.calls.model_calls import RecordedModelCalls
from signalbox.chat.loops.progress import Progress
from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError, UpstreamError
from signalbox.core.messages import JsonObject, JsonValue, UserMessage
from signalbox.core.params import Params
from signalbox.core.parts import Completion, EndOfStream, Fault, ImageDelta, Request, StreamPart, Usage
from signalbox.core.ports import Destination
from signalbox.core.tools import ToolContext
from signalbox.wire.finish_reasons import finish_of

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, make_tool
from tests.support.loop_runs import context_for, run

ASK = Request("google/image", (UserMessage("A red fox"),), params=Params(modalities=("image", "text")))
PRICES = Prices(0.001, 0.01)
ESTIMATE = 2 * PRICES.prompt + IMAGE_TOKENS * PRICES.completion
UNREPORTED: list[list[StreamPart]] = [
    [SERVED, ImageDelta("https://a.example/x.png")],
    [finish_of("stop", None), EndOfStream()],
]


class ScriptedRoute(ScriptedClient):
    """A route to one upstream that answers with scripts."""

    def __init__(self, *scripts: Sequence[object], prices: Prices | None = PRICES) -> None:
        super().__init__(*scripts)
        self.current = Destination("pictures", prices=prices)
        self.recorded: list[Code | None] = []

    def record(self, error: UpstreamError | None) -> None:
        self.recorded.append(error.code if error else None)

    def skip_failing(self) -> list[str]:
        return []

    def fall_back(self) -> bool:
        return False

    def release(self) -> None:
        return


def recorder(limit: float | None = None) -> tuple[RecordedModelCalls, Progress]:
    """Return the model calls of a run whose loop has made one attempt for 0.001."""
    progress = Progress(clock=lambda: 0.0)
    progress.begin_attempt(Request("openai/sim", ()), 1, final=False)
    progress.finish_attempt(Completion(usage=Usage(10, 5, cost=0.001)), None)
    return RecordedModelCalls(progress, None if limit is None else Budget(limit, Prices(1.0, 1.0))), progress


@pytest.mark.anyio
async def test_a_call_is_an_attempt_of_the_run() -> None:
    """Its usage is added; the model and upstream that the run reports stay."""
    made, progress = recorder()
    route = ScriptedRoute(answer("Hello", cost=0.02))
    completion = await made.complete("call-1", route, ASK)
    assert completion.content == "Hello"
    assert [one.tool_call for one in progress.attempts[1:]] == ["call-1"]
    assert progress.attempts[1].upstream == "pictures"
    assert progress.usage == Usage(20, 10, cost=0.021)
    assert (progress.upstream, progress.served, progress.is_estimate) == (progress.attempts[0].upstream, None, False)
    assert route.recorded == [None]


@pytest.mark.anyio
@pytest.mark.parametrize("prices", [PRICES, None])
async def test_unreported_tokens_are_estimated(prices: Prices | None) -> None:
    """Without a price, the cost stays unknown."""
    made, progress = recorder()
    completion = await made.complete("call-1", ScriptedRoute(UNREPORTED, prices=prices), ASK)
    assert len(completion.images) == 1
    assert progress.usage is not None
    assert progress.usage.cost == pytest.approx(0.001 + (ESTIMATE if prices else 0))
    assert progress.is_estimate


@pytest.mark.anyio
async def test_the_cost_limit_rejects_a_call() -> None:
    """Open calls count with their estimates, so that calls that overlap do not exceed the limit together."""
    made, progress = recorder(limit=0.001 + ESTIMATE * 1.5)
    gate = asyncio.Event()
    route = ScriptedRoute([gate.wait, *UNREPORTED], UNREPORTED)
    first = asyncio.create_task(made.complete("call-1", route, ASK))
    await asyncio.sleep(0)
    with pytest.raises(ToolError) as rejected:
        await made.complete("call-2", route, ASK)
    assert rejected.value.code is Code.BUDGET_REACHED
    gate.set()
    await first
    assert len(route.requests) == 1
    assert len(progress.attempts) == 2


@pytest.mark.anyio
async def test_a_used_up_budget_is_named_as_such() -> None:
    """It is not the run's own limit, which the user could raise."""
    made, _ = recorder(limit=9.0)
    assert made.budget is not None
    made.budget.reserved = ESTIMATE / 2
    with pytest.raises(ToolError, match="budget of the token or its group") as rejected:
        await made.complete("call-1", ScriptedRoute(UNREPORTED), ASK)
    assert rejected.value.code is Code.BUDGET_EXHAUSTED


@pytest.mark.anyio
async def test_a_failed_call_is_recorded() -> None:
    """Its error is in the trace, the tool gets it, and the circuit breaker counts it."""
    made, progress = recorder()
    route = ScriptedRoute([[Fault(UpstreamError(Code.RATE_LIMIT))]])
    with pytest.raises(UpstreamError):
        await made.complete("call-1", route, ASK, 2)
    assert (progress.attempts[1].code, progress.attempts[1].number) == ("RATE_LIMIT", 2)
    assert route.recorded == [Code.RATE_LIMIT]


@pytest.mark.anyio
async def test_a_cancelled_call_counts_with_its_estimate() -> None:
    """The upstream may bill it, so later model calls have less left; `done` says that its cost is an estimate."""
    made, progress = recorder(limit=0.001 + ESTIMATE * 1.5)
    started = asyncio.Event()

    async def stalls() -> None:
        started.set()
        await asyncio.Event().wait()

    route = ScriptedRoute([[SERVED], stalls])
    task = asyncio.create_task(made.complete("call-1", route, ASK))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert route.closed == 1
    assert progress.attempts[1].ended is not None
    assert progress.is_estimate
    with pytest.raises(ToolError):
        await made.complete("call-2", route, ASK)


@pytest.mark.anyio
async def test_a_tool_of_the_loop_calls_a_model() -> None:
    """The cost of both is in `done`, and the attempt names the call."""
    route = ScriptedRoute(answer("drawn", cost=0.5))

    async def draw(_: JsonObject, context: ToolContext) -> JsonValue:
        assert context.model_calls is not None
        completion = await context.model_calls.complete(context.call_id, route, ASK)
        return completion.content

    tool = make_tool("draw", draw)
    client = ScriptedClient(calls(call(0, "draw", "{}")), answer("Done."))
    outcome = await run(client, [tool], context=context_for([tool]))
    assert outcome.done.cost == pytest.approx(0.502)
    assert outcome.done.steps == 2
    assert outcome.done.model == SERVED.model
    assert [one.tool_call or None for one in outcome.progress.attempts] == [None, outcome.announced[0], None]
