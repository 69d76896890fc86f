"""The V2 loop with a scripted model: what is emitted when, when tools start, and what is sent back."""

import asyncio

import pytest
from msgspec import UNSET
from signalbox.chat.context import Limits
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.events import Reasoning
from signalbox.core.messages import (
    AssistantMessage,
    JsonObject,
    ReasoningDetail,
    ToolMessage,
)
from signalbox.core.parts import (
    CallDelta,
    Details,
    EndOfStream,
    ReasoningDelta,
    TextDelta,
)
from signalbox.core.tools import ToolContext
from signalbox.wire.finish_reasons import finish_of

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import Seen, run
from tests.support.loop_tools import assistants, eager, kinds, searching

pytestmark = pytest.mark.anyio


# --- text and reasoning leave at once ---


async def test_each_read_is_emitted_before_the_next_one() -> None:
    """Text and reasoning of a read are emitted before the upstream is read again."""
    seen = Seen()
    left: list[list[str]] = []

    async def look() -> None:
        left.append(seen.kinds)

    script = [
        [SERVED],
        [ReasoningDelta("Hm")],
        look,
        [TextDelta("a"), TextDelta("b")],
        look,
        [TextDelta("c")],
        look,
        ending(),
    ]
    outcome = await run(ScriptedClient(script), seen=seen)
    assert left == [["Reasoning"], ["Reasoning", "Content", "Content"], ["Reasoning", "Content", "Content", "Content"]]
    assert (outcome.text, outcome.reasoning) == ("abc", "Hm")


async def test_a_run_without_tools() -> None:
    """Reasoning, text, usage: one model call, one done (PS-06)."""
    client = ScriptedClient([[SERVED], [ReasoningDelta("Hm")], [TextDelta("Hi")], ending(cost=0.5)])
    outcome = await run(client)
    assert kinds(outcome.events) == ["Reasoning", "Content", "Done"]
    done = outcome.done
    assert (done.status, done.steps, done.cost, done.model, done.provider) == (
        "complete",
        1,
        0.5,
        "openai/sim",
        "OpenAI",
    )
    assert done.code is UNSET
    assert client.closed == 1


async def test_text_of_several_steps_is_separated() -> None:
    """Text before a call stays in the answer and the history; later text starts a paragraph (D6)."""
    first = [[SERVED], [TextDelta("Let me "), TextDelta("look.")], [call(0, "f", "{}")], ending("tool_calls")]
    client = ScriptedClient(first, answer("Found", " it."))
    outcome = await run(client, [make_tool("f")])
    assert outcome.text == "Let me look.\n\nFound it."
    assert [m.content for m in assistants(outcome)] == ["Let me look.", "Found it."]
    sent = client.requests[1].messages[1]
    assert isinstance(sent, AssistantMessage)
    assert sent.content == "Let me look."


async def test_the_first_text_has_no_break() -> None:
    """The first text of a run never begins with a break, in any step."""
    outcome = await run(ScriptedClient(calls(call(0, "f", "{}")), answer("Hi")), [make_tool("f")])
    assert outcome.text == "Hi"


async def test_reasoning_names_its_step() -> None:
    """The reasoning of each step is emitted, including the finalize's (PS-13)."""
    last = [[SERVED], [ReasoningDelta("last")], [TextDelta("Hi")], ending()]
    outcome = await run(
        ScriptedClient(calls(call(0, "f", "{}")), calls(call(0, "f", "{}")), last),
        [make_tool("f")],
        limits=Limits(max_steps=3),
    )
    told = [(e.step, e.content) for e in outcome.events if isinstance(e, Reasoning)]
    assert told == [(1, "I need a tool."), (2, "I need a tool."), (3, "last")]


# --- when tools start ---


