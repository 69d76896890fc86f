"""Converts a request of contract v1.1 into an Ask: messages, tools, parameters, position in a conversation."""

from collections.abc import Sequence

from msgspec.structs import replace

from signalbox.core.ask import Ask, AskedLimits, Position
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
from signalbox.core.params import NO_PARAMS, Choice, ForcedTool, Params, Reasoning, Routing
from signalbox.core.tools import Tool
from signalbox.intakes.earlier_calls import call_of, reject_blank
from signalbox.intakes.intake import Body, Headers, Tools, available_tools, named_tools, without_searches
from signalbox.intakes.v1_schema import (
    AssistantIn,
    ChatParameters,
    ChatRequest,
    ContentIn,
    FilePartIn,
    ImagePartIn,
    MessageIn,
    NamedChoice,
    PartIn,
    SystemIn,
    TextPartIn,
    ToolIn,
    UserIn,
    VariantIn,
    VariantsRequest,
)

# Fields of `Params` whose name in a request differs, and those that are copied unchanged.
_RENAMED = {"parallel": "parallel_tool_calls", "format": "response_format"}
_SAME = (
    "temperature", "top_p", "top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty",
    "repetition_penalty", "seed", "logprobs", "top_logprobs", "logit_bias", "metadata",
)  # fmt: skip
_PARAMS = frozenset((
    *_RENAMED.values(), *_SAME, "max_tokens", "max_completion_tokens", "stop", "provider", "models", "modalities",
    "reasoning", "reasoning_effort", "user",
))  # fmt: skip

_PREVIEWS: JsonObject = {"previews": True}


def ask_of(body: Body[ChatRequest] | Body[VariantsRequest], tools: Tools, headers: Headers) -> Ask:
    """Create the Ask; raises RequestError for contradictory fields and for unknown or unavailable tools."""
    request = body.model
    position = position_of(request)
    messages = messages_of(request)
    missing = "conversation_id" if position is None else ""
    offered = tools_of(request, tools, missing=missing)
    previews = request.previews and body.is_streamed
    return Ask(
        model=request.model,
        messages=tuple(messages),
        system=request.system,
        params=params_of(request),
        tools=offered,
        choice=tool_choice_of(request, [tool.spec.name for tool in offered]),
        finalize_hint=request.finalize_hint or "",
        limits=AskedLimits(request.max_steps, request.max_searches, request.max_cost),
        position=position,
        is_detached=request.on_disconnect == "continue",
        question=body.canonical,
        echo=_PREVIEWS if previews else {},
        streamed_arguments="previews" if previews else "none",
    )


def variant_asks_of(body: Body[VariantsRequest], tools: Tools, headers: Headers) -> list[Ask]:
    """Create one Ask per variant; raises RequestError as `ask_of` does, and for a request outside a conversation."""
    request = body.model
    common = ask_of(body, tools, headers)
    if common.position is None:
        words = "Variants belong to a conversation: send conversation_id, a new id or that of an existing conversation."
        raise RequestError(Code.INVALID_REQUEST, words, "conversation_id")
    if common.position.continues:
        words = "An answer cannot be continued in variants: leave out continue, or send it to /api/chat/stream."
        raise RequestError(Code.INVALID_REQUEST, words, "continue")
    shared = {name: value for name, value in body.canonical.items() if name != "variants"}
    return [_variant(common, request, one, shared) for one in request.variants]


def _variant(ask: Ask, request: ChatRequest, variant: VariantIn, question: JsonObject) -> Ask:
    """Return the Ask of one variant, whose `question` is that of a client which asks for this variant alone."""
    changed = {name: value for name in VariantIn.model_fields if (value := getattr(variant, name)) is not None}
    own = variant.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    if "reasoning" in changed:  # its alias is that of the request
        changed["reasoning_effort"] = None
        question = {name: value for name, value in question.items() if name != "reasoning_effort"}
    one = request.model_copy(update=changed)
    return replace(ask, model=one.model, params=params_of(one), question={**question, **own})


def position_of(request: ChatRequest) -> Position | None:
    """Return the position in a conversation, None for a request outside of one; raises RequestError."""
    if request.continues and request.parent_id is None:
        words = "To continue an answer, set parent_id to the id of its run."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")
    if request.conversation_id is None:
        if request.parent_id is not None:
            raise RequestError(Code.INVALID_REQUEST, "parent_id needs a conversation_id.", "parent_id")
        return None
    return Position(
        request.conversation_id,
        request.parent_id,
        follows_newest="parent_id" not in request.model_fields_set,
        continues=request.continues,
    )


