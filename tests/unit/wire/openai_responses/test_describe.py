"""What `signalbox decode` prints about items."""

from typing import Any

import pytest
from signalbox.core.messages import JsonObject
from signalbox.wire.openai_responses.decoder import ResponseDecoder
from signalbox.wire.openai_responses.describe import describe_items

from tests.unit.wire.openai_responses.events import call, done, message, text

CUSTOM: dict[str, Any] = {"type": "custom_tool_call", "call_id": "xs_1", "name": "x_search", "input": '{"a":1}'}


def test_items_are_counted() -> None:
    """Every item has its kind; server tools, annotations and encrypted reasoning are named."""
    items: list[JsonObject] = [
        {"type": "reasoning", "encrypted_content": "gAAA"},
        {"type": "reasoning", "encrypted_content": None},
        {"type": "mcp_call", "id": "mcp_1", "name": "ask"},
        message(text("Hi", {"type": "url_citation"}, {"type": "file_citation"})),
        call(),
    ]
    assert describe_items(items) == {
        "server_tool_calls": [{"type": "mcp_call", "id": "mcp_1", "name": "ask"}],
        "item_types": ["reasoning", "reasoning", "mcp_call", "message", "function_call"],
        "n_annotations": 2,
        "n_encrypted_reasoning": 1,
    }


@pytest.mark.parametrize(
    ("arguments", "value", "status"),
    [('{"a":1}', {"a": 1}, "ok"), (" ", {}, "empty"), ("[1]", None, "non_object"), ('{"a"', None, "invalid")],
)
def test_custom_calls_are_among_the_calls(arguments: str, value: object, status: str) -> None:
    """The input of a custom tool is text, also if it looks like JSON; calls keep their order."""
    assert describe_items([CUSTOM, call(arguments)])["tool_calls"] == [
        {"id": "xs_1", "name": "x_search", "arguments": None, "status": "custom_text"},
        {"id": "call_1", "name": "search", "arguments": value, "status": status},
    ]


def test_a_cut_stream_shows_its_items() -> None:
    """Items are printed also if the response has no end."""
    decoder = ResponseDecoder()
    decoder.feed(done(message(text("Hi"))))
    assert decoder.described()["item_types"] == ["message"]
    assert decoder.described()["incomplete_details"] is None
