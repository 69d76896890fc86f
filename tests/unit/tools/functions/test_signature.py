"""`@tool` rejects what no model can call, with the name of the function and of the parameter."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import pydantic
import pytest
from pydantic import Field
from signalbox import Tool, ToolContext, tool
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolOutcome
from signalbox.services.tool_executor import ToolExecutor

if TYPE_CHECKING:
    from decimal import Decimal

pytestmark = pytest.mark.anyio


async def called(one: Tool, given: JsonObject) -> ToolOutcome:
    """Check and execute a call, as a run does."""
    executor = ToolExecutor([one])
    return executor.check(one.spec.name, given) or await executor.run(one.spec.name, given, ToolContext(run_id="r1"))


def price(item: str) -> str:
    """Look up a price."""
    return item


class Shop:
    """A shop with methods."""

    currency = "USD"

    def price(self, item: str) -> str:
        """Look up a price."""
        return f"{item}: 3 {self.currency}"

    async def order(self, item: str, context: ToolContext) -> str:
        """Order an item."""
        return f"{item} in {context.run_id}"

    @classmethod
    def rate(cls, factor: float) -> str:
        """Return a rate."""
        return f"{factor} {cls.currency}"

    @staticmethod
    async def close(day: str) -> str:
        """Close the shop."""
        return day


class Strange(pydantic.BaseModel):
    """A model whose type is not known."""

    amount: "Unknown"  # pyright: ignore[reportUndefinedVariable] # noqa: F821


class Row(msgspec.Struct):
    """A Struct with a bound that msgspec ignores, and whose class pydantic cannot read."""

    count: Annotated[int, Field(ge=1)]


@dataclass
class Order:
    """A dataclass whose type is not known."""

    amount: "Unknown"  # pyright: ignore[reportUndefinedVariable] # noqa: F821


async def test_bound_methods_are_tools() -> None:
    """The model does not see the object; async methods run on the loop; a static method needs no object."""
    assert tool(Shop().price).spec.parameters == {
        "type": "object",
        "properties": {"item": {"type": "string"}},
        "required": ["item"],
    }
    assert (await called(tool(Shop().price), {"item": "lamp"})).result == "lamp: 3 USD"
    assert (await called(tool(Shop().order), {"item": "lamp"})).result == "lamp in r1"
    assert (await called(tool(Shop.rate), {"factor": 2})).result == "2.0 USD"
    assert (await called(tool(Shop.close), {"day": "Monday"})).result == "Monday"
    assert (await called(tool(Shop.__dict__["close"]), {"day": "Monday"})).result == "Monday"


@pytest.mark.parametrize("hint", [ToolContext, ToolContext | None, Annotated[ToolContext, "The context."]])
async def test_the_context_may_be_optional(hint: Any) -> None:
    """`ToolContext | None = None` lets a program call the function without a context."""

    def where(context: Any = None) -> str:
        return context.run_id

    where.__annotations__["context"] = hint
    made = tool(where)
    assert made.spec.parameters["properties"] == {}
    assert (await called(made, {})).result == "r1"


def two_contexts(first: ToolContext, second: ToolContext) -> None:
    """Two parameters get the context."""


def mixed_context(context: ToolContext | str) -> None:
    """The context is one of two types."""


def unknown_type(count: int, item: "Unknown") -> None:  # pyright: ignore[reportUndefinedVariable] # noqa: F821
    """The type is not defined."""


def no_type(item: "list[") -> None:  # pyright: ignore # noqa: F722, PGH003
    """The annotation is not Python."""


def unknown_module(item: "shop.Item") -> None:  # pyright: ignore[reportUndefinedVariable] # noqa: F821
    """The module is not imported."""


def unknown_in_dataclass(order: Order) -> None:
    """The type of a field is not defined."""


def unknown_in_model(order: Strange) -> None:
    """The type of a model's field is not defined."""


def field_as_default(count: int = Field(1, ge=1)) -> None:
    """The default is pydantic's."""