async def test_an_eager_call_runs_and_answers_while_the_model_streams() -> None:
    """The call starts when its arguments are complete, and its result is emitted before the stream ends."""
    seen = Seen()
    started, left = asyncio.Event(), []

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        started.set()
        return "done"

    async def until_answered() -> None:
        await asyncio.wait_for(started.wait(), 5)
        await seen.until("ToolResult")
        left.append(seen.kinds)

    script = [
        [SERVED],
        [CallDelta(0, "c", "f", '{"a"')],
        [CallDelta(0, None, None, ":1}")],
        until_answered,
        ending("tool_calls"),
    ]
    outcome = await run(ScriptedClient(script, answer("Hi")), [eager("f", work)], seen=seen)
    assert left == [["ToolCalls", "ToolExecuting", "ToolResult"]]
    assert outcome.codes() == [None]
    assert outcome.announced == outcome.executed


async def test_text_continues_while_an_eager_call_runs() -> None:
    """A slow tool does not delay the model's text; its result follows when it is ready."""
    gate = asyncio.Event()

    async def slow(arguments: JsonObject, context: ToolContext) -> str:
        await gate.wait()
        return "done"

    async def open_gate() -> None:
        gate.set()

    script = [[SERVED], [call(0, "f", "{}")], [TextDelta("still talking")], open_gate, ending("tool_calls")]
    outcome = await run(ScriptedClient(script, answer("Hi")), [eager("f", slow)])
    order = kinds(outcome.events)
    assert order.index("Content") < order.index("ToolResult")


@pytest.mark.parametrize("is_eager", [True, False])
async def test_incomplete_arguments_start_no_eager_call(is_eager: bool) -> None:
    """Arguments that are incomplete, or rejected by the schema, wait for the end of the step."""
    seen = Seen()
    ran: list[JsonObject] = []
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    tool = make_tool("f", lambda arguments, context: ran.append(arguments), eager=is_eager, parameters=schema)

    async def nothing_yet() -> None:
        assert not seen
        assert not ran

    script = [
        [SERVED],
        [call(0, "f", "{}"), call(1, "f", '{"a":'), call(2, "f", "")],
        nothing_yet,
        ending("tool_calls"),
    ]
    outcome = await run(ScriptedClient(script, answer("Hi")), [tool], seen=seen)
    assert outcome.codes() == [Code.STEP_FAILED, Code.ARGUMENTS_CUT, Code.STEP_FAILED]
    assert not ran


async def test_a_side_effecting_call_waits_for_a_successful_end() -> None:
    """A tool with side effects starts only after its step has ended successfully."""
    seen = Seen()

    async def nothing_yet() -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        assert "ToolCalls" not in seen.kinds

    script = [[SERVED], [call(0, "f", "{}")], nothing_yet, [finish_of("tool_calls")], nothing_yet, [EndOfStream()]]
    outcome = await run(ScriptedClient(script, answer("Hi")), [make_tool("f")], seen=seen)
    assert outcome.codes() == [None]


async def test_a_call_that_grows_after_it_started_is_superseded() -> None:
    """The first id gets SUPERSEDED; the final call is announced under a new id, and only it enters the history."""
    gate = asyncio.Event()
    ran: list[JsonObject] = []

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        ran.append(arguments)
        if not arguments:
            await gate.wait()
        return "done"

    script = [[SERVED], [CallDelta(0, "c", "f", "{}")], [CallDelta(0, None, None, '{"a":1}')], ending("tool_calls")]
    client = ScriptedClient(script, answer("Hi"))
    outcome = await run(client, [eager("f", work)])
    first, second = outcome.announced
    assert {r.id: getattr(r.result, "code", None) for r in outcome.results} == {first: Code.SUPERSEDED, second: None}
    assert ran[-1] == {"a": 1}
    [said] = [m for m in client.requests[1].messages if isinstance(m, AssistantMessage)]
    assert [(c.id, c.arguments) for c in said.calls] == [("c", {"a": 1})]
    assert [m.call_id for m in client.requests[1].messages if isinstance(m, ToolMessage)] == ["c"]