def messages_of(request: ChatRequest) -> list[Message]:
    """Return the messages, without `system`; an empty list if the request regenerates or continues an answer.

    Raises RequestError naming a message that is not allowed in its position.
    """
    if request.messages is None:
        return [] if request.prompt is None else [UserMessage(request.prompt)]
    out = _converted(request.messages)
    if not isinstance(out[-1], UserMessage | ToolMessage):
        at = f"messages.{len(request.messages) - 1}"
        raise RequestError(Code.INVALID_REQUEST, "The last message must be the user's message or a tool result.", at)
    return out


def _converted(messages: Sequence[MessageIn]) -> list[Message]:
    out: list[Message] = []
    open_calls: dict[str, str] = {}
    for place, message in enumerate(messages):
        match message:
            case SystemIn():
                open_calls = {}
                out.append(SystemMessage(_content(message.content)))
            case UserIn():
                open_calls = {}
                out.append(UserMessage(_content(message.content)))
            case AssistantIn():
                turn = _assistant(message)
                open_calls = {call.id: call.name for call in turn.calls}
                out.append(turn)
            case ToolIn():
                out.append(_result(message, open_calls, place))
    reject_blank(out[-1], len(messages) - 1)
    return out


def _assistant(message: AssistantIn) -> AssistantMessage:
    calls = tuple(call_of(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ())
    return AssistantMessage(content=_plain(message.content), calls=calls)


def _result(message: ToolIn, open_calls: dict[str, str], place: int) -> ToolMessage:
    name = open_calls.get(message.tool_call_id)
    if name is None:
        at = f"messages.{place}.tool_call_id"
        raise RequestError(
            Code.INVALID_REQUEST, "This result does not belong to any tool call of the assistant message before it.", at
        )
    return ToolMessage(message.tool_call_id, name, _plain(message.content))


def _content(content: ContentIn) -> Content:
    return content if isinstance(content, str) else tuple(_part(part) for part in content)


def _part(part: PartIn) -> ContentPart:
    match part:
        case TextPartIn():
            return TextPart(part.text)
        case ImagePartIn():
            return ImagePart(part.image_url.url, part.image_url.detail)
        case FilePartIn():
            return FilePart(part.file.filename, part.file.file_data)


def _plain(content: ContentIn | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if isinstance(part, TextPartIn))


def tools_of(request: ChatParameters, tools: Tools, *, missing: str = "") -> tuple[Tool, ...]:
    """Return the tools to offer; raises RequestError for an unknown or unavailable one.

    With `max_searches: 0`, no search tool is offered. `missing` is as in `named_tools`.
    """
    if request.tools is None:
        offered = available_tools(tools, missing=missing)
    else:
        offered = named_tools(request.tools, tools, missing=missing)
    return offered if request.max_searches != 0 else without_searches(offered)


def tool_choice_of(request: ChatParameters, names: Sequence[str]) -> Choice | None:
    """Return the tool choice; raises RequestError if no offered tool satisfies it."""
    choice = request.tool_choice
    if isinstance(choice, NamedChoice):
        if choice.function.name not in names:
            raise RequestError(
                Code.INVALID_REQUEST, "tool_choice names a tool that is not offered.", "tool_choice.function.name"
            )
        return ForcedTool(choice.function.name)
    if choice == "required" and not names:
        raise RequestError(Code.INVALID_REQUEST, "tool_choice requires a tool, but none is offered.", "tool_choice")
    return choice


def params_of(request: ChatParameters) -> Params:
    """Return the parameters that the request sets; raises RequestError for contradictory ones."""
    if request.model_fields_set.isdisjoint(_PARAMS):
        return NO_PARAMS
    return Params(
        **{name: getattr(request, name) for name in _SAME},
        **{name: getattr(request, public) for name, public in _RENAMED.items()},
        max_tokens=_max_tokens_of(request),
        stop=_tuple(request.stop),
        routing=None if request.provider is None else _routing_of(request.provider),
        fallbacks=_tuple(request.models),
        modalities=_tuple(request.modalities),
        reasoning=_reasoning_of(request),
        extra={} if request.user is None else {"user": request.user},
    )


def _max_tokens_of(request: ChatParameters) -> int | None:
    limit, alias = request.max_tokens, request.max_completion_tokens
    if limit is not None and alias is not None and limit != alias:
        words = "max_tokens and its alias max_completion_tokens differ: send one of them."
        raise RequestError(Code.INVALID_REQUEST, words, "max_completion_tokens")
    return alias if limit is None else limit


def _tuple(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _routing_of(provider: JsonObject) -> Routing:
    return Routing(provider, requires_all_params=provider.get("require_parameters") is True)


def _reasoning_of(request: ChatParameters) -> Reasoning | None:
    if request.reasoning is not None:
        return Reasoning(**request.reasoning.model_dump())
    return Reasoning(effort=request.reasoning_effort) if request.reasoning_effort is not None else None