def two_kinds_of_bounds(count: Annotated[int, Field(ge=1), msgspec.Meta(le=5)]) -> None:
    """The bounds are of two packages."""


def bound_in_a_struct(row: Row) -> None:
    """A msgspec Struct has a bound of pydantic."""


def meta_of_a_text(item: Annotated[str, msgspec.Meta(ge=1)]) -> None:
    """A text has no minimum."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (two_contexts, r"two_contexts has several parameters of type ToolContext \(first, second\): keep one"),
        (mixed_context, "the parameter context of mixed_context must be a ToolContext and nothing else"),
        (Shop.price, r"price is a method, and the model cannot fill self: make the tool of the bound method"),
        (Shop, r"got the class Shop"),
        (functools.partial(price, item="lamp"), r"got an object of type partial"),
        (Shop.__dict__["rate"], r"got an object of type classmethod"),
        (tool(price), r"got an object of type FunctionTool"),
        (3, r"got an object of type int"),
        (unknown_type, r"the parameter item of unknown_type cannot be read \(name 'Unknown' is not defined\)"),
        (no_type, r"the parameter item of no_type cannot be read"),
        (unknown_module, r"the parameter item of unknown_module cannot be read"),
        (unknown_in_dataclass, "the parameter order of unknown_in_dataclass .*'Unknown' is not defined"),
        (unknown_in_model, "the parameter order of unknown_in_model .*not fully defined"),
        (field_as_default, "the default of the parameter count of field_as_default is a Field"),
        (two_kinds_of_bounds, "the parameter count of two_kinds_of_bounds .*use one of them"),
        (bound_in_a_struct, "the parameter row of bound_in_a_struct .*pydantic, .* says: .*Row"),
        (meta_of_a_text, "the parameter item of meta_of_a_text has no JSON Schema"),
    ],
)
def test_a_function_that_no_model_can_call_is_rejected(function: Any, words: str) -> None:
    """A TypeError, where the tool is made, names the function and the parameter."""
    with pytest.raises(TypeError, match=words):
        tool(function)


async def test_the_type_of_the_result_may_be_unknown() -> None:
    """It is often imported for type checkers only, and the model does not get it."""

    def cost(item: str, count: int = 1) -> "Decimal":
        return len(item) * count  # pyright: ignore[reportReturnType]

    assert (await called(tool(cost), {"item": "lamp", "count": 2})).result == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"timeout": 0}, "the tool price: its timeout is not a positive number of seconds"),
        ({"timeout": -1}, "its timeout is not"),
        ({"timeout": float("nan")}, "its timeout is not"),
        ({"timeout": "5"}, "its timeout is not"),
        ({"category": "shop"}, "the tool price: its category is not one of search, utility, other"),
        ({"visibility": "none"}, "its visibility is not one of"),
        ({"url_argument": "url"}, "the tool price: its url_argument is none of its arguments"),
        ({"eager": "yes"}, "the tool price: its eager is neither True nor False"),
        ({"title": 3}, "its title is not"),
        ({"description": " "}, "it has no description"),
        ({"name": "look up"}, "price: 'look up' is no name of a tool"),
        ({"name": ""}, "price: '' is no name of a tool"),
        ({"name": 3}, "price: 3 is no name of a tool"),
    ],
)
def test_a_wrong_argument_of_the_decorator_is_named(arguments: dict[str, Any], words: str) -> None:
    """A ValueError, where the tool is made, names the function and the argument."""
    decorate: Callable[..., Any] = tool(**arguments)
    with pytest.raises(ValueError, match=words):
        decorate(price)


def test_an_unknown_argument_of_the_decorator_is_named() -> None:
    """A TypeError lists the arguments, and not those of the class behind the tool."""
    decorate: Any = tool
    with pytest.raises(TypeError, match="price: @tool has no argument retries; the arguments are: category, desc"):
        decorate(retries=3)(price)
