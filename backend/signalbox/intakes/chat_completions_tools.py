"""The tools of a chat completions request, the client's and this server's, and the choice among them."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.params import Choice, ForcedTool
from signalbox.core.parts import NO_PARAMETERS, ToolSchema
from signalbox.core.tools import Tool
from signalbox.intakes.chat_completions_schema import (
    ChatAllowedChoice,
    ChatCompletionRequest,
    ChatFunctionTool,
    ChatServerTool,
    NamedChoice,
)
from signalbox.intakes.intake import Headers, Tools, available_tools, named_tools
from signalbox.intakes.page_requests import client_tools_of

TOOLS_HEADER = "x-signalbox-tools"
_SERVER_TOOL = "signalbox:"
# The tool that OpenAI's `web_search_options` asks for.
_WEB_SEARCH = "search_web"


class ChosenTools(Struct, frozen=True):
    """The tools that the model is offered, and its choice among them."""

    clients: tuple[ToolSchema, ...]
    ours: tuple[Tool, ...]
    choice: Choice | None

    @property
    def names(self) -> frozenset[str]:
        """The names of all tools."""
        return frozenset(tool.name for tool in self.clients).union(tool.spec.name for tool in self.ours)


def chosen_tools(request: ChatCompletionRequest, tools: Tools, headers: Headers, missing: str = "") -> ChosenTools:
    """Return what the model is offered; raises RequestError for a choice that no offered tool can meet.

    `missing` is as in `named_tools`.
    """
    clients = _client_tools(request)
    all_ = ChosenTools(clients, _server_tools(request, tools, headers, clients, missing), None)
    match request.tool_choice:
        case ChatAllowedChoice(allowed_tools=allowed):
            names = {
                _known(tool, all_, f"tool_choice.allowed_tools.tools.{place}")
                for place, tool in enumerate(allowed.tools)
            }
            return ChosenTools(
                tuple(tool for tool in all_.clients if tool.name in names),
                tuple(tool for tool in all_.ours if tool.spec.name in names),
                allowed.mode,
            )
        case NamedChoice() | ChatServerTool() as tool:
            return replace(all_, choice=ForcedTool(_known(tool, all_, "tool_choice")))
        case "required" if not all_.names:
            raise RequestError(Code.INVALID_REQUEST, "tool_choice requires a tool, but none is offered.", "tool_choice")
        case word:
            return replace(all_, choice=word)


def _known(tool: NamedChoice | ChatServerTool, offered: ChosenTools, field: str) -> str:
    """Return the name of a tool that the request offers; raises RequestError for any other."""
    name = tool.function.name if isinstance(tool, NamedChoice) else tool.type.removeprefix(_SERVER_TOOL)
    if name not in offered.names:
        words = f"{field} names {name!r}, which is not among the tools of the request."
        raise RequestError(Code.INVALID_REQUEST, words, field)
    return name


def _client_tools(request: ChatCompletionRequest) -> tuple[ToolSchema, ...]:
    """Return the tools that the client executes; raises RequestError for two of one name."""
    return client_tools_of(
        (
            f"tools.{place}.function.name",
            ToolSchema(
                tool.function.name,
                tool.function.description or "",
                tool.function.parameters or NO_PARAMETERS,
                tool.function.strict,
            ),
        )
        for place, tool in enumerate(request.tools or ())
        if isinstance(tool, ChatFunctionTool)
    )


def _server_tools(
    request: ChatCompletionRequest,
    tools: Tools,
    headers: Headers,
    client_tools: Sequence[ToolSchema],
    missing: str,
) -> tuple[Tool, ...]:
    """Return this server's tools that the request asks for, or those that it is offered unasked.

    If a client's tool has the same name, the client's is meant. Raises RequestError for an unknown tool.
    """
    chosen = _found(_named(request, headers), tools, missing)
    asks = request.tools is not None or bool(chosen) or headers.get(TOOLS_HEADER) is not None
    if tools.policy == "always" or (tools.policy == "auto" and not asks and request.response_format is None):
        chosen = available_tools(tools, missing=missing)
    taken = {one.name for one in client_tools}
    return tuple(tool for tool in chosen if tool.spec.name not in taken)


def _named(request: ChatCompletionRequest, headers: Headers) -> list[tuple[str, str]]:
    """Return the names of this server's tools that a request asks for, each with the field that names it."""
    named = [
        (tool.type.removeprefix(_SERVER_TOOL), f"tools.{place}.type")
        for place, tool in enumerate(request.tools or ())
        if isinstance(tool, ChatServerTool)
    ]
    listed = (name.strip() for name in headers.get(TOOLS_HEADER, "").split(","))
    named += [(name, TOOLS_HEADER) for name in listed if name]
    if request.web_search_options is not None:
        named.append((_WEB_SEARCH, "web_search_options"))
    return named


def _found(named: Sequence[tuple[str, str]], tools: Tools, missing: str) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for name, field in named:
        try:
            found.update((tool.spec.name, tool) for tool in named_tools([name], tools, missing=missing))
        except RequestError as error:
            raise RequestError(error.code, error.message, field) from None
    return tuple(found.values())
