"""From a run's context to one request: history repaired, guardrails applied."""

from signalbox.chat.context import ConversationContext
from signalbox.chat.history import history_for
from signalbox.core.messages import JsonValue
from signalbox.core.parts import Request


def prepare_request_params(context: ConversationContext, *, first: bool = True) -> Request:
    """Build the request of the next step; `first` is the run's first step, the only one that a forced choice binds.

    Nothing is added but what the caller set and what the model's profile requires.
    """
    return Request(
        model=context.model,
        messages=history_for(context),
        tools=context.tool_schemas,
        tool_choice=_tool_choice(context, first=first),
        params=guarded_params(context),
        session_id=context.session_id,
    )


def guarded_params(context: ConversationContext) -> dict[str, JsonValue]:
    """Apply the profile's facts to the caller's parameters; the same for every request of a run."""
    params = dict(context.base_params)
    if not context.tool_schemas:
        params.pop("parallel_tool_calls", None)  # 400 without tools (quirk C3)
        return params
    if not context.profile.json_with_tools:
        params.pop("response_format", None)
    if context.profile.parallel_tool_calls is not None:
        params["parallel_tool_calls"] = context.profile.parallel_tool_calls
    return params


def dropped_params(context: ConversationContext) -> list[str]:
    """Name what the caller set and the guardrails take out or change."""
    guarded = guarded_params(context)
    dropped = [name for name, value in context.base_params.items() if guarded.get(name) != value]
    if context.tool_schemas and _tool_choice(context, first=True) != context.tool_choice:
        dropped.append("tool_choice")
    return dropped


def _tool_choice(context: ConversationContext, *, first: bool) -> JsonValue:
    """Return the caller's choice; a forced call is forced once, or the run could never answer."""
    if not context.tool_schemas:
        return None
    choice = context.tool_choice
    if choice in (None, "auto", "none"):
        return choice
    may_force = context.profile.forced_while_reasoning or not _reasons(context.base_params.get("reasoning"))
    return choice if first and may_force else "auto"


def _reasons(reasoning: JsonValue) -> bool:
    """Whether the caller asked for reasoning (quirk B6)."""
    if not isinstance(reasoning, dict):
        return False
    return reasoning.get("enabled") is not False and reasoning.get("effort") != "none"
