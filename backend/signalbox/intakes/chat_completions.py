"""A request of OpenAI's chat completions as an Ask: messages, both sides' tools, parameters."""

from collections import Counter
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
from signalbox.core.params import Params, Reasoning, Routing
from signalbox.intakes.chat_completions_schema import (
    ChatAssistantMessage,
    ChatCompletionRequest,
    ChatContent,
    ChatFilePart,
    ChatImagePart,
    ChatMessage,
    ChatPart,
    ChatSystemMessage,
    ChatText,
    ChatTextPart,
    ChatToolMessage,
    ChatUserMessage,
)
from signalbox.intakes.chat_completions_tools import TOOLS_HEADER, chosen_tools
from signalbox.intakes.earlier_calls import OpenCalls, call_of, reject_blank
from signalbox.intakes.intake import Body, Headers, Tools
from signalbox.intakes.message_slices import HasMessages, validated_in_slices

NAME = "chat-completions"
_CONVERSATION_HEADER = "x-conversation-id"
QUESTION_HEADERS = frozenset({TOOLS_HEADER, _CONVERSATION_HEADER})
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
    position = _position_of(headers)
    missing = f"the header {_CONVERSATION_HEADER}" if position is None else ""
    chosen = chosen_tools(request, tools, headers, missing)
    options = request.stream_options
    return Ask(
        model=request.model,
        messages=tuple(_messages_of(request.messages, is_stored=position is not None)),
        params=_params_of(request),
        tools=chosen.ours,
        client_tools=chosen.clients,
        choice=chosen.choice,
        position=position,
        protocol=NAME,
        echo={"include_usage": True} if options is not None and options.include_usage else {},
        emits_logprobs=bool(request.logprobs),
        streamed_arguments="client" if body.is_streamed and chosen.clients else "none",
    )


def _position_of(headers: Headers) -> Position | None:
    conversation_id = headers.get(_CONVERSATION_HEADER)
    return Position(conversation_id, follows_newest=True) if conversation_id else None


# --- messages -----------------------------------------------------------------------------------------------------


def _messages_of(messages: Sequence[ChatMessage], *, is_stored: bool) -> list[Message]:
    """Return the messages; raises RequestError naming the one that cannot stand where it stands.

    `is_stored`: a conversation has the earlier messages. Then results may come without their calls, and the user may go
    on without them.
    """
    out: list[Message] = []
    open_calls = OpenCalls(takes_handed=is_stored)
    for place, message in enumerate(messages):
        if not (is_stored or isinstance(message, ChatToolMessage)):
            open_calls.check_answered()
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
        calls = last.calls if isinstance(last, AssistantMessage) else ()
        open_calls = OpenCalls(
            place, {call.id: call.name for call in calls}, Counter(call.id for call in calls),
            takes_handed=is_stored and all(isinstance(one, SystemMessage) for one in out),
        )  # fmt: skip
    place = len(messages) - 1
    if isinstance(out[-1], ToolMessage):
        open_calls.check_answered()
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


def _result(message: ChatToolMessage, open_calls: OpenCalls, place: int) -> ToolMessage:
    name = open_calls.answer(message.tool_call_id, f"messages.{place}.tool_call_id")
    content = message.content
    if isinstance(content, str):
        return ToolMessage(message.tool_call_id, name, content)
    marks = [part.cache_control for part in content if part.cache_control is not None]
    text = "\n".join(part.text for part in content)
    return ToolMessage(message.tool_call_id, name, text, cache_control=marks[-1] if marks else None)


def _content(content: ChatContent | ChatText) -> Content:
    return content if isinstance(content, str) else tuple(map(_part, content))


def _part(part: ChatPart) -> ContentPart:
    match part:
        case ChatTextPart():
            return TextPart(part.text, part.cache_control)
        case ChatImagePart():
            return ImagePart(part.image_url.url, part.image_url.detail, part.cache_control)
        case ChatFilePart():
            return FilePart(part.file.filename, part.file.file_data, part.cache_control)


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
