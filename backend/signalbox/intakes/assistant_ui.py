"""A request of assistant-ui's transport as an Ask: commands, the page's tools, the position in a thread."""

import secrets
from collections.abc import Sequence
from typing import Any, cast

from signalbox.core.ask import Ask, AskedLimits, Position
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.handed_calls import Handle, handle_in
from signalbox.core.messages import (
    Content,
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import Params, Reasoning
from signalbox.core.parts import NO_PARAMETERS, ToolSchema
from signalbox.core.tools import LARGEST_ARTIFACT
from signalbox.intakes import assistant_ui_schema as schema
from signalbox.intakes.assistant_ui_schema import (
    AddMessage,
    AddToolResult,
    AssistantRequest,
    Command,
    Reload,
    SwitchBranch,
)
from signalbox.intakes.earlier_calls import is_blank
from signalbox.intakes.intake import Body, Headers, Tools
from signalbox.intakes.page_requests import content_of, failure_text, result_text, server_tools_of
from signalbox.intakes.threads import LONGEST_THREAD_ID, conversation_id_of, is_ours, node_of
from signalbox.intakes.validation import validated
from signalbox.wire.json_text import dumps

NAME = "assistant-ui"
# The field of the state with the id of the thread (`app/assistant_ui.py` writes it).
THREAD_FIELD = "threadId"
# Fields of the call settings that are fields of `Params` under the same name.
_SAME = ("max_tokens", "temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "seed")


def body_of(value: JsonObject) -> Body[AssistantRequest]:
    """Validate a body; raises RequestError naming the field that does not fit."""
    request = validated(value, AssistantRequest)
    without_state = {name: field for name, field in value.items() if name != "state"}
    return Body(request, without_state)


def ask_of(body: Body[AssistantRequest], tools: Tools, headers: Headers) -> Ask:
    """Make the Ask; raises RequestError for commands that cannot be followed, and for unknown tools."""
    request = body.model
    client_tools = tuple(
        ToolSchema(name, tool.description or "", tool.parameters or NO_PARAMETERS)
        for name, tool in (request.tools or {}).items()
        if not tool.disabled
    )
    names = request.config.tools if request.config is not None else None
    messages = _messages_of(request)
    return Ask(
        model=_model_of(request, tools),
        system=request.system or None,
        messages=messages,
        params=_params_of(request),
        tools=server_tools_of(names, tools, client_tools, field="config.tools", max_searches=request.max_searches),
        client_tools=client_tools,
        limits=AskedLimits(request.max_steps, request.max_searches, request.max_cost),
        position=_position_of(request, messages),
        is_detached=request.on_disconnect == "continue",
        protocol=NAME,
        streamed_arguments="all",
        collects_results=True,
    )


def _model_of(request: AssistantRequest, tools: Tools) -> str:
    config = request.config
    model = request.model or (config.model_name if config else None) or tools.default_model
    if not model:
        words = "The request names no model, and the server has no default. Set model, or SIGNALBOX_DEFAULT_MODEL."
        raise RequestError(Code.INVALID_REQUEST, words, "model")
    return model


# --- commands -----------------------------------------------------------------------------------------------------


def _messages_of(request: AssistantRequest) -> tuple[Message, ...]:
    """Return results and messages in the order of their commands; raises RequestError."""
    if not request.commands and not request.parent_id:
        words = "The request has no command: send add-message or add-tool-result, or parentId to answer again."
        raise RequestError(Code.INVALID_REQUEST, words, "commands")
    out: list[Message] = []
    for place, command in enumerate(request.commands):
        if isinstance(command, AddMessage):
            message = UserMessage(_content(command.message))
            if is_blank(message.content):
                raise RequestError(Code.INVALID_REQUEST, "The message is blank.", f"commands.{place}.message.parts")
            out.append(message)
        elif isinstance(command, AddToolResult):
            if any(isinstance(one, UserMessage) for one in out):
                words = "Results come before the messages of the same request."
                raise RequestError(Code.INVALID_REQUEST, words, f"commands.{place}")
            out.append(_result(command, place))
    return tuple(out)


def _content(message: schema.UserMessage) -> Content:
    parts = message.parts
    return content_of(
        [TextPart(part.text) if isinstance(part, schema.TextPart) else ImagePart(part.image) for part in parts]
    )


def _result(command: AddToolResult, place: int) -> ToolMessage:
    handle = handle_in(command.tool_call_id)
    if handle is None:
        words = "There is no call of this id that was handed to the page."
        raise RequestError(Code.INVALID_REQUEST, words, f"commands.{place}.toolCallId")
    artifact = cast(JsonValue, command.artifact)
    if artifact is not None and len(dumps(artifact)) > LARGEST_ARTIFACT:
        words = f"The artifact is longer than {LARGEST_ARTIFACT // 1024} KB of JSON."
        raise RequestError(Code.INVALID_REQUEST, words, f"commands.{place}.artifact")
    result = cast(JsonValue, command.result)
    text = failure_text(result) if command.is_error else result_text(result)
    for_model = "\n".join(
        str(part["text"]) for part in command.model_content or () if isinstance(part.get("text"), str)
    )
    return ToolMessage(
        handle.call_id,
        command.tool_name,
        for_model or text,
        artifact=artifact,
        is_error=command.is_error is True,
        shown=text if for_model else None,
    )


def _position_of(request: AssistantRequest, messages: Sequence[Message]) -> Position:
    """Return the place in the thread: after the answer whose calls have results, else after `parentId`."""
    conversation_id = _conversation_of(request)
    runs = {handle.run_id for handle in map(_handle, request.commands) if handle is not None}
    if len(runs) > 1:
        words = "The results belong to calls of different answers: send them in separate requests."
        raise RequestError(Code.INVALID_REQUEST, words, "commands")
    if runs:
        return Position(conversation_id, runs.pop(), follows_answer=True)
    shown = [command.message_id for command in request.commands if isinstance(command, SwitchBranch)]
    if shown and not messages:
        return Position(conversation_id, node_of(shown[-1]), switches_branch=True)
    is_named, parent_id = _parent_of(request)
    node_id = node_of(parent_id) if parent_id else None
    if is_named and node_id is None and messages:
        return Position(conversation_id)
    if node_id is None or not is_ours(node_id):  # the page makes ids for messages that have not been stored yet
        return Position(conversation_id, follows_newest=True)
    return Position(conversation_id, node_id, follows_answer=bool(messages))


def _handle(command: Command) -> Handle | None:
    return handle_in(command.tool_call_id) if isinstance(command, AddToolResult) else None


def _parent_of(request: AssistantRequest) -> tuple[bool, str | None]:
    """Return whether the request names its parent, and the parent: None is the start of the thread."""
    for command in request.commands:
        if isinstance(command, AddMessage | Reload) and "parent_id" in command.model_fields_set:
            return True, command.parent_id
    return "parent_id" in request.model_fields_set, request.parent_id


def _conversation_of(request: AssistantRequest) -> str:
    """Return the conversation of the thread, a new one if the request names no thread.

    The id that the state was streamed with goes first: the client's own id may follow only in its second request.
    """
    streamed = request.state.get(THREAD_FIELD) if isinstance(request.state, dict) else None
    if isinstance(streamed, str) and 0 < len(streamed) <= LONGEST_THREAD_ID:
        return conversation_id_of(streamed)
    return conversation_id_of(request.thread_id) if request.thread_id else secrets.token_hex(16)


# --- parameters ---------------------------------------------------------------------------------------------------


def _params_of(request: AssistantRequest) -> Params:
    """Return the parameters; those of `callSettings` go before those that are spread over the body."""
    settings, config = request.call_settings, request.config
    given = {name: _first(getattr(settings, name, None), getattr(request, name)) for name in _SAME}
    effort = _first(request.reasoning_effort, config.reasoning_effort if config else None)
    return Params(**given, reasoning=Reasoning(effort=effort) if effort else None)


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one
