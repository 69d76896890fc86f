"""POST /api/chat/stream: one question in, one run's events out."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request, Response

from signalbox.app.body import read_model
from signalbox.app.deps import Parts, PartsDep
from signalbox.app.examples import CHAT_BODY, STREAM_ANSWERS
from signalbox.app.intake import messages_of, params_of, redacted, tool_choice_of, tools_of
from signalbox.app.schemas import ChatRequest
from signalbox.app.streaming import EventStream
from signalbox.chat.context import ConversationContext, Limits, RunFlags
from signalbox.chat.loop_v2 import run_v2
from signalbox.chat.progress import Progress
from signalbox.core.parts import ToolSchema
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.runs.manager import new_run_id
from signalbox.runs.run import Run

router = APIRouter(tags=["chat"])

FREE_SEARCHES, PAID_SEARCHES = 6, 10


@router.post("/api/chat/stream", openapi_extra=CHAT_BODY, responses=STREAM_ANSWERS)
async def stream_chat(request: Request, parts: PartsDep) -> Response:
    """Answer a conversation as a stream of contract v1.1; after validation the status is always 200."""
    body = await read_model(request, ChatRequest, int(parts.settings.signalbox_max_body_mb * 1024 * 1024))
    context = context_of(body, parts)
    await parts.catalog.check(body.model)
    progress = Progress()
    run = parts.runs.start(
        context,
        progress,
        run_v2(context, parts.upstream, parts.executor, progress),
        goes_on=body.on_disconnect == "continue",
        request=redacted(body),
    )
    return watch_response(run, parts, after=0)


def context_of(body: ChatRequest, parts: Parts) -> ConversationContext:
    """Make a run's context from a request; raises RequestError for what does not fit together."""
    messages = messages_of(body)
    tools = tools_of(body, parts.executor.tools)
    searches = PAID_SEARCHES if parts.search_is_paid else FREE_SEARCHES
    return ConversationContext(
        run_id=new_run_id(),
        model=body.model,
        messages=messages,
        base_params=params_of(body),
        tool_schemas=tuple(
            ToolSchema(tool.spec.name, tool.spec.description, tool.spec.parameters)
            for tool in sorted(tools, key=lambda tool: tool.spec.name)  # a stable prefix keeps prompt caches (C15)
        ),
        tool_choice=tool_choice_of(body, tools),
        finalize_hint=body.finalize_hint or "",
        session_id=body.conversation_id,
        limits=Limits(
            max_steps=body.max_steps or Limits().max_steps,
            max_searches=searches if body.max_searches is None else body.max_searches,
        ),
        flags=RunFlags(loop="v2", simulated=parts.is_simulated),
    )


def watch_response(run: Run, parts: Parts, *, after: int) -> EventStream:
    """Answer with a watcher of a run: its journal behind a cursor, encoded."""
    loop = run.context.flags.loop
    encoder = SseV1Encoder(run.id, loop)

    async def frames() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts.runs.watch(run, after)) as batches:
            async for batch in batches:
                yield encoder.encode(batch)

    return EventStream(frames(), {"x-run-id": run.id, "x-tool-loop": loop})
