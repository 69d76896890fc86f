"""A received request as the simulator reads it: the few things a model looks at, by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

Message = dict[str, Any]
ReasoningMode = Literal["off", "hidden", "visible", "unset"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the request offers."""

    name: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...]

    def property_like(self, *words: str) -> str | None:
        """Find the first property whose name holds one of the words."""
        return next((name for word in words for name in self.properties if word in name.lower()), None)


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request body, typed as far as the simulator needs it."""

    body: dict[str, Any]
    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]

    @property
    def family(self) -> str:
        """Give the part of the model id before the slash."""
        return self.model.partition("/")[0]

    @property
    def stream(self) -> bool:
        """Tell whether a stream was asked for."""
        return self.body.get("stream") is True

    @property
    def tool_choice(self) -> str:
        """Give `auto`, `none`, `required` or the name of the function that must be called."""
        choice = self.body.get("tool_choice", "auto")
        if isinstance(choice, dict):
            return str(cast(dict[str, Any], choice).get("function", {}).get("name", "required"))
        return str(choice)

    @property
    def may_call(self) -> bool:
        """Tell whether the model may ask for tools in this step."""
        return bool(self.tools) and self.tool_choice != "none"

    @property
    def parallel(self) -> bool:
        """Tell whether several calls may be asked for at once."""
        return self.body.get("parallel_tool_calls") is not False

    @property
    def reasoning(self) -> ReasoningMode:
        """Tell what the request says about reasoning."""
        wanted = self.body.get("reasoning")
        settings = cast(dict[str, Any], wanted) if isinstance(wanted, dict) else {}
        effort = settings.get("effort", self.body.get("reasoning_effort"))
        if effort == "none" or settings.get("enabled") is False:
            return "off"
        if settings.get("exclude") is True or self.body.get("include_reasoning") is False:
            return "hidden"
        asked = effort or settings.get("max_tokens") or settings.get("enabled") or self.body.get("include_reasoning")
        return "visible" if asked else "unset"

    @property
    def max_tokens(self) -> int | None:
        """Give the cap on what the model may write, reasoning included."""
        cap = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return cap if isinstance(cap, int) and cap > 0 else None

    @property
    def stops(self) -> tuple[str, ...]:
        """Give the texts at which the answer must end."""
        stop = self.body.get("stop")
        if isinstance(stop, str):
            return (stop,)
        return tuple(str(text) for text in cast(list[Any], stop)) if isinstance(stop, list) else ()

    @property
    def provider_order(self) -> tuple[str, ...]:
        """Give the hosts the request prefers, as plain lower-case slugs."""
        provider = self.body.get("provider")
        settings = cast(dict[str, Any], provider) if isinstance(provider, dict) else {}
        names = settings.get("order") or settings.get("only") or []
        return tuple(slug(str(name)) for name in names)

    def tool(self, *words: str) -> Tool | None:
        """Find the first offered tool whose name holds one of the words."""
        return next((tool for tool in self.tools for word in words if word in tool.name.lower()), None)

    @property
    def question_at(self) -> int:
        """Give the index of the user message that is being answered, or -1.

        A user message right after tool results of a request that forbids tools is a nudge to finish, not a question.
        """
        for index in range(len(self.messages) - 1, -1, -1):
            if self.messages[index].get("role") != "user":
                continue
            nudge = index > 0 and self.messages[index - 1].get("role") == "tool" and self.tool_choice == "none"
            if not nudge:
                return index
        return -1

    @property
    def question(self) -> str:
        """Give the text of the user message that is being answered."""
        return text_of(self.messages[self.question_at]) if self.question_at >= 0 else ""

    def loop(self) -> Iterator[tuple[int, Message]]:
        """Give the messages after the question with their indexes: the tool loop that is open."""
        start = self.question_at + 1
        yield from enumerate(self.messages[start:], start)


def slug(name: str) -> str:
    """Write a host's name the way provider slugs are written."""
    return name.lower().replace(" ", "-").replace("/", "-")


def text_of(message: Message) -> str:
    """Give the text of a message, whichever way its content is written."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [cast(dict[str, Any], part) for part in cast(list[Any], content) if isinstance(part, dict)]
    return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Give the tool calls of an assistant message."""
    calls = message.get("tool_calls")
    return [cast(dict[str, Any], call) for call in cast(list[Any], calls)] if isinstance(calls, list) else []


def read(body: dict[str, Any]) -> Incoming:
    """Read a body whose shape the rules have let through."""
    tools = [_tool(tool["function"]) for tool in body.get("tools") or [] if tool.get("type") == "function"]
    return Incoming(body, str(body["model"]), tuple(body["messages"]), tuple(tools))


def _tool(function: dict[str, Any]) -> Tool:
    schema: dict[str, Any] = function.get("parameters") or {}
    return Tool(function["name"], schema.get("properties") or {}, tuple(schema.get("required") or ()))
