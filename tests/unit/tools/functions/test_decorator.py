"""`@tool`: the schema, the conversion and the execution of a tool that is made of a function."""

import asyncio
import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pydantic
import pytest
from signalbox import Code, Tool, ToolContext, ToolError, ToolReturn, tool
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolOutcome
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.lint import fault_of

pytestmark = pytest.mark.anyio


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Size:
    """A size in millimetres."""

    width: int
    height: int | None = None


class Address(TypedDict):
    city: str
    zip: NotRequired[str]


class Buyer(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(min_length=2)]
    friends: list["Buyer"] = []


class Payment(pydantic.BaseModel):
    amount: float = pydantic.Field(gt=0, description="In dollars.")
    currency: Literal["USD", "EUR"] = "USD"


@tool
def order(
    *,
    item: str,
    color: Color,
    size: Size,
    to: Address,
    buyer: Buyer,
    payment: Payment,
    context: ToolContext,
    count: Annotated[int, "How many.", msgspec.Meta(ge=1, le=20)] = 1,
    note: str | None = None,
    grade: Literal[1, 2] = 1,
    tags: Sequence[str] = (),
) -> dict[str, Any]:
    """Order an item.

    The shop delivers everywhere.

    Args:
        item: What to order.
        count: Not this one.
        note: For the driver

    """
    return {"item": item, "color": color, "size": size, "buyer": buyer, "payment": payment, "run": context.run_id}


GIVEN: JsonObject = {
    "item": "lamp",
    "color": "red",
    "size": {"width": 3, "height": 4},
    "to": {"city": "Ulm"},
    "buyer": {"name": "Ada"},
    "payment": {"amount": 5},
}


async def called(one: Tool, given: JsonObject) -> ToolOutcome:
    """Check and execute a call, as a run does."""
    executor = ToolExecutor([one])
    context = ToolContext(run_id="r1")
    return executor.check(one.spec.name, given) or await executor.run(one.spec.name, given, context)


def test_the_schema_has_every_parameter_with_its_description() -> None:
    """Name, description and schema come from the function; every provider accepts them."""
    assert fault_of(order) is None
    assert (order.spec.name, order.spec.description) == ("order", "Order an item.\n\nThe shop delivers everywhere.")
    assert order.spec.parameters["required"] == ["item", "color", "size", "to", "buyer", "payment"]
    properties = order.spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert properties == {
        "item": {"type": "string", "description": "What to order."},
        "color": {"type": "string", "enum": ["blue", "red"]},
        "size": {
            "type": "object",
            "description": "A size in millimetres.",
            "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}},
            "required": ["width"],
        },
        "to": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"],
        },
        "buyer": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "At least 2 characters."},
                "friends": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["name"],
        },
        "payment": {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "description": "In dollars. More than 0."},
                "currency": {"type": "string", "enum": ["USD", "EUR"], "description": "Default: USD."},
            },
            "required": ["amount"],
        },
        "count": {"type": "integer", "description": "How many. At least 1. At most 20. Default: 1."},
        "note": {"type": "string", "description": "For the driver. Default: null."},
        "grade": {"type": "integer", "description": "One of: 1, 2. Default: 1."},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Default: []."},
    }


async def test_arguments_and_results_are_converted() -> None:
    """The function gets its own types, and may return them; the context is passed by its type."""
    outcome = await called(order, GIVEN)
    assert outcome.result == {
        "item": "lamp",
        "color": "red",
        "size": {"width": 3, "height": 4},
        "buyer": {"name": "Ada", "friends": []},
        "payment": {"amount": 5.0, "currency": "USD"},
        "run": "r1",
    }


class Marked(str):
    """A text of a library, such as BeautifulSoup's."""

    __slots__ = ()


class Real(float):
    """A number of a library, such as NumPy's."""


@pytest.mark.parametrize(
    ("value", "plain"),
    [(Marked("x"), "x"), (Real(1.5), 1.5), ({"a": [Marked("x"), Real(2)]}, {"a": ["x", 2.0]})],
)
async def test_values_of_libraries_become_plain_values(value: JsonValue, plain: JsonValue) -> None:
    """Events and the history hold no subclass of a text or number: encoding them would fail."""

    @tool
    def find() -> object:
        return ToolReturn(value, artifact={"of": value})

    outcome = await called(find, {})
    assert (outcome.result, outcome.artifact) == (plain, {"of": plain})
    assert msgspec.json.decode(msgspec.json.encode(outcome.result)) == plain


