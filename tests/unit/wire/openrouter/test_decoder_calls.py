"""Decoding deltas of tool calls."""

import pytest
from signalbox.core.parts import (
    CallDelta,
)

from tests.unit.wire.openrouter.chat_chunks import decoded


def test_absent_fields_of_a_call_are_none() -> None:
    """Null and missing index, id, name and arguments are None; empty id and name too (quirks A2, A4, A5)."""
    whole = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    empty = {"index": 1, "id": "", "type": "", "function": {"name": "", "arguments": "{"}}
    nulls = {"index": None, "id": None, "type": None, "function": {"name": None, "arguments": None}}
    assert decoded(*({"tool_calls": [call]} for call in (whole, empty, nulls, {}, {"function": None}))) == [
        CallDelta(0, "c", "f", ""),
        CallDelta(1, None, None, "{"),
        CallDelta(),
        CallDelta(),
        CallDelta(),
    ]


def test_an_integer_id_becomes_text() -> None:
    """One provider sends ids as numbers, zero among them; true is no id (quirk A4)."""
    calls = [{"id": 7, "function": {}}, {"id": 0, "function": {}}, {"id": True, "function": {}}]
    assert [part.id for part in decoded(*({"tool_calls": [c]} for c in calls)) if isinstance(part, CallDelta)] == [
        "7",
        "0",
        None,
    ]


@pytest.mark.parametrize("index", [-1, 0, 5])
def test_any_integer_is_an_index(index: int) -> None:
    """Z.ai numbers its calls -1; zero is not absent."""
    assert decoded({"tool_calls": [{"index": index}]}) == [CallDelta(index)]


@pytest.mark.parametrize("index", ["0", True, 1.5, [], {}])
def test_other_types_are_no_index(index: object) -> None:
    """An index of another type counts as absent."""
    assert decoded({"tool_calls": [{"index": index}]}) == [CallDelta()]


def test_arguments_as_an_object() -> None:
    """Ollama and some proxies send the object itself, with whatever numbers are in it."""
    parts = decoded({"tool_calls": [{"function": {"name": "f", "arguments": {"q": "é", "n": 2}}}]})
    assert parts == [CallDelta(name="f", arguments='{"q":"é","n":2}')]


@pytest.mark.parametrize(("sent", "text"), [(3, "3"), (True, "true"), ([1], "[1]"), (None, None)])
def test_arguments_that_are_no_object(sent: object, text: str | None) -> None:
    """Another value stays what it is, so that the call fails instead of running with defaults."""
    assert decoded({"tool_calls": [{"function": {"arguments": sent}}]}) == [CallDelta(arguments=text)]


def test_several_calls_in_one_delta_have_positions() -> None:
    """Mistral lists whole calls in one delta; a single entry has no position."""
    two = decoded({"tool_calls": [{"id": "a"}, {"id": "b"}]})
    assert [part.position for part in two if isinstance(part, CallDelta)] == [0, 1]


def test_legacy_function_call() -> None:
    """The predecessor of tool calls gives one call (quirk A19)."""
    assert decoded({"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}) == [
        CallDelta(0, None, "f", "{"),
        CallDelta(0, None, None, "}"),
    ]