async def test_a_call_that_grows_after_its_result() -> None:
    """An emitted result stays; the final call runs under a new id, and the model sees only that."""
    seen = Seen()

    async def until_answered() -> None:
        await seen.until("ToolResult")

    script = [
        [SERVED],
        [CallDelta(0, "c", "f", "{}")],
        until_answered,
        [CallDelta(0, None, None, '{"a":1}')],
        ending("tool_calls"),
    ]
    client = ScriptedClient(script, answer("Hi"))
    outcome = await run(client, [eager("f")], seen=seen)
    assert outcome.codes() == [None, None]
    assert len(set(outcome.announced)) == 2
    [result] = [m for m in client.requests[1].messages if isinstance(m, ToolMessage)]
    assert '{"echo":{"a":1}}' in result.content.split("\n")


async def test_a_repeated_eager_call_runs_once() -> None:
    """White space or an equal copy after the arguments changes nothing (A6)."""
    for tail in (" \n", '{"a":1}'):
        ran: list[JsonObject] = []
        tool = eager("f", lambda arguments, context, ran=ran: ran.append(arguments))
        script = [[SERVED], [CallDelta(0, "c", "f", '{"a":1}')], [CallDelta(0, None, None, tail)], ending("tool_calls")]
        outcome = await run(ScriptedClient(script, answer("Hi")), [tool])
        assert ran == [{"a": 1}]
        assert outcome.codes() == [None]


async def test_concatenated_calls_each_run() -> None:
    """Two objects in one call are two calls, announced separately; one of them may have started early (A6)."""
    for is_eager in (True, False):
        ran: list[JsonObject] = []
        tool = make_tool("f", lambda arguments, context, ran=ran: ran.append(arguments), eager=is_eager)
        script = [
            [SERVED],
            [CallDelta(0, "c", "f", '{"a":1}')],
            [CallDelta(0, None, None, '{"a":2}')],
            ending("tool_calls"),
        ]
        outcome = await run(ScriptedClient(script, answer("Hi")), [tool])
        assert ran == [{"a": 1}, {"a": 2}]
        assert outcome.codes() == [None, None]
        assert [c.arguments for c in assistants(outcome)[0].calls] == [{"a": 1}, {"a": 2}]


# --- many calls, many steps ---


async def test_ten_parallel_calls() -> None:
    """Ten calls of one step all run, get results, and are sent back in order (PS-08, 1.0)."""
    ran: list[object] = []
    tool = eager("f", lambda arguments, context: ran.append(arguments["n"]))
    client = ScriptedClient(calls(*(call(n, "f", f'{{"n":{n}}}') for n in range(10))), answer("Hi"))
    outcome = await run(client, [tool])
    assert sorted(ran) == list(range(10))  # type: ignore[type-var]
    assert len(outcome.results) == 10
    [said] = [m for m in client.requests[1].messages if isinstance(m, AssistantMessage)]
    assert [c.arguments["n"] for c in said.calls] == list(range(10))
    sent = [m.call_id for m in client.requests[1].messages if isinstance(m, ToolMessage)]
    assert sent == [c.id for c in said.calls] == [f"call_{n}" for n in range(10)]


async def test_many_steps() -> None:
    """After seven steps of calls and an answer, every request has contained everything before it (1.0)."""
    client = ScriptedClient(*(calls(call(0, "f", f'{{"n":{n}}}', f"id{n}")) for n in range(7)), answer("Hi"))
    outcome = await run(client, [make_tool("f")])
    assert outcome.done.steps == 8
    assert [len(r.messages) for r in client.requests[:-1]] == [1 + 2 * n for n in range(7)]
    last = [c.id for m in client.requests[-1].messages if isinstance(m, AssistantMessage) for c in m.calls]
    assert last == [f"id{n}" for n in range(7)]