async def test_numbers_may_be_keys() -> None:
    """The keys of JSON are texts, so numbers are read from them; a wrong one is named by its parameter."""
    given: list[dict[int, str]] = []

    @tool
    def rename(names: dict[int, str]) -> None:
        given.append(names)

    await called(rename, {"names": {"1": "a"}})
    assert given == [{1: "a"}]
    assert (await called(rename, {"names": {"x": "a"}})).error == "names: in a key, expected int, got str"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"count": 21}, "count: expected int <= 20"),
        ({"count": "x"}, 'count: expected an integer, got the string "x"'),
        ({"size": {}}, "size.width: is required (integer)"),
        ({"grade": 3}, "grade: invalid enum value 3"),
        ({"buyer": {"name": "A"}}, "buyer.name: expected str of length >= 2"),
        ({"payment": {"amount": -1}}, "payment: amount: Input should be greater than 0"),
        ({"colour": 1}, "colour: no such argument"),
    ],
)
async def test_a_wrong_argument_is_named(changed: JsonObject, words: str) -> None:
    """The sentence for the model begins with the path of the wrong field."""
    outcome = await called(order, {**GIVEN, **changed})
    assert (outcome.code, outcome.error[: len(words)]) == (Code.INVALID_ARGUMENTS, words)


async def test_functions_run_in_threads_and_async_ones_on_the_loop() -> None:
    """Two functions that wait for each other overlap; the loop is free meanwhile."""
    both = threading.Barrier(2)

    @tool
    def block() -> str:
        both.wait(10)
        return threading.current_thread().name

    @tool
    async def here() -> str:
        return threading.current_thread().name

    names = await asyncio.gather(called(block, {}), called(block, {}))
    assert threading.main_thread().name not in [one.result for one in names]
    assert (await called(here, {})).result == threading.main_thread().name


async def test_a_decorator_may_hide_that_a_function_is_async() -> None:
    """What it returns is awaited, as a caller would."""

    async def look() -> str:
        return "A lamp."

    @tool
    @functools.wraps(look)
    def logged() -> Any:
        return look()

    assert (await called(logged, {})).result == "A lamp."


async def test_a_failure_tells_the_model_only_what_is_meant_for_it() -> None:
    """A ToolError is passed on; of another exception, the model gets no text."""

    @tool
    def fail(*, kindly: bool) -> None:
        raise ToolError(Code.TOOL_FAILED, "Sold out.") if kindly else ValueError("/srv/key")

    assert (await called(fail, {"kindly": True})).error == "Sold out."
    assert (await called(fail, {"kindly": False})).error == "fail failed; answer without it, or call it differently"


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit, SystemExit, KeyboardInterrupt])
async def test_a_function_in_a_thread_may_raise_anything(kind: type[BaseException]) -> None:
    """The call fails at once, and neither the log nor asyncio's handler of lost exceptions gets the text."""
    capture_logs = pytest.importorskip("structlog.testing").capture_logs  # not in the package without the server

    @tool(timeout=0.5)
    def fail() -> None:
        raise kind("/srv/key")

    lost: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))
    with capture_logs() as lines:
        outcome = await asyncio.create_task(called(fail, {}))
    assert outcome == ToolOutcome.failed(Code.TOOL_FAILED, "fail failed; answer without it, or call it differently")
    assert [(line["event"], line["error"]) for line in lines] == [("tool.failed", kind.__name__)]
    assert "/srv/key" not in str(lines)
    assert not lost


async def test_marks_timeouts_and_artifacts() -> None:
    """The decorator's arguments become the spec; an artifact is for people."""

    @tool(name="look_up", description="Look.", timeout=0.01, side_effects=False, untrusted=False)
    async def wait() -> None:
        await asyncio.Event().wait()

    @tool(eager=True)
    def shown() -> ToolReturn:
        return ToolReturn(Size(1), {"table": [1]})

    assert (wait.spec.name, wait.spec.has_side_effects, shown.spec.has_side_effects) == ("look_up", False, False)
    assert (await called(wait, {})).code is Code.TIMEOUT
    outcome = await called(shown, {})
    assert (outcome.result, outcome.artifact) == ({"width": 1, "height": None}, {"table": [1]})
    assert shown.spec.description == "Shown"


def test_a_tool_is_still_its_function() -> None:
    """Calling it calls the function with its own types."""

    @tool
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8


def test_functions_that_no_model_can_call_are_rejected() -> None:
    """A parameter without a name, and a type without a schema, are errors where the tool is made."""
    with pytest.raises(TypeError, match="the parameter rest of many cannot be passed by name"):

        @tool
        def many(*rest: int) -> None: ...

    with pytest.raises(TypeError, match=r"the parameter lock of strange has no JSON Schema: type .* is not supported"):

        @tool
        def strange(lock: asyncio.Lock) -> None: ...

    with pytest.raises(ValueError, match="is no name of a tool"):
        tool(name="look up")(len)
