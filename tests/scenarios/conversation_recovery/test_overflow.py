"""A conversation longer than the context window is truncated for the request, up to five times, and stored in full."""

import json
from itertools import pairwise
from typing import Any

import pytest
from signalbox.chat.history.context_window import ELIDED, MAX_LEVEL
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import LoopName
from signalbox.core.messages import AssistantMessage, ToolMessage
from signalbox.intakes.v1 import messages_of
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.simulator.http.incoming import parse_request
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.rules import check, check_body

from tests.scenarios.conversation_recovery.chat import TOOLS, Chat
from tests.scenarios.conversation_recovery.conftest import EXTRA, MUCH
from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fakes import ScriptedClient, call
from tests.support.fakes import answer as said
from tests.support.fakes import calls as made
from tests.support.fixtures import StartApp
from tests.support.loop_runs import context_for, run
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import DONE, Exchange, Script, ScriptedUpstream, chunk
from tests.support.stream_reader import ParsedStream

LOOPS: tuple[LoopName, ...] = ("v2", "legacy")
ERROR = {
    "code": 400,
    "message": "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens.",
    "metadata": {"error_type": "context_length_exceeded"},
}
BIG = "Words of a page. " * 400
TELL = Called("tell_much", "{}")


async def overflows(exchange: Exchange) -> None:
    """Answer with a context-length error."""
    await exchange.whole(400, json.dumps({"error": ERROR}).encode())


def overflows_inside(said: str = "") -> Script:
    """Answer 200 with a context-length error in the body, after some text if streamed."""

    async def script(exchange: Exchange) -> None:
        if not exchange.asked.body["stream"]:
            await exchange.whole(200, json.dumps({"error": ERROR}).encode())
            return
        await exchange.head()
        if said:
            await exchange.send_text(said)
        await exchange.send(chunk({"content": ""}, finish="error", error=ERROR) + DONE)
        await exchange.raw(b"0\r\n\r\n")

    return script


