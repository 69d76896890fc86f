"""POST /api/chat/stream: one question in, one run's events out."""

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial

from fastapi import APIRouter, Request, Response

from signalbox.app.access import Who, who_of
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.request_id import info_of
from signalbox.app.conversation_binding import Standing, check_there, keep, standing_of
from signalbox.app.deps import Parts, parts_of
from signalbox.app.openapi_examples import CHAT_BODY, CHAT_HEADERS, STREAM_ANSWERS
from signalbox.app.request.idempotency import checked_key, digest_of, owned
from signalbox.app.request.query_parameters import refuse_unknown
from signalbox.intakes.v1_body import Question, read_question
from signalbox.app.run_stream import read_event_id, refuse_twins, resume, watch
from signalbox.chat.context import ConversationContext, RunFlags
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.registry import LOOPS
from signalbox.conversations.turns import text_in
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject, Message, UserMessage
from signalbox.flags.choice import choose_loop
from signalbox.intakes.v1 import (
    budget_of,
    limits_of,
    messages_of,
    params_of,
    redacted,
    schemas_of,
    tool_choice_of,
    tools_of,
    vouched,
)
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.offload import offloaded
from signalbox.runs.run import Run, StartOptions, new_run_id

router = APIRouter(tags=["chat"])

# What a run of a conversation was asked is kept once, as a node of its tree.
_IN_THE_TREE = {"messages", "prompt"}
_HEADERS = (b"last-event-id", b"idempotency-key", b"x-tool-loop")
_LOOP_NAMES: dict[str, LoopName] = {"v2": "v2", "legacy": "legacy"}


@router.post("/api/chat/stream", openapi_extra={**CHAT_HEADERS, **CHAT_BODY}, responses=STREAM_ANSWERS)
async def stream_chat(request: Request) -> Response:
    """Answer a conversation as a stream of contract v1.1; after validation the status is always 200.

    With Last-Event-ID it resumes that run and never starts one; with an Idempotency-Key that came before it answers
    with the run that was started then.
    """
    # It reads everything from the request itself: FastAPI's dependencies were a tenth of a short stream.
    refuse_unknown(request.scope)
    parts, who = parts_of(request), who_of(request)
    last_event_id, idempotency_key, x_tool_loop = _headers_of(request)
    if last_event_id is not None or idempotency_key is not None:
        refuse_twins(request, "Last-Event-ID", "Idempotency-Key")
    if last_event_id:
        run_id, after = read_event_id(last_event_id)
        return await resume(run_id, parts, who, after=after)
    question = await read_question(request, int(parts.settings.signalbox_max_body_mb * 1024 * 1024))
    if idempotency_key is None:
        async with _alone(question.request, parts):
            with parts.streams.take(who.owner) as place:
                return watch(await _started(request, question, parts, who, asked_loop=x_tool_loop), parts, place)
    key = owned(checked_key(idempotency_key), who.owner)
    digest = await offloaded(partial(digest_of, question.written), size=question.size)
    async with parts.runs.hold_key(key) as known:
        if known is not None and known.digest != digest:
            raise RequestError(Code.KEY_REUSED, field="Idempotency-Key")
        if known is not None:
            return await resume(known.id, parts, who, after=0)
        async with _alone(question.request, parts):
            with parts.streams.take(who.owner) as place:
                started = await _started(request, question, parts, who, asked_loop=x_tool_loop, key=key, digest=digest)
                return watch(started, parts, place)


def _alone(body: ChatRequest, parts: Parts) -> AbstractAsyncContextManager[None]:
    """Let an answer be continued by one request at a time: each sees what the one before it has started."""
    if not body.continues:
        return nullcontext()
    return parts.runs.names.hold(f"continue {body.parent_id}", parts.runs.store)


def _headers_of(request: Request) -> list[str | None]:
    """Return the headers that a question may have."""
    there = headers_of(request.scope)
    return [there[name].decode("latin-1") if name in there else None for name in _HEADERS]


async def _started(
    request: Request,
    question: Question,
    parts: Parts,
    who: Who,
    *,
    asked_loop: str | None,
    key: str | None = None,
    digest: str | None = None,
) -> Run:
    """Start the run that answers this body; raises RequestError."""
    body, written, size = question
    standing = await standing_of(body, parts, who.owner, size)
    messages = standing.messages if standing else await offloaded(partial(_messages_of, body, parts), size=size)
    context = context_of(body, parts, messages, asked_loop, standing.conversation_id if standing else None)
    await parts.catalog.check(body.model)
    facts = parts.catalog.entry(body.model)
    context.request_id = info_of(request.scope).id
    context.cited = standing.cited if standing else {}
    if facts is not None:
        context.abilities = facts.abilities
    context.budget = budget_of(body, parts.settings.signalbox_max_run_cost, facts.prices if facts else None)
    progress = Progress()
    loop = LOOPS[context.flags.loop](context, parts.upstream, parts.executor, progress)
    asked = StartOptions(
        key=key,
        digest=digest,
        owner=who.owner,
        continues_after_disconnect=body.on_disconnect == "continue",
        request=await offloaded(lambda: _shown(question, messages, standing), size=size),
        question={name: written[name] for name in written.keys() - _IN_THE_TREE} if standing else written,
        parent_id=standing.place.node_id if standing else None,
    )
    with parts.quota.counted(who, request):
        if standing is not None:
            await keep(standing, parts)
        try:
            async with parts.quota.room_for(who):
                return await parts.runs.start(context, progress, loop, asked)
        except RequestError:
            if standing is not None:
                await check_there(standing, parts)
            raise


def _shown(question: Question, messages: list[Message], standing: Standing | None) -> JsonObject:
    """Return a question as the trace shows it; of a continuation with the words in which its model is asked for it."""
    body, written, _ = question
    if standing is None:
        return redacted(written, messages)
    asked = messages[-1] if body.continues else None
    if isinstance(asked, UserMessage):
        return {**redacted(written, [asked]), "instruction": text_in(asked.content)}
    return redacted(written, messages_of(body))


def _messages_of(body: ChatRequest, parts: Parts) -> list[Message]:
    return vouched(messages_of(body), parts.executor.tools)


def context_of(
    body: ChatRequest, parts: Parts, messages: list[Message], asked_loop: str | None, conversation_id: str | None
) -> ConversationContext:
    """Make a run's context from a request; raises RequestError for what does not fit together.

    `conversation_id` is the one under which the conversation is kept.
    """
    tools = tools_of(body, parts.executor)
    run_id = new_run_id()
    return ConversationContext(
        run_id=run_id,
        model=body.model,
        messages=messages,
        base_params=params_of(body),
        tool_schemas=schemas_of(tools),
        tool_choice=tool_choice_of(body, tools),
        finalize_hint=body.finalize_hint or "",
        session_id=conversation_id,
        limits=limits_of(body, search_is_paid=parts.search_is_paid),
        flags=_flags(parts, key=conversation_id or run_id, asked=asked_loop),
    )


def _flags(parts: Parts, key: str, asked: str | None) -> RunFlags:
    """Choose the run's loop; the header counts only where the operator allows it."""
    loop: LoopName | None = None
    if asked is not None and parts.settings.signalbox_allow_loop_header:
        loop = _LOOP_NAMES.get(asked)
        if loop is None:
            raise RequestError(Code.INVALID_REQUEST, "x-tool-loop must be v2 or legacy.", "x-tool-loop")
    choice = choose_loop(parts.settings.tool_loop_v2, parts.lever.read(), key, loop)
    return RunFlags(loop=choice.loop, flag=choice.flag, simulated=parts.is_simulated)
