"""A parsed request: the fields that the simulator uses."""

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..json_values import as_list, as_object, as_objects
from ..model.text_results import TextResult, question_of, results_in_text

Message = dict[str, Any]
# What a client tells the model in front of a question: which files the user has changed.
NOTE = re.compile(r"\A<user_changes>.*?</user_changes>\s*", re.DOTALL)
_CONTINUE = re.compile(r"^\W*(?:please\W+)?(?:continue|go on|carry on|your answer above was cut off)\b", re.IGNORECASE)
ReasoningMode = Literal["off", "hidden", "visible", "unset"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the request offers."""

    name: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...]
    schema: dict[str, Any]

    def property_like(self, *words: str) -> str | None:
        """Return the first property whose name has a part that begins with one of the words."""
        return next((name for word in words for name in self.properties if is_named(name, word)), None)

    def main_property(self, *words: str) -> str:
        """Return the property for the subject: by name, else the first required one."""
        return self.property_like(*words) or next(iter(self.required), words[0])


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request body, typed as far as the simulator needs it."""

    body: dict[str, Any]
    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    attempt: int = 1
    """The number of this attempt; counted only for quirks."""
    count_page: Callable[[Hashable], int] = lambda _: 0
    """Counts a page that is written for a question, and returns how many were written for it before."""
    has_raised_limit: bool = False
    """Whether the previous attempt had a lower max_tokens or a higher effort."""
    has_text_results: bool = False
    """Whether the user message has tool results as text after the question."""

    @property
    def family(self) -> str:
        """Return the part of the model id before the slash."""
        return self.model.partition("/")[0]

    @property
    def plain_model(self) -> str:
        """Return the model id without a variant (`:free`)."""
        return self.model.partition(":")[0]

    @property
    def stream(self) -> bool:
        """Return whether a stream was asked for."""
        return self.body.get("stream") is True

    @property
    def tool_choice(self) -> str:
        """Return `auto`, `none`, `required` or the name of the function that must be called."""
        choice: object = self.body.get("tool_choice", "auto")
        if isinstance(choice, str):
            return choice
        return str(as_object(as_object(choice).get("function")).get("name", "required"))

    @property
    def may_call(self) -> bool:
        """Return whether the model may call tools in this step."""
        return bool(self.tools) and self.tool_choice != "none"

    @property
    def logprobs(self) -> int | None:
        """Return how many alternatives to give for each token, None if no log probabilities are asked for."""
        count = self.body.get("top_logprobs")
        return (count if isinstance(count, int) else 0) if self.body.get("logprobs") is True else None

    @property
    def may_draw(self) -> bool:
        """Return whether the answer may contain images."""
        return "image" in self.modalities

    @property
    def modalities(self) -> tuple[str, ...]:
        """Return the requested output modalities; text by default."""
        return tuple(map(str, as_list(self.body.get("modalities")))) or ("text",)

    @property
    def parallel(self) -> bool:
        """Return whether one step may have several calls."""
        return self.body.get("parallel_tool_calls") is not False

    @property
    def reasoning(self) -> ReasoningMode:
        """Return the reasoning settings of the request."""
        settings = as_object(self.body.get("reasoning"))
        effort = settings.get("effort", self.body.get("reasoning_effort"))
        if effort == "none" or settings.get("enabled") is False:
            return "off"
        if settings.get("exclude") is True or self.body.get("include_reasoning") is False:
            return "hidden"
        asked = effort or settings.get("max_tokens") or settings.get("enabled") or self.body.get("include_reasoning")
        return "visible" if asked else "unset"

    @property
    def max_tokens(self) -> int | None:
        """Return the limit of the answer in tokens, reasoning included."""
        limit = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return limit if isinstance(limit, int) and limit > 0 else None

    @property
    def stops(self) -> tuple[str, ...]:
        """Return the stop sequences."""
        stop = self.body.get("stop")
        if isinstance(stop, str):
            return (stop,)
        return tuple(str(text) for text in as_list(stop))

    @property
    def provider_order(self) -> tuple[str, ...]:
        """Return the slugs of the providers that the request prefers."""
        settings = as_object(self.body.get("provider"))
        return tuple(slug(str(name)) for name in as_list(settings.get("order") or settings.get("only")))

    def tool(self, *words: str) -> Tool | None:
        """Return the first offered tool whose name has a part that begins with one of the words."""
        return next((tool for tool in self.tools if is_named(tool.name, *words)), None)

    @property
    def question_at(self) -> int:
        """Return the index of the user message that is being answered, or -1.

        A user message directly after tool results is a hint to finish, not a question, if the request forbids tools.
        """
        for index in range(len(self.messages) - 1, -1, -1):
            if self.messages[index].get("role") != "user":
                continue
            is_hint = index > 0 and self.messages[index - 1].get("role") == "tool" and self.tool_choice == "none"
            text = text_of(self.messages[index])
            if not is_hint and not self._asks_to_continue(index) and (question_of(text) or not text):
                return index
        return -1

    def _asks_to_continue(self, index: int) -> bool:
        """Return whether a user message asks to continue the answer before it."""
        before = self.messages[index - 1].get("role") if index else None
        return before in ("assistant", "tool") and bool(_CONTINUE.match(text_of(self.messages[index])))

    @property
    def continues_answer(self) -> bool:
        """Return whether the model is asked to continue an answer."""
        asked = max((at for at, one in enumerate(self.messages) if one.get("role") == "user"), default=0)
        return asked > self.question_at and self._asks_to_continue(asked)

    @property
    def question(self) -> str:
        """Return the text of the user message that is being answered."""
        text = question_of(text_of(self.messages[self.question_at])) if self.question_at >= 0 else ""
        return NOTE.sub("", text)

    @property
    def earlier(self) -> list[str]:
        """Return the texts of the user messages before the one that is being answered."""
        before = self.messages[: max(self.question_at, 0)]
        return [text_of(message) for message in before if message.get("role") == "user"]

    @property
    def text_results(self) -> list[TextResult]:
        """Return the calls of the open loop that were sent as text, in the question's message or a later one."""
        users = [message for message in self.messages[max(self.question_at, 0) :] if message.get("role") == "user"]
        return [found for message in users for found in results_in_text(text_of(message))]

    def loop(self) -> Iterator[tuple[int, Message]]:
        """Return the messages after the question, which are the open tool loop, with their indexes."""
        start = self.question_at + 1
        yield from enumerate(self.messages[start:], start)


def is_named(name: str, *words: str) -> bool:
    """Return whether a part of a tool's name begins with one of the words (`get_date`, not `update`)."""
    return any(part.lower().startswith(words) for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name))


def slug(name: str) -> str:
    """Return the slug of a provider name."""
    return name.lower().replace(" ", "-").replace("/", "-")


def text_of(message: Message) -> str:
    """Return the text of a message, whose content may be a string or parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in as_objects(content) if part.get("type") == "text")


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Return the tool calls of an assistant message."""
    return as_objects(message.get("tool_calls"))


def parse_request(body: dict[str, Any]) -> Incoming:
    """Parse a body that has passed the shape rules."""
    offered = as_objects(body.get("tools"))
    tools = [_tool(as_object(tool["function"])) for tool in offered if tool.get("type") == "function"]
    return Incoming(body, str(body["model"]), tuple(body["messages"]), tuple(tools))


def _tool(function: dict[str, Any]) -> Tool:
    schema = as_object(function.get("parameters"))
    properties = {name: as_object(value) for name, value in as_object(schema.get("properties")).items()}
    return Tool(function["name"], properties, tuple(map(str, as_list(schema.get("required")))), schema)
