"""Calls of a response: streamed arguments, and the finished item."""

import pytest
from signalbox.chat.answer.response import parse_completion_response
from signalbox.core.parts import CallDelta, RawCall

from tests.unit.wire.openai_responses.events import added, call, decoded, delta, done, ended, event, message, text


def deltas(*frames: bytes) -> list[CallDelta]:
    """Return the pieces of calls."""
    return [part for part in decoded(*frames) if isinstance(part, CallDelta)]


def calls(*frames: bytes) -> list[tuple[str | None, str, str]]:
    """Return the assembled calls."""
    found: tuple[RawCall, ...] = parse_completion_response(decoded(*frames)).calls
    return [(one.id, one.name, one.arguments) for one in found]


def pieces(*texts: str, at: int = 0) -> list[bytes]:
    """Return the events of a call's arguments."""
    return [delta("function_call_arguments", text, at) for text in texts]


def test_pieces_are_emitted_as_they_arrive_and_only_once() -> None:
    """The finished item repeats the arguments; nothing is doubled."""
    frames = (added(call("")), *pieces('{"a"', ":1}"), done(call('{"a":1}')), ended(output=[call('{"a":1}')]))
    assert deltas(*frames) == [
        CallDelta(0, "call_1", "search"),
        CallDelta(0, arguments='{"a"'),
        CallDelta(0, arguments=":1}"),
    ]


@pytest.mark.parametrize(
    "frames",
    [
        (added(call("")), event("response.function_call_arguments.done", output_index=0, arguments='{"a":1}')),
        (added(call('{"a":1}')),),
        (),
    ],
    ids=["arguments.done", "in added", "item only"],
)
def test_arguments_without_pieces_come_from_the_finished_item(frames: tuple[bytes, ...]) -> None:
    """LM Studio sends no pieces (recorded: lmstudio-tool-call.1)."""
    assert calls(*frames, done(call('{"a":1}')), ended()) == [("call_1", "search", '{"a":1}')]


def test_the_rest_of_cut_pieces_comes_from_the_finished_item() -> None:
    """If pieces are missing at the end, only the rest is added."""
    assert deltas(added(call("")), *pieces('{"a"'), done(call('{"a":1}')))[-1] == CallDelta(0, arguments=":1}")


def test_different_arguments_of_the_finished_item_count() -> None:
    """The item is what the next request contains, so the call that is executed is the same."""
    frames = (added(call("")), *pieces('{"a":2}'), done(call('{"a":1}')), ended())
    assert calls(*frames) == [("call_1", "search", '{"a":1}')]


def test_parallel_calls_may_interleave() -> None:
    """Pieces belong to the call at their position."""
    first, second = call("", call_id="call_a"), call("", call_id="call_b", name="add")
    frames = (
        added(first, 0),
        added(second, 1),
        *pieces('{"a":', at=0),
        *pieces('{"b":', at=1),
        *pieces("1}", at=0),
        *pieces("2}", at=1),
        done(first | {"arguments": '{"a":1}'}, 0),
        done(second | {"arguments": '{"b":2}'}, 1),
        ended(),
    )
    assert calls(*frames) == [("call_a", "search", '{"a":1}'), ("call_b", "add", '{"b":2}')]


def test_calls_at_one_position_are_different_calls() -> None:
    """A server that numbers every item 0 sends one call after the other."""
    first, second = call("{}", call_id="call_a"), call('{"b":2}', call_id="call_b")
    frames = (added(first), *pieces("{}"), done(first), added(second), *pieces('{"b":2}'), done(second), ended())
    assert calls(*frames) == [("call_a", "search", "{}"), ("call_b", "search", '{"b":2}')]
    assert calls(added(first), done(second), ended())[1] == ("call_b", "search", '{"b":2}')


def test_item_ids_may_change_from_event_to_event() -> None:
    """Only positions connect the events."""
    frames = (added(call("", id="a")), delta("function_call_arguments", "{}", item_id="b"), done(call("{}", id="c")))
    assert calls(*frames, ended()) == [("call_1", "search", "{}")]


def test_a_call_whose_beginning_is_missing() -> None:
    """The id and the name come from the finished item."""
    assert calls(*pieces('{"a":1}'), done(call('{"a":1}')), ended()) == [("call_1", "search", '{"a":1}')]


def test_custom_tool_calls_are_not_ours() -> None:
    """Server tools of xAI look like calls of custom tools, and have been executed (recorded: x-search-streaming)."""
    custom = {"type": "custom_tool_call", "call_id": "xs_1", "name": "x_keyword_search", "input": "{}"}
    assert calls(added(custom), done(custom), ended()) == []


def test_a_server_without_positions() -> None:
    """llama.cpp sends neither positions nor ids of calls; pieces name the id of the call (its server-task.cpp)."""
    first, second = ({"type": "function_call", "call_id": f"fc_{name}", "name": "search"} for name in "ab")
    frames = (
        event("response.output_item.added", item={"type": "reasoning", "id": "rs_1"}),
        event("response.reasoning_text.delta", item_id="rs_1", delta="Hm."),
        event("response.output_item.added", item={"type": "message", "id": "msg_1", "content": []}),
        event("response.output_text.delta", item_id="msg_1", delta="Hi"),
        event("response.output_item.added", item=first | {"arguments": ""}),
        event("response.function_call_arguments.delta", item_id="fc_a", delta='{"a":1}'),
        event("response.output_item.added", item=second | {"arguments": ""}),
        event("response.function_call_arguments.delta", item_id="fc_b", delta='{"b":2}'),
        event("response.output_item.done", item={"type": "reasoning", "id": "rs_1", "content": [{"text": "Hm."}]}),
        event("response.output_item.done", item=message(text("Hi"))),
        event("response.output_item.done", item=first | {"arguments": '{"a":1}'}),
        event("response.output_item.done", item=second | {"arguments": '{"b":2}'}),
        ended(),
    )
    assert calls(*frames) == [("fc_a", "search", '{"a":1}'), ("fc_b", "search", '{"b":2}')]
    completion = parse_completion_response(decoded(*frames))
    assert (completion.reasoning, completion.content) == ("Hm.", "Hi")
