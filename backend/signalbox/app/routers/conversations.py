"""/api/conversations: create, list and search, read, change, delete, export."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import time
from typing import Annotated, Any, Literal, cast

import msgspec
from fastapi import APIRouter, Query, Request, Response

from signalbox.app.access import CallerDep
from signalbox.app.conversation_binding import new_node_id
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.conversation_types import Conversation as ConversationResponse
from signalbox.app.openapi.conversation_types import (
    ConversationExport,
    ConversationHead,
    ConversationInfo,
    ConversationList,
    ConversationSummary,
    DeletedConversation,
)
from signalbox.app.openapi.conversation_types import Node as NodeResponse
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.request_bodies import CreateConversation, UpdateConversation
from signalbox.app.request.body import read_model
from signalbox.app.request.paging import Before, Limit, cursor_at, cursor_in
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.conversations.export import as_json, as_markdown, file_name
from signalbox.conversations.files.exported import exported_files
from signalbox.conversations.search import excerpt
from signalbox.conversations.tree import Tree
from signalbox.conversations.turns import files_in, handed_results_in
from signalbox.core.codes import Code
from signalbox.core.conversations import (
    Conversation,
    ListedConversation,
    Node,
    answer_of,
    case_folded,
    key_of,
    shown_id,
)
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.events import Content, Stamped
from signalbox.core.messages import FilePart, ImagePart, JsonObject, Message
from signalbox.offload import offloaded
from signalbox.store import conversations as stored
from signalbox.store.conversation_list import conversation_page
from signalbox.wire.json_text import dumps

router = APIRouter(prefix="/api/conversations", tags=["conversations"], route_class=KnownParameters)

UNTITLED = "New conversation"
# The time to write a node or an event, as the number of text bytes that take as long.
_EFFORT = 100


@router.post(
    "",
    response_model=None,
    responses={
        200: json_response(ConversationInfo, "A conversation with this id exists and was not changed."),
        201: json_response(ConversationInfo, "The conversation was created."),
        **api_errors(*BODY_ERRORS),
    },
    openapi_extra=json_body(CreateConversation, required=False),
)
async def create_conversation(
    request: Request, services: ServicesDep, caller: CallerDep, response: Response
) -> ConversationInfo:
    """Create a conversation without a question. The body may be absent."""
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    wanted = CreateConversation() if not has_body else await read_model(request, CreateConversation, _limit(services))
    now = time()
    key = key_of(caller.owner, wanted.id or new_node_id())
    new = Conversation(key, wanted.title or "", wanted.title is not None, now, now, caller.owner)
    is_new = await services.database.write(stored.add_conversation, new)
    response.status_code = 201 if is_new else 200
    return _info(new if is_new else await _find(key, services))


@router.get("", response_model=None, responses={200: json_response(ConversationList), **api_errors()})
async def list_conversations(
    services: ServicesDep,
    caller: CallerDep,
    search: Annotated[str, Query(max_length=200, description="Text in a title, a message or an answer")] = "",
    limit: Limit = 50,
    before: Before = None,
) -> ConversationList:
    """List and search your conversations, the most recently used first."""
    wanted = case_folded(search.strip())
    cursor = cursor_in(before)
    if cursor is not None:
        cursor = cursor[0], key_of(caller.owner, cursor[1])
    if wanted:
        await _flushed(services)
    lines, found = await services.database.read(conversation_page, caller.owner, limit + 1, cursor, wanted)
    if any(_is_over(run_id, services) for line in lines for run_id in line.unfinished):
        await _flushed(services)
        lines, found = await services.database.read(conversation_page, caller.owner, limit + 1, cursor, wanted)
    shown = lines[:limit]
    summaries = [_summary(line, services) for line in shown]
    if wanted:
        texts = [found[line.conversation.id] for line in shown]
        matches = await offloaded(lambda: [excerpt(text, wanted) for text in texts], size=sum(map(len, texts)))
        for summary, match in zip(summaries, matches, strict=True):
            summary["match"] = match
    last = shown[-1].conversation if len(lines) > limit else None
    return {"conversations": summaries, "next": cursor_at(last.updated, shown_id(last.id)) if last else None}


@router.get(
    "/{conversation_id}",
    response_model=None,
    responses={200: json_response(ConversationResponse), **api_errors(Code.UNKNOWN_CONVERSATION)},
)
async def get_conversation(conversation_id: str, services: ServicesDep, caller: CallerDep) -> Response:
    """Return a conversation with all its branches, in the order of their creation."""
    conversation, nodes, bodies = await _read(key_of(caller.owner, conversation_id), services)

    def written() -> bytes:
        whole: ConversationResponse = {**_head(conversation), "messages": [_node(node, bodies) for node in nodes]}
        return dumps(cast(JsonObject, whole))

    return Response(await offloaded(written, size=_effort(nodes)), media_type="application/json")


@router.patch(
    "/{conversation_id}",
    response_model=None,
    responses={
        200: json_response(ConversationHead),
        **api_errors(*BODY_ERRORS, Code.UNKNOWN_CONVERSATION, Code.UNKNOWN_MESSAGE),
    },
    openapi_extra=json_body(UpdateConversation),
)
async def update_conversation(
    conversation_id: str, request: Request, services: ServicesDep, caller: CallerDep
) -> ConversationHead:
    """Set the title, or select the node that the next question follows."""
    key = key_of(caller.owner, conversation_id)
    await _find(key, services)
    wanted = await read_model(request, UpdateConversation, _limit(services))
    changed = await services.database.write(stored.change_conversation, key, wanted.title, wanted.leaf_id)
    if changed is None:
        raise RequestError(Code.UNKNOWN_CONVERSATION)
    return _head(changed)


@router.delete(
    "/{conversation_id}",
    response_model=None,
    responses={200: json_response(DeletedConversation), **api_errors(Code.UNKNOWN_CONVERSATION, Code.WORKER_SILENT)},
)
async def delete_conversation(conversation_id: str, services: ServicesDep, caller: CallerDep) -> DeletedConversation:
    """Stop active runs of a conversation and delete all of it. Saves of its runs remain."""
    key = key_of(caller.owner, conversation_id)
    await _find(key, services)
    for run_id in await services.database.read(stored.unfinished_of, key):
        await _stop(run_id, services)
    await services.runs.store.flush()  # the costs of runs that have just ended are counted before they are deleted
    deleted = await services.database.write(stored.delete_conversation, key)
    if deleted is None:
        raise RequestError(Code.UNKNOWN_CONVERSATION)
    await _drop(deleted, services)
    await services.runs.store.erase_deleted()
    return {"deleted": True, "saves_kept": deleted.saves}


@router.get(
    "/{conversation_id}/export",
    response_class=Response,
    responses={
        200: {
            "description": "The conversation as a file.",
            "content": {
                **json_response(ConversationExport)["content"],
                "text/markdown": {"schema": {"type": "string"}},
            },
        },
        **api_errors(Code.UNKNOWN_CONVERSATION),
    },
)
async def export_conversation(
    conversation_id: str,
    services: ServicesDep,
    caller: CallerDep,
    kind: Annotated[Literal["markdown", "json"], Query(alias="format")] = "markdown",
) -> Response:
    """Return a conversation as a file: the current branch as Markdown, or all branches as JSON."""
    await _flushed(services)
    conversation, nodes, bodies = await _read(key_of(caller.owner, conversation_id), services)
    conversation = replace(conversation, id=conversation_id, title=conversation.title or UNTITLED)
    shown = nodes if kind == "json" else Tree(nodes).path(conversation.leaf_id)
    run_ids = [node.id for node in shown if node.run is not None]
    events = await services.database.read(stored.events_of_runs, run_ids)
    key = key_of(caller.owner, conversation_id)
    files = await exported_files(services.database, key) if kind == "json" else []

    def written() -> bytes:
        if kind == "json":
            shown_nodes = [cast(JsonObject, _node(node, bodies)) for node in nodes]
            return as_json(conversation, shown_nodes, bodies, events, files)
        return as_markdown(conversation, shown, bodies, events).encode("utf-8", "replace")

    texts = sum(len(str(one.get("text", ""))) for one in files)
    body = await offloaded(written, size=_effort(nodes) + _EFFORT * sum(map(len, events.values())) + texts)
    ending, media = ("json", "application/json") if kind == "json" else ("md", "text/markdown; charset=utf-8")
    name = file_name(conversation.title, ending)
    return Response(body, media_type=media, headers={"content-disposition": f'attachment; filename="{name}"'})


# --- find -------------------------------------------------------------------------------------------------------


async def _find(key: str, services: Services) -> Conversation:
    found = await services.database.read(stored.find_conversation, key)
    if found is None:
        raise RequestError(Code.UNKNOWN_CONVERSATION)
    return found


async def _read(key: str, services: Services) -> tuple[Conversation, list[Node], Mapping[str, tuple[Message, ...]]]:
    """Read a whole conversation, with the text so far of runs that are not on disk yet."""
    conversation, nodes, bodies = await services.database.read(stored.whole_of, key)
    if conversation is None:
        raise RequestError(Code.UNKNOWN_CONVERSATION)
    return conversation, [await _so_far(node, services) for node in nodes], bodies


async def _so_far(node: Node, services: Services) -> Node:
    if node.run is None or node.run.status is not None:
        return node
    try:
        record = await services.runs.find(node.id)
    except RequestError:  # the conversation was deleted since the tree was read
        raise RequestError(Code.UNKNOWN_CONVERSATION) from None
    return replace(node, text=_text(await services.runs.events(node.id)), run=answer_of(record))


def _text(events: list[Stamped]) -> str:
    return "".join(stamped.event.content for stamped in events if isinstance(stamped.event, Content))


async def _flushed(services: Services) -> None:
    """Flush the events of active runs to disk. If the disk fails, reads return what is stored."""
    with suppress(StoreError):
        await services.runs.store.flush()


def _effort(nodes: Sequence[Node]) -> int:
    """Return the time to write nodes, as the number of text bytes that take as long."""
    return sum(_EFFORT + len(node.text) for node in nodes)


def _is_over(run_id: str, services: Services) -> bool:
    run = services.runs.live(run_id)
    return run is not None and run.is_over


def _limit(services: Services) -> int:
    return int(services.settings.signalbox_max_body_mb * 1024 * 1024)


# --- delete -----------------------------------------------------------------------------------------------------


async def _stop(run_id: str, services: Services) -> None:
    with suppress(RequestError):  # it was deleted meanwhile
        await services.runs.stop(run_id)


async def _drop(deleted: stored.Deleted, services: Services) -> None:
    """Stop runs that started meanwhile, and discard unwritten events of deleted runs."""
    for run_id in deleted.run_ids:
        await _stop(run_id, services)
        services.runs.store.discard(run_id)


# --- write ------------------------------------------------------------------------------------------------------


def _head(conversation: Conversation) -> ConversationHead:
    return {**_info(conversation), "leaf_id": conversation.leaf_id}


def _info(conversation: Conversation) -> ConversationInfo:
    return {
        "id": shown_id(conversation.id),
        "title": conversation.title or UNTITLED,
        "created": conversation.created,
        "updated": conversation.updated,
    }


def _summary(line: ListedConversation, services: Services) -> ConversationSummary:
    return {
        **_info(line.conversation),
        "messages": line.messages,
        "cost": _amount(line.cost),
        "paid": _amount(line.paid),
        "model": line.model,
        "is_running": any(services.runs.is_running(run_id) for run_id in line.unfinished),
    }


def _amount(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 12)  # removes rounding errors of the sum


def _node(node: Node, bodies: Mapping[str, tuple[Message, ...]]) -> NodeResponse:
    written: NodeResponse = {
        "id": node.id,
        "parent_id": node.parent_id,
        "role": node.role,
        "created": node.created,
        "text": node.text,
    }
    if node.system:
        written["system"] = node.system
    if files := files_in(bodies.get(node.id, ())):
        written["parts"] = [_part(part) for part in files]
    if results := handed_results_in(bodies.get(node.id, ())):
        written["results"] = [{"call_id": one.call_id, "name": one.name, "content": one.content} for one in results]
    if node.run is not None:
        run: Any = {**msgspec.to_builtins(node.run), "status": node.run.status or "running"}
        written["run_id"] = node.id
        written.update(run)
    return written


def _part(part: ImagePart | FilePart) -> JsonObject:
    """Return an image or a file in the format of a question."""
    if isinstance(part, FilePart):
        return {"type": "file", "file": {"filename": part.filename, "file_data": part.data}}
    detail: JsonObject = {"detail": part.detail} if part.detail else {}
    return {"type": "image_url", "image_url": {"url": part.url, **detail}}
