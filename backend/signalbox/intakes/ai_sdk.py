"""A request of the Vercel AI SDK's `useChat` as an Ask.

The server's history is the truth. Of the client's chat, only its end is used: new messages of the user, results of the
client's tools, and the id of the answer that they follow.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from signalbox.core.ask import Ask, AskedLimits, Position
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.handed_calls import Handle, handle_in
from signalbox.core.messages import (
    ContentPart,
    FilePart,
    ImagePart,
    JsonObject,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool
from signalbox.intakes.ai_sdk_schema import AiSdkRequest, UiMessage
from signalbox.intakes.earlier_calls import reject_blank
from signalbox.intakes.intake import Body, Headers, Tools, named_tools
from signalbox.intakes.threads import conversation_id_of, is_ours
from signalbox.intakes.v1 import params_of, tool_choice_of
from signalbox.intakes.v1_schema import FileData, ImageUrl
from signalbox.intakes.validation import first_fault, validated
from signalbox.wire.json_text import dumps

NAME = "ai-sdk"
_OUTPUTS = ("output-available", "output-error")


def body_of(value: JsonObject) -> Body[AiSdkRequest]:
    """Validate a body; raises RequestError naming the field that does not fit."""
    return Body(validated(value, AiSdkRequest), value)


def ask_of(body: Body[AiSdkRequest], tools: Tools, headers: Headers) -> Ask:
    """Make the Ask; raises RequestError for a chat that ends with nothing to answer, and for unknown tools."""
    request = body.model
    client_tools = _client_tools(request)
    offered = _server_tools(request, tools, {tool.name for tool in client_tools})
    names = [*(tool.spec.name for tool in offered), *(tool.name for tool in client_tools)]
    position, messages, answer_id = _end_of(request)
    echo: JsonObject = {"client_tools": [tool.name for tool in client_tools]} if client_tools else {}
    return Ask(
        model=request.model,
        messages=messages,
        system=request.system,
        params=params_of(request),
        tools=offered,
        client_tools=client_tools,
        choice=tool_choice_of(request, names),
        finalize_hint=request.finalize_hint or "",
        limits=AskedLimits(request.max_steps, request.max_searches, request.max_cost),
        position=position,
        is_detached=True,
        protocol=NAME,
        echo=echo if answer_id is None else {**echo, "message_id": answer_id},
        streamed_arguments="all",
    )


# --- tools --------------------------------------------------------------------------------------------------------


def _client_tools(request: AiSdkRequest) -> tuple[ToolSchema, ...]:
    """Return the tools that the page executes; raises RequestError for two of one name."""
    found: dict[str, ToolSchema] = {}
    for place, tool in enumerate(request.clientTools):
        if tool.name in found:
            at = f"clientTools.{place}.name"
            raise RequestError(Code.INVALID_REQUEST, f"{at}: there are two tools of this name.", at)
        found[tool.name] = ToolSchema(tool.name, tool.description, dict(tool.inputSchema))
    return tuple(found.values())


def _server_tools(request: AiSdkRequest, tools: Tools, taken: set[str]) -> tuple[Tool, ...]:
    """Return this server's tools that the request names, or those that are offered unasked.

    If a client's tool has the same name, the client's is meant.
    """
    offers_all = not taken and request.response_format is None
    if request.tools is not None:
        offered = named_tools(request.tools, tools)
    elif tools.policy == "always" or (tools.policy == "auto" and offers_all):
        offered = tuple(tool for tool in tools.by_name.values() if tool.unavailable is None)
    else:
        offered = ()
    offered = tuple(tool for tool in offered if tool.spec.name not in taken)
    return tuple(tool for tool in offered if tool.spec.search_key is None) if request.max_searches == 0 else offered


# --- the end of the chat ------------------------------------------------------------------------------------------


def _end_of(request: AiSdkRequest) -> tuple[Position, tuple[Message, ...], str | None]:
    """Return the position, the new messages, and the id of the answer that goes on; raises RequestError."""
    thread = conversation_id_of(request.id)
    last = _message(request.messages, len(request.messages) - 1)
    if last.role == "assistant":
        run_id, results = _results_in(last)
        return Position(thread, run_id), results, last.id
    messages: list[Message] = []
    ids: list[str] = []
    answer_id = None
    for place in reversed(range(len(request.messages))):
        message = _message(request.messages, place)
        if message.role == "user":
            messages.insert(0, _user_message(message, place))
            ids.insert(0, message.id)
        elif message.role == "assistant" and is_ours(message.id):
            answer_id = message.id
            break  # answers that the page made itself, such as a greeting, are not part of the conversation
    if not messages:
        raise RequestError(Code.INVALID_REQUEST, "There is no message of the user.", "messages")
    reject_blank(messages[-1], len(request.messages) - 1)
    return Position(thread, answer_id, message_ids=tuple(ids)), tuple(messages), None


def _message(messages: Sequence[JsonObject], place: int) -> UiMessage:
    try:
        return UiMessage.model_validate(messages[place])
    except ValidationError as error:
        faults: list[Mapping[str, Any]] = [
            {**one, "loc": ("messages", place, *one["loc"])} for one in error.errors(include_url=False)
        ]
        raise first_fault(faults, {"messages": [*messages]}) from None


def _results_in(message: UiMessage) -> tuple[str, tuple[ToolMessage, ...]]:
    """Return the run that handed over the last calls of an answer, and their results."""
    found = [*_outputs_in(message)]
    if not found:
        words = "The last message is an answer: send a new message, or the outputs of its client tools."
        raise RequestError(Code.INVALID_REQUEST, words, "messages")
    run_id = found[-1][0].run_id
    return run_id, tuple(result for handle, result in found if handle.run_id == run_id)


def _outputs_in(message: UiMessage) -> Iterator[tuple[Handle, ToolMessage]]:
    """Yield the outputs of client tools in an answer."""
    for part in message.parts:
        match part:
            case {"type": str(kind), "toolCallId": str(call_id), "state": state} if state in _OUTPUTS:
                handle = handle_in(call_id)
                name = part.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
                if handle is not None and isinstance(name, str) and part.get("providerExecuted") is not True:
                    yield handle, ToolMessage(handle.call_id, name, _output(part))
            case _:
                pass


def _output(part: JsonObject) -> str:
    if part["state"] == "output-error":
        return dumps({"error": part.get("errorText")}).decode()
    output = part.get("output")
    return output if isinstance(output, str) else dumps(output).decode()


# --- a message of the user ----------------------------------------------------------------------------------------


def _user_message(message: UiMessage, place: int) -> UserMessage:
    """Return a message without the page's own `data-` parts, which are not for the model.

    Raises RequestError for a part that a model cannot get.
    """
    parts = [
        _part(part, f"messages.{place}.parts.{number}")
        for number, part in enumerate(message.parts)
        if not str(part.get("type")).startswith("data-")
    ]
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return UserMessage(parts[0].text)
    return UserMessage(tuple(parts))


def _part(part: JsonObject, at: str) -> ContentPart:
    match part:
        case {"type": "text", "text": str(text)}:
            return TextPart(text)
        case {"type": "file", "mediaType": str(kind), "url": str(url)}:
            try:
                if kind.startswith("image/"):
                    return ImagePart(ImageUrl(url=url).url)
                name = part.get("filename")
                file = FileData(filename=name if isinstance(name, str) and name else "file", file_data=url)
                return FilePart(file.filename, file.file_data)
            except ValidationError:
                raise RequestError(
                    Code.INVALID_REQUEST, f"{at}.url: not an http(s) or data URL.", f"{at}.url"
                ) from None
        case _:
            words = f"{at}: a message of the user has parts of type text and file."
            raise RequestError(Code.INVALID_REQUEST, words, at)
