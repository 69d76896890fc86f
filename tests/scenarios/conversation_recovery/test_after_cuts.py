"""After a run that ended badly, the next question to another family completes, over HTTP and for every family."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from signalbox.core.events import LoopName
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.conversation_recovery.chat import Chat
from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.scenarios.tool_loop.script import Called, calls
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import Exchange
from tests.support.stream_reader import ParsedStream

LOOPS: tuple[LoopName, ...] = ("v2", "legacy")
TALK = "How do tool calls stream, and what is 17 * 23?"
THINK = {"effort": "medium"}
# How a run ends: the request, and the statuses that its `done` may have.
ENDS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "sim-cut": ({}, {"interrupted"}),
    "sim-cut-tool": ({}, {"interrupted", "complete"}),
    "sim-cut-500": ({}, {"interrupted"}),
    "sim-cut-1500": ({}, {"interrupted", "complete"}),
    "sim-cut-3000": ({}, {"interrupted", "complete"}),
    "sim-eof": ({}, {"interrupted"}),
    "sim-midstream-error": ({}, {"error"}),
    "sim-searches-12": ({"max_searches": 3}, {"complete"}),
    "sim-length-tool": ({}, {"complete"}),
    "sim-length-empty": ({}, {"length"}),
    "sim-empty": ({}, {"error"}),
    "sim-refusal": ({}, {"content_filter"}),
    "sim-stubborn": ({"max_steps": 2}, {"complete", "error"}),
    "sim-silent-finalize": ({"max_steps": 3}, {"complete"}),
    "sim-error-500": ({}, {"error"}),
}


@pytest.fixture(scope="module")
def impatient(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run an app with a short idle timeout."""
    settings = settings_for(
        tmp_path_factory.mktemp("impatient"),
        openrouter_base_url=simulator.base_url,
        openrouter_timeout=0.1,
        signalbox_allow_loop_header=True,
    )
    with RunningApp(settings) as running:
        yield running


def over_and_on(chat: Chat, shift: int, ends: Callable[[str], ParsedStream]) -> list[ParsedStream]:
    """In one chat, run each family to this ending, each followed by a question to another family."""
    ended: list[ParsedStream] = []
    for at, family in enumerate(FAMILIES):
        ended.append(ends(family))
        other = FAMILIES[(at + shift) % len(FAMILIES)]
        chat.ask_successfully(f"{other}/sim", "And what is 4 + 4?", LOOPS[(at + shift) % 2], reasoning=THINK)
    assert chat.turns == len(FAMILIES)
    return ended


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.usefixtures("no_waiting")
def test_a_chat_goes_on_behind_any_end(
    app: RunningApp, simulator: BackgroundSimulator, end: str, loop: LoopName
) -> None:
    """After a cut, clamp, full context, refusal, silence or failure, any family answers the next question."""
    chat = Chat(app, simulator)
    body, statuses = ENDS[end]

    def ends(family: str) -> ParsedStream:
        return chat.ask(f"{family}/{end}", TALK, loop, reasoning=THINK, **body)

    ended = over_and_on(chat, 1 + [*ENDS].index(end) % 7, ends)
    assert {answer.done["status"] for answer in ended} <= statuses


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.usefixtures("no_waiting")
def test_a_chat_goes_on_behind_a_host_that_fell_silent(
    app: RunningApp, impatient: RunningApp, simulator: BackgroundSimulator, loop: LoopName
) -> None:
    """The chat continues after a timeout in the middle of an answer."""
    chat = Chat(app, simulator)
    ended = over_and_on(chat, 3, lambda f: chat.ask(f"{f}/sim-stall", TALK, loop, app=impatient, reasoning=THINK))
    assert {answer.done["code"] for answer in ended} == {"UPSTREAM_STALLED"}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("at", [b'"reasoning"', b'"tool_calls"', b'"tool_result"', b'"type":"content"'])
def test_a_chat_goes_on_behind_a_client_that_left(
    app: RunningApp, simulator: BackgroundSimulator, loop: LoopName, at: bytes
) -> None:
    """The chat continues after a disconnect at the first reasoning, call, result or text."""
    chat = Chat(app, simulator)
    over_and_on(chat, 5, lambda f: chat.leave(f"{f}/sim-parallel", TALK, loop, at=at, reasoning=THINK))
    assert any(message["role"] == "tool" for message in chat.messages)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_chat_goes_on_behind_a_stop(app: RunningApp, simulator: BackgroundSimulator, loop: LoopName) -> None:
    """The chat continues after a stop in the middle of the text (legacy loop: before it)."""
    chat = Chat(app, simulator)
    at = b'"type":"content"' if loop == "v2" else b""
    over_and_on(chat, 6, lambda f: chat.stop(f"{f}/sim-stall", TALK, loop, at=at, reasoning=THINK))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_chat_goes_on_behind_a_stop_in_a_tool(
    app: RunningApp, simulator: BackgroundSimulator, loop: LoopName
) -> None:
    """After a stop during a tool, its call has a result that says so, and other calls keep theirs."""
    chat = Chat(app, simulator)
    tools = ["calculate", "wait_here"]

    def ends(family: str) -> ParsedStream:
        asked = "Use wait_here, please. And what is 17 * 23?"
        at = b'"name":"wait_here"'
        return chat.stop(f"{family}/sim", asked, loop, at=at, tools=tools, reasoning=THINK)

    for answer in over_and_on(chat, 2, ends):
        assert "CANCELLED" in answer.result_codes()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.usefixtures("no_waiting")
def test_a_chat_goes_on_behind_a_finalize_that_was_interrupted(
    app: RunningApp, start_app: StartApp, simulator: BackgroundSimulator, loop: LoopName, stops: bool
) -> None:
    """The chat continues after a stop or cut in the final answer."""
    made = Called("calculate", '{"expression": "1 + 1"}')
    elsewhere, upstream = start_app(calls(made), half, settings={"signalbox_allow_loop_header": True})
    chat = Chat(app, simulator)
    asking = chat.stop if stops else chat.leave
    answer = asking("openai/sim", TALK, loop, at=b"So far", app=elsewhere, max_steps=2, reasoning=THINK)
    assert [one.body.get("tool_choice") for one in upstream.asked] == [None, "none"]
    assert answer.text == "So far"
    for family in FAMILIES:
        chat.ask_successfully(f"{family}/sim", "And what is 4 + 4?", loop, reasoning=THINK)


async def half(exchange: Exchange) -> None:
    """Send some text, then nothing."""
    await exchange.head()
    await exchange.send_text("So far")
    await exchange.client_left()
