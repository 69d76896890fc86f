"""From an Ask to its run: the conversation it belongs to, the plan, the limits of its caller, the loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from signalbox.app.access import Who
from signalbox.app.conversation_binding import Standing, check_there, keep, standing_of
from signalbox.app.deps import Parts
from signalbox.chat.context import RunFlags
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.registry import LOOPS
from signalbox.chat.plan import RunPlan, ServerTerms, plan_of, with_trusted_results
from signalbox.conversations.turns import text_in
from signalbox.core.ask import Ask
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject, Message, UserMessage
from signalbox.flags.choice import choose_loop
from signalbox.intakes.v1_question import question_of, redacted, without_messages
from signalbox.offload import offloaded
from signalbox.runs.run import Run, StartOptions, new_run_id

_LOOP_NAMES: dict[str, LoopName] = {"v2": "v2", "legacy": "legacy"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an Ask comes from. `address` is the client's, `loop` its `x-tool-loop`.

    `size` is that of the request in bytes: work on a large one is offloaded. `key` and `digest` are of an
    Idempotency-Key.
    """

    caller: Who
    address: str | None
    request_id: str
    loop: str | None
    size: int
    key: str | None = None
    digest: str | None = None


async def start_run(ask: Ask, origin: Origin, parts: Parts) -> Run:
    """Start the run that answers an Ask, and return once it is on disk; raises RequestError and StoreError."""
    run_id = new_run_id()
    standing = await standing_of(ask, parts, origin.caller.owner, origin.size)
    flags = _flags(parts, standing.conversation_id if standing else run_id, origin.loop)
    plan = await _plan(ask, standing, parts, origin.size)
    context = plan.context(run_id, flags, origin.request_id)
    progress = Progress()
    loop = LOOPS[flags.loop](context, parts.upstream, parts.executor, progress)
    options = await offloaded(partial(_options, ask, origin, plan.messages, standing), size=origin.size)
    with parts.quota.counted(origin.caller, origin.address):
        if standing is not None:
            await keep(standing, parts)
        try:
            async with parts.quota.slot_for(origin.caller):
                return await parts.runs.start(context, progress, loop, options)
        except RequestError:
            if standing is not None:
                await check_there(standing, parts)
            raise


def _flags(parts: Parts, key: str, asked: str | None) -> RunFlags:
    """Choose the loop; a client's choice counts only where the operator allows it. Raises RequestError."""
    loop: LoopName | None = None
    if asked is not None and parts.settings.signalbox_allow_loop_header:
        loop = _LOOP_NAMES.get(asked)
        if loop is None:
            raise RequestError(Code.INVALID_REQUEST, "x-tool-loop must be v2 or legacy.", "x-tool-loop")
    choice = choose_loop(parts.settings.tool_loop_v2, parts.flag_override.current(), key, loop)
    return RunFlags(loop=choice.loop, flag=choice.flag, simulated=parts.is_simulated)


async def _plan(ask: Ask, standing: Standing | None, parts: Parts, size: int) -> RunPlan:
    """Plan the run; raises RequestError for a model that the catalogue does not list."""
    await parts.catalog.check(ask.model)
    facts = parts.catalog.entry(ask.model)
    terms = ServerTerms(parts.settings.signalbox_max_run_cost, parts.search_is_paid)
    if standing is not None:
        return plan_of(ask, standing.messages, facts, terms, session_id=standing.conversation_id, cited=standing.cited)
    messages = await offloaded(partial(with_trusted_results, ask.conversation, parts.executor.tools), size=size)
    return plan_of(ask, messages, facts, terms)


def _options(ask: Ask, origin: Origin, messages: Sequence[Message], standing: Standing | None) -> StartOptions:
    """Return what is stored with the run beside its plan."""
    question = ask.question or question_of(ask)
    return StartOptions(
        key=origin.key,
        digest=origin.digest,
        owner=origin.caller.owner,
        continues_after_disconnect=ask.is_detached,
        request=_shown(ask, question, messages, standing),
        question=without_messages(question) if standing else question,
        parent_id=standing.place.node_id if standing else None,
    )


def _shown(ask: Ask, question: JsonObject, messages: Sequence[Message], standing: Standing | None) -> JsonObject:
    """Return the request as the trace shows it; of a continuation with the instruction that its model gets."""
    if standing is None:
        return redacted(question, messages)
    is_continuation = ask.position is not None and ask.position.continues
    instruction = messages[-1] if is_continuation else None
    if isinstance(instruction, UserMessage):
        return {**redacted(question, [instruction]), "instruction": text_in(instruction.content)}
    return redacted(question, ask.conversation)
