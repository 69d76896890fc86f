"""The profile of a model family: facts without logic."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts about one family of models, applied to every request of a run.

    `vendors` are the first halves of its model ids, `names` the beginnings of its bare ids.
    `parallel_tool_calls` is sent with tools when it is not None. `json_with_tools`: response_format may go with tools.
    `stream_tools`: streamed calls can be trusted. `call_id` is what a call's id must look like. `echo_reasoning`:
    plain reasoning text goes back inside a tool loop when no details came. `inline_think`: some of its hosts leave
    reasoning in the answer as `<think>…</think>`. `forced_while_reasoning`: a call may be forced while it reasons.
    `reasons_unasked`: its reasoning models reason unless they are told not to.
    `alternates`: user and assistant take turns. `closes_tool_turns`: between a tool's result and the user stand words
    of the assistant. `user_first`: the first turn is the user's. `host_slugs`: reasoning is signed by the host, so a
    tool loop stays at the one that began it; host name to its slug in requests.
    `thinks_first`: while it reasons, the open tool loop must hold its thinking.
    `budget_in_limit`: a budget for thinking must be smaller than max_tokens.
    """

    family: str
    vendors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parallel_tool_calls: bool | None = None
    json_with_tools: bool = True
    stream_tools: bool = True
    call_id: str = r"[\w.:\-]{1,256}"
    echo_reasoning: bool = False
    inline_think: bool = False
    forced_while_reasoning: bool = True
    reasons_unasked: bool = False
    alternates: bool = False
    closes_tool_turns: bool = False
    user_first: bool = False
    host_slugs: Mapping[str, str] = field(default_factory=dict[str, str])
    thinks_first: bool = False
    budget_in_limit: bool = False
