"""`@tool`: makes a tool of a function, for a Runner and as a plugin of the server."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import msgspec

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import ImagePart, JsonObject, JsonValue
from signalbox.core.tools import Category, Tool, ToolContext, ToolReturn, ToolSpec, Visibility, name_in_words
from signalbox.tools.functions.schema import FunctionSchema
from signalbox.tools.functions.signature import name_of
from signalbox.tools.functions.threads import in_thread
from signalbox.tools.lint import is_tool_name, spec_fault

P = ParamSpec("P")
R = TypeVar("R")

_METADATA = frozenset(
    {"title", "summary", "category", "visibility", "timeout", "eager", "side_effects", "untrusted", "url_argument"}
    | {"shows_table"}
)
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class FunctionTool(Tool, Generic[P, R]):
    """A tool made from a function. If your program calls the tool, the tool calls the function."""

    function: Callable[P, R] = field(kw_only=True)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    title: str = "",
    summary: str = "",
    category: Category = "other",
    visibility: Visibility = "secondary",
    timeout: float = 10.0,
    eager: bool = False,
    side_effects: bool = True,
    untrusted: bool = True,
    url_argument: str | None = None,
    shows_table: bool = False,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **metadata: Any,
) -> Any:
    """Turn a function or a bound method into a tool. The model gets its name, its docstring and its parameter schema.

    A parameter of type ToolContext receives the context of the call. The model does not see this parameter. Async
    functions run on the event loop. Other functions run in threads. A function returns a text, a value with a JSON
    form, an `image` or a ToolReturn. Dataclasses, msgspec Structs and pydantic models also have a JSON form. A
    ToolReturn contains images for the model and an artifact for people. To report a failure to the model, raise
    ToolError. The model never gets the text of other exceptions.

    `timeout` is in seconds. With `eager=True`, calls may start while the model is still streaming, so the tool must
    only read data. With `side_effects=True`, a call may change something. A program can ask people for approval before
    it runs such a call. Use `untrusted=False` if results contain no external text. If a schema cannot describe a
    parameter, `@tool` raises TypeError. If an argument of `@tool` is invalid, `@tool` raises ValueError.
    """
    if function is None:
        return partial(_made, name=name, description=description, metadata=metadata)
    return _made(function, name=name, description=description, metadata=metadata)


def _made(
    function: Callable[..., Any], *, name: str | None, description: str | None, metadata: dict[str, Any]
) -> FunctionTool[..., Any]:
    from docstring_parser import parse  # a server without plugins does not need it

    if isinstance(function, staticmethod):
        function = cast("Callable[..., Any]", function.__func__)
    if unknown := sorted(metadata.keys() - _METADATA):
        known = ", ".join(sorted(_METADATA | {"name", "description"}))
        raise TypeError(f"{name_of(function)}: @tool has no argument {unknown[0]}; the arguments are: {known}")
    name = _checked_name(name, function)
    docstring = parse(inspect.getdoc(function) or "")
    descriptions = {one.arg_name: one.description or "" for one in docstring.params}
    schema = FunctionSchema(function, descriptions)
    words = docstring.description or name_in_words(name) if description is None else description
    spec = ToolSpec(name, words, schema.schema, **metadata)
    if fault := spec_fault(spec):
        raise ValueError(f"the tool {name_of(function)}: {fault}")
    return FunctionTool(spec, _runner(name, function, schema), function=function)


def _checked_name(name: object, function: Callable[..., Any]) -> str:
    """Return the name of the tool: the given one, else the function's."""
    chosen = name_of(function) if name is None else name
    if not isinstance(chosen, str) or not is_tool_name(chosen):
        raise ValueError(
            f"{name_of(function)}: {chosen!r:.80} is no name of a tool; set `name` to a letter, then at most 63 "
            "letters, digits and underscores"
        )
    return chosen


def _runner(
    name: str, function: Callable[..., Any], schema: FunctionSchema
) -> Callable[[JsonObject, ToolContext], Any]:
    is_async = inspect.iscoroutinefunction(function)

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue | ToolReturn:
        keywords = schema.convert(arguments)
        if schema.context_name is not None:
            keywords[schema.context_name] = context
        work = partial(function, **keywords)
        returned = await work() if is_async else await in_thread(work)
        if inspect.isawaitable(returned):  # a decorator hides that the function is async
            returned = await returned
        if isinstance(returned, ToolReturn):
            return ToolReturn(_as_json(returned.result, name), returned.artifact, returned.images)
        if isinstance(returned, ImagePart):
            return ToolReturn("(an image)", images=(returned,))
        return _as_json(returned, name)

    return run


def _as_json(value: Any, name: str) -> JsonValue:
    """Return the result of the tool `name` as JSON; raises ToolError."""
    if isinstance(value, _PLAIN):
        return value
    try:
        return cast("JsonValue", msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_other))
    except _NotJsonError as error:
        reason = f"is not JSON: it contains a value of the type {error}"
    except RecursionError:
        reason = "is nested too deeply"
    except TypeError:  # a key that is neither a text nor a number
        reason = "is not JSON"
    raise ToolError(Code.TOOL_FAILED, f"The result of {name} {reason}.")


class _NotJsonError(Exception):
    """The type of a value that has no JSON form."""


def _encode_other(value: Any) -> object:
    """Return a pydantic model as a dict, and a subclass of a plain type, as NumPy's float, as the plain type."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if not hasattr(value, "model_dump"):
        raise _NotJsonError(type(value).__name__)
    return value.model_dump(mode="json")
