"""Builds one request from a run's context: repairs the history and applies guardrails."""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from signalbox.chat.context import ConversationContext
from signalbox.chat.history.context_window import MAX_LEVEL
from signalbox.chat.history.message_order import has_image_placeholder
from signalbox.chat.history.repair import history_for
from signalbox.chat.plain_schemas import plain_schema
from signalbox.core.conversations import session_of
from signalbox.core.messages import AssistantMessage, JsonValue, Message, ToolMessage
from signalbox.core.params import NO_PARAMS, Choice, Params, Reasoning, Routing, public_name, public_value
from signalbox.core.parts import Request, ToolSchema

# The parameters that the catalogue lists per model. A provider rejects one that it does not know with 400 (Claude 4.7:
# temperature, quirk C5), or OpenRouter finds no provider (quirk C1). All providers accept max_tokens (openstory#1317).
_LISTED = frozenset(
    {
        "temperature", "top_p", "top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty",
        "repetition_penalty", "seed", "logprobs", "top_logprobs", "logit_bias", "format", "stop",
        "reasoning", "parallel",
    }
)  # fmt: skip
# Tokens for the answer on top of the reasoning budget (quirk B8; Anthropic requires max_tokens above the budget).
ANSWER_RESERVE = 1024
# Used if neither the request nor the usage shows which limit was too low; a smaller number might be below it.
DEFAULT_RAISED_LIMIT = 8 * ANSWER_RESERVE
# Names of tool arguments that providers accept; models also write others.
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# The smallest reasoning budget that Anthropic accepts.
_LEAST_BUDGET = 1024


def prepare_request_params(context: ConversationContext, *, first: bool = True) -> Request:
    """Build the request of the next step; a forced tool choice applies only to the `first` step of the run.

    It holds only what the caller set and what the model's profile requires.
    """
    messages = history_for(context)
    offered = context.offered
    earlier = () if offered else schemas_of_called_tools(messages)
    guarded = guarded_params(context)
    params = _params_for_step(guarded, context, messages)
    return Request(
        model=context.model,
        messages=messages,
        tools=_tools_for(context, offered) or earlier,
        tool_choice="none" if earlier else _tool_choice(context, first=first),
        params=params,
        session_id=session_of(context.session_id) if context.session_id else None,
        changes=(
            *_degradations(context, messages),
            *_changed_params(guarded, params),
        ),
    )


