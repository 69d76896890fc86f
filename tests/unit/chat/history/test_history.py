"""The messages that a model receives: complete, with valid ids, and only its own reasoning."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from signalbox.chat.calls.ids import UNIVERSAL, make_call_id
from signalbox.chat.history.repair import history_for
from signalbox.chat.history.tool_pairing import NO_RESULT
from signalbox.core.messages import (
    NO_REASONING,
    AssistantMessage,
    Message,
    ReasoningDetail,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.profiles import FAMILIES, profile_for

from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for

ASK = UserMessage("Hi")
TOOLS = [make_tool("f")]


def sent(*messages: Message, model: str = "openai/sim", loop: tuple[Message, ...] = ()) -> tuple[Message, ...]:
    """Return the messages sent for a caller's conversation and the turns that this run added."""
    context = context_for(TOOLS, model=model, messages=[ASK, *messages])
    context.messages.extend(loop)
    return history_for(context)


def said(*calls: ToolCall, model: str = "openai/sim", **fields: object) -> AssistantMessage:
    """Return an assistant message with calls."""
    return AssistantMessage(calls=calls, model=model, **fields)  # type: ignore[arg-type]


def of(call: ToolCall, content: str = "ok") -> ToolMessage:
    """Return the result of a call."""
    return ToolMessage(call.id, call.name, content, untrusted=False)


A = ToolCall("aaaaaaaaa", "f", {"q": 1}, "call_A")
B = ToolCall("bbbbbbbbb", "g", {"q": 2}, "call_B")


def ids(messages: tuple[Message, ...]) -> list[list[str]]:
    """Return the call ids of each assistant message, and of each sequence of results."""
    out: list[list[str]] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            out.append([call.id for call in message.calls])
            out.append([])
        elif isinstance(message, ToolMessage):
            out[-1].append(message.call_id)
    return out


# --- repair in both directions ---


def test_d1_a_call_without_a_result_is_answered() -> None:
    """A call that was cut off gets a placeholder result (D1)."""
    assert sent(said(A, B), of(B), UserMessage("Go on"))[2:4] == (
        ToolMessage("aaaaaaaaa", "f", NO_RESULT, untrusted=False),
        ToolMessage("bbbbbbbbb", "g", "ok", untrusted=False),
    )


def test_d1_a_result_without_a_call_is_left_out() -> None:
    """Results without a call before them are not sent (D1)."""
    lone = ToolMessage("zzzzzzzzz", "f", "lone")
    assert sent(lone, said(A), lone, of(A), UserMessage("x"), lone) == (
        ASK,
        AssistantMessage(calls=(replace(A, upstream_id="call_A"),)),
        of(A),
        UserMessage("x"),
    )


def test_c8_results_have_the_order_of_their_calls() -> None:
    """N calls are followed by N results in the same order (C8)."""
    assert ids(sent(said(A, B), of(B), of(A))) == [["aaaaaaaaa", "bbbbbbbbb"], ["aaaaaaaaa", "bbbbbbbbb"]]


def test_d1_two_results_for_one_call_are_one() -> None:
    """A result that was stored twice is sent once (D1)."""
    assert sent(said(A), of(A, "first"), of(A, "second"))[2:] == (of(A, "first"),)


@pytest.mark.parametrize("content", ["", " ", "\n\t"])
def test_c4_blank_turns_are_left_out(content: str) -> None:
    """An assistant turn without text and calls is not sent (B14, C4); with calls it is."""
    assert sent(AssistantMessage(content), UserMessage("x")) == (ASK, UserMessage("x"))
    assert len(sent(AssistantMessage(content, (A,)), of(A))) == 3


def test_the_context_is_unchanged() -> None:
    """Only the copy that is sent is repaired."""
    context = context_for(TOOLS, messages=[ASK, said(A, A), UserMessage("x")])
    before = list(context.messages)
    history_for(context)
    assert context.messages == before


def test_a15_one_id_twice_in_one_turn() -> None:
    """Two calls with one id get two ids, and each its own result, by position (A15)."""
    out = sent(said(A, replace(A, arguments={"q": 9})), of(A, "one"), of(A, "two"))
    [calls, results] = ids(out)
    assert calls == results
    assert len(set(calls)) == 2
    assert [m.content for m in out[2:] if isinstance(m, ToolMessage)] == ["one", "two"]


def test_a15_one_id_in_two_turns() -> None:
    """An id of an earlier turn is not used again in the request (A15)."""
    first, results, second, more = ids(sent(said(A), of(A, "one"), UserMessage("x"), said(A), of(A, "two")))
    assert first == results
    assert second == more
    assert first != second


# --- ids ---

