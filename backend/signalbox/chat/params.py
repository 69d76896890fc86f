"""From a run's context to one request: history repaired, guardrails applied."""

import re
from collections.abc import Iterable, Iterator, Mapping

from signalbox.chat.context import ConversationContext
from signalbox.chat.history.context_window import MOST
from signalbox.chat.history.message_order import holds_image_words
from signalbox.chat.history.repair import history_for
from signalbox.core.conversations import session_of
from signalbox.core.messages import AssistantMessage, JsonObject, JsonValue, Message, ToolMessage
from signalbox.core.parts import Request, ToolSchema

# What the catalogue lists per model. A host answers 400 to one that it does not know (Claude 4.7 to temperature: quirk
# C5), or OpenRouter finds no host at all (quirk C1). max_tokens is taken everywhere (openstory#1317).
_LISTED = frozenset(
    {
        "temperature", "top_p", "top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty",
        "repetition_penalty", "seed", "logprobs", "top_logprobs", "logit_bias", "response_format", "stop",
        "reasoning", "parallel_tool_calls",
    }
)  # fmt: skip
# Room for an answer above what the model may think (quirk B8; Anthropic wants max_tokens above the budget).
ANSWER_RESERVE = 1024
# Asked for where neither request nor usage tells what was too little: any smaller number might be less than that.
UNTOLD_ROOM = 8 * ANSWER_RESERVE
# What hosts take as the name of a tool's argument; models write others.
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# Anthropic takes no smaller budget for thinking.
_LEAST_BUDGET = 1024


def prepare_request_params(context: ConversationContext, *, first: bool = True) -> Request:
    """Build the request of the next step; `first` is the run's first step, the only one that a forced choice binds.

    Nothing is added but what the caller set and what the model's profile requires.
    """
    messages = history_for(context)
    offered = context.offered
    earlier = () if offered else used_in(messages)
    guarded = guarded_params(context)
    params = _of_this_step(dict(guarded), context, messages)
    return Request(
        model=context.model,
        messages=messages,
        tools=offered or earlier,
        tool_choice="none" if earlier else _tool_choice(context, first=first),
        params=params,
        session_id=session_of(context.session_id) if context.session_id else None,
        changes=(
            *_conceded(context, messages),
            *(f"{name} {params[name]}" for name in params if params[name] != guarded.get(name)),
        ),
    )


def _conceded(context: ConversationContext, messages: tuple[Message, ...]) -> Iterator[str]:
    """Say in words what of the conversation a request gives up; for the trace of the run."""
    conceded = context.conceded
    if conceded.trim:
        yield f"the oldest parts left out, level {conceded.trim} of {MOST}"
    if not context.takes_tools:
        yield "no tools"
    if conceded.flat:
        yield "calls told in words"
    if not context.sees_images and any(holds_image_words(message) for message in messages):
        yield "no images"


def used_in(messages: Iterable[Message]) -> tuple[ToolSchema, ...]:
    """Describe the tools that a history calls, where none is on offer now.

    Calls without `tools` are a 400 at Bedrock ("toolConfig field must be defined", quirk C3: vercel/ai#7537).
    """
    found: dict[str, dict[str, JsonValue]] = {}
    for message in messages:
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            properties = found.setdefault(call.name, {})
            known = {name: value for name, value in call.arguments.items() if _PROPERTY.fullmatch(name)}
            properties.update({name: {"type": _type_of(value)} for name, value in known.items()})
    return tuple(
        ToolSchema(name, "Used earlier; not available now.", {"type": "object", "properties": properties})
        for name, properties in sorted(found.items())
    )


def _type_of(value: JsonValue) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case dict():
            return "object"
        case _:
            return "string"


def guarded_params(context: ConversationContext) -> dict[str, JsonValue]:
    """Apply the facts of profile and catalogue to the caller's parameters; the same for every request of a run."""
    drawn = context.abilities.modalities
    if not context.base_params and context.profile.parallel_tool_calls is None and not drawn:
        return {}
    params = {name: value for name, value in context.base_params.items() if _is_taken(context, name)}
    if drawn:
        params.setdefault("modalities", [*drawn])  # without them a model that draws sends no image (quirk E14)
    if context.profile.budget_in_limit:
        _make_room(params)
    if not context.offered:
        params.pop("parallel_tool_calls", None)  # 400 without tools (quirk C3)
        return params
    if not context.profile.json_with_tools:
        params.pop("response_format", None)
    if context.profile.parallel_tool_calls is not None and not _would_exclude(context, "parallel_tool_calls"):
        params["parallel_tool_calls"] = context.profile.parallel_tool_calls
    return params


def dropped_params(context: ConversationContext) -> list[str]:
    """Name what the caller set and the guardrails take out or change."""
    guarded = guarded_params(context)
    dropped = [name for name, value in context.base_params.items() if guarded.get(name) != value]
    if context.tool_choice is not None and context.offered and _tool_choice(context, first=True) != context.tool_choice:
        dropped.append("tool_choice")
    return dropped


