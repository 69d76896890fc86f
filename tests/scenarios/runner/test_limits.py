"""Where a run ends: iteration, limits, stop reasons, cut calls, leaving the loop (TR-01, TR-09 to TR-15)."""

import asyncio

import pytest
from signalbox import Code, Content, Done, RunError, Runner, Step, ToolContext, ToolError, UsageError, system, user
from signalbox.core.messages import JsonObject

from tests.scenarios.runner.model import answers, calls, model_that
from tests.scenarios.runner.test_messages import LOOK, Counter
from tests.support.fakes import make_tool
from tests.support.scripted_upstream import holds, waits

pytestmark = pytest.mark.anyio


async def test_tr_01_a_second_iteration_is_a_clear_error() -> None:
    """A run that was iterated over, in either way, says what to do instead of yielding nothing."""
    with model_that(answers("Four.")) as model:
        run = Runner(model.upstream, "openai/sim", "2 + 2?")
        assert [step.text async for step in run] == ["Four."]
        for again in (run.__aiter__, run.events):
            with pytest.raises(UsageError, match="iterated over only once: make a new Runner"):
                again()
        assert (await run.answer()).text == "Four."
    assert len(model.requests) == 1


async def test_tr_01_events_arrive_while_they_stream_and_steps_between_them() -> None:
    """The first text is there while the model still writes; the step follows its text, and `Done` is last."""
    with model_that(waits) as model:
        async with Runner(model.upstream, "openai/sim", "Say two words.") as run:
            kinds: list[str] = []
            async for event in run.events():
                if isinstance(event, Content) and not kinds:
                    assert event.content == "First "
                    model.server.opened.set()
                kinds.append(type(event).__name__)
    assert kinds == ["Content", "Content", "Step", "Done"]


async def test_tr_09_calls_of_a_step_overlap_up_to_the_cap() -> None:
    """Four calls under a cap of two: two run at once, never three."""
    running = most = 0
    pairs = asyncio.Barrier(2)

    async def work(_: JsonObject, __: ToolContext) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await pairs.wait()
        running -= 1
        return "ok"

    tool = make_tool("wait", work)
    with model_that(calls(*[("wait", {"n": n}) for n in range(4)]), answers("Done.")) as model:
        await Runner(model.upstream, "openai/sim", "Wait.", tools=[tool], tools_at_once=2).answer()
    assert most == 2


async def test_tr_10_errors_are_safe_and_say_what_to_do() -> None:
    """The model is told of an unknown tool, a wrong argument by name, a ToolError; nothing of other exceptions."""

    def work(arguments: JsonObject, _: ToolContext) -> None:
        if arguments["count"] == 1:
            raise ValueError("secret path /srv/keys")
        raise ToolError(Code.TOOL_FAILED, "Only 5 are in stock.")

    schema: JsonObject = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    tool = make_tool("buy", work, parameters=schema)
    made = [("sell", {}), ("buy", {"count": "x"}), ("buy", {"count": 1}), ("buy", {"count": 2})]
    with model_that(calls(*made), answers("Done.")) as model:
        await Runner(model.upstream, "openai/sim", "Buy.", tools=[tool]).answer()
    unknown, wrong, broken, refused = (str(result) for result in model.results(2))
    assert "There is no tool 'sell'. The tools are: buy." in unknown
    assert 'count: expected an integer, got the string "x"' in wrong
    assert "buy failed" in broken
    assert "secret" not in broken
    assert "Only 5 are in stock." in refused