LEGAL = {
    "anthropic/x": r"[a-zA-Z0-9_-]+",
    "mistralai/x": r"[A-Za-z0-9]{9}",
    "openai/x": r"[\w.:\-]{1,40}",
    "google/x": r"[\w.:\-]{1,256}",
    "moonshotai/x": r"[\w.:\-]{1,256}",
    "x/unknown": r"[\w.:\-]{1,256}",
}
STRANGE = [
    "call_0",
    "functions.f:0",
    "0",
    "toolu_bdrk_01Ng",
    "a b",
    "",
    "é",
    "x" * 300,
    "tool_0_f_Ab",
    "REDACTED/1",
    "9ABCdef01",
]


@pytest.mark.parametrize(("model", "pattern"), LEGAL.items())
@pytest.mark.parametrize("given_id", STRANGE)
def test_a16_every_family_gets_valid_ids(model: str, pattern: str, given_id: str) -> None:
    """A foreign id in the caller's history becomes valid for the family, in call and result (A16)."""
    call = ToolCall(given_id, "f", {})
    [calls, results] = ids(sent(said(call, model="other/model"), of(call), model=model))
    assert calls == results
    assert re.fullmatch(pattern, calls[0])


@pytest.mark.parametrize(("model", "pattern"), LEGAL.items())
@pytest.mark.parametrize("upstream_id", STRANGE)
def test_a16_a_providers_own_id_is_sent_back_if_it_is_valid(model: str, pattern: str, upstream_id: str) -> None:
    """In the tool loop a provider gets its own ids, unless they break its rules (A16)."""
    call = ToolCall("minted123", "f", {}, upstream_id)
    [calls, results] = ids(sent(model=model, loop=(said(call, model=model), of(call))))
    assert calls == results
    legal = re.fullmatch(profile_for(model).call_id, upstream_id)
    assert calls == [upstream_id if legal else "minted123"]


def test_a15_a_provider_that_repeats_an_id() -> None:
    """If every step has `call_0`, the second one is sent under a generated id (A15)."""
    one, two = ToolCall("one111111", "f", {}, "call_0"), ToolCall("two222222", "f", {}, "call_0")
    out = sent(loop=(said(one), of(one), said(two), of(two)))
    assert ids(out) == [["call_0"], ["call_0"], ["two222222"], ["two222222"]]


def test_a_missing_upstream_id_is_replaced() -> None:
    """A call without an id is sent under the id that was announced."""
    call = ToolCall("mine12345", "f", {}, None)
    assert ids(sent(loop=(said(call), of(call)))) == [["mine12345"], ["mine12345"]]


def test_ids_are_the_same_in_every_request() -> None:
    """A growing conversation keeps its ids, so prompt caches keep their prefix (C15)."""
    messages: list[Message] = [
        said(ToolCall("é", "f", {}), model="x/y"),
        ToolMessage("é", "f", "ok"),
        UserMessage("more"),
    ]
    longer = [*messages, AssistantMessage("fine"), UserMessage("and more")]
    assert sent(*longer)[: len(messages) + 1] == sent(*messages)


def test_generated_ids_are_valid_everywhere() -> None:
    """Nine letters and digits, the same for equal seeds and different for others (A16)."""
    many = [make_call_id("run", n) for n in range(2000)]
    assert all(UNIVERSAL.fullmatch(one) for one in many)
    assert len(set(many)) == 2000
    assert many == [make_call_id("run", n) for n in range(2000)]
    assert all(re.fullmatch(family.call_id, many[0]) for family in FAMILIES)


# --- reasoning ---

DETAIL = ReasoningDetail({"type": "reasoning.encrypted", "data": "x", "id": "call_A", "index": 0})


def test_b1_own_reasoning_goes_back_inside_the_loop() -> None:
    """The same model gets its details back unchanged, with their calls (B1, B3)."""
    message = said(A, reasoning="Hm", reasoning_details=(DETAIL,))
    [_, back, _] = sent(loop=(message, of(A)))
    assert isinstance(back, AssistantMessage)
    assert back.reasoning_details == (DETAIL,)
    assert back.reasoning_details[0].raw is DETAIL.raw
    assert back.reasoning == ""


def test_b4_no_reasoning_to_another_model() -> None:
    """Reasoning of a fallback model is not sent to the main one (B4); DeepSeek gets an empty field (B5)."""
    message = said(A, content="Let me see.", model="google/other", reasoning="Hm", reasoning_details=(DETAIL,))
    for model, field in (("deepseek/x", NO_REASONING), ("openai/x", None)):
        [_, back, _] = sent(loop=(message, of(A, "42")), model=model)
        assert isinstance(back, AssistantMessage)
        assert (back.content, back.reasoning, back.reasoning_details) == ("Let me see.", "", ())
        assert back.reasoning_field == field
        assert back.calls[0].id == "aaaaaaaaa"


