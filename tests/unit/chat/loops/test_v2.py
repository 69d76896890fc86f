"""The V2 loop with a scripted model: what is emitted when, when tools start, and what is sent back."""

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
    ReasoningDelta,
    TextDelta,
)
from signalbox.core.tools import ToolContext

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import Seen, run
from tests.support.loop_tools import assistants, eager, kinds, searching

pytestmark = pytest.mark.anyio


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
