"""A request of an AG-UI client as an Ask.

The server's history is the truth. Of the client's history, only its end is used: new messages of the user, results of
the client's tools, and the id of the answer that they follow.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from signalbox.core.ask import Ask, AskedLimits, Position
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.handed_calls import Handle, handle_in
from signalbox.core.messages import (
    ContentPart,
    FilePart,
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool
from signalbox.intakes import ag_ui_schema as schema
from signalbox.intakes.ag_ui_schema import AgentMessage, RunAgentInput
from signalbox.intakes.earlier_calls import reject_blank
from signalbox.intakes.intake import Body, Headers, Tools, named_tools
from signalbox.intakes.threads import conversation_id_of, is_ours, node_of
from signalbox.intakes.v1 import params_of, tool_choice_of
from signalbox.intakes.v1_schema import ChatParameters
from signalbox.intakes.validation import first_fault, validated
from signalbox.wire.json_text import dumps

NAME = "ag-ui"
_PROPS = "forwardedProps"
_INSTRUCTIONS = ("system", "developer")
_Model = TypeVar("_Model", bound=BaseModel)


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
    client_tools = _client_tools(request)
    offered = _server_tools(props, tools, {tool.name for tool in client_tools})
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
    return _validated(ChatParameters, known, _PROPS)


def _client_tools(request: RunAgentInput) -> tuple[ToolSchema, ...]:
    """Return the tools that the client executes; raises RequestError for two of one name."""
    found: dict[str, ToolSchema] = {}
    for place, tool in enumerate(request.tools or ()):
        if tool.name in found:
            at = f"tools.{place}.name"
            raise RequestError(Code.INVALID_REQUEST, f"{at}: there are two tools of this name.", at)
        parameters = tool.parameters or {"type": "object", "properties": {}}
        found[tool.name] = ToolSchema(tool.name, tool.description, parameters)
    return tuple(found.values())


def _server_tools(props: ChatParameters, tools: Tools, taken: set[str]) -> tuple[Tool, ...]:
    """Return this server's tools that the request names, or those that are offered unasked.

    If a client's tool has the same name, the client's is meant.
    """
    if props.tools is not None:
        offered = named_tools(props.tools, tools, f"{_PROPS}.tools")
    elif tools.policy == "always" or (tools.policy == "auto" and not taken and props.response_format is None):
        offered = tuple(tool for tool in tools.by_name.values() if tool.unavailable is None)
    else:
        offered = ()
    offered = tuple(tool for tool in offered if tool.spec.name not in taken)
    return tuple(tool for tool in offered if tool.spec.search_key is None) if props.max_searches == 0 else offered


def _system_of(request: RunAgentInput, props: ChatParameters) -> str | None:
    """Return the instructions of the page, and the context of the run."""
    texts = [props.system or ""]
    for place, message in enumerate(request.messages):
        if message.get("role") in _INSTRUCTIONS:
            texts.append(_validated(schema.TextMessage, message, "messages", place).content)
    texts += [f"{context.description}:\n{context.value}" for context in request.context or ()]
    return "\n\n".join(text for text in texts if text.strip()) or None


# --- the end of the history ---------------------------------------------------------------------------------------


def _end_of(request: RunAgentInput) -> tuple[Position, tuple[Message, ...]]:
    """Return the position and the new messages; raises RequestError."""
    new: list[tuple[str, Message]] = []
    runs: set[str] = set()
    answer_id = None
    for place in reversed(range(len(request.messages))):
        message = _validated(AgentMessage, request.messages[place], "messages", place)
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
    result = _validated(schema.ToolResult, request.messages[place], "messages", place)
    handle = handle_in(result.tool_call_id)
    name = _name_of(result.tool_call_id, request.messages[:place])
    if handle is None or name is None:
        at = f"messages.{place}.toolCallId"
        raise RequestError(Code.INVALID_REQUEST, f"{at}: no answer before it has this call.", at)
    text = result.content if isinstance(result.content, str) else "\n".join(part.text for part in result.content)
    if result.error is not None:
        text = dumps({"error": result.error, "content": text} if text else {"error": result.error}).decode()
    return handle, ToolMessage(handle.call_id, name, text)


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


def _validated(model: type[_Model], value: Any, field: str, place: int | None = None) -> _Model:
    """Return a field of the body, or an item of it, as a model; raises RequestError with its path."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        path = (field,) if place is None else (field, place)
        faults: list[Mapping[str, Any]] = [
            {**one, "loc": (*path, *one["loc"])} for one in error.errors(include_url=False)
        ]
        before: list[JsonValue] = [{}] * (place or 0)
        raise first_fault(faults, {field: value if place is None else [*before, value]}) from None


# --- a message of the user ----------------------------------------------------------------------------------------


def _user_message(request: RunAgentInput, place: int) -> UserMessage:
    content = _validated(schema.UserMessage, request.messages[place], "messages", place).content
    if isinstance(content, str):
        return UserMessage(content)
    parts = [_part(part, f"messages.{place}.content.{number}") for number, part in enumerate(content)]
    return UserMessage(parts[0].text if len(parts) == 1 and isinstance(parts[0], TextPart) else tuple(parts))


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
