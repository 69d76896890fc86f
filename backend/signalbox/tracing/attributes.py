"""The attributes of spans: what a run, an attempt and a tool call say about themselves, without content."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import orjson

from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.progress import Attempt
from signalbox.core.conversations import shown_id
from signalbox.core.params import Params
from signalbox.core.parts import Usage
from signalbox.core.records import RunRecord
from signalbox.tracing import names as own
from signalbox.tracing.names import PROVIDERS, Names

Value: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = dict[str, Value]

RUN, CHAT, TOOL = range(3)
_PARAMS = ("max_tokens", "temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")


def put(attributes: Attributes, values: Mapping[str, Value | None]) -> Attributes:
    """Add the values that exist under names that exist."""
    for name, value in values.items():
        if name and value is not None and value != "":
            attributes[name] = value
    return attributes


def kind_of(names: Names, operation: str, place: int) -> Attributes:
    """Return what says which kind of operation a span is."""
    return put({}, {names.operation: operation, names.span_kind: names.kinds[place]})


def run_attributes(names: Names, record: RunRecord, context: ConversationContext | None) -> Attributes:
    """Return what is known of a run at its start; without a context for one that a crash interrupted."""
    provider = PROVIDERS.get(context.destination.dialect) if context else None
    return put(
        kind_of(names, "invoke_agent", RUN),
        {
            names.provider if names.agent_provider else "": provider,
            names.request_model: record.model,
            names.conversation: shown_id(record.conversation_id) if record.conversation_id else None,
            own.USER: record.owner,
            own.RUN_ID: record.id,
            own.REQUEST_ID: context.request_id if context else record.origin.get("request_id"),
            own.LOOP: record.loop,
            own.PROTOCOL: record.protocol,
            own.SIMULATED: record.simulated or None,
        },
    )


def total_attributes(names: Names, usage: Usage | None) -> Attributes:
    """Return the tokens and the cost of a whole run, as far as the convention has them."""
    if usage is None:
        return {}
    if not names.agent_usage:
        return put({}, {own.COST: usage.cost})
    return usage_attributes(names, usage, has_cache=names.agent_cache)


def usage_attributes(names: Names, usage: Usage, *, has_cache: bool = True) -> Attributes:
    """Return tokens and cost."""
    return put(
        {},
        {
            names.input_tokens: usage.input,
            names.output_tokens: usage.output,
            names.total_tokens: usage.input + usage.output,
            names.cache_read if has_cache else "": usage.cached or None,
            names.cache_write if has_cache else "": usage.cache_written or None,
            names.reasoning_tokens: usage.reasoning or None,
            names.cost: usage.cost,
        },
    )


def attempt_attributes(names: Names, attempt: Attempt, context: ConversationContext, only_upstream: str) -> Attributes:
    """Return what is known of an attempt at its beginning; `only_upstream` names an upstream without a name."""
    there = context.destination
    is_there = (attempt.upstream or "") == there.upstream  # a tool may call a model at another upstream
    return put(
        kind_of(names, "chat", CHAT),
        {
            names.provider: PROVIDERS.get(there.dialect) if is_there else None,
            names.request_model: attempt.model,
            names.conversation: shown_id(context.session_id) if context.session_id else None,
            own.UPSTREAM: attempt.upstream or only_upstream,
            own.STEP: attempt.step,
            own.ATTEMPT: attempt.number,
            own.IS_FINAL: attempt.final or None,
        },
    )


def outcome_attributes(names: Names, attempt: Attempt) -> Attributes:
    """Return what is known of an attempt at its end."""
    first = None if attempt.first_part is None else max(0.0, attempt.first_part - attempt.started)
    found = put(
        {},
        {
            names.response_model: attempt.served_model,
            names.response_id: attempt.generation_id,
            names.finish_reasons: [attempt.finish_reason] if attempt.finish_reason else None,
            names.finish_reason: attempt.finish_reason,
            names.stream: attempt.streamed,
            names.time_to_first_chunk: first,
            own.SERVED_BY: attempt.provider,
            own.ERROR_TYPE: attempt.code or ("_OTHER" if attempt.error else None),
        },
    )
    return found | usage_attributes(names, attempt.usage) if attempt.usage else found


def param_attributes(names: Names, params: Params) -> Attributes:
    """Return the parameters of a request that contain no text."""
    values = {name: getattr(params, name) for name in _PARAMS}
    found = put({}, {getattr(names, name): value for name, value in values.items()})
    effort = params.reasoning.effort if params.reasoning else None
    put(found, {names.reasoning_level: effort})
    if names.invocation_parameters:
        given = {name: value for name, value in {**values, "reasoning_effort": effort}.items() if value is not None}
        put(found, {names.invocation_parameters: orjson.dumps(given).decode() if given else None})
    return found


def call_ids(names: Names, call: RunningCall) -> dict[str, str]:
    """Return the id that the model chose, which the run's messages have, and ours, which its events have."""
    return {names.tool_call_id: call.upstream_id or call.id, own.CALL_ID: call.id}


def tool_attributes(names: Names, call: RunningCall) -> Attributes:
    """Return what is known of a call of one of our tools."""
    return put(
        kind_of(names, "execute_tool", TOOL),
        {
            names.tool_name: call.name,
            names.tool_type: "function",
            **call_ids(names, call),
            own.STEP: call.step,
        },
    )
