"""Switching models within a chat works for all ordered pairs of families, with tools and reasoning."""

from itertools import product

import pytest
from signalbox.core.events import LoopName
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.conversation_recovery.chat import Chat
from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.support.running_app import RunningApp

THINK = {"effort": "medium"}
# Each needs a tool; the third needs two.
QUESTIONS = (
    "What is 17 * 23?",
    "What time is it in Tokyo?",
    "What is 4 + 4, and what time is it in Lima?",
    "How do tool calls stream?",
    "What is 2 ** 10?",
)
LOOPS: tuple[LoopName, ...] = ("v2", "legacy")


@pytest.mark.parametrize(("one", "other"), [*product(FAMILIES, FAMILIES)])
def test_any_two_families_take_turns(app: RunningApp, simulator: BackgroundSimulator, one: str, other: str) -> None:
    """Five turns of two families, A B A B A, with alternating loops, complete without a rejected request."""
    chat = Chat(app, simulator)
    shift = FAMILIES.index(one) + FAMILIES.index(other)
    for turn, question in enumerate(QUESTIONS):
        family = (one, other)[turn % 2]
        answer = chat.ask_successfully(f"{family}/sim", question, LOOPS[(turn // 2 + shift) % 2], reasoning=THINK)
        assert answer.calls, question
        assert set(answer.result_codes()) == {None}
    assert chat.turns == 5
    assert sum(bool(message.get("tool_calls")) for message in chat.messages) >= 5
    assert any(message.get("reasoning") for message in chat.messages)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("step", [1, 3, 5, 7])
def test_a_walk_over_all_families(app: RunningApp, simulator: BackgroundSimulator, loop: LoopName, step: int) -> None:
    """One chat with a turn of each of the eight families, in four orders, with parallel calls."""
    chat = Chat(app, simulator)
    for turn in range(len(FAMILIES)):
        model = f"{FAMILIES[turn * step % len(FAMILIES)]}/sim-parallel"
        answer = chat.ask_successfully(model, QUESTIONS[turn % len(QUESTIONS)], loop, reasoning=THINK)
        assert answer.calls
    assert chat.turns == len(FAMILIES)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_model_of_one_family_takes_anothers_place(
    app: RunningApp, simulator: BackgroundSimulator, loop: LoopName
) -> None:
    """Two models of one family do not receive each other's signed reasoning."""
    chat = Chat(app, simulator)
    for family in ("openai", "anthropic", "google", "x-ai"):
        for name in ("sim", "sim-steps-2", "sim"):
            chat.ask_successfully(f"{family}/{name}", QUESTIONS[0], loop, reasoning=THINK)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("tools", [[], ["get_current_time"]])
def test_tools_come_and_go(app: RunningApp, simulator: BackgroundSimulator, loop: LoopName, tools: list[str]) -> None:
    """A chat with calls continues at every family if none of its tools, or another one, is offered."""
    chat = Chat(app, simulator)
    chat.ask_successfully("openai/sim-parallel", QUESTIONS[2], loop, reasoning=THINK)
    for family in FAMILIES:
        chat.ask_successfully(f"{family}/sim", "Thank you!", loop, tools=tools, reasoning=THINK)
