"""Argument texts of calls: classification, safe repairs, and errors for the model."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.chat.calls.arguments import is_same, leading_value, read_arguments
from signalbox.chat.calls.repair import repaired
from signalbox.core.codes import Code
from signalbox.core.messages import MAX_DEPTH
from signalbox.core.parts import ArgumentStatus, RawCall


def meant(text: str) -> list[Any]:
    """Return the objects that a call with this text is repaired to, or the code of its error."""
    status, value = read_arguments(text)
    calls = repaired(RawCall("id", "f", text, status, value))
    return [call.fault.code if call.fault else call.arguments for call in calls]


@pytest.mark.parametrize("text", ["{}", ' {"a": 1}\n', '{"a":"}{"}', '{"a":{"b":[{}]}}', '{"a":"\\u00e9"}'])
def test_an_object_is_ok(text: str) -> None:
    """One JSON object is accepted unchanged; braces in strings are text (quirk A18)."""
    assert read_arguments(text) == (ArgumentStatus.OK, json.loads(text))
    assert meant(text) == [json.loads(text)]


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_no_text_is_an_empty_object(text: str) -> None:
    """Claude sends "" for a call without arguments (quirk A9)."""
    assert read_arguments(text) == (ArgumentStatus.EMPTY, {})
    assert meant(text) == [{}]


def test_the_literal_null_is_an_empty_object() -> None:
    """Llama on Groq sends null for a call without arguments."""
    assert read_arguments("null") == (ArgumentStatus.NON_OBJECT, None)
    assert meant("null") == [{}]


@pytest.mark.parametrize("text", ["[]", "3", "true", '"text"', '""', '"[1]"', '"3"', '"\\"{}\\""'])
def test_other_json_is_an_error(text: str) -> None:
    """Lists, numbers and strings never become `{}` (quirk A10)."""
    assert read_arguments(text)[0] is ArgumentStatus.NON_OBJECT
    assert meant(text) == [Code.INVALID_ARGUMENTS]


@pytest.mark.parametrize(
    ("text", "value"), [('"{\\"a\\":1}"', {"a": 1}), ('"{}"', {}), ('" {\\"a\\": \\"b\\"} "', {"a": "b"})]
)
def test_a_json_string_is_decoded_once(text: str, value: object) -> None:
    """Arguments encoded twice are decoded twice, not three times (quirk A10)."""
    assert meant(text) == [value]


CUT = [
    "{",
    '{"',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":"',
    '{"a":"b',
    '{"a":"b\\',
    '{"a":"b\\u00',
    '{"a":1,',
    '{"a":tr',
    '{"a":[1,',
    '{"a":-',
    "nu",
]


@pytest.mark.parametrize("text", CUT)
def test_a_cut_text_is_truncated(text: str) -> None:
    """Text that ends within its object is truncated, and never completed by Signalbox (quirk A7)."""
    assert read_arguments(text) == (ArgumentStatus.TRUNCATED, None)
    assert meant(text) == [Code.ARGUMENTS_CUT]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=3), st.data())
def test_every_cut_of_an_object_is_truncated(value: dict[str, Any], data: st.DataObject) -> None:
    """An object cut at any position counts as truncated, and no call runs."""
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert read_arguments(cut)[0] is ArgumentStatus.TRUNCATED
    assert meant(cut) == [Code.ARGUMENTS_CUT]


@pytest.mark.parametrize(
    "text",
    ["{a:1}", "{'a':1}", '{"a":1]', "hello", '{"a" 1}', '{"a":"\n"}', '{"a":NaN}', '{"a":-Infinity}', '{"a":1e999}'],
)
def test_invalid_json_is_an_error(text: str) -> None:
    """Broken text, NaN and Infinity give an error for the model."""
    assert read_arguments(text) == (ArgumentStatus.INVALID, None)
    assert meant(text) == [Code.INVALID_ARGUMENTS]


def test_huge_numbers_and_deep_brackets_are_errors() -> None:
    """Ten thousand digits or brackets are rejected, and do not end the run (quirk A10)."""
    for text in ('{"a":' + "9" * 10_000 + "}", '{"a":' * 10_000 + "1" + "}" * 10_000, "[" * 100_000):
        assert meant(text)[0] in (Code.INVALID_ARGUMENTS, Code.ARGUMENTS_CUT)


def test_nesting_has_a_limit() -> None:
    """JSON that is nested too deeply to be serialized again is rejected; the limit itself is accepted."""

    def nested(depth: int) -> str:
        return '{"a":' * depth + "1" + "}" * depth

    assert read_arguments(nested(MAX_DEPTH))[0] is ArgumentStatus.OK
    assert read_arguments(nested(MAX_DEPTH + 2))[0] is ArgumentStatus.INVALID
    assert meant(nested(MAX_DEPTH + 2)) == [Code.INVALID_ARGUMENTS]


def test_a_lone_surrogate_is_replaced() -> None:
    """A lone surrogate, which cannot be encoded, is replaced, also in keys."""
    assert meant('{"a\\ud83d":"b\\uDEA6"}') == [{"a\ufffd": "b\ufffd"}]
    assert meant('{"a":"\\ud83d\\udea6"}') == [{"a": "🚦"}]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a":1}{"a":1}', [{"a": 1}]),
        ('{"a":1} {"a":2}\n{"a":3}', [{"a": 1}, {"a": 2}, {"a": 3}]),
        ('{"a":1}{"a":true}', [{"a": 1}, {"a": True}]),
        ('{"a":1}{"a":', [{"a": 1}]),
        ('{}{"a":1}', [{"a": 1}]),
        ("{}{}", [{}]),
        ('{}{"a":', [Code.INVALID_ARGUMENTS]),
        ("{}}", [{}]),
        ('{"a":1}}', [{"a": 1}]),
        ('{"a":1} That is my call.', [{"a": 1}]),
        ('{"a":1}null{"a":2}', [{"a": 1}, {"a": 2}]),
    ],
)
def test_concatenated_objects(text: str, values: list[object]) -> None:
    """Equal objects are one call, different ones several; a leading `{}` and a truncated tail are dropped (A6)."""
    assert read_arguments(text)[0] is ArgumentStatus.INVALID
    assert meant(text) == values


def test_the_first_concatenated_call_keeps_the_id() -> None:
    """Only one of several calls can be the one that the provider named."""
    first, second = repaired(RawCall("c", "f", '{"a":1}{"a":2}', ArgumentStatus.INVALID))
    assert (first.upstream_id, second.upstream_id) == ("c", None)


def test_the_number_of_concatenated_calls_is_limited() -> None:
    """A text of any number of objects gives a limited number of calls."""
    assert len(meant("".join(f'{{"a":{n}}}' for n in range(1000)))) <= 17


def test_a_faulty_call_keeps_its_text() -> None:
    """A call that cannot run keeps its name and the text that was sent."""
    [call] = repaired(RawCall("c", "f", '{"a":', ArgumentStatus.TRUNCATED))
    assert (call.arguments, call.raw) == ({}, '{"a":')
    assert call.fault is not None
    assert "f" in call.fault.error


def test_equality_is_that_of_json() -> None:
    """Key order does not matter; 1, 1.0 and true differ as in JSON."""
    assert is_same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    for one, other in ((1, True), (1, 1.0), (0, False), ("1", 1)):
        assert not is_same({"a": [one]}, {"a": [other]})


def test_leading_value_returns_the_rest() -> None:
    """It reads one value and stops."""
    assert leading_value('{"a":1}  tail') == ({"a": 1}, "tail")
    assert leading_value("tail") is None
    assert leading_value("") is None
