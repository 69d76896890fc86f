"""A stored branch of a conversation as messages in LangChain's format, the state of an assistant-ui client."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from signalbox.core.conversations import Node
from signalbox.core.events import Stamped
from signalbox.core.handed_calls import handed_id, handle_in
from signalbox.core.messages import (
    AssistantMessage,
    Content,
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
from signalbox.encoders.assistant_ui.state import StateOperations, apply, merged

_DATA_URL = re.compile(r"data:([^;,]*)(?:;[^,]*)?;base64,(.*)", re.DOTALL)
_NO_VERSIONS: Mapping[str, Sequence[str]] = {}


class Branch(Struct, frozen=True):
    """The messages of a branch. `answer` is the index of the message that begins the answer at its end, if any.

    `versions` are the ids of the answers in the place of the one that follows.
    """

    messages: list[JsonValue] = []
    answer: int | None = None
    versions: Sequence[str] = ()


EMPTY = Branch()


def branch_of(
    path: Sequence[Node],
    bodies: Mapping[str, Sequence[Message]],
    events: Mapping[str, Sequence[Stamped]],
    versions: Mapping[str, Sequence[str]] = _NO_VERSIONS,
    *,
    followed_by: str | None = None,
) -> Branch:
    """Return the branch of a path, whose nodes have these messages and events.

    A run's messages are what a client has when it has received all events of the run. `followed_by` is the run that
    follows, if any: then the answer at the end of the branch has no status yet. `versions` are the ids of the nodes in
    the place of a node, itself included, if there are several.
    """
    messages: list[Any] = []
    answer: int | None = None
    run_id = ""
    for node in path:
        here = versions.get(node.id, ())
        if node.run is None:
            for place, message in enumerate(bodies.get(node.id, ())):
                answer = None if isinstance(message, UserMessage) else answer
                shown = _message(message, _id(node.id, place), run_id)
                if shown is not None and here and not place:
                    shown["additional_kwargs"] = {"metadata": {"versions": [*here]}}
                if shown is not None:
                    messages.append(shown)
        else:
            run_id = node.id
            answer = _add_run(messages, answer, run_id, events.get(run_id, ()), here)
    if answer is not None and followed_by:
        messages[answer].pop("status", None)
    return Branch(messages, answer, versions.get(followed_by, ()) if followed_by else ())


def _add_run(
    messages: list[Any], answer: int | None, run_id: str, events: Sequence[Stamped], versions: Sequence[str]
) -> int | None:
    if answer is not None:
        messages[answer].pop("status", None)
    run = StateOperations(run_id, len(messages), answer, versions)
    state: JsonObject = {"messages": messages, "warnings": [], "run": {}}
    for event in merged(events):
        apply(run.of(event), state)
    return run.answer


def _id(node_id: str, place: int) -> str:
    return node_id if not place else f"{node_id}.{place + 1}"


def node_in(message_id: str) -> str:
    """Return the node of a message's id."""
    return message_id.partition(".")[0]


def _message(message: Message, message_id: str, run_id: str) -> JsonObject | None:
    """Return a message that a client sent; instructions are not shown."""
    match message:
        case UserMessage(content):
            return {"id": message_id, "type": "human", "content": _parts(content)}
        case AssistantMessage():
            calls: list[JsonValue] = [
                {"id": call.id, "name": call.name, "args": call.arguments, "type": "tool_call"}
                for call in message.calls
            ]
            content = [*_parts(message.content), *map(_part, message.images)]
            return {"id": message_id, "type": "ai", "content": content, "tool_calls": calls}
        case ToolMessage():
            given = message.call_id
            return {
                "id": message_id,
                "type": "tool",
                "tool_call_id": given if handle_in(given) else handed_id(run_id, given),
                "name": message.name,
                "content": message.content if message.shown is None else message.shown,
                "status": "error" if message.is_error else "success",
                **({} if message.artifact is None else {"artifact": message.artifact}),
            }
        case _:
            return None


def _parts(content: Content) -> list[JsonValue]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [*map(_part, content)]


def _part(part: ContentPart) -> JsonValue:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(url):
            return {"type": "image_url", "image_url": {"url": url}}
        case FilePart(filename, data):
            found = _DATA_URL.fullmatch(data)
            file: JsonObject = {"type": "file", "metadata": {"filename": filename}}
            if found is None:
                return {**file, "source_type": "url", "url": data}
            return {**file, "source_type": "base64", "mime_type": found[1], "data": found[2]}
