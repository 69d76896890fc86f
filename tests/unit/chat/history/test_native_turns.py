"""A turn in the words of its API goes back unchanged to the model that wrote it, and to no other."""

import pytest
from msgspec.structs import replace
from signalbox.chat.history.repair import history_for
from signalbox.core.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    Native,
    ReasoningDetail,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.ports import Destination

from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for

ITEMS: tuple[JsonObject, ...] = (
    {"text": "", "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "f", "args": {"q": 1}}},
)
NATIVE = Native("gemini", ITEMS)
CALL = ToolCall("aaaaaaaaa", "f", {"q": 1}, "call_A")
TURN = AssistantMessage(calls=(CALL,), model="google/sim", native=NATIVE)
RESULT = ToolMessage(CALL.id, "f", "42", untrusted=False)
# The provider has used the id of the first call again.
REPEATED = replace(CALL, id="ccccccccc")
BOTH = (replace(TURN, native=None), RESULT, replace(TURN, calls=(REPEATED,)), replace(RESULT, call_id=REPEATED.id))


def last_turn(asked: tuple[Message, ...], loop: tuple[Message, ...]) -> AssistantMessage:
    """Return the last turn of the model that a request contains."""
    context = context_for([make_tool("f")], model="google/sim", messages=[UserMessage("Hi"), *asked])
    context.messages.extend(loop)
    *_, back = (message for message in history_for(context) if isinstance(message, AssistantMessage))
    return back


def test_the_model_gets_its_own_turn() -> None:
    """Inside the tool loop, the items are sent as they arrived."""
    assert last_turn((), (TURN, RESULT)).native is NATIVE


@pytest.mark.parametrize(
    ("upstream", "dialect", "is_sent"),
    [("a", "gemini", True), ("b", "gemini", False), ("a", "openai-chat", False), ("", "gemini", False)],
)
def test_only_the_upstream_that_sent_it_gets_it(upstream: str, dialect: str, is_sent: bool) -> None:
    """The same model at another upstream, or in another dialect, gets the turn without its signatures."""
    turn = replace(TURN, native=replace(NATIVE, upstream="a"), upstream="a")
    context = context_for([make_tool("f")], model="google/sim", messages=[UserMessage("Hi")])
    context.use_destination(Destination(upstream, dialect, "google/sim", "google/sim"))
    context.messages.extend((turn, RESULT))
    _, back, _ = history_for(context)
    assert isinstance(back, AssistantMessage)
    assert back.native == (turn.native if is_sent else None)


@pytest.mark.parametrize(
    ("asked", "loop"),
    [
        pytest.param((), (replace(TURN, model="google/other"), RESULT), id="another model"),
        pytest.param((TURN, RESULT, UserMessage("And now?")), (), id="an earlier question"),
        pytest.param(
            (),
            (
                replace(TURN, native=None),
                RESULT,
                replace(TURN, calls=(REPEATED,)),
                replace(RESULT, call_id=REPEATED.id),
            ),
            id="another id",
        ),
        pytest.param((), (replace(TURN, calls=(replace(CALL, name="a.b"),)), RESULT), id="a name that no API accepts"),
    ],
)
def test_it_is_sent_nowhere_else(asked: tuple[Message, ...], loop: tuple[Message, ...]) -> None:
    """Other models, later questions and calls with other ids or names get the turn without its signatures."""
    back = last_turn(asked, loop)
    assert back.calls
    assert back.native is None


@pytest.mark.parametrize(("upstream", "is_sent"), [("a", True), ("b", False)])
def test_reasoning_details_go_to_the_upstream_that_sent_them(upstream: str, is_sent: bool) -> None:
    """The same model at another upstream cannot read them, and gets its calls under our ids."""
    detail = ReasoningDetail({"type": "reasoning.encrypted", "data": "c2ln"})
    turn = replace(TURN, native=None, reasoning_details=(detail,), upstream="a")
    context = context_for([make_tool("f")], model="google/sim", messages=[UserMessage("Hi")])
    context.use_destination(Destination(upstream, "openai-chat", "google/sim", "google/sim"))
    context.messages.extend((turn, RESULT))
    _, back, _ = history_for(context)
    assert isinstance(back, AssistantMessage)
    assert back.reasoning_details == ((detail,) if is_sent else ())
    assert back.calls[0].id == ("call_A" if is_sent else CALL.id)


@pytest.mark.parametrize("upstream", ["a", "b"])
def test_a_paused_turn_without_text(upstream: str) -> None:
    """Its blocks are sent back to the upstream that paused it; for another one, nothing of it is left to send."""
    native = replace(NATIVE, items=({"type": "server_tool_use", "id": "s"},), upstream="a")
    context = context_for([make_tool("f")], model="google/sim", messages=[UserMessage("Hi")])
    context.use_destination(Destination(upstream, "gemini", "google/sim", "google/sim"))
    context.messages.append(AssistantMessage(model="google/sim", native=native, upstream="a"))
    sent = history_for(context)
    assert [getattr(message, "native", None) for message in sent[1:]] == ([native] if upstream == "a" else [])
    context.loop_start = len(context.messages)
    assert len(history_for(context)) == 1
