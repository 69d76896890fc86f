"""An Ask of any protocol is stored as a question of contract v1.1, which reads as the same Ask."""

from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.ask import Ask, AskedLimits, Position
from signalbox.core.messages import (
    AssistantMessage,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import ForcedTool, Params, Reasoning, Routing
from signalbox.intakes.intake import Tools
from signalbox.intakes.v1 import ask_of
from signalbox.intakes.v1_body import body_of
from signalbox.intakes.v1_question import question_of, redacted, without_messages
from signalbox.tools.calculate import calculate

CALCULATE = calculate()
TOOLS = Tools({"calculate": CALCULATE})
PARTS = (
    TextPart("See"),
    ImagePart("https://example.org/a.png", "low"),
    FilePart("a.pdf", "data:application/pdf;base64,QQ=="),
)
HISTORY: tuple[Message, ...] = (
    UserMessage("What is 2 + 2?"),
    AssistantMessage(calls=(ToolCall("call_1", "calculate", {"expression": "2+2"}),)),
    ToolMessage("call_1", "calculate", "4"),
    AssistantMessage("4."),
    UserMessage(PARTS),
)
PARAMS = Params(
    max_tokens=100,
    temperature=0.5,
    stop=("END",),
    parallel=False,
    format={"type": "json_object"},
    routing=Routing({"require_parameters": True}, requires_all_params=True),
    fallbacks=("openai/other",),
    reasoning=Reasoning(effort="low"),
)
ASKS = {
    "a history": Ask(model="openai/sim", messages=HISTORY, system="Be brief."),
    "parameters": Ask(model="openai/sim", messages=HISTORY, params=PARAMS, finalize_hint="Shortly."),
    "a tool": Ask(model="openai/sim", messages=HISTORY, tools=(CALCULATE,), choice=ForcedTool("calculate")),
    "limits": Ask(model="openai/sim", messages=HISTORY, limits=AskedLimits(2, 3, 0.5), is_detached=True),
    "the newest message": Ask(model="openai/sim", messages=HISTORY, position=Position("c", follows_newest=True)),
    "a new beginning": Ask(model="openai/sim", messages=HISTORY, position=Position("c")),
    "a continuation": Ask(model="openai/sim", messages=(), position=Position("c", "run", continues=True)),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS.keys())
def test_a_question_converts_back_to_the_same_ask(ask: Ask) -> None:
    """Everything that determines the answer is preserved."""
    question = question_of(ask)
    assert ask_of(body_of(question), TOOLS, {}) == replace(ask, question=question)


def test_invalid_arguments_keep_their_text() -> None:
    """The text of an invalid call is stored, not the empty object that replaces it."""
    broken = AssistantMessage(calls=(ToolCall("call_1", "calculate", {}, raw="{half"),))
    ask = Ask(model="openai/sim", messages=(UserMessage("?"), broken, ToolMessage("call_1", "calculate", "failed")))
    messages: Any = question_of(ask)["messages"]
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == "{half"


def test_a_redacted_question_has_no_text() -> None:
    """The trace has roles and lengths, and every parameter."""
    ask = replace(ASKS["parameters"], system="Be brief.")
    shown = redacted(question_of(ask), ask.conversation)
    assert shown["temperature"] == 0.5
    assert {"system", "finalize_hint", "prompt"}.isdisjoint(shown)
    assert shown["messages"] == [
        {"role": "system", "characters": 9},
        {"role": "user", "characters": 14},
        {"role": "assistant", "characters": 0, "calls": ["calculate"]},
        {"role": "tool", "name": "calculate", "characters": 1},
        {"role": "assistant", "characters": 2, "calls": []},
        {"role": "user", "characters": 3},
    ]


def test_a_conversation_stores_its_messages_once() -> None:
    """Messages are nodes of the conversation, and are not repeated in the run's question."""
    assert without_messages({"model": "m", "prompt": "Hi", "messages": [], "system": "s"}) == {
        "model": "m",
        "system": "s",
    }
