"""Starts the run that answers an Ask: binds the conversation, plans the run, applies limits, chooses the loop."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from signalbox.app.access import Caller
from signalbox.app.conversation_binding import Binding, bind, check_exists, read_tree, store_messages
from signalbox.app.deps import Services
from signalbox.app.limits.admission import Wanted
from signalbox.app.model_list import model_not_allowed
from signalbox.app.restored_history import restored_history
from signalbox.chat.answer.native import upstream_of
from signalbox.chat.context import ConversationContext, RunFlags
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.registry import LOOPS
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.plan import RunPlan, ServerTerms, plan_of, with_trusted_results
from signalbox.conversations.files.workspace import RunWorkspace
from signalbox.conversations.tree import Tree
from signalbox.conversations.turns import text_in
from signalbox.core.ask import Ask, Position
from signalbox.core.catalog import ModelFacts, Prices
from signalbox.core.codes import Code
from signalbox.core.conversations import key_of
from signalbox.core.errors import RequestError
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject, Message, UserMessage
from signalbox.core.ports import RunRoute
from signalbox.core.records import V1
from signalbox.core.tools import Owner
from signalbox.flags.choice import choose_loop
from signalbox.flags.provider import Target
from signalbox.intakes.v1_question import question_of, redacted, without_messages
from signalbox.offload import offloaded
from signalbox.profiles import profile_for
from signalbox.runs.run import Run, StartOptions, new_run_id
from signalbox.store.conversations import change_conversation

_LOOP_NAMES: dict[str, LoopName] = {"v2": "v2", "legacy": "legacy"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an Ask comes from. `address` is the client's, `loop` its `x-tool-loop`.

    `size` is the size of the request in bytes: work on a large one is offloaded. `key` and `digest` belong to an
    Idempotency-Key. `trace_headers` are its traceparent and tracestate.
    """

    caller: Caller
    address: str | None
    request_id: str
    loop: str | None
    size: int
    key: str | None = None
    digest: str | None = None
    trace_headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Stored:
    """A request that starts no run: it switches the branch, or brings only some of the results that the model needs.

    `node_id` is the newest message of its branch, None for the newest of the conversation.
    """

    conversation_id: str
    node_id: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A run that is about to start."""

    ask: Ask
    origin: Origin
    binding: Binding | None
    plan: RunPlan
    context: ConversationContext
    route: RunRoute


async def start_run(ask: Ask, origin: Origin, services: Services) -> Run | Stored:
    """Start the run that answers an Ask, and return once it is on disk; raises RequestError and StoreError."""
    if ask.position is not None and ask.position.follows_newest and not ask.messages:
        return Stored(key_of(origin.caller.owner, ask.position.conversation_id))
    if ask.position is not None and ask.position.switches_branch:
        return await _switched(ask.position, origin.caller.owner, services)
    binding = await bind(ask, services, origin.caller.owner, origin.size)
    if binding is not None and binding.open_loop and binding.open_calls and ask.collects_results:
        await store_messages(binding, services)
        return Stored(binding.conversation_id, binding.path.node_id)
    start = await prepare(new_run_id(), ask, origin, binding, services)
    return await begin(start, services, None if binding is None else partial(store_messages, binding, services))


async def prepare(run_id: str, ask: Ask, origin: Origin, binding: Binding | None, services: Services) -> Start:
    """Plan a run and choose its route, which `begin` releases; raises RequestError and StoreError."""
    key = binding.conversation_id if binding else run_id
    target = Target(key, ask.protocol, profile_for(ask.model).family, origin.caller.owner)
    flags = _flags(services, target, origin.loop)
    await services.catalog.check(ask.model)  # the route's prices are those of the list, which this may fetch
    route = services.upstreams.route(ask.model, ask.params)
    try:
        _check_models(origin.caller, route.current.requested or ask.model, ask.params.fallbacks or ())
        plan = await _plan(ask, binding, origin, services, route)
        if plan.open_loop:
            route.prefer(upstream_of(plan.messages[-plan.open_loop :]))
        context = plan.context(run_id, flags, origin.request_id)
        context.use_destination(route.current)
        if context.budget is not None:
            context.budget.use_prices(_known_prices(_facts_of(ask, services)))
        context.trace_headers = origin.trace_headers
        context.owner = Owner(origin.caller.owner, origin.caller.name)
        if binding is not None:
            flush = partial(services.runs.store.flush, run_id)
            context.workspace = RunWorkspace(services.database, binding.conversation_id, run_id, flush)
        return Start(ask, origin, binding, plan, context, route)
    except BaseException:
        route.release()  # the run, which would do this, has not started
        raise


async def begin(start: Start, services: Services, store: Callable[[], Awaitable[None]] | None) -> Run:
    """Start a run within the limits of its caller; raises RequestError and StoreError.

    `store` stores the messages of its question, in a conversation. They are not lost if the run cannot start.
    """
    try:
        return await _started(start, services, store)
    except BaseException:
        start.route.release()
        raise


async def _started(start: Start, services: Services, store: Callable[[], Awaitable[None]] | None) -> Run:
    progress, origin, binding = Progress(), start.origin, start.binding
    inputs = LoopInputs(start.context, start.route, services.executor, progress, route=start.route)
    loop = LOOPS[start.context.flags.loop](inputs)
    options = await offloaded(partial(_options, start.ask, origin, start.plan.messages, binding), size=origin.size)
    with services.quota.counted(origin.caller, origin.address):
        async with services.admission.admitted(origin.caller, origin.address, _wanted(start, services)):
            if store is not None:
                await store()
            try:
                async with services.quota.slot_for(origin.caller):
                    return await services.runs.start(start.context, progress, loop, options)
            except RequestError:
                if binding is not None:
                    await check_exists(binding, services)
                raise


def _wanted(start: Start, services: Services) -> Wanted:
    """Return what a run wants to reserve; any of its models may answer."""
    facts = _facts_of(start.ask, services)
    prices = _known_prices(facts)
    longest = [one.max_output if one else None for one in facts.values()]
    return Wanted(
        start.context,
        prices=prices,
        has_unpriced=len(prices) < len(facts),
        max_cost=start.ask.limits.max_cost,
        max_output=None if None in longest else max(filter(None, longest)),
        without_costs=tuple(services.upstreams.without_costs(start.ask.model)),
    )


def _facts_of(ask: Ask, services: Services) -> dict[str, ModelFacts | None]:
    """Return the facts of the models that may answer."""
    return {model: services.catalog.entry(model) for model in (ask.model, *(ask.params.fallbacks or ()))}


def _known_prices(facts: Mapping[str, ModelFacts | None]) -> dict[str, Prices]:
    return {model: one.prices for model, one in facts.items() if one is not None and one.prices is not None}


def _check_models(caller: Caller, model: str, fallbacks: Sequence[str]) -> None:
    """Raise RequestError for a model that the caller's token or group does not allow: one of `fallbacks` may answer."""
    for one in (model, *fallbacks):
        if not caller.may_use_model(one):
            raise model_not_allowed(one, "model" if one == model else "models")


