"""What an intake is: the reader of one client protocol's requests, in two steps.

`body_of(value)` validates the JSON and needs nothing else, so it comes before an Idempotency-Key is looked up.
`ask_of(body, tools, headers)` makes the Ask; it rejects fields that contradict each other, and tools that this server
does not have. Both raise RequestError with the field that is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from signalbox.core.ask import Ask
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool

Model = TypeVar("Model")

Tools: TypeAlias = Mapping[str, Tool]
"""This server's tools by name, those among them that cannot be offered here."""

Headers: TypeAlias = Mapping[str, str]
"""A request's headers; names are looked up without regard to case."""


class Body(Struct, Generic[Model], frozen=True):
    """A validated request body: as its schema's model, and as JSON that is equal for equal requests.

    `is_streamed`: the client wants the answer as it is made, else at its end.
    """

    model: Model
    canonical: JsonObject
    is_streamed: bool = True


BodyOf: TypeAlias = Callable[[JsonObject], Body[Model]]
AskOf: TypeAlias = Callable[[Body[Model], Tools, Headers], Ask]


def named_tools(names: Sequence[str], tools: Tools) -> tuple[Tool, ...]:
    """Return the tools of these names; raises RequestError for one that is unknown or cannot be offered here."""
    chosen: dict[str, Tool] = {}
    for place, name in enumerate(names):
        tool = tools.get(name)
        if tool is None:
            known = ", ".join(tools) or "none"
            raise RequestError(
                Code.UNKNOWN_TOOL, f"There is no tool {name!r}; the tools are: {known}.", f"tools.{place}"
            )
        if tool.unavailable is not None:
            raise RequestError(
                Code.TOOL_UNAVAILABLE, f"{name} cannot be used here: {tool.unavailable}.", f"tools.{place}"
            )
        chosen[name] = tool
    return tuple(chosen.values())