async def test_tr_11_no_tool_runs_whose_result_cannot_be_delivered() -> None:
    """The last step that `max_steps` allows is asked to answer: it may call no tool, and a call in it does not run."""
    counter = Counter()
    with model_that(calls(LOOK), calls(LOOK, text="I looked.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool], max_steps=2)
        async for step in run:
            if step.final:
                with pytest.raises(UsageError, match="the last step that max_steps allows"):
                    run.append(user("More."))
        assert (await run.answer()).text == "I looked."
    assert model.requests[1]["tool_choice"] == "none"
    assert (counter.ran, len(model.requests)) == (1, 2)


async def test_tr_11_there_is_a_limit_by_default() -> None:
    """A model that calls tools for ever is asked eight times at most, and then has to answer."""
    counter = Counter()
    with model_that(*[calls(("look", {"n": n})) for n in range(7)], answers("Enough.")) as model:
        answer = await Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool]).answer()
    assert (answer.text, answer.steps, counter.ran) == ("Enough.", 8, 7)


@pytest.mark.parametrize(("finish", "status"), [("content_filter", "content_filter"), ("pause", "interrupted")])
async def test_tr_12_only_a_finished_turn_runs_its_tools(finish: str, status: str) -> None:
    """After a refusal, or a stop reason that is not known, no tool runs, and the run says how it ended."""
    counter = Counter()
    with model_that(calls(LOOK, text="So", finish=finish)) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        with pytest.raises(RunError) as failed:
            await run.answer()
    assert (failed.value.answer.status, counter.ran, len(model.requests)) == (status, 0, 1)


