"""A turn goes back in the words of its API only if nothing in it has been changed."""

from msgspec.structs import replace
from signalbox.chat.answer.native import native_of, upstream_of
from signalbox.core.messages import AssistantMessage, Native, ToolCall, UserMessage
from signalbox.core.parts import ArgumentStatus, Completion, RawCall

NATIVE = Native("anthropic-messages", ({"type": "tool_use", "id": "a", "name": "f", "input": {"q": 1}},))
RAW = RawCall("a", "f", '{"q": 1}', ArgumentStatus.OK, {"q": 1})
CALL = ToolCall("ours", "f", {"q": 1}, "a")
COMPLETION = Completion(calls=(RAW,), native=NATIVE)


def test_an_unchanged_turn() -> None:
    """The calls are those that the model wrote; arguments that are missing are an empty object."""
    assert native_of(COMPLETION, [CALL]) is NATIVE
    empty = RawCall("a", "f", "", ArgumentStatus.EMPTY)
    assert native_of(replace(COMPLETION, calls=(empty,)), [replace(CALL, arguments={})]) is NATIVE


def test_a_changed_turn() -> None:
    """Another id, name, argument or number of calls, a repaired call or removed markup make it another turn."""
    others = [
        [],
        [CALL, CALL],
        [replace(CALL, upstream_id="b")],
        [replace(CALL, name="g")],
        [replace(CALL, arguments={"q": 2})],
        [replace(CALL, arguments={}, raw='{"q":')],
    ]
    assert [native_of(COMPLETION, calls) for calls in others] == [None] * len(others)
    assert native_of(replace(COMPLETION, leaked=True), [CALL]) is None
    assert native_of(replace(COMPLETION, native=None), [CALL]) is None


def test_it_names_its_upstream() -> None:
    """If there are several, so that no other one gets it."""
    assert native_of(COMPLETION, [CALL], "a") == replace(NATIVE, upstream="a")


def test_a_tool_loop_is_of_its_last_upstream() -> None:
    """So that the run that continues it goes there; a turn without native items can name its upstream, too."""
    turns = [AssistantMessage(native=replace(NATIVE, upstream=name)) for name in ("a", "b")]
    assert upstream_of([*turns, AssistantMessage("Hi."), UserMessage("And now?")]) == "b"
    assert upstream_of([*turns, AssistantMessage("Hi.", upstream="c")]) == "c"
    assert upstream_of([AssistantMessage("Hi.")]) == ""