def long_chat() -> list[dict[str, Any]]:
    """Return eight turns, each with a long and a short result, and a question."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}]
    for turn in range(8):
        ids = [f"call{turn}{at}" for at in (1, 2)]
        made = [{"id": i, "type": "function", "function": {"name": "tell_much", "arguments": "{}"}} for i in ids]
        results = [
            {"role": "tool", "tool_call_id": i, "content": said} for i, said in zip(ids, (BIG, "42"), strict=True)
        ]
        messages += [{"role": "user", "content": f"Question {turn}"}, {"role": "assistant", "tool_calls": made}]
        messages += [*results, {"role": "assistant", "content": f"Answer {turn}"}]
    return [*messages, {"role": "user", "content": "The open question"}]


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> LoopName:
    """Return the loop of this test."""
    return request.param


def play(start_app: StartApp, loop: LoopName, *scripts: Script) -> tuple[ParsedStream, ScriptedUpstream]:
    """Ask the last question of the long chat with these scripted responses."""
    app, upstream = start_app(*scripts, settings={"tool_loop_v2": loop == "v2"}, extra_tools=EXTRA)
    return app.ask(messages=long_chat(), tools=["tell_much"]), upstream


def sizes(upstream: ScriptedUpstream) -> list[int]:
    """Return the length of the messages of each request."""
    return [len(json.dumps(asked.body["messages"])) for asked in upstream.asked]


def assert_sound(upstream: ScriptedUpstream) -> None:
    """Check that every request is valid and keeps what it must, however much was truncated."""
    for asked in upstream.asked:
        body = asked.body
        check(parse_request(check_body(body)))
        assert body["messages"][0] == {"role": "system", "content": "Be kind."}
        assert {"role": "user", "content": "The open question"} in body["messages"]


@pytest.mark.parametrize("times", range(1, 6))
@pytest.mark.parametrize("how", [overflows, overflows_inside()], ids=["refused", "inside a 200"])
def test_a_request_that_overflows_is_asked_again_with_less(
    start_app: StartApp, loop: LoopName, times: int, how: Script
) -> None:
    """After one to five overflows the answer arrives: each request is shorter, and one warning is emitted."""
    answer, upstream = play(start_app, loop, *[how] * times, answers("Here it is."))
    assert (answer.done["status"], answer.text) == ("complete", "Here it is.")
    assert answer.warnings == ["CONTEXT_TRIMMED"]
    assert len(upstream.asked) == times + 1
    assert all(more > less for more, less in pairwise(sizes(upstream)))
    assert_sound(upstream)


def test_what_cannot_be_made_to_fit_is_told(start_app: StartApp, loop: LoopName) -> None:
    """A request that always overflows ends with its own error code."""
    answer, upstream = play(start_app, loop, overflows)
    assert (answer.done["status"], answer.done["code"]) == ("error", "CONTEXT_LENGTH_EXCEEDED")
    assert answer.warnings == ["CONTEXT_TRIMMED", "CONTEXT_LENGTH_EXCEEDED"]
    assert len(upstream.asked) == MAX_LEVEL  # without a tool loop there are no last results to shorten
    assert all(more > less for more, less in pairwise(sizes(upstream)))
    assert_sound(upstream)


@pytest.mark.parametrize("times", range(1, 6))
def test_a_tool_loop_that_overflows_goes_on(start_app: StartApp, loop: LoopName, times: int) -> None:
    """The second step of a run overflows up to five times; its own result is truncated last."""
    answer, upstream = play(start_app, loop, calls(TELL), *[overflows] * times, answers("Here it is."))
    assert (answer.done["status"], answer.text) == ("complete", "Here it is.")
    assert answer.warnings == ["CONTEXT_TRIMMED"]
    assert answer.result_codes() == [None]
    assert len(upstream.asked) == times + 2
    last = upstream.asked[-1].body["messages"][-1]
    assert last["role"] == "tool"
    assert (MUCH in last["content"]) is (times < 5)
    assert all(more > less for more, less in pairwise(sizes(upstream)[1:]))
    assert_sound(upstream)


def test_the_oldest_is_left_out_first(start_app: StartApp, loop: LoopName) -> None:
    """Old long results are cut first, then the newest of an earlier turn, then whole turns from the oldest on."""
    _, upstream = play(start_app, loop, *[overflows] * 5, answers("Here it is."))
    shown: list[tuple[int, int, int]] = []
    for asked in upstream.asked:
        run_in_turn = [message for message in asked.body["messages"] if message["role"] == "tool"]
        questions = sum(message["role"] == "user" for message in asked.body["messages"])
        shown.append(
            (
                questions,
                sum(BIG in one["content"] for one in run_in_turn),
                sum(one["content"] == ELIDED for one in run_in_turn),
            )
        )
        assert sum("\n42\n" in one["content"] for one in run_in_turn) == questions - 1
    assert shown == [(9, 8, 0), (9, 1, 7), (9, 0, 8), (5, 0, 4), (3, 0, 2), (1, 0, 0)]


def test_behind_visible_words_nothing_is_asked_again(start_app: StartApp) -> None:
    """An overflow after visible text ends the run, since a retry would repeat the text (F2)."""
    answer, upstream = play(start_app, "v2", overflows_inside("So far"), answers("never"))
    assert (answer.done["status"], answer.done["code"]) == ("error", "CONTEXT_LENGTH_EXCEEDED")
    assert (answer.text, len(upstream.asked)) == ("So far", 1)


def test_behind_a_call_that_ran_nothing_is_asked_again(start_app: StartApp) -> None:
    """An overflow after an eager call has started ends the run, and the call has a result."""
    at_work = Called("calculate", '{"expression": "1 + 1"}')
    app, upstream = start_app(called_then_overflows(at_work), answers("never"), extra_tools=EXTRA)
    answer = app.ask(messages=long_chat(), tools=["calculate", "tell_much"])
    assert (answer.done["status"], answer.done["code"]) == ("error", "CONTEXT_LENGTH_EXCEEDED")
    assert (len(answer.calls), len(upstream.asked)) == (1, 1)


def called_then_overflows(called: Called) -> Script:
    """Stream a complete call, then a context-length error."""

    async def script(exchange: Exchange) -> None:
        function = {"name": called.name, "arguments": called.arguments}
        await exchange.head()
        made = {"index": 0, "id": "call_1", "type": "function", "function": function}
        await exchange.send(chunk({"tool_calls": [made]}))
        await exchange.send(chunk({"content": ""}, finish="error", error=ERROR) + DONE)
        await exchange.raw(b"0\r\n\r\n")

    return script


@pytest.mark.parametrize("family", FAMILIES)
def test_a_chat_of_five_turns_that_each_overflow(app: RunningApp, simulator: BackgroundSimulator, family: str) -> None:
    """Each turn exceeds the context window in both steps, and is answered."""
    chat = Chat(app, simulator)
    model = f"{family}/sim-context-2000"
    for turn in range(5):
        simulator.state.requests.clear()
        loop = LOOPS[(turn + FAMILIES.index(family)) % 2]
        answer = chat.ask(model, "Use tell_much, please.", loop, tools=[*TOOLS, "tell_much"])
        assert answer.done["status"] == "complete", answer.done
        assert answer.warnings == ["CONTEXT_TRIMMED"]
        assert answer.result_codes() == [None]
        first, *_, last = simulator.state.requests
        whole = [message["content"] for message in first.body["messages"] if message["role"] == "tool"]
        assert [MUCH in content for content in whole] == [True] * turn  # the next turn sends everything again
        assert (last.status, {one.status for one in simulator.state.requests}) == (200, {200, 400})


def overflow() -> UpstreamError:
    """Return the error of an overflow."""
    return UpstreamError(Code.CONTEXT_LENGTH_EXCEEDED)


@pytest.mark.anyio
async def test_the_history_itself_is_untouched() -> None:
    """After overflows in two steps, the run still holds the full messages."""
    body = ChatRequest.model_validate({"model": "openai/sim", "messages": long_chat()})
    before = messages_of(body)
    context = context_for(EXTRA, messages=[*before])
    steps = [[overflow()], [overflow()], made(call(0, "tell_much", "{}")), [overflow()], [overflow()], said("Done.")]
    outcome = await run(ScriptedClient(*steps), EXTRA, context=context)
    assert (outcome.done.status, outcome.warnings) == ("complete", ["CONTEXT_TRIMMED"])
    assert context.messages[: len(before)] == before
    assert [type(message) for message in context.messages[len(before) :]] == [
        AssistantMessage,
        ToolMessage,
        AssistantMessage,
    ]
    assert MUCH.strip() in str(context.messages[-2])