def test_b4_no_reasoning_of_an_earlier_run() -> None:
    """Reasoning in the caller's history is never sent, not even to the same model (B4)."""
    message = said(A, reasoning="Hm", reasoning_details=(DETAIL,))
    back = sent(message, of(A), UserMessage("x"))[1]
    assert isinstance(back, AssistantMessage)
    assert (back.reasoning, back.reasoning_details) == ("", ())


@pytest.mark.parametrize(
    ("model", "echoed"), [("deepseek/x", "Hm"), ("moonshotai/x", "Hm"), ("openai/x", ""), ("x/y", "")]
)
def test_b5_plain_reasoning_goes_back_to_families_that_require_it(model: str, echoed: str) -> None:
    """DeepSeek and Kimi get plain reasoning back in the tool loop, under its field; others do not (B5)."""
    [_, back, _] = sent(
        loop=(said(A, model=model, reasoning="Hm", reasoning_field="reasoning_content"), of(A)), model=model
    )
    assert isinstance(back, AssistantMessage)
    assert (back.reasoning, back.reasoning_field) == (echoed, "reasoning_content" if echoed else None)


def test_a15_a_renamed_call_is_renamed_in_its_detail() -> None:
    """Gemini's signatures name their call, so a changed id changes in both (A15, B1)."""
    one, two = ToolCall("one111111", "f", {}, "call_0"), ToolCall("two222222", "f", {}, "call_0")
    details = tuple(ReasoningDetail({"type": "reasoning.encrypted", "id": "call_0", "data": d, "z": 1}) for d in "ab")
    [_, back, *_] = sent(loop=(said(one, two, reasoning_details=details), of(one), of(two)))
    assert isinstance(back, AssistantMessage)
    assert [call.id for call in back.calls] == ["call_0", "two222222"]
    assert [d.raw["id"] for d in back.reasoning_details] == ["call_0", "two222222"]
    assert [list(d.raw) for d in back.reasoning_details] == [["type", "id", "data", "z"]] * 2


def test_a16_an_invalid_id_is_renamed_in_its_detail() -> None:
    """The same for an invalid id; the details' own ids are unchanged."""
    call = ToolCall("mine12345", "f", {}, "functions.f:0")
    details = (
        ReasoningDetail({"id": "rs_1"}),
        ReasoningDetail({"id": "functions.f:0"}),
        ReasoningDetail({"data": "x"}),
    )
    [_, back, _] = sent(
        loop=(said(call, model="anthropic/x", reasoning_details=details), of(call)), model="anthropic/x"
    )
    assert isinstance(back, AssistantMessage)
    assert [d.raw for d in back.reasoning_details] == [{"id": "rs_1"}, {"id": "mine12345"}, {"data": "x"}]


# --- any conversation ---

IDS = st.sampled_from(["a", "b", "call_0", "é"])
CALLS = st.builds(ToolCall, IDS, st.just("f"), st.just({}), st.none() | st.sampled_from(["call_0", "u1"]))
TURNS = st.builds(
    AssistantMessage,
    st.sampled_from(["", "words"]),
    st.lists(CALLS, max_size=3).map(tuple),
    model=st.sampled_from(["openai/sim", "x/y"]),
)
MESSAGES = st.one_of(
    st.builds(UserMessage, st.just("x")),
    st.builds(SystemMessage, st.just("s")),
    TURNS,
    st.builds(ToolMessage, IDS, st.just("f"), st.just("ok")),
)


@given(st.lists(MESSAGES, max_size=12), st.integers(0, 12), st.sampled_from(["openai/sim", "mistralai/x"]))
def test_any_conversation_is_valid_when_it_is_sent(messages: list[Message], cut: int, model: str) -> None:
    """Any history, cut anywhere, gives each call exactly one result after it, under a unique id."""
    messages = [replace(m, model=model) if isinstance(m, AssistantMessage) else m for m in messages]
    context = context_for(TOOLS, model=model, messages=messages[:cut])
    context.messages.extend(messages[cut:])
    out = history_for(context)
    seen: set[str] = set()
    at = 0
    while at < len(out):
        message = out[at]
        assert not isinstance(message, ToolMessage)
        at += 1
        if isinstance(message, AssistantMessage):
            assert message.content.strip() or message.calls
            for call in message.calls:
                result = out[at]
                assert isinstance(result, ToolMessage)
                assert result.call_id == call.id
                assert call.id not in seen
                assert re.fullmatch(context.profile.call_id, call.id)
                seen.add(call.id)
                at += 1
    said = [str(m.content) for m in out if isinstance(m, UserMessage | SystemMessage)]
    spoken = [str(m.content) for m in messages if isinstance(m, UserMessage | SystemMessage)]
    assert "\n\n".join(said) == "\n\n".join(spoken)
    if context.profile.alternating_roles:
        pairs = list(pairwise(out))
        assert not any(isinstance(b, UserMessage) and isinstance(a, UserMessage | ToolMessage) for a, b in pairs)