def _tools_for(context: ConversationContext, offered: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
    """Write the tools' schemas as the model's providers accept them (quirks C10, C11)."""
    profile = context.profile
    if not profile.strict_tools and any(tool.strict for tool in offered):
        offered = tuple(replace(tool, strict=None) for tool in offered)
    if profile.plain_schemas:
        offered = tuple(map(_with_plain_schema, offered))
    return offered


def _with_plain_schema(tool: ToolSchema) -> ToolSchema:
    plain = plain_schema(tool.parameters)
    return tool if plain == tool.parameters else replace(tool, parameters=plain)  # the same tool: it is encoded once


def _degradations(context: ConversationContext, messages: tuple[Message, ...]) -> Iterator[str]:
    """Describe for the trace how the conversation is degraded."""
    degradation = context.degradation
    if degradation.truncation:
        yield f"the oldest parts left out, level {degradation.truncation} of {MAX_LEVEL}"
    if not context.takes_tools:
        yield "no tools"
    if degradation.flatten_calls:
        yield "calls sent as text"
    if not context.sees_images and any(has_image_placeholder(message) for message in messages):
        yield "no images"


def _changed_params(guarded: Params, params: Params) -> Iterator[str]:
    """Describe for the trace which parameters are changed for this step, and to what."""
    if params is guarded:
        return
    for name in params.set_fields():
        value = getattr(params, name)
        if value != getattr(guarded, name):
            yield f"{public_name(name)} {public_value(value)}"


def schemas_of_called_tools(messages: Iterable[Message]) -> tuple[ToolSchema, ...]:
    """Return schemas for the tools that a history calls, for a request that offers none.

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


def guarded_params(context: ConversationContext) -> Params:
    """Apply the facts of profile and catalogue to the caller's parameters; the same for every request of a run."""
    params, profile, drawn = context.base_params, context.profile, context.abilities.modalities
    if params is not NO_PARAMS:
        params = _accepted(params, context)
    if drawn and params.modalities is None:
        params = params.changed(modalities=drawn)  # without it, models that generate images send none (quirk E14)
    if profile.budget_below_limit:
        params = _reserve_answer_tokens(params)
    if not context.offered:
        return params if params.parallel is None else params.changed(parallel=None)  # 400 without tools (quirk C3)
    if params.format is not None and not profile.json_with_tools:
        params = params.changed(format=None)
    if _limits_calls(context) and not _would_exclude(context, "parallel"):
        params = params.changed(parallel=profile.parallel_tool_calls)
    return params


def _limits_calls(context: ConversationContext) -> bool:
    """Whether the profile limits the calls of a step, and the upstream's API may mix up parallel calls."""
    return context.profile.parallel_tool_calls is not None and not context.destination.separates_calls


def dropped_params(context: ConversationContext) -> list[str]:
    """Return the public names of the parameters that the guardrails remove or change."""
    base, guarded = context.base_params, guarded_params(context)
    dropped = [public_name(name) for name in base.set_fields() if getattr(guarded, name) != getattr(base, name)]
    if context.tool_choice is not None and context.offered and _tool_choice(context, first=True) != context.tool_choice:
        dropped.append("tool_choice")
    if not context.profile.strict_tools and any(tool.strict for tool in context.offered):
        dropped.append("strict")
    return dropped


def _accepted(params: Params, context: ConversationContext) -> Params:
    """Remove the parameters that the model's providers do not accept."""
    rejected = [name for name in params.set_fields() if not _is_accepted(context, name)]
    return params.changed(**dict.fromkeys(rejected)) if rejected else params


def _is_accepted(context: ConversationContext, name: str) -> bool:
    listed = context.abilities.parameters
    if name in context.unsupported_params:
        return False
    return listed is None or name not in _LISTED or name in listed


def _would_exclude(context: ConversationContext, name: str) -> bool:
    """Whether no provider would remain: the caller requires all parameters, and none accepts this one (quirk C1)."""
    routing = context.base_params.routing
    return routing is not None and routing.requires_all_params and not _is_accepted(context, name)


def _reserve_answer_tokens(params: Params) -> Params:
    """Raise the length limit above the reasoning budget, or no tokens are left for the answer (quirk B8)."""
    cap, budget = params.max_tokens, params.reasoning and params.reasoning.max_tokens
    if cap is not None and budget is not None and cap <= budget:
        return params.changed(max_tokens=budget + ANSWER_RESERVE)
    return params


def _params_for_step(params: Params, context: ConversationContext, messages: tuple[Message, ...]) -> Params:
    """Apply what depends on the run so far: degradation, and the provider that began the tool loop."""
    degradation = context.degradation
    if degradation.raised_limit is not None:
        params = params.changed(max_tokens=degradation.raised_limit)
        if params.reasoning is not None and _can_lower_effort(params):
            params = params.changed(reasoning=replace(params.reasoning, effort="low"))
    if degradation.affordable_tokens is not None:
        most = min(params.max_tokens or degradation.affordable_tokens, degradation.affordable_tokens)
        params = _fit_budget(params.changed(max_tokens=most), most)
    if context.profile.requires_loop_reasoning and reasons(params) and _lacks_thinking(messages):
        # Without the reasoning of the open turn, the model cannot continue it (quirk B7).
        params = params.changed(reasoning=Reasoning(enabled=False))
    if provider := pinned_provider(context, messages):
        params = params.changed(routing=replace(params.routing or Routing(), provider=provider))
    return params


def _fit_budget(params: Params, most: int) -> Params:
    """Keep the reasoning budget below a clamped limit, or Anthropic rejects it (quirks B8, F3)."""
    reasoning = params.reasoning
    if reasoning is None or reasoning.max_tokens is None or reasoning.max_tokens < most:
        return params
    left = most - ANSWER_RESERVE
    smaller = replace(reasoning, max_tokens=left) if left >= _LEAST_BUDGET else Reasoning(enabled=False)
    return params.changed(reasoning=smaller)


def can_raise_limit(context: ConversationContext, limit: int) -> bool:
    """Whether a limit above `limit`, or less reasoning, is possible within the remaining credits (quirk F3)."""
    most = context.degradation.affordable_tokens
    return most is None or _can_lower_effort(context.base_params) or (0 < limit < most)


def _can_lower_effort(params: Params) -> bool:
    """Whether a reasoning effort is set that is higher than low."""
    return params.reasoning is not None and params.reasoning.effort not in (None, "low", "minimal", "none")


def pinned_provider(context: ConversationContext, messages: tuple[Message, ...]) -> str | None:
    """Return the provider that signed the reasoning of this tool loop, if only it accepts that (quirk B2)."""
    slugs = context.profile.provider_slugs
    for message in reversed(messages) if slugs else ():
        if isinstance(message, AssistantMessage) and message.reasoning_details and message.provider:
            return slugs.get(message.provider)
    return None


def _lacks_thinking(messages: tuple[Message, ...]) -> bool:
    """Whether the open turn of the model begins with calls whose reasoning is missing."""
    first: AssistantMessage | None = None
    for message in reversed(messages):
        match message:
            case AssistantMessage(calls=calls) if calls:
                first = message
            case ToolMessage():
                continue
            case _:
                break
    return first is not None and not first.reasoning_details and first.native is None


def _tool_choice(context: ConversationContext, *, first: bool) -> Choice | None:
    """Return the caller's choice; a call is forced only in the first step, or the run could never answer."""
    choice = context.tool_choice
    if choice is None or not context.offered:
        return None
    if choice in ("auto", "none"):
        return choice
    may_force = context.profile.forced_calls_with_reasoning or not _will_reason(context)
    return choice if first and may_force else "auto"


def _will_reason(context: ConversationContext) -> bool:
    """Whether the model reasons: as requested, or by default where it can (quirk B6)."""
    if context.base_params.reasoning is not None or not context.profile.reasons_by_default:
        return reasons(context.base_params)
    return "reasoning" in (context.abilities.parameters or ())


def reasons(params: Params) -> bool:
    """Whether the caller asked for reasoning (quirk B6)."""
    reasoning = params.reasoning
    return reasoning is not None and reasoning.enabled is not False and reasoning.effort != "none"
