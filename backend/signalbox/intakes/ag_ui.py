"""A request of an AG-UI client as an Ask.

The server's history is the truth. Of the client's history, only its end is used: new messages of the user, results of
the client's tools, and the id of the answer that they follow.
"""

from collections.abc import Iterator, Sequence
from typing import Any

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
from signalbox.core.parts import NO_PARAMETERS, ToolSchema
from signalbox.intakes import ag_ui_schema as schema
from signalbox.intakes.ag_ui_schema import AgentMessage, RunAgentInput
from signalbox.intakes.earlier_calls import reject_blank
from signalbox.intakes.intake import Body, Headers, Tools
from signalbox.intakes.page_requests import client_tools_of, content_of, failure_text, server_tools_of
from signalbox.intakes.threads import conversation_id_of, is_ours, node_of
from signalbox.intakes.v1 import params_of, tool_choice_of
from signalbox.intakes.v1_schema import ChatParameters
from signalbox.intakes.validation import validated, validated_at

NAME = "ag-ui"
_PROPS = "forwardedProps"
_INSTRUCTIONS = ("system", "developer")


def body_of(value: JsonObject) -> Body[RunAgentInput]:
    """Validate a body; raises RequestError naming the field that does not fit."""
    return Body(validated(value, RunAgentInput), value)


def ask_of(body: Body[RunAgentInput], tools: Tools, headers: Headers) -> Ask:
    """Make the Ask; raises RequestError for a history that ends with nothing to answer, and for unknown tools."""
    request = body.model
    if request.resume:
        words = "Signalbox never interrupts a run to wait for input: leave out resume."
        raise RequestError(Code.INVALID_REQUEST, words, "resume")
    props = _props_of(request, tools)
    client_tools = client_tools_of(
        (f"tools.{place}.name", ToolSchema(tool.name, tool.description, tool.parameters or NO_PARAMETERS))
        for place, tool in enumerate(request.tools or ())
    )
    offered = server_tools_of(
        props.tools,
        tools,
        client_tools,
        field=f"{_PROPS}.tools",
        has_format=props.response_format is not None,
        max_searches=props.max_searches,
    )
    names = [*(tool.spec.name for tool in offered), *(tool.name for tool in client_tools)]
    position, messages = _end_of(request)
    return Ask(
        model=props.model,
        messages=messages,
        system=_system_of(request, props),
        params=params_of(props),
        tools=offered,
        client_tools=client_tools,
        choice=tool_choice_of(props, names),
        finalize_hint=props.finalize_hint or "",
        limits=AskedLimits(props.max_steps, props.max_searches, props.max_cost),
        position=position,
        protocol=NAME,
        echo=_echo_of(request, client_tools),
        streamed_arguments="client",
    )


def _echo_of(request: RunAgentInput, client_tools: Sequence[ToolSchema]) -> JsonObject:
    """Return what the encoder needs: the client's ids, version and tools, and whether its state is an object."""
    echo: JsonObject = {"thread_id": request.thread_id, "run_id": request.run_id}
    if request.protocol_version is not None:
        echo["protocol_version"] = request.protocol_version
    if request.parent_run_id is not None:
        echo["parent_run_id"] = request.parent_run_id
    if client_tools:
        echo["client_tools"] = [tool.name for tool in client_tools]
    if request.state is None or isinstance(request.state, dict):
        echo["state"] = "object" if request.state else "empty"
    return echo


# --- parameters and tools -----------------------------------------------------------------------------------------


def _props_of(request: RunAgentInput, tools: Tools) -> ChatParameters:
    """Return the parameters in `forwardedProps`, which may have fields of the page's own."""
    given = request.forwarded_props
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise RequestError(Code.INVALID_REQUEST, f"{_PROPS}: not an object.", _PROPS)
    known = {name: value for name, value in given.items() if name in ChatParameters.model_fields}
    if "model" not in known and tools.default_model:
        known["model"] = tools.default_model
    if "model" not in known:
        words = f"{_PROPS}.model: name a model; the server has no default (SIGNALBOX_DEFAULT_MODEL)."
        raise RequestError(Code.INVALID_REQUEST, words, f"{_PROPS}.model")
    return validated_at(known, ChatParameters, _PROPS)


