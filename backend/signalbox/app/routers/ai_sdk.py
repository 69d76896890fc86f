"""/api/ai/chat: resume and stop the answer of a chat of the Vercel AI SDK. Its POST is a row of `app/protocols.py`."""

from functools import partial
from typing import Annotated, TypedDict

from fastapi import APIRouter, Query, Response
from msgspec.structs import replace

from signalbox.app.access import CallerDep
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.ai_sdk import stream_response, text_errors
from signalbox.app.openapi.document import json_response
from signalbox.app.protocols import AI_SDK
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.run_stream import run_response
from signalbox.conversations.continuing import answer_at
from signalbox.conversations.tree import Tree
from signalbox.core.codes import Code
from signalbox.core.conversations import Node, key_of
from signalbox.core.messages import ToolMessage
from signalbox.core.records import RunRecord
from signalbox.encoders.ai_sdk import AiSdkEncoder, outputs_of
from signalbox.encoders.encoder import Opening
from signalbox.intakes.threads import conversation_id_of
from signalbox.offload import offloaded
from signalbox.store.conversations import bodies_of, tree_of, unfinished_of

router = APIRouter(prefix="/api/ai/chat", tags=["AI SDK"], route_class=KnownParameters)

_EFFORT = 100


class StoppedChat(TypedDict):
    """The runs that were stopped."""

    stopped: list[str]


@router.post(
    "/{chat_id:path}/stop",
    response_model=None,
    responses={200: json_response(StoppedChat), **text_errors(Code.NOT_FOUND, Code.WORKER_SILENT)},
)
async def stop_ai_chat(chat_id: str, services: ServicesDep, caller: CallerDep) -> StoppedChat:
    """Stop the answer of a chat, its upstream request and its tools. What was written so far stays."""
    key = key_of(caller.owner, conversation_id_of(chat_id))
    stopped: list[str] = []
    for run_id in await services.database.read(unfinished_of, key):
        _, was_stopped = await services.runs.stop(run_id)
        stopped += [run_id] if was_stopped else []
    return {"stopped": stopped}


@router.get(
    "/{chat_id:path}/stream",
    response_model=None,
    responses={
        200: stream_response("The message from its first event."),
        204: {"description": "No answer is active."},
        **text_errors(Code.NOT_FOUND, Code.TOO_MANY_STREAMS),
    },
)
async def resume_ai_chat(
    chat_id: str,
    services: ServicesDep,
    caller: CallerDep,
    *,
    finished: Annotated[bool, Query(description="Also replay the newest answer if it is over.")] = False,
) -> Response:
    """Replay the answer that is active, from the first event of its message, and follow it to its end."""
    key = key_of(caller.owner, conversation_id_of(chat_id))
    _, nodes = await services.database.read(tree_of, key)
    run = await _newest(nodes, services, finished=finished)
    if run is None:
        return Response(status_code=204, headers=AI_SDK.encoder.headers)
    legs = answer_at(Tree(nodes).path(run.id))
    preface = await _preface(legs[:-1], services)
    record = replace(run, echo={**run.echo, "message_id": legs[0].id})
    with services.streams.acquire(caller.owner) as slot:
        return run_response(record, AI_SDK, services, slot, opening=Opening(preface, AiSdkEncoder))


async def _newest(nodes: list[Node], services: Services, *, finished: bool) -> RunRecord | None:
    """Return the newest run that is active; with `finished` the newest of all, None if there is none."""
    for node in reversed(nodes):
        if node.run is not None and (finished or node.run.status is None):
            record = await services.runs.find(node.id)
            if finished or not record.is_over:
                return record
    return None


async def _preface(legs: list[Node], services: Services) -> bytes:
    """Return the chunks of the runs that precede the last one of a message, and of the outputs between them."""
    results = await services.database.read(bodies_of, [leg.id for leg in legs if leg.run is None])
    frames: list[bytes] = []
    run_id = ""
    for leg in legs:
        if leg.run is None:
            frames.append(outputs_of(run_id, [one for one in results.get(leg.id, ()) if isinstance(one, ToolMessage)]))
            continue
        run_id = leg.id
        record, events = await services.runs.find(leg.id), await services.runs.events(leg.id)
        encoder = AiSdkEncoder(replace(record, echo={**record.echo, "message_id": legs[0].id}))
        frames.append(await offloaded(partial(encoder.encode_leg, events), size=_EFFORT * len(events)))
    return b"".join(frames)
