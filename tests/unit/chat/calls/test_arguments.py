"""What the text of a call's arguments is, what is safely mended, and what is answered instead."""

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
    """Return what a call with this text is taken for: objects, or the code of the answer."""
    status, value = read_arguments(text)
    calls = repaired(RawCall("id", "f", text, status, value))
    return [call.fault.code if call.fault else call.arguments for call in calls]


@pytest.mark.parametrize("text", ["{}", ' {"a": 1}\n', '{"a":"}{"}', '{"a":{"b":[{}]}}', '{"a":"\\u00e9"}'])
def test_an_object_is_ok(text: str) -> None:
    """One JSON object is taken as it is; braces inside strings are text (quirk A18)."""
    assert read_arguments(text) == (ArgumentStatus.OK, json.loads(text))
    assert meant(text) == [json.loads(text)]


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_nothing_is_an_empty_object(text: str) -> None:
    """Claude sends "" for a call without arguments (quirk A9)."""
    assert read_arguments(text) == (ArgumentStatus.EMPTY, {})
    assert meant(text) == [{}]


def test_the_literal_null_is_an_empty_object() -> None:
    """Llama on Groq sends null for a call without arguments."""
    assert read_arguments("null") == (ArgumentStatus.NON_OBJECT, None)
    assert meant("null") == [{}]


@pytest.mark.parametrize("text", ["[]", "3", "true", '"text"', '""', '"[1]"', '"3"', '"\\"{}\\""'])
def test_another_value_is_an_error(text: str) -> None:
    """Lists, numbers and texts are never turned into `{}` silently (quirk A10)."""
    assert read_arguments(text)[0] is ArgumentStatus.NON_OBJECT
    assert meant(text) == [Code.INVALID_ARGUMENTS]


@pytest.mark.parametrize(
    ("text", "value"), [('"{\\"a\\":1}"', {"a": 1}), ('"{}"', {}), ('" {\\"a\\": \\"b\\"} "', {"a": "b"})]
)
def test_one_layer_of_string_is_taken_off(text: str, value: object) -> None:
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
    """Text that stops before its object does was cut, and is never balanced by us (quirk A7)."""
    assert read_arguments(text) == (ArgumentStatus.TRUNCATED, None)
    assert meant(text) == [Code.ARGUMENTS_CUT]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=3), st.data())
def test_every_cut_of_an_object_is_truncated(value: dict[str, Any], data: st.DataObject) -> None:
    """Wherever an object is cut, it counts as cut, and nothing runs."""
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert read_arguments(cut)[0] is ArgumentStatus.TRUNCATED
    assert meant(cut) == [Code.ARGUMENTS_CUT]


@pytest.mark.parametrize(
    "text",
    ["{a:1}", "{'a':1}", '{"a":1]', "hello", '{"a" 1}', '{"a":"\n"}', '{"a":NaN}', '{"a":-Infinity}', '{"a":1e999}'],
)
def test_what_is_no_json_is_an_error(text: str) -> None:
    """Broken text, NaN and Infinity are answered with a sentence, not guessed at."""
    assert read_arguments(text) == (ArgumentStatus.INVALID, None)
    assert meant(text) == [Code.INVALID_ARGUMENTS]


def test_endless_numbers_and_brackets_are_errors() -> None:
    """Ten thousand digits or brackets are refused; none of them ends a run (quirk A10)."""
    for text in ('{"a":' + "9" * 10_000 + "}", '{"a":' * 10_000 + "1" + "}" * 10_000, "[" * 100_000):
        assert meant(text)[0] in (Code.INVALID_ARGUMENTS, Code.ARGUMENTS_CUT)


def test_depth_has_a_limit() -> None:
    """What is nested more deeply than we could write again is refused; up to there it is taken."""

    def nested(depth: int) -> str:
        return '{"a":' * depth + "1" + "}" * depth

    assert read_arguments(nested(MAX_DEPTH))[0] is ArgumentStatus.OK
    assert read_arguments(nested(MAX_DEPTH + 2))[0] is ArgumentStatus.INVALID
    assert meant(nested(MAX_DEPTH + 2)) == [Code.INVALID_ARGUMENTS]


def test_half_an_emoji_is_mended() -> None:
    """A lone surrogate, which nothing could write again, is replaced, in keys too."""
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
def test_glued_objects(text: str, values: list[object]) -> None:
    """Equal objects are one call, different ones several; `{}` before one and a cut tail are dropped (quirk A6)."""
    assert read_arguments(text)[0] is ArgumentStatus.INVALID
    assert meant(text) == values


def test_the_first_glued_call_keeps_the_id() -> None:
    """Only one of several calls can be the one that the host named."""
    first, second = repaired(RawCall("c", "f", '{"a":1}{"a":2}', ArgumentStatus.INVALID))
    assert (first.upstream_id, second.upstream_id) == ("c", None)


def test_noise_makes_no_thousand_calls() -> None:
    """A text of endless objects is bounded."""
    assert len(meant("".join(f'{{"a":{n}}}' for n in range(1000)))) <= 17


def test_a_fault_keeps_the_text_for_the_reader() -> None:
    """A call that cannot run tells its name and shows what was sent."""
    [call] = repaired(RawCall("c", "f", '{"a":', ArgumentStatus.TRUNCATED))
    assert (call.arguments, call.raw) == ({}, '{"a":')
    assert call.fault is not None
    assert "f" in call.fault.error


def test_sameness_is_that_of_json() -> None:
    """Key order does not matter; 1, 1.0 and true do."""
    assert is_same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    for one, other in ((1, True), (1, 1.0), (0, False), ("1", 1)):
        assert not is_same({"a": [one]}, {"a": [other]})


def test_leading_value_gives_the_rest() -> None:
    """It reads one value and stops."""
    assert leading_value('{"a":1}  tail') == ({"a": 1}, "tail")
    assert leading_value("tail") is None
    assert leading_value("") is None