async def _switched(position: Position, owner: str, services: Services) -> Stored:
    """Make another branch the current one; raises RequestError for an unknown message."""
    key = key_of(owner, position.conversation_id)
    _, nodes = await read_tree(key, services)
    tree = Tree(nodes)
    if position.parent_id not in tree.nodes:
        raise RequestError(Code.UNKNOWN_MESSAGE, "The thread has no message with this id.", "messageId")
    leaf_id = tree.newest_leaf(position.parent_id)
    await services.database.write(change_conversation, key, None, leaf_id)
    return Stored(key, leaf_id)


def _flags(services: Services, target: Target, requested: str | None) -> RunFlags:
    """Choose the loop; a client's request counts only if the operator allows it. Raises RequestError."""
    loop: LoopName | None = None
    if requested is not None and services.settings.signalbox_allow_loop_header:
        loop = _LOOP_NAMES.get(requested)
        if loop is None:
            raise RequestError(Code.INVALID_REQUEST, "x-tool-loop must be v2 or legacy.", "x-tool-loop")
    provider = services.flag_provider
    provided = partial(provider.choose, target) if provider is not None else None
    override = services.flag_override.current()
    choice = choose_loop(services.settings.tool_loop_v2, override, target.key, loop, provided)
    return RunFlags(loop=choice.loop, flag=choice.flag, simulated=services.is_simulated)


async def _plan(ask: Ask, binding: Binding | None, origin: Origin, services: Services, route: RunRoute) -> RunPlan:
    """Plan the run; raises RequestError for a cost limit that could never act."""
    facts = services.catalog.entry(ask.model)
    settings, unsupported = services.settings, route.current.unsupported_params
    without_costs = tuple(services.upstreams.without_costs(ask.model))
    terms = ServerTerms(settings.signalbox_max_run_cost, services.search_is_paid, unsupported, without_costs)
    if binding is not None:
        return plan_of(
            ask,
            binding.messages,
            facts,
            terms,
            session_id=binding.conversation_id,
            cited=binding.cited,
            open_loop=binding.open_loop,
        )
    if ask.protocol == V1:
        messages = await offloaded(
            partial(with_trusted_results, ask.conversation, services.executor.tools), size=origin.size
        )
        return plan_of(ask, messages, facts, terms)
    history = await restored_history(ask, origin.caller.owner, services, origin.size)
    return plan_of(ask, history.messages, facts, terms, cited=history.cited, open_loop=history.open_loop)


def _options(ask: Ask, origin: Origin, messages: Sequence[Message], binding: Binding | None) -> StartOptions:
    """Return what is stored with the run besides its plan."""
    question = ask.question or question_of(ask)
    return StartOptions(
        key=origin.key,
        digest=origin.digest,
        owner=origin.caller.owner,
        group=origin.caller.group,
        continues_after_disconnect=ask.is_detached,
        request=_shown(ask, question, messages, binding),
        question=without_messages(question) if binding else question,
        protocol=ask.protocol,
        echo=ask.echo,
        parent_id=binding.path.node_id if binding else None,
    )


def _shown(ask: Ask, question: JsonObject, messages: Sequence[Message], binding: Binding | None) -> JsonObject:
    """Return the request as the trace shows it; for a continuation, with the instruction that the model receives."""
    if binding is None:
        return redacted(question, messages)
    is_continuation = ask.position is not None and ask.position.continues
    instruction = messages[-1] if is_continuation else None
    if isinstance(instruction, UserMessage):
        return {**redacted(question, [instruction]), "instruction": text_in(instruction.content)}
    return redacted(question, ask.conversation)
