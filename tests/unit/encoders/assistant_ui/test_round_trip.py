"""Messages and results of an assistant-ui page come back as they were sent, through intake and store (ME-03)."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.conversations import Node
from signalbox.core.handed_calls import handed_id
from signalbox.encoders.assistant_ui.branch import branch_of
from signalbox.intakes.assistant_ui import ask_of, body_of
from signalbox.intakes.intake import Tools
from signalbox.store.message_codec import dump_message, load_message

from tests.support.assistant_client import RUN

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, TEXT),
        st.builds(lambda name: {"type": "image", "image": f"https://e.example/{name}"}, TEXT),
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: [*parts, {"type": "text", "text": "End."}])
RESULTS = st.lists(
    st.fixed_dictionaries(
        {"result": JSON},
        optional={
            "isError": st.booleans(),
            "artifact": JSON,
            "modelContent": st.just([{"type": "text", "text": "For the model."}]),
        },
    ),
    min_size=1,
    max_size=4,
)


def shown_again(*commands: dict[str, Any]) -> list[Any]:
    """Return what a page shows of its commands once they are stored."""
    ask = ask_of(body_of({"model": "openai/sim", "commands": [*commands]}), Tools({}), {})
    stored = [load_message(dump_message(one)) for one in ask.messages]
    role = "user" if commands[0]["type"] == "add-message" else "assistant"
    return branch_of([Node("n", None, role)], {"n": stored}, {}).messages


@given(PARTS)
def test_a_message_is_shown_as_it_was_written(parts: list[dict[str, Any]]) -> None:
    """All texts and images, in order; several parts stay several."""
    [message] = shown_again({"type": "add-message", "message": {"role": "user", "parts": parts}})
    assert message["type"] == "human"
    assert message["content"] == [
        part if part["type"] == "text" else {"type": "image_url", "image_url": {"url": part["image"]}} for part in parts
    ]


@given(RESULTS)
def test_results_are_shown_as_they_were_sent(results: list[dict[str, Any]]) -> None:
    """Each under its call, with its value, whether it failed, and its artifact."""
    ids = [handed_id(RUN, f"call{place}") for place in range(len(results))]
    commands = [
        {"type": "add-tool-result", "toolCallId": call_id, "toolName": "clock", **result}
        for call_id, result in zip(ids, results, strict=True)
    ]
    shown = shown_again(*commands)
    assert [message["name"] for message in shown] == ["clock"] * len(results)
    for message, result in zip(shown, results, strict=True):
        value: Any = message["content"]
        assert message["status"] == ("error" if result.get("isError") else "success")
        if result.get("isError"):
            assert orjson.loads(value)["error"] == result["result"]
        else:
            assert (
                value == result["result"]
                if isinstance(result["result"], str)
                else orjson.loads(value) == result["result"]
            )
        assert message.get("artifact") == result.get("artifact")
    assert [message["tool_call_id"].rpartition("_")[2] for message in shown] == [
        call_id.rpartition("_")[2] for call_id in ids
    ]
