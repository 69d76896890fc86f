"""The interface of an intake, which converts the requests of one client protocol in two steps.

1. `body_of(value)` validates the JSON. It needs nothing else, so it runs before an Idempotency-Key is looked up.
2. `ask_of(body, tools, headers)` creates the Ask. It rejects contradictory fields, and tools that this server does not
   have.

Both raise RequestError naming the invalid field.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from signalbox.core.ask import Ask
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.core.security.policies import Policy
from signalbox.core.tools import Tool

Model = TypeVar("Model")

OfferPolicy: TypeAlias = Literal["auto", "always", "never"]
"""Whether tools are offered unasked: `auto` if the client brings none and sets no response format."""


class Tools(Struct, frozen=True):
    """This server's tools by name, including those that are unavailable.

    `policy` is for protocols whose clients do not know these tools, `default_model` for those that may name no model.
    `are_allowed` are policies of the caller; a tool has to be allowed by all of them.
    """

    by_name: Mapping[str, Tool]
    policy: OfferPolicy = "auto"
    default_model: str | None = None
    are_allowed: tuple[Policy, ...] = ()

    def allows(self, name: str) -> bool:
        """Return whether the caller may use a tool."""
        return all(policy.allows_tool(name) for policy in self.are_allowed)


Headers: TypeAlias = Mapping[str, str]
"""A request's headers; names are looked up without regard to case."""


class Body(Struct, Generic[Model], frozen=True):
    """A validated request body.

    `model` is an instance of its schema. `canonical` is its JSON, the same for equal requests. `is_streamed`: the
    client wants a stream of events; otherwise it waits for the whole answer.
    """

    model: Model
    canonical: JsonObject
    is_streamed: bool = True


BodyOf: TypeAlias = Callable[[JsonObject], Body[Model]]
AskOf: TypeAlias = Callable[[Body[Model], Tools, Headers], Ask]


def available_tools(tools: Tools, *, missing: str = "") -> tuple[Tool, ...]:
    """Return the tools that a request gets which names none: those that can be used, without tools on request.

    `missing` is as in `named_tools`.
    """
    usable = (
        tool
        for name, tool in tools.by_name.items()
        if tool.unavailable is None and not tool.spec.on_request and tools.allows(name)
    )
    return tuple(tool for tool in usable if not (missing and tool.spec.needs_workspace))


def without_searches(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools that do not search."""
    return tuple(tool for tool in tools if tool.spec.search_key is None)


def named_tools(names: Sequence[str], tools: Tools, field: str = "tools", *, missing: str = "") -> tuple[Tool, ...]:
    """Return the tools with these names of a field; raises RequestError for an unknown or unavailable one.

    `missing` is the field that would place the request in a conversation, empty if the request is in one. Outside of
    a conversation, a tool that needs files cannot be used.
    """
    chosen: dict[str, Tool] = {}
    for place, name in enumerate(names):
        tool = tools.by_name.get(name)
        if tool is None:
            known = ", ".join(tools.by_name) or "none"
            raise RequestError(
                Code.UNKNOWN_TOOL, f"There is no tool {name!r}; the tools are: {known}.", f"{field}.{place}"
            )
        if not tools.allows(name):
            words = f"You may not use the tool {name!r}."
            raise RequestError(Code.TOOL_NOT_ALLOWED, words, f"{field}.{place}")
        if tool.unavailable is not None:
            raise RequestError(
                Code.TOOL_UNAVAILABLE, f"{name} cannot be used here: {tool.unavailable}.", f"{field}.{place}"
            )
        if missing and tool.spec.needs_workspace:
            words = f"{name} works on the files of a conversation: send {missing} too."
            raise RequestError(Code.INVALID_REQUEST, words, f"{field}.{place}")
        chosen[name] = tool
    return tuple(chosen.values())
