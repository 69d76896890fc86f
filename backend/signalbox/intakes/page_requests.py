"""What the requests of page protocols have in common: types, tools of both sides, user messages, results of calls."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import Content, ContentPart, JsonValue, TextPart
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool
from signalbox.intakes.intake import Tools, available_tools, named_tools, without_searches
from signalbox.wire.json_text import dumps

MOST_TOOLS = 128
# Made by the client: of a message, a run or a call.
ClientId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class CamelModel(BaseModel):
    """A part of a body whose fields are in camel case. Fields that later versions of a client add are accepted."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, alias_generator=to_camel, validate_by_name=False
    )


def client_tools_of(tools: Iterable[tuple[str, ToolSchema]]) -> tuple[ToolSchema, ...]:
    """Return the client's tools, each given with its field; raises RequestError for two of one name."""
    found: dict[str, ToolSchema] = {}
    for field, tool in tools:
        if tool.name in found:
            raise RequestError(Code.INVALID_REQUEST, f"{field}: there are two tools of this name.", field)
        found[tool.name] = tool
    return tuple(found.values())


def server_tools_of(
    names: Sequence[str] | None,
    tools: Tools,
    client_tools: Sequence[ToolSchema],
    *,
    field: str = "tools",
    has_format: bool = False,
    max_searches: int | None = None,
) -> tuple[Tool, ...]:
    """Return this server's tools with these names; without names, those that are offered unasked.

    `has_format`: the client sets a response format. If a client's tool has the same name, the client's is meant. With
    `max_searches=0`, no search tool is offered.
    """
    if names is not None:
        offered = named_tools(names, tools, field)
    elif tools.policy == "always" or (tools.policy == "auto" and not client_tools and not has_format):
        offered = available_tools(tools)
    else:
        offered = ()
    taken = {tool.name for tool in client_tools}
    offered = tuple(tool for tool in offered if tool.spec.name not in taken)
    return offered if max_searches != 0 else without_searches(offered)


def content_of(parts: Sequence[ContentPart]) -> Content:
    """Return the content of a message; a single text is stored as plain text."""
    return parts[0].text if len(parts) == 1 and isinstance(parts[0], TextPart) else tuple(parts)


def result_text(value: JsonValue) -> str:
    """Return what a model gets of a result that the client sent: text as it is, other JSON as JSON."""
    return value if isinstance(value, str) else dumps(value).decode()


def failure_text(error: JsonValue, content: str = "") -> str:
    """Return what a model gets of a call that failed in the client, and of the result that it has nevertheless."""
    return dumps({"error": error, "content": content} if content else {"error": error}).decode()
