"""The simulator's strict rules of every model family, applied to the requests that the loops would send."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import orjson
from signalbox.chat.context import ConversationContext, Degradation
from signalbox.chat.history.context_window import MAX_LEVEL
from signalbox.chat.loops.finalize import finalize_after_tools
from signalbox.chat.params import prepare_request_params
from signalbox.core.catalog import Abilities
from signalbox.core.messages import JsonValue, Message
from signalbox.core.parts import Request, ToolSchema
from signalbox.simulator.catalog import entry, row_of
from signalbox.simulator.http.errors import Rejected
from signalbox.simulator.http.incoming import parse_request
from signalbox.simulator.rules import check, check_body
from signalbox.wire.openrouter.catalog import facts_of
from signalbox.wire.openrouter.request import body_of

from tests.scenarios.conversation_recovery.cut_runs import FAMILIES, tools
from tests.support.loop_runs import RUN_ID
from tests.support.params import choice, params

# Each family's simulated model, and models of the catalogue with fewer abilities.
TARGETS = (
    *(f"{family}/sim" for family in FAMILIES),
    "openai/o4-mini", "anthropic/claude-opus-4.7", "qwen/chat-only", "mistralai/mistral-medium-3.1",
    "deepseek/deepseek-chat",
)  # fmt: skip
ALL = tuple(ToolSchema(t.spec.name, t.spec.description, t.spec.parameters) for t in tools())
OFFERS: dict[str, tuple[ToolSchema, ...]] = {"all": ALL, "none": (), "other": ALL[1:2]}
PARAMS: tuple[dict[str, JsonValue], ...] = (
    {},
    {"reasoning": {"effort": "high"}},
    {"reasoning": {"max_tokens": 2000}, "max_tokens": 1000},
    {"reasoning": {"enabled": False}},
    {"reasoning": {"enabled": True, "exclude": True}, "parallel_tool_calls": True},
    {"temperature": 0.5, "top_p": 0.5, "response_format": {"type": "json_object"}},
    {"provider": {"order": ["amazon-bedrock", "google-ai-studio", "azure"]}},
    {"reasoning": {"effort": "low"}, "provider": {"order": ["amazon-bedrock"]}},
)
CHOICES: tuple[JsonValue, ...] = (
    None, "auto", "none", "required", {"type": "function", "function": {"name": ALL[1].name}},
)  # fmt: skip
GIVEN_UP: tuple[dict[str, Any], ...] = (
    {}, {"flatten_calls": True}, {"no_tools": True}, {"no_images": True},
    *({"truncation": level} for level in range(1, MAX_LEVEL + 1)),
    {"truncation": MAX_LEVEL, "flatten_calls": True}, {"truncation": 3, "no_tools": True, "no_images": True},
)  # fmt: skip


@dataclass(frozen=True)
class Ask:
    """How a question is asked: offered tools, parameters, tool choice and degradations."""

    offer: str = "all"
    params: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    choice: JsonValue = None
    given_up: dict[str, Any] = field(default_factory=dict[str, Any])
    system: str = ""


def abilities(model: str) -> Abilities:
    """Return a model's abilities as listed in the simulator's catalogue."""
    facts = facts_of(entry(row_of(model)))
    assert facts is not None
    return facts.abilities


def context_of(model: str, before: list[Message], ask: Ask, own: tuple[Message, ...] = ()) -> ConversationContext:
    """Make the context of a run; `own` are the messages of its steps so far."""
    tools_ = OFFERS[ask.offer]
    wanted = ask.choice if tools_ else None
    context = ConversationContext(
        RUN_ID,
        model,
        list(before),
        params(**ask.params),
        tool_schemas=tools_,
        tool_choice=choice(wanted),
        abilities=abilities(model),
        degradation=Degradation(**ask.given_up),
    )
    context.messages.extend(own)
    return context


def possible_requests(context: ConversationContext, *, first: bool) -> Iterator[Request]:
    """Yield the requests that a run in this state may send."""
    yield prepare_request_params(context, first=first)
    yield finalize_after_tools(context)
    yield finalize_after_tools(context, again=True)


def refusal_of(request: Request) -> str | None:
    """Return the rejection of a request by the model's rules, or None."""
    body = orjson.loads(body_of(request, stream=True))
    try:
        check(parse_request(check_body(body)))
    except Rejected as refused:
        return f"{refused.status} {refused.body()}\n{orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()[:4000]}"
    return None


def first_refusal(context: ConversationContext, *, first: bool) -> str | None:
    """Return the first rejection of a request that a run in this state may send, or None."""
    refusals = (refusal_of(request) for request in possible_requests(context, first=first))
    return next((said for said in refusals if said), None)


def every_ask() -> list[Ask]:
    """Return every combination of an Ask."""
    made = product(OFFERS, PARAMS, CHOICES, GIVEN_UP)
    return [Ask(offer, params, choice, given_up) for offer, params, choice, given_up in made]