def _is_taken(context: ConversationContext, name: str) -> bool:
    listed = context.abilities.parameters
    return listed is None or name not in _LISTED or name in listed


def _would_exclude(context: ConversationContext, name: str) -> bool:
    """Whether no host would be left: the caller requires all parameters, and none takes this one (quirk C1)."""
    requires = _object(context.base_params.get("provider")).get("require_parameters") is True
    return requires and not _is_taken(context, name)


def _make_room(params: dict[str, JsonValue]) -> None:
    """Keep the length limit above the budget for thinking, or nothing is left for the answer (quirk B8)."""
    cap, reasoning = params.get("max_tokens"), params.get("reasoning")
    budget = reasoning.get("max_tokens") if isinstance(reasoning, dict) else None
    if isinstance(cap, int) and isinstance(budget, int) and cap <= budget:
        params["max_tokens"] = budget + ANSWER_RESERVE


def _of_this_step(
    params: dict[str, JsonValue], context: ConversationContext, messages: tuple[Message, ...]
) -> dict[str, JsonValue]:
    """Apply what depends on how the run has gone: what was conceded, which host began the tool loop."""
    conceded = context.conceded
    if conceded.room is not None:
        params["max_tokens"] = conceded.room
        if _thinks_hard(params):
            params["reasoning"] = {**_object(params.get("reasoning")), "effort": "low"}
    if conceded.most_tokens is not None:
        cap = params.get("max_tokens")
        params["max_tokens"] = most = min(cap, conceded.most_tokens) if isinstance(cap, int) else conceded.most_tokens
        _fit_budget(params, most)
    if context.profile.thinks_first and reasons(params) and _lacks_thinking(messages):
        params["reasoning"] = {"enabled": False}  # what cannot be sent back cannot be gone on from (quirk B7)
    if host := pinned_host(context, messages):
        params["provider"] = {**_object(params.get("provider")), "order": [host], "allow_fallbacks": False}
    return params


def _fit_budget(params: dict[str, JsonValue], most: int) -> None:
    """Keep a budget for thinking below a clamped limit, above which Anthropic refuses it (quirks B8, F3)."""
    reasoning = params.get("reasoning")
    budget = reasoning.get("max_tokens") if isinstance(reasoning, dict) else None
    if isinstance(reasoning, dict) and isinstance(budget, int) and budget >= most:
        left = most - ANSWER_RESERVE
        params["reasoning"] = {**reasoning, "max_tokens": left} if left >= _LEAST_BUDGET else {"enabled": False}


def has_room(context: ConversationContext, limit: int) -> bool:
    """Whether more room than `limit` tokens, or less thinking, can be asked for within the remaining credits (F3)."""
    most = context.conceded.most_tokens
    return most is None or _thinks_hard(context.base_params) or (0 < limit < most)


def _thinks_hard(params: Mapping[str, JsonValue]) -> bool:
    """Whether an effort is set that can be lowered; `none` and `minimal` are lower than low."""
    return _object(params.get("reasoning")).get("effort") not in (None, "low", "minimal", "none")


def pinned_host(context: ConversationContext, messages: tuple[Message, ...]) -> str | None:
    """Name the host that signed the reasoning of this tool loop, where only that host takes it back (quirk B2)."""
    slugs = context.profile.host_slugs
    for message in reversed(messages) if slugs else ():
        if isinstance(message, AssistantMessage) and message.reasoning_details and message.provider:
            return slugs.get(message.provider)
    return None


def _lacks_thinking(messages: tuple[Message, ...]) -> bool:
    """Whether the open turn of the model begins with calls that lack the thinking which led to them."""
    first: AssistantMessage | None = None
    for message in reversed(messages):
        match message:
            case AssistantMessage(calls=calls) if calls:
                first = message
            case ToolMessage():
                continue
            case _:
                break
    return first is not None and not first.reasoning_details


def _tool_choice(context: ConversationContext, *, first: bool) -> JsonValue:
    """Return the caller's choice; a forced call is forced once, or the run could never answer."""
    choice = context.tool_choice
    if choice is None or not context.offered:
        return None
    if choice in ("auto", "none"):
        return choice
    may_force = context.profile.forced_while_reasoning or not _will_reason(context)
    return choice if first and may_force else "auto"


def _will_reason(context: ConversationContext) -> bool:
    """Whether the model reasons: as requested, or by default where it can (quirk B6)."""
    if "reasoning" in context.base_params or not context.profile.reasons_unasked:
        return reasons(context.base_params)
    return "reasoning" in (context.abilities.parameters or ())


def reasons(params: Mapping[str, JsonValue]) -> bool:
    """Whether the caller asked for reasoning (quirk B6)."""
    reasoning = params.get("reasoning")
    if not isinstance(reasoning, dict):
        return False
    return reasoning.get("enabled") is not False and reasoning.get("effort") != "none"


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