def _system_of(request: RunAgentInput, props: ChatParameters) -> str | None:
    """Return the instructions of the page, and the context of the run."""
    texts = [props.system or ""]
    for place, message in enumerate(request.messages):
        if message.get("role") in _INSTRUCTIONS:
            texts.append(validated_at(message, schema.TextMessage, "messages", place).content)
    texts += [f"{context.description}:\n{context.value}" for context in request.context or ()]
    return "\n\n".join(text for text in texts if text.strip()) or None


# --- the end of the history ---------------------------------------------------------------------------------------


def _end_of(request: RunAgentInput) -> tuple[Position, tuple[Message, ...]]:
    """Return the position and the new messages; raises RequestError."""
    new: list[tuple[str, Message]] = []
    runs: set[str] = set()
    answer_id = None
    for place in reversed(range(len(request.messages))):
        message = validated_at(request.messages[place], AgentMessage, "messages", place)
        if message.role == "user":
            new.append((message.id, _user_message(request, place)))
        elif message.role == "tool" and not is_ours(node_of(message.id)):
            handle, result = _result(request, place)
            runs.add(handle.run_id)
            new.append((message.id, result))
        elif message.role in ("assistant", "reasoning") and is_ours(node_of(message.id)):
            answer_id = node_of(message.id)
            break  # messages that the page made itself, such as a greeting, are not part of the conversation
    if not new:
        words = "The last message is an answer: add a message of the user, or results of the client's tools."
        raise RequestError(Code.INVALID_REQUEST, words, "messages")
    new.reverse()
    if runs - {answer_id}:
        words = "The results of tools do not belong to the last answer."
        raise RequestError(Code.INVALID_REQUEST, words, "messages")
    reject_blank(new[-1][1], len(request.messages) - 1)
    ids = tuple(message_id for message_id, _ in new)
    position = Position(conversation_id_of(request.thread_id), answer_id, message_ids=ids)
    return position, tuple(message for _, message in new)


def _result(request: RunAgentInput, place: int) -> tuple[Handle, ToolMessage]:
    """Return a result of the client's, and the call that it answers."""
    result = validated_at(request.messages[place], schema.ToolResult, "messages", place)
    handle = handle_in(result.tool_call_id)
    name = _name_of(result.tool_call_id, request.messages[:place])
    if handle is None or name is None:
        at = f"messages.{place}.toolCallId"
        raise RequestError(Code.INVALID_REQUEST, f"{at}: no answer before it has this call.", at)
    text = result.content if isinstance(result.content, str) else "\n".join(part.text for part in result.content)
    if result.error is not None:
        text = failure_text(result.error, text)
    return handle, ToolMessage(handle.call_id, name, text, is_error=result.error is not None)


def _name_of(call_id: str, messages: Sequence[JsonObject]) -> str | None:
    """Return the name of a call in the history."""
    for message in reversed(messages):
        for call in _calls_in(message):
            match call:
                case {"id": one, "function": {"name": str(name)}} if one == call_id:
                    return name
                case _:
                    pass
    return None


def _calls_in(message: JsonObject) -> Iterator[Any]:
    calls = message.get("toolCalls")
    yield from calls if isinstance(calls, list) else ()


# --- a message of the user ----------------------------------------------------------------------------------------


def _user_message(request: RunAgentInput, place: int) -> UserMessage:
    content = validated_at(request.messages[place], schema.UserMessage, "messages", place).content
    if isinstance(content, str):
        return UserMessage(content)
    parts = [_part(part, f"messages.{place}.content.{number}") for number, part in enumerate(content)]
    return UserMessage(content_of(parts))


def _part(part: schema.TextPart | schema.MediaPart, at: str) -> ContentPart:
    if isinstance(part, schema.TextPart):
        return TextPart(part.text)
    source = part.source
    url = source.value if isinstance(source, schema.UrlSource) else f"data:{source.mime_type};base64,{source.value}"
    if part.type == "document":
        return FilePart(_filename_of(part), url)
    if url.startswith("data:") and not url.startswith("data:image/"):
        raise RequestError(Code.INVALID_REQUEST, f"{at}.source: not an image.", f"{at}.source")
    return ImagePart(url)


def _filename_of(part: schema.MediaPart) -> str:
    match part.metadata:
        case {"filename": str(name)} if name:
            return name
        case _:
            return "file"
