"""Bounds of parameters: the model reads them in the descriptions, and they are checked before the call."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pydantic
import pytest
from pydantic import Field
from signalbox import Code, Tool, ToolContext, tool
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.services.tool_executor import ToolExecutor
from typing_extensions import TypedDict  # the only one that pydantic reads on Python 3.11

pytestmark = pytest.mark.anyio


@dataclass
class Box:
    """A dataclass with a bound."""

    width: Annotated[int, Field(ge=2)]


class Row(TypedDict):
    """A TypedDict with a bound."""

    name: Annotated[str, Field(max_length=3)]


@pydantic.dataclasses.dataclass
class Even:
    """A dataclass of pydantic with a validator."""

    number: int

    @pydantic.field_validator("number")
    @classmethod
    def check(cls, number: int) -> int:
        """Reject odd numbers."""
        if number % 2:
            raise ValueError("must be even")
        return number


class Model(pydantic.BaseModel):
    """A model with bounds, also in a list."""

    score: float = Field(lt=1)
    tags: list[Annotated[str, Field(pattern="^#")]] = []


@tool
def bounded(
    *,
    count: Annotated[int, Field(ge=1, le=5, description="How many.")] = 1,
    name: Annotated[str, Field(min_length=2, pattern="^a")] = "ab",
    items: Annotated[list[Annotated[int, Field(gt=0)]], Field(max_length=2)] = [],  # noqa: B006
    best: Annotated[int, Field(multiple_of=5)] | None = None,
    positive: pydantic.PositiveInt = 1,
    box: Box | None = None,
    row: Row | None = None,
    even: Even | None = None,
    model: Model | None = None,
    meta: Annotated[int, msgspec.Meta(gt=1, multiple_of=2)] = 2,
    metas: list[Annotated[str, msgspec.Meta(pattern="^b", max_length=3)]] = [],  # noqa: B006
    rates: Annotated[dict[str, int], msgspec.Meta(min_length=1)] | None = None,
) -> str:
    """Test bounds.

    Args:
        name: From the docstring.
    """
    return repr((count, items, best, box, row, even, model))


async def outcome(one: Tool, given: JsonObject) -> tuple[Code | None, JsonValue]:
    """Check and execute a call, as a run does; return the code, and the error or the result."""
    executor = ToolExecutor([one])
    done = executor.check(one.spec.name, given) or await executor.run(one.spec.name, given, ToolContext())
    return done.code, done.error or done.result


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("count",), "How many. At least 1. At most 5. Default: 1."),
        (("name",), "From the docstring. At least 2 characters. Matches ^a. Default: ab."),
        (("items",), "At most 2 items. Default: []."),
        (("items", "items"), "More than 0."),
        (("best",), "A multiple of 5. Default: null."),
        (("positive",), "More than 0. Default: 1."),
        (("box", "properties", "width"), "At least 2."),
        (("row", "properties", "name"), "At most 3 characters."),
        (("model", "properties", "score"), "Less than 1."),
        (("model", "properties", "tags", "items"), "Matches ^#."),
        (("meta",), "More than 1. A multiple of 2. Default: 2."),
        (("metas", "items"), "At most 3 characters. Matches ^b."),
        (("rates",), "At least 1 entries. Default: null."),
    ],
)
def test_the_model_reads_the_bounds(path: tuple[str, ...], words: str) -> None:
    """They are in the description, because some providers reject a schema with other keywords."""
    schema: Any = bounded.spec.parameters["properties"]
    for step in path:
        schema = schema[step]
    assert schema["description"] == words
    assert not schema.keys() - {"type", "description", "items", "properties", "required"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"count": 6}, "count: Input should be less than or equal to 5"),
        ({"name": "b"}, "name: String should have at least 2 characters"),
        ({"name": "bb"}, "name: String should match pattern '^a'"),
        ({"items": [1, 0]}, "items.1: Input should be greater than 0"),
        ({"items": [1, 2, 3]}, "items: List should have at most 2 items"),
        ({"best": 7}, "best: Input should be a multiple of 5"),
        ({"positive": 0}, "positive: Input should be greater than 0"),
        ({"box": {"width": 1}}, "box.width: Input should be greater than or equal to 2"),
        ({"row": {"name": "long"}}, "row.name: String should have at most 3 characters"),
        ({"even": {"number": 3}}, "even.number: Value error, must be even"),
        ({"model": {"score": 1}}, "model: score: Input should be less than 1"),
        ({"model": {"score": 0.5, "tags": ["x"]}}, "model: tags.0: String should match pattern '^#'"),
        ({"meta": 3}, "meta: expected int that's a multiple of 2"),
        ({"metas": ["bbbb"]}, "metas[0]: expected str of length <= 3"),
        ({"rates": {}}, "rates: expected object of length >= 1"),
    ],
)
async def test_bounds_are_checked_before_the_call(given: JsonObject, words: str) -> None:
    """The error names the argument."""
    code, error = await outcome(bounded, given)
    assert (code, str(error)[: len(words)]) == (Code.INVALID_ARGUMENTS, words)


async def test_values_within_the_bounds_are_converted() -> None:
    """The function gets its own types."""
    given: JsonObject = {"count": 5, "items": [1], "best": 10, "box": {"width": 2}, "row": {"name": "a"}}
    code, result = await outcome(bounded, {**given, "even": {"number": 2}, "model": {"score": 0.5}})
    assert code is None
    expected = (5, [1], 10, Box(2), {"name": "a"}, Even(2), Model(score=0.5))
    assert result == repr(expected)
