"""Generated arguments satisfy their schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from signalbox.simulator.model.values import Values

TEXT = "Book 3 tables in Florence for 700 people"


def fits(schema: dict[str, Any], text: str = TEXT) -> Any:
    """Make a value, check it against its schema, and return it."""
    value = Values(text, schema).value(schema, "it")
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)
    return value


def of(**properties: Any) -> dict[str, Any]:
    """Return an object schema whose properties are all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 4, "maximum": 10},
        {"type": "integer", "exclusiveMinimum": 3},
        {"type": "integer", "maximum": 2},
        {"type": "integer", "exclusiveMaximum": 0},
        {"type": "integer", "multipleOf": 7, "minimum": 10},
        {"type": "number", "exclusiveMinimum": 3, "exclusiveMaximum": 4},
        {"type": "number", "multipleOf": 0.5},
        {"type": "string", "minLength": 100},
        {"type": "string", "maxLength": 3},
        {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
        *({"type": "string", "format": name} for name in ("date", "date-time", "email", "uri", "uuid", "ipv4", "time")),
        {"enum": ["small", "large"]},
        {"enum": [1, None]},
        {"const": {"a": 1}},
        {"type": ["null", "string"]},
        {"type": "null"},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "maxItems": 0},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "minProperties": 2, "properties": {"a": {"type": "null"}, "b": {"type": "boolean"}}},
        {"minimum": 5},
        {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"anyOf": [{"type": "integer", "minimum": 9}, {"type": "string"}]},
        {"oneOf": [{"type": "string", "maxLength": 1}, {"type": "integer"}]},
        {"allOf": [of(a={"type": "integer"}), of(b={"type": "string"})]},
        {"$defs": {"p": of(x={"type": "number"})}, "type": "array", "minItems": 2, "items": {"$ref": "#/$defs/p"}},
        of(who=of(name={"type": "string"}, tags={"type": "array", "items": {"type": "string"}}), n={"type": "integer"}),
        {},
    ],
    ids=str,
)
def test_values_satisfy_their_schema(schema: dict[str, Any]) -> None:
    """Enums, limits, formats, lists, nested objects, references and combinations are respected."""
    fits(schema)


def test_recursive_schemas() -> None:
    """The optional part of a recursive schema is limited in depth."""
    node: dict[str, Any] = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    fits(node)
    fits({**node, "required": ["children"]}, "")


def test_values_from_the_text() -> None:
    """Numbers in order, places and enum values come from the text; a number beyond a limit becomes the limit."""
    schema = of(
        tables={"type": "integer"},
        place={"type": "string"},
        people={"type": "integer", "maximum": 500},
        kind={"type": "string", "enum": ["garden", "table", "people"]},
    )
    assert fits(schema) == {"tables": 3, "place": "Florence", "people": 500, "kind": "people"}


ROUTE = of(start={"type": "string"}, end={"type": "string"})


@pytest.mark.parametrize(
    "text",
    [
        "How far is it from 'Lisbon' to 'Porto'?",
        "How far is it from Lisbon to Porto? And to Faro?",
        "Call route: Lisbon to Porto.",
        'Go from "Lisbon" to Porto, Lisbon being first.',
    ],
)
def test_each_name_is_used_once(text: str) -> None:
    """Quoted or capitalised words fill the texts of a call in order."""
    assert fits(ROUTE, text) == {"start": "Lisbon", "end": "Porto"}


def test_a_single_text_is_not_split_into_names() -> None:
    """A search for two places is one text; enumerations, patterns and URLs use up no name."""
    assert fits(of(query={"type": "string"}), "from Lisbon to Porto") == {"query": "from Lisbon to Porto"}
    schema = of(
        unit={"enum": ["miles", "km"]},
        code={"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
        url={"type": "string"},
        **ROUTE["properties"],
    )
    made = fits(schema, "How many km from Lisbon to Porto? See https://example.org/map")
    assert (made["unit"], made["url"]) == ("km", "https://example.org/map")
    assert (made["start"], made["end"]) == ("Lisbon", "Porto")


LEAVES = st.one_of(
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(-99, 99),
        st.integers(0, 9),
    ),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 9),
        st.integers(0, 9),
    ),
    st.builds(lambda words: {"type": "string", "enum": words}, st.lists(st.text(max_size=5), min_size=1, unique=True)),
    st.sampled_from([{"type": "boolean"}, {"type": "number"}, {"type": "null"}, {"type": ["string", "null"]}]),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda item, few: {"type": "array", "items": item, "minItems": few}, inner, st.integers(0, 3)),
        st.builds(lambda known: of(**known), st.dictionaries(st.sampled_from("abcde"), inner, max_size=4)),
        st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
    ),
    max_leaves=8,
)


@given(SCHEMAS, st.text(max_size=60))
def test_any_text(schema: dict[str, Any], text: str) -> None:
    """Generated schemas are satisfied for any text."""
    fits(schema, text)