@pytest.mark.parametrize("arguments", ["", "null", "{}", " "])
@pytest.mark.parametrize("is_eager", [True, False])
async def test_a_call_without_arguments(arguments: str, is_eager: bool) -> None:
    """A tool without required arguments runs with "", null or {} (A9, 1.0)."""
    ran: list[JsonObject] = []
    tool = make_tool("now", lambda arguments, context: ran.append(arguments), eager=is_eager)
    outcome = await run(ScriptedClient(calls(call(0, "now", arguments)), answer("Hi")), [tool])
    assert ran == [{}]
    assert outcome.codes() == [None]


async def test_missing_arguments_are_named() -> None:
    """A tool with required arguments gets no default ones: the model gets their names (A9)."""
    _, tool = searching()
    outcome = await run(ScriptedClient(calls(call(0, "search_web", "")), answer("Hi")), [tool])
    assert outcome.codes() == [Code.INVALID_ARGUMENTS]
    assert "query" in outcome.results[0].result.error


@pytest.mark.parametrize(
    ("reason", "native"),
    [
        ("stop", None),
        ("function_call", None),
        ("tool_calls", "STOP"),
        ("STOP", None),
        ("", "completed"),
        (None, "eos"),
        (None, None),
    ],
)
async def test_calls_run_after_any_successful_finish_reason(reason: str | None, native: str | None) -> None:
    """Calls run after any successful finish reason, or after `[DONE]` alone (A12)."""
    script = [[SERVED], [call(0, "f", "{}")], ending(reason, native=native)]
    outcome = await run(ScriptedClient(script, answer("Hi")), [make_tool("f")])
    assert outcome.codes() == [None]


async def test_tool_calls_without_calls_is_an_answer() -> None:
    """The finish reason `tool_calls` without a call starts nothing (A12)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Hi")], ending("tool_calls")]), [make_tool("f")])
    assert (outcome.text, outcome.done.status, outcome.done.steps) == ("Hi", "complete", 1)


async def test_upstream_ids_and_details_are_sent_back_unchanged() -> None:
    """In the tool loop the provider gets its own ids and reasoning; clients see Signalbox's ids (B1, A15)."""
    raw = {"type": "reasoning.encrypted", "data": "x", "id": "tool_0_f_abc", "index": 0}
    script = [[SERVED], [call(0, "f", "{}", "tool_0_f_abc")], [Details((ReasoningDetail(raw),)), *ending("tool_calls")]]
    client = ScriptedClient(script, answer("Hi"))
    outcome = await run(client, [make_tool("f")])
    [said] = [m for m in client.requests[1].messages if isinstance(m, AssistantMessage)]
    assert [c.id for c in said.calls] == ["tool_0_f_abc"]
    assert [d.raw for d in said.reasoning_details] == [raw]
    assert outcome.announced != ["tool_0_f_abc"]


async def test_unknown_calls_do_not_end_the_run() -> None:
    """A call of an unknown tool gets an error result, and the run continues (A14)."""
    outcome = await run(ScriptedClient(calls(call(0, "invented", "{}")), answer("Hi")), [make_tool("f")])
    assert outcome.codes() == [Code.UNKNOWN_TOOL]
    assert outcome.done.status == "complete"


@pytest.mark.parametrize(
    "error", [ToolError(Code.RATE_LIMIT, "slow"), ValueError("secret"), ZeroDivisionError(), KeyError("k")]
)
async def test_no_tool_ends_the_run(error: Exception) -> None:
    """Any exception of a tool becomes a result, without its text unless it is a ToolError (PS-23)."""

    def fail(arguments: JsonObject, context: ToolContext) -> None:
        raise error

    outcome = await run(ScriptedClient(calls(call(0, "f", "{}")), answer("Hi")), [make_tool("f", fail)])
    assert outcome.codes() == [Code.RATE_LIMIT if isinstance(error, ToolError) else Code.TOOL_FAILED]
    assert "secret" not in str(outcome.events)
    assert outcome.done.status == "complete"
