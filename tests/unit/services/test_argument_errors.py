"""Arguments of tool calls that do not match the schema: short messages that name the field and the type."""

import orjson
import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolContext, ToolOutcome

from tests.unit.services.scripted_tools import executor, returning

pytestmark = pytest.mark.anyio
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "num_results": {"type": "integer"},
        "time_hint": {"type": "string", "enum": ["day", "week"]},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "edits": {
            "type": "array",
            "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
        },
    },
    "required": ["query"],
}
CHECKED = executor(returning(None), schema=SCHEMA)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "query: is required (string)"),
        ({"query": 1}, "query: expected a string, got the number 1"),
        ({"query": None}, "query: expected a string, got null"),
        ({"query": "x", "num_results": "3"}, 'num_results: expected an integer, got the string "3"'),
        ({"query": "x", "num_results": 2.5}, "num_results: expected an integer, got the number 2.5"),
        ({"query": "x", "num_results": True}, "num_results: expected an integer, got true"),
        ({"query": "x", "deep": "yes"}, 'deep: expected true or false, got the string "yes"'),
        ({"query": "x", "edits": {}}, "edits: expected a list, got an object"),
        ({"query": "x", "edits": ["a"]}, 'edits[0]: expected an object, got the string "a"'),
        ({"query": "x", "edits": [{"old": "a"}, {}]}, "edits[1].old: is required (string)"),
        ({"query": "x", "time_hint": "hour"}, 'time_hint: expected one of "day", "week", got the string "hour"'),
        (
            {"query": "x", "foo": 1},
            "foo: no such argument; the arguments are: query, num_results, time_hint, ratio, deep, edits",
        ),
        ({"num_results": []}, "num_results: expected an integer, got a list of 0; query: is required (string)"),
    ],
)
def test_ps20_errors_name_field_and_expected_type(arguments: JsonObject, says: str):
    """The message names the fault and the expected type, without jsonschema's own text."""
    outcome = CHECKED.check("probe", arguments)
    assert outcome == ToolOutcome.failed(Code.INVALID_ARGUMENTS, says)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x"},
        {"query": "", "num_results": 3, "time_hint": "day", "ratio": 1, "deep": False, "edits": [{"old": "a"}]},
        {"query": "x", "num_results": 3.0},
        {"query": "x", "num_results": None, "time_hint": None},
    ],
)
def test_valid_arguments_are_accepted(arguments: JsonObject):
    """A whole number may be 3.0, and an optional argument may be null."""
    assert CHECKED.check("probe", arguments) is None


def test_at_most_three_errors_are_reported():
    """A call with many errors gets a short message."""
    outcome = CHECKED.check("probe", {"query": 1, "num_results": "a", "ratio": "b", "deep": "c", "edits": "d"})
    assert outcome is not None
    assert outcome.error.count(": ") == 3
    assert outcome.error.endswith("; and more")


def test_sc13_huge_and_odd_arguments_give_a_short_sentence():
    """The message is short and encodable for any arguments."""
    arguments: JsonObject = {"query": ["x", "x"], "num_results": "9" * 10_000, "\ud800" * 5_000: 1, "ratio": {}}
    outcome = CHECKED.check("probe", arguments)
    assert outcome is not None
    assert len(outcome.error) <= 1_000
    orjson.dumps(outcome.error)


async def test_nulls_in_place_of_optional_arguments_do_not_reach_the_tool():
    """Some models write null for a missing argument."""
    seen: list[JsonObject] = []

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        seen.append(arguments)
        return None

    await executor(run, schema=SCHEMA).run("probe", {"query": "x", "num_results": None}, ToolContext())
    assert seen == [{"query": "x"}]
