"""The strict rules reject histories that are not repaired, each by the expected families."""

import pytest
from msgspec import structs
from msgspec.structs import replace
from signalbox.chat.params import prepare_request_params
from signalbox.core.messages import (
    AssistantMessage,
    ImagePart,
    JsonValue,
    Message,
    ReasoningDetail,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import NO_PARAMS

from tests.scenarios.conversation_recovery.cut_runs import FAMILIES, QUESTION, Cut, replay, simulated
from tests.scenarios.conversation_recovery.strict_models import Ask, context_of, first_refusal, refusal_of

HI, ON = UserMessage("Hi"), UserMessage("Go on.")
A, B = ToolCall("aaaaaaaaa", "calculate", {"expression": "1"}), ToolCall("bbbbbbbbb", "calculate", {"expression": "2"})
OF_A, OF_B = (ToolMessage(call.id, call.name, "1", untrusted=False) for call in (A, B))
WORDS = AssistantMessage("So it is.")
SEALED = ReasoningDetail({"type": "reasoning.encrypted", "data": "gAAAAA", "format": "openai-responses-v1", "index": 0})
EVERY = frozenset(FAMILIES)


def called(*calls: ToolCall, content: str = "") -> AssistantMessage:
    """Return an assistant message with calls."""
    return AssistantMessage(content, calls)


# What is wrong with a history, the history, and the families that reject it.
WRONG: dict[str, tuple[list[Message], frozenset[str]]] = {
    "a call without its result": ([HI, called(A, B), OF_A, ON], EVERY),
    "a result without its call": ([HI, OF_A, ON], EVERY),
    "results of an earlier call": ([HI, called(A), OF_A, WORDS, OF_A, ON], EVERY),
    "an empty turn": ([HI, AssistantMessage(""), ON], EVERY),
    "results in another order": ([HI, called(A, B), OF_B, OF_A, WORDS, ON], frozenset({"google"})),
    "a user behind a result": ([HI, called(A), OF_A, ON], frozenset({"mistralai"})),
    "a blank question": ([UserMessage(" "), WORDS, ON], frozenset({"anthropic", "moonshotai"})),
    "an empty part": ([UserMessage((TextPart(""), TextPart("x"))), WORDS, ON], frozenset({"anthropic", "moonshotai"})),
    "no question before a call": ([called(A), OF_A, WORDS, ON], frozenset({"google"})),
    "the last word": ([HI, WORDS], frozenset({"anthropic", "mistralai"})),
    "an id twice": ([HI, called(A), OF_A, WORDS, HI, called(A), OF_A, WORDS, ON], frozenset({"anthropic"})),
    "an id of another family": (
        [HI, called(replace(A, id="functions.calculate:0")), replace(OF_A, call_id="functions.calculate:0"), WORDS, ON],
        frozenset({"anthropic", "mistralai"}),
    ),
    "a long id": (
        [HI, called(replace(A, id="x" * 41)), replace(OF_A, call_id="x" * 41), WORDS, ON],
        frozenset({"openai", "mistralai"}),
    ),
    "a name that is none": ([HI, called(replace(A, name="söarch web")), OF_A, WORDS, ON], EVERY),
    "sealed reasoning of another": ([HI, AssistantMessage("Yes.", reasoning_details=(SEALED,)), ON], EVERY),
    "an image": (
        [UserMessage((ImagePart("https://example.org/cat.png"),)), WORDS, ON],
        frozenset({"deepseek", "mistralai", "moonshotai", "qwen"}),
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_history_as_it_is_is_refused_by_whom_it_must_be(what: str) -> None:
    """Exactly these families reject each unrepaired history; none rejects the repaired one."""
    messages, refusing = WRONG[what]
    refused: set[str] = set()
    for family in FAMILIES:
        context = context_of(f"{family}/sim", [*messages], Ask())
        raw = structs.replace(prepare_request_params(context), messages=tuple(messages))
        refused |= {family} if refusal_of(raw) else set()
        if messages[-1] is ON:  # the app rejects a final assistant message before a run exists
            assert first_refusal(context, first=True) is None, family
    assert refused == refusing


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_need_tools_beside_them(family: str) -> None:
    """Without tool definitions for past calls, Anthropic rejects a history with calls."""
    context = context_of(f"{family}/sim", [HI, called(A), OF_A, WORDS, ON], Ask("none"))
    request = prepare_request_params(context)
    assert refusal_of(request) is None
    bare = structs.replace(request, tools=(), tool_choice=None, params=NO_PARAMS)
    assert (refusal_of(bare) is not None) is (family == "anthropic")


@pytest.mark.parametrize("family", FAMILIES)
def test_reasoning_of_the_open_loop_must_come_back(family: str) -> None:
    """During a tool loop, families that require their reasoning reject its absence."""
    finished = replay(simulated(f"{family}/sim-parallel", "v2"), Cut("cut", 1, 3), [UserMessage(QUESTION)])
    context = context_of(f"{family}/sim-parallel", [UserMessage(QUESTION)], Ask(params=THINKS), tuple(finished.added))
    request = prepare_request_params(context)
    assert refusal_of(request) is None
    forgetful = tuple(
        replace(m, reasoning="", reasoning_details=()) if isinstance(m, AssistantMessage) else m
        for m in request.messages
    )
    assert (refusal_of(structs.replace(request, messages=forgetful)) is not None) is (
        family not in ("mistralai", "qwen")
    )


THINKS: dict[str, JsonValue] = {"reasoning": {"effort": "medium"}}


@pytest.mark.parametrize("family", ["openai", "anthropic", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen"])
def test_a_client_may_end_with_a_result(family: str) -> None:
    """A loop that the client runs has no reasoning; only Gemini rejects this, and receives it in another form."""
    context = context_of(f"{family}/sim", [HI, called(A), OF_A], Ask(params=THINKS))
    assert first_refusal(context, first=True) is None
