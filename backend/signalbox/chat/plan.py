"""The plan of a run: everything that determines its answer, except the loop. A live run and a replay share it."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.budget import Budget
from signalbox.chat.context import ConversationContext, Limits, RunFlags
from signalbox.core.ask import Ask, AskedLimits
from signalbox.core.catalog import Abilities, ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import Message, ToolMessage
from signalbox.core.params import NO_PARAMS, Choice, Params, StreamedArguments
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool

FREE_SEARCHES, PAID_SEARCHES = 6, 10


class ServerTerms(Struct, frozen=True):
    """What the server adds to every run: a cost limit in USD, and whether a search costs money.

    `unsupported_params` are the fields of `Params` that the upstream's API does not have. `without_costs` are the names
    of the upstreams that may serve the run and at which its costs cannot be known.
    """

    max_cost: float | None = None
    search_is_paid: bool = False
    unsupported_params: frozenset[str] = frozenset()
    without_costs: tuple[str, ...] = ()


class RunPlan(Struct, frozen=True, kw_only=True):
    """A run that can be started any number of times.

    `cited` are the numbered sources of the answer that it continues. `client_tools` are the names of the client's among
    its `tools`. `open_loop` is how many of its messages, the last ones, belong to the tool loop that it continues.
    """

    model: str
    messages: tuple[Message, ...]
    params: Params = NO_PARAMS
    unsupported_params: frozenset[str] = frozenset()
    tools: tuple[ToolSchema, ...] = ()
    choice: Choice | None = None
    finalize_hint: str = ""
    session_id: str | None = None
    limits: Limits = Limits()
    abilities: Abilities = Abilities()
    budget: Budget | None = None
    cited: Mapping[int, tuple[str, str]] = {}
    client_tools: frozenset[str] = frozenset()
    streamed_arguments: StreamedArguments = "none"
    emits_logprobs: bool = False
    open_loop: int = 0

    def context(self, run_id: str, flags: RunFlags, request_id: str = "") -> ConversationContext:
        """Create the state of one run; runs of one plan share no mutable state."""
        return ConversationContext(
            run_id=run_id,
            model=self.model,
            messages=[*self.messages],
            base_params=self.params,
            unsupported_params=self.unsupported_params,
            tool_schemas=self.tools,
            tool_choice=self.choice,
            finalize_hint=self.finalize_hint,
            session_id=self.session_id,
            limits=self.limits,
            flags=flags,
            abilities=self.abilities,
            budget=Budget(self.budget.limit, self.budget.prices) if self.budget else None,
            cited=self.cited,
            request_id=request_id,
            client_tools=self.client_tools,
            streamed_arguments=self.streamed_arguments,
            emits_logprobs=self.emits_logprobs,
            open_loop=self.open_loop,
        )


def plan_of(
    ask: Ask,
    messages: Sequence[Message],
    facts: ModelFacts | None,
    terms: ServerTerms,
    *,
    session_id: str | None = None,
    cited: Mapping[int, tuple[str, str]] = {},
    open_loop: int = 0,
) -> RunPlan:
    """Plan the run that answers `messages`; `facts` is the model's catalogue entry, None if the model is not listed.

    Raises RequestError for a cost limit that could never act.
    """
    if ask.limits.max_cost is not None and terms.without_costs:
        raise RequestError(Code.INVALID_REQUEST, _no_price(ask.model, terms.without_costs), "max_cost")
    client_tools = frozenset(tool.name for tool in ask.client_tools)
    return RunPlan(
        model=ask.model,
        messages=tuple(messages),
        params=ask.params,
        unsupported_params=terms.unsupported_params,
        tools=(*schemas_of(tool for tool in ask.tools if tool.spec.name not in client_tools), *ask.client_tools),
        choice=ask.choice,
        finalize_hint=ask.finalize_hint,
        session_id=session_id,
        limits=limits_of(ask.limits, search_is_paid=terms.search_is_paid),
        abilities=facts.abilities if facts else Abilities(),
        budget=_budget_of(ask.limits.max_cost, terms.max_cost, facts),
        cited=cited,
        client_tools=client_tools,
        streamed_arguments=ask.streamed_arguments,
        emits_logprobs=ask.emits_logprobs,
        open_loop=open_loop,
    )


def _no_price(model: str, upstreams: Sequence[str]) -> str:
    """Return why `max_cost` cannot limit a run, and what to do; the name is empty if no file names the upstream."""
    names = " and ".join(f'"{name}"' for name in upstreams if name)
    where = f"The upstream {names}" if names else "The upstream"
    words = f"max_cost cannot limit this run. {where} reports no costs, and the price of {model[:100]!r} is not known."
    return f"{words} Add the model to the upstream's prices in upstreams.toml, or leave out max_cost."


def limits_of(asked: AskedLimits, *, search_is_paid: bool) -> Limits:
    """Return the limits of a run; fewer searches are allowed if they are free, because their results are poorer."""
    searches = PAID_SEARCHES if search_is_paid else FREE_SEARCHES
    return Limits(
        max_steps=asked.max_steps or Limits().max_steps,
        max_searches=searches if asked.max_searches is None else asked.max_searches,
    )


def _budget_of(asked: float | None, most: float | None, facts: ModelFacts | None) -> Budget | None:
    """Return the smaller of the client's and the operator's cost limit; None if neither has one."""
    limits = [limit for limit in (asked, most) if limit is not None]
    return Budget(min(limits), facts.prices if facts else None) if limits else None


def schemas_of(tools: Iterable[Tool]) -> tuple[ToolSchema, ...]:
    """Return the tools' schemas by name: a stable prefix keeps prompt caches (quirk C15)."""
    return tuple(sorted((tool.spec.schema for tool in tools), key=attrgetter("name")))


def trusted_names(tools: Sequence[Tool]) -> set[str]:
    """Return the names of the tools whose results contain no foreign text."""
    return {tool.spec.name for tool in tools if not tool.spec.untrusted}


def with_trusted_results(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """Mark the results of tools that return no foreign text: they need no delimiters (quirk G3)."""
    trusted = trusted_names(tools)
    return [
        replace(one, untrusted=False) if isinstance(one, ToolMessage) and one.name in trusted else one
        for one in messages
    ]
