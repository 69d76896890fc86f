"""The fast validation of arguments: it accepts nothing that jsonschema rejects, and most calls of models."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from signalbox.core.messages import JsonObject
from signalbox.services.argument_shapes import shape_of, surely_fit
from signalbox.tools.registry import built_in

PLAIN: JsonObject = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "most-results": {"type": "integer"},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "class": {"type": "string", "enum": ["day", "week"]},
    },
    "required": ["query"],
}
VALUES = st.one_of(
    st.text(), st.sampled_from(["day", "week"]), st.integers(), st.floats(), st.booleans(), st.none(),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(), st.integers(), max_size=2),
)  # fmt: skip
NAMES = st.sampled_from(["query", "most-results", "ratio", "deep", "class", "argument_0", "other", "\ud800"])


@given(st.dictionaries(NAMES, VALUES))
def test_accepted_arguments_are_valid_for_jsonschema(arguments: JsonObject):
    """The fast path accepts nothing that jsonschema rejects."""
    validator: Any = Draft202012Validator({"additionalProperties": False, **PLAIN})
    assert not surely_fit(arguments, shape_of(PLAIN)) or validator.is_valid(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "tides"},
        {"query": "", "most-results": 3, "ratio": 0.5, "deep": True, "class": "week"},
        {"query": "x", "ratio": 2, "most-results": 10**30},
    ],
)
def test_plain_arguments_are_accepted(arguments: JsonObject):
    """Names need not be Python identifiers, and an integer is a number."""
    assert surely_fit(arguments, shape_of(PLAIN))


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": ["object", "null"], "properties": {}},
        {"type": "object", "properties": {}, "required": ["query"]},
        {"type": "object", "properties": {}, "minProperties": 1},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {'a"b': {"type": "string"}}},
        {"type": "object", "properties": {"\ud800": {"type": "string"}}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}},
        {"type": "object", "properties": {"a": {"type": "integer", "enum": [1, 2]}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["b", 1]}}},
    ],
)
def test_a_schema_with_other_keywords_has_no_type(schema: JsonObject):
    """Such schemas are validated by jsonschema only."""
    assert shape_of(schema) is None
    assert not surely_fit({}, shape_of(schema))


def test_a_schema_may_forbid_additional_properties():
    """Schemas of plugins often do."""
    shape = shape_of({**PLAIN, "additionalProperties": False})
    assert surely_fit({"query": "tides"}, shape)
    assert not surely_fit({"query": "tides", "other": 1}, shape)


def test_every_built_in_tool_has_a_type():
    """The fast path covers every built-in tool, except edit_file, whose edits are objects."""
    without = [tool.spec.name for tool in built_in(None, None) if shape_of(tool.spec.parameters) is None]
    assert without == ["edit_file"]


def test_a_list_has_the_type_of_its_items():
    """Lists of lists too; a list of objects has no type."""
    items: JsonObject = {"type": "array", "items": {"type": "string"}}
    shape = shape_of({"type": "object", "properties": {"names": items}})
    assert surely_fit({"names": ["a", "b"]}, shape)
    assert surely_fit({"names": []}, shape)
    assert not surely_fit({"names": ["a", 1]}, shape)
    assert not surely_fit({"names": "a"}, shape)
    objects: JsonObject = {"type": "array", "items": {"type": "object"}}
    assert shape_of({"type": "object", "properties": {"names": objects}}) is None
    assert shape_of({"type": "object", "properties": {"names": {**items, "minItems": 1}}}) is None