async def test_tr_13_a_cut_call_does_not_run_and_the_model_is_told() -> None:
    """A step shows why its call cannot run; the caller cannot make it run either."""
    counter = Counter()
    with model_that(calls(("look", '{"path": "/et'), finish="length"), answers("Sorry.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            for call in step.calls:
                assert "cut off" in (call.rejected or "")
                with pytest.raises(UsageError, match="cannot be edited"):
                    step.edit(call, {})
    assert "cut off" in str(model.results(2)[0])
    assert counter.ran == 0


async def test_tr_14_a_summary_keeps_open_calls_answered() -> None:
    """The request for it has the system message, the tools and every result; the summary then replaces them all."""
    counter = Counter()
    with model_that(calls(LOOK), answers("They asked to look. Seen: 1."), answers("I saw one.")) as model:
        messages = [system("Be brief."), user("Look.")]
        run = Runner(model.upstream, "openai/sim", messages, tools=[counter.tool], compact_at=15)
        events = [event async for event in run.events()]
    assert model.roles(2) == ["system", "user", "assistant", "tool", "user"]
    assert [tool["function"]["name"] for tool in model.requests[1]["tools"]] == ["look"]
    assert model.requests[1]["tool_choice"] == "none"
    assert model.roles(3) == ["system", "user"]
    assert "They asked to look. Seen: 1." in model.requests[2]["messages"][1]["content"]
    assert "".join(event.content for event in events if isinstance(event, Content)) == "I saw one."
    assert (counter.ran, run.usage and run.usage.input) == (1, 30)


async def test_tr_15_leaving_the_loop_closes_the_request() -> None:
    """Breaking out of the events while the model writes closes its socket; the answer says that the run was stopped."""
    with model_that(holds) as model:
        async with Runner(model.upstream, "openai/sim", "Hold.") as run:
            async for event in run.events():
                if isinstance(event, Content):
                    break
        assert model.server.wait_until(lambda: bool(model.server.left))
        answer = await run.answer()
    assert (answer.status, answer.text) == ("cancelled", "So far")


async def test_tr_15_a_cancelled_caller_closes_the_request() -> None:
    """Cancelling the task that awaits the answer does the same."""
    with model_that(holds) as model:
        run = Runner(model.upstream, "openai/sim", "Hold.")
        waiting = asyncio.create_task(run.answer())
        assert await asyncio.to_thread(model.server.wait_until, lambda: bool(model.server.asked))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await asyncio.to_thread(model.server.wait_until, lambda: bool(model.server.left))


async def test_a_stopped_run_answers_its_open_calls() -> None:
    """`stop` between a reply and its tools: they do not run, each call has a result, and no request follows."""
    counter = Counter()
    with model_that(calls(LOOK)) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            run.stop()
            assert [one.code for one in await step.results()] == ["CANCELLED"]
        assert (await run.answer()).status == "cancelled"
    assert [type(message).__name__ for message in run.messages] == ["UserMessage", "AssistantMessage", "ToolMessage"]
    assert (counter.ran, len(model.requests)) == (0, 1)


async def test_a_tool_that_runs_is_stopped_with_the_run() -> None:
    """`stop` while a tool runs cancels it; its call has a result, in the events and in the conversation."""
    stopped = asyncio.Event()

    async def work(_: JsonObject, __: ToolContext) -> None:
        try:
            run.stop()
            await asyncio.Event().wait()
        finally:
            stopped.set()

    with model_that(calls(LOOK)) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[make_tool("look", work)])
        events = [event async for event in run.events()]
    assert stopped.is_set()
    assert [type(event).__name__ for event in events] == ["Step", "ToolCalls", "ToolExecuting", "ToolResult", "Done"]
    assert [type(message).__name__ for message in run.messages][1:] == ["AssistantMessage", "ToolMessage"]


async def test_a_run_that_fails_raises_and_keeps_what_was_said() -> None:
    """Steps and answer raise RunError with the code and the text so far; events end with a `Done` that says it."""

    async def cut(exchange: object) -> None:
        await exchange.head()  # type: ignore[attr-defined]
        await exchange.send_text("So f")  # type: ignore[attr-defined]
        raise ConnectionError

    with model_that(cut) as model:
        with pytest.raises(RunError, match="broke off") as failed:
            _ = [step async for step in Runner(model.upstream, "openai/sim", "Hi.")]
        assert (failed.value.code, failed.value.answer.text) == (Code.STREAM_CUT, "So f")
    with model_that() as model:
        events = [event async for event in Runner(model.upstream, "openai/sim", "Hi.").events()]
        assert isinstance(events[-1], Done)
        assert not any(isinstance(event, Step) for event in events)
        assert events[-1].status == "error"


async def test_a_run_that_was_stopped_before_it_began_is_cancelled() -> None:
    """The answer says so, an iteration has no steps, and events have only `Done`; no request is sent."""
    with model_that() as model:
        stopped = [Runner(model.upstream, "openai/sim", "Hi.") for _ in range(3)]
        for run in stopped:
            run.stop()
        asked, iterated, watched = stopped
        answer = await asked.answer()
        assert (answer.status, answer.text, answer.steps) == ("cancelled", "", 0)
        assert isinstance(answer.cost, float)
        assert [step async for step in iterated] == []
        events = [event async for event in watched.events()]
        assert [(type(event), event.status) for event in events if isinstance(event, Done)] == [(Done, "cancelled")]
        assert len(events) == 1
        assert {(await run.answer()).status for run in stopped} == {"cancelled"}
        assert not model.server.asked


async def test_the_last_step_may_be_asked_for_once_more() -> None:
    """A model that calls a tool instead of answering is asked again, once: a request more than `max_steps`."""
    counter = Counter()
    for last, words in ((answers("I looked."), "I looked."), (calls(LOOK), "The model gave no answer")):
        with model_that(calls(LOOK), calls(LOOK), last) as model:
            run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool], max_steps=2)
            answer = await run.answer()
            assert answer.text.startswith(words)
            assert (answer.steps, len(model.requests)) == (3, 3)
            assert [request["tool_choice"] for request in model.requests[1:]] == ["none", "none"]
    assert counter.ran == 2


@pytest.mark.parametrize("finishes", [("length", "stop"), ("stop", "length")])
async def test_no_run_has_more_than_two_steps_too_many(finishes: tuple[str, str]) -> None:
    """One for an empty last step, one for a last step whose reasoning used up the token limit, in either order."""
    empty = [answers("", finish=finish) for finish in finishes]
    with model_that(calls(LOOK), *empty, answers("I looked.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[Counter().tool], max_steps=2)
        answer = await run.answer()
        assert (answer.text, answer.steps, len(model.requests)) == ("I looked.", 4, 4)
