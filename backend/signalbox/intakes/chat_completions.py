"""A request of OpenAI's chat completions as an Ask: messages, both sides' tools, parameters."""

from collections.abc import Sequence

from pydantic import ConfigDict

from signalbox.core.ask import Ask, Position
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import (
    AssistantMessage,
    Content,
    ContentPart,
    FilePart,
    ImagePart,
    JsonObject,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import Choice, ForcedTool, Params, Reasoning, Routing
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool
from signalbox.intakes.chat_completions_schema import (
    ChatAssistantMessage,
    ChatCompletionRequest,
    ChatContent,
    ChatFilePart,
    ChatFunctionTool,
    ChatImagePart,
    ChatMessage,
    ChatPart,
    ChatServerTool,
    ChatSystemMessage,
    ChatText,
    ChatTextPart,
    ChatToolMessage,
    ChatUserMessage,
    NamedChoice,
)
from signalbox.intakes.earlier_calls import call_of, reject_blank
from signalbox.intakes.intake import Body, Headers, Tools, named_tools
from signalbox.intakes.message_slices import HasMessages, validated_in_slices

NAME = "chat-completions"
_SERVER_TOOL = "signalbox:"
_TOOLS_HEADER = "x-signalbox-tools"
_CONVERSATION_HEADER = "x-conversation-id"
QUESTION_HEADERS = frozenset({_TOOLS_HEADER, _CONVERSATION_HEADER})
# The tool that OpenAI's `web_search_options` asks for.
_WEB_SEARCH = "search_web"
# Fields of a request that are fields of `Params` under the same name.
_SAME = (
    "temperature", "top_p", "top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty", "repetition_penalty",
    "seed", "logprobs", "top_logprobs", "logit_bias", "metadata",
)  # fmt: skip


class _Messages(HasMessages):
    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    messages: list[ChatMessage]


def body_of(value: JsonObject) -> Body[ChatCompletionRequest]:
    """Validate a body; raises RequestError naming the field that does not fit."""
    request = validated_in_slices(value, ChatCompletionRequest, _Messages)
    return Body(request, value, is_streamed=bool(request.stream))


def ask_of(body: Body[ChatCompletionRequest], tools: Tools, headers: Headers) -> Ask:
    """Make the Ask; raises RequestError for what does not go together, and for tools that are not offered here."""
    request = body.model
    client_tools = _client_tools(request)
    offered = _server_tools(request, tools, headers, client_tools)
    options = request.stream_options
    return Ask(
        model=request.model,
        messages=tuple(_messages_of(request.messages)),
        params=_params_of(request),
        tools=offered,
        client_tools=client_tools,
        choice=_choice_of(request, [*(one.name for one in client_tools), *(one.spec.name for one in offered)]),
        position=_position_of(headers),
        protocol=NAME,
        echo={"include_usage": True} if options is not None and options.include_usage else {},
        streamed_arguments="client" if body.is_streamed and client_tools else "none",
    )


def _position_of(headers: Headers) -> Position | None:
    conversation_id = headers.get(_CONVERSATION_HEADER)
    return Position(conversation_id, follows_newest=True) if conversation_id else None


# --- tools --------------------------------------------------------------------------------------------------------


def _client_tools(request: ChatCompletionRequest) -> tuple[ToolSchema, ...]:
    """Return the tools that the client executes; raises RequestError for two of one name."""
    found: dict[str, ToolSchema] = {}
    for place, tool in enumerate(request.tools or ()):
        if not isinstance(tool, ChatFunctionTool):
            continue
        function = tool.function
        if function.name in found:
            at = f"tools.{place}.function.name"
            raise RequestError(Code.INVALID_REQUEST, f"{at}: there are two tools of this name.", at)
        parameters = function.parameters or {"type": "object", "properties": {}}
        found[function.name] = ToolSchema(function.name, function.description or "", parameters, function.strict)
    return tuple(found.values())


def _server_tools(
    request: ChatCompletionRequest, tools: Tools, headers: Headers, client_tools: Sequence[ToolSchema]
) -> tuple[Tool, ...]:
    """Return this server's tools that the request asks for, or those that it is offered unasked.

    If a client's tool has the same name, the client's is meant. Raises RequestError for an unknown tool.
    """
    chosen = _found(_named(request, headers), tools)
    asks = request.tools is not None or bool(chosen) or headers.get(_TOOLS_HEADER) is not None
    if tools.policy == "always" or (tools.policy == "auto" and not asks and request.response_format is None):
        chosen = tuple(tool for tool in tools.by_name.values() if tool.unavailable is None)
    taken = {one.name for one in client_tools}
    return tuple(tool for tool in chosen if tool.spec.name not in taken)


def _named(request: ChatCompletionRequest, headers: Headers) -> list[tuple[str, str]]:
    """Return the names of this server's tools that a request asks for, each with the field that names it."""
    named = [
        (tool.type.removeprefix(_SERVER_TOOL), f"tools.{place}.type")
        for place, tool in enumerate(request.tools or ())
        if isinstance(tool, ChatServerTool)
    ]
    listed = (name.strip() for name in headers.get(_TOOLS_HEADER, "").split(","))
    named += [(name, _TOOLS_HEADER) for name in listed if name]
    if request.web_search_options is not None:
        named.append((_WEB_SEARCH, "web_search_options"))
    return named


def _found(named: Sequence[tuple[str, str]], tools: Tools) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for name, field in named:
        try:
            found.update((tool.spec.name, tool) for tool in named_tools([name], tools))
        except RequestError as error:
            raise RequestError(error.code, error.message, field) from None
    return tuple(found.values())


def _choice_of(request: ChatCompletionRequest, names: Sequence[str]) -> Choice | None:
    """Return the tool choice; raises RequestError for one that no offered tool can meet."""
    match request.tool_choice:
        case NamedChoice(function=function):
            name = function.name
        case ChatServerTool(type=kind):
            name = kind.removeprefix(_SERVER_TOOL)
        case "required" if not names:
            raise RequestError(Code.INVALID_REQUEST, "tool_choice requires a tool, but none is offered.", "tool_choice")
        case choice:
            return choice
    if name not in names:
        words = f"tool_choice names {name!r}, which is not among the tools of the request."
        raise RequestError(Code.INVALID_REQUEST, words, "tool_choice")
    return ForcedTool(name)


# --- messages -----------------------------------------------------------------------------------------------------


def _messages_of(messages: Sequence[ChatMessage]) -> list[Message]:
    """Return the messages; raises RequestError naming the one that cannot stand where it stands."""
    out: list[Message] = []
    open_calls: dict[str, str] = {}
    for place, message in enumerate(messages):
        match message:
            case ChatToolMessage():
                out.append(_result(message, open_calls, place))
                continue
            case ChatSystemMessage():
                out.append(SystemMessage(_content(message.content)))
            case ChatUserMessage():
                out.append(UserMessage(_content(message.content)))
            case ChatAssistantMessage():
                out.append(_assistant(message))
        last = out[-1]
        open_calls = {call.id: call.name for call in last.calls} if isinstance(last, AssistantMessage) else {}
    place = len(messages) - 1
    if isinstance(out[-1], AssistantMessage):
        words = "The last message must not be the assistant's: an answer cannot be begun by the client."
        raise RequestError(Code.INVALID_REQUEST, words, f"messages.{place}")
    reject_blank(out[-1], place)
    return out


def _assistant(message: ChatAssistantMessage) -> AssistantMessage:
    content = message.content
    if content is None or isinstance(content, str):
        text = content or ""
    else:
        text = "\n".join(part.text if isinstance(part, ChatTextPart) else part.refusal for part in content)
    calls = message.tool_calls or ()
    return AssistantMessage(
        content=text or message.refusal or "",
        calls=tuple(call_of(call.id, call.function.name, call.function.arguments) for call in calls),
    )


def _result(message: ChatToolMessage, open_calls: dict[str, str], place: int) -> ToolMessage:
    name = open_calls.get(message.tool_call_id)
    if name is None:
        at = f"messages.{place}.tool_call_id"
        words = "This result does not belong to any tool call of the assistant message before it."
        raise RequestError(Code.INVALID_REQUEST, words, at)
    content = message.content
    text = content if isinstance(content, str) else "\n".join(part.text for part in content)
    return ToolMessage(message.tool_call_id, name, text)


def _content(content: ChatContent | ChatText) -> Content:
    return content if isinstance(content, str) else tuple(map(_part, content))


def _part(part: ChatPart) -> ContentPart:
    match part:
        case ChatTextPart():
            return TextPart(part.text)
        case ChatImagePart():
            return ImagePart(part.image_url.url, part.image_url.detail)
        case ChatFilePart():
            return FilePart(part.file.filename, part.file.file_data)


# --- parameters ---------------------------------------------------------------------------------------------------


def _params_of(request: ChatCompletionRequest) -> Params:
    """Return the parameters that the request sets; unlisted ones are forwarded under their own names."""
    stop = request.stop
    return Params(
        **{name: getattr(request, name) for name in _SAME},
        parallel=request.parallel_tool_calls,
        format=request.response_format,
        max_tokens=request.max_completion_tokens or request.max_tokens,
        stop=None if not stop else (stop,) if isinstance(stop, str) else tuple(stop),
        routing=_routing_of(request.provider),
        fallbacks=None if request.models is None else tuple(request.models),
        modalities=None if request.modalities is None else tuple(request.modalities),
        reasoning=_reasoning_of(request),
        extra={name: value for name, value in (request.model_extra or {}).items() if value is not None},
    )


def _routing_of(provider: JsonObject | None) -> Routing | None:
    if provider is None:
        return None
    return Routing(provider, requires_all_params=provider.get("require_parameters") is True)


def _reasoning_of(request: ChatCompletionRequest) -> Reasoning | None:
    if request.reasoning is not None:
        return Reasoning(**request.reasoning.model_dump())
    return Reasoning(effort=request.reasoning_effort) if request.reasoning_effort is not None else None
