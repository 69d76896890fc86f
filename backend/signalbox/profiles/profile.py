"""The profile of a model family: facts without logic."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts about one family of models, applied to every request of a run.

    `vendors`: how its model ids begin, up to the slash. `names`: how its model ids without a vendor begin.
    `parallel_tool_calls`: the value that is sent with tools, or None for none; not sent to an API that keeps parallel
    calls apart (`Destination.separates_calls`).
    `json_with_tools`: it accepts `response_format` together with tools.
    `strict_tools`: it accepts `strict` in the schemas of tools.
    `plain_schemas`: it rejects most keywords of JSON Schema in them.
    `stream_tools`: its streamed tool calls can be assembled.
    `call_id`: the pattern of call ids that it accepts.
    `echo_reasoning`: inside a tool loop, its reasoning text is sent back if there are no `reasoning_details`.
    `inline_think`: some of its providers leave reasoning in the answer, as `<think>…</think>`.
    `forced_calls_with_reasoning`: it accepts a forced tool call while reasoning is on.
    `reasons_by_default`: its reasoning models reason unless the request turns reasoning off.
    `alternating_roles`: it rejects two consecutive user messages.
    `assistant_after_tools`: it rejects a user message directly after a tool result.
    `user_first`: it rejects a conversation that begins with an assistant message.
    `provider_slugs`: slugs of its providers by name; set only if a provider accepts no reasoning that another one
    signed, so that all steps of a tool loop go to the same provider.
    `requires_loop_reasoning`: while reasoning is on, it rejects an open tool loop without its reasoning.
    `budget_below_limit`: a reasoning budget must be smaller than `max_tokens`.
    """

    family: str
    vendors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parallel_tool_calls: bool | None = None
    json_with_tools: bool = True
    strict_tools: bool = False
    plain_schemas: bool = False
    stream_tools: bool = True
    call_id: str = r"[\w.:\-]{1,256}"
    echo_reasoning: bool = False
    inline_think: bool = False
    forced_calls_with_reasoning: bool = True
    reasons_by_default: bool = False
    alternating_roles: bool = False
    assistant_after_tools: bool = False
    user_first: bool = False
    provider_slugs: Mapping[str, str] = field(default_factory=dict[str, str])
    requires_loop_reasoning: bool = False
    budget_below_limit: bool = False
