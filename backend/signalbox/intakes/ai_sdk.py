"""A request of the Vercel AI SDK's `useChat` as an Ask.

The server's history is the truth. Of the client's chat, only its end is used: new messages of the user, results of the
client's tools, and the id of the answer that they follow.
"""

from collections.abc import Iterator

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
from signalbox.intakes.ai_sdk_schema import AiSdkRequest, UiMessage
from signalbox.intakes.earlier_calls import reject_blank
from signalbox.intakes.intake import Body, Headers, Tools
from signalbox.intakes.page_requests import client_tools_of, content_of, failure_text, result_text, server_tools_of
from signalbox.intakes.threads import conversation_id_of, is_ours
from signalbox.intakes.v1 import params_of, tool_choice_of
from signalbox.intakes.v1_schema import FileData, ImageUrl
from signalbox.intakes.validation import validated, validated_at

NAME = "ai-sdk"
_OUTPUTS = ("output-available", "output-error")


def body_of(value: JsonObject) -> Body[AiSdkRequest]:
    """Validate a body; raises RequestError naming the field that does not fit."""
    return Body(validated(value, AiSdkRequest), value)


def ask_of(body: Body[AiSdkRequest], tools: Tools, headers: Headers) -> Ask:
    """Make the Ask; raises RequestError for a chat that ends with nothing to answer, and for unknown tools."""
    request = body.model
    client_tools = client_tools_of(
        (f"clientTools.{place}.name", ToolSchema(tool.name, tool.description, dict(tool.inputSchema)))
        for place, tool in enumerate(request.clientTools)
    )
    offered = server_tools_of(
        request.tools,
        tools,
        client_tools,
        has_format=request.response_format is not None,
        max_searches=request.max_searches,
    )
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


# --- the end of the chat ------------------------------------------------------------------------------------------


def _end_of(request: AiSdkRequest) -> tuple[Position, tuple[Message, ...], str | None]:
    """Return the position, the new messages, and the id of the answer that goes on; raises RequestError."""
    thread = conversation_id_of(request.id)
    last = _message(request, len(request.messages) - 1)
    if last.role == "assistant":
        run_id, results = _results_in(last)
        return Position(thread, run_id), results, last.id
    messages: list[Message] = []
    ids: list[str] = []
    answer_id = None
    for place in reversed(range(len(request.messages))):
        message = _message(request, place)
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


def _message(request: AiSdkRequest, place: int) -> UiMessage:
    return validated_at(request.messages[place], UiMessage, "messages", place)


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
                    failed = state == "output-error"
                    yield handle, ToolMessage(handle.call_id, name, _output(part), is_error=failed)
            case _:
                pass


def _output(part: JsonObject) -> str:
    return failure_text(part.get("errorText")) if part["state"] == "output-error" else result_text(part.get("output"))


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
    return UserMessage(content_of(parts))


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
