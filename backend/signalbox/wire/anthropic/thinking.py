"""Writes how much a model thinks: as a budget for older models, as an effort for newer ones."""

from collections.abc import Sequence

from signalbox.core.messages import AssistantMessage, JsonObject, Message
from signalbox.core.params import Reasoning
from signalbox.wire.anthropic.models import ModelTraits

# Tokens by effort, for models that take a budget.
_BUDGETS = {"minimal": 1_024, "low": 4_096, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 31_999}
# The API accepts no smaller budget.
_LEAST = 1_024
# For models that take no budget: the largest budget that is still this effort.
_EFFORTS = ((4_096, "low"), (12_288, "medium"))


def thinking_for(
    reasoning: Reasoning | None, traits: ModelTraits, max_tokens: int, messages: Sequence[Message]
) -> JsonObject:
    """Return `thinking` and `effort`; a budget is left out if the open tool loop lacks its thinking.

    400 "Expected `thinking` or `redacted_thinking`, but found `tool_use`" otherwise (quirk B7).
    """
    fields = thinking_fields(reasoning, traits, max_tokens)
    thinking = fields.get("thinking")
    has_budget = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    return without_thinking(traits) if has_budget and _lacks_thinking(messages) else fields


def _lacks_thinking(messages: Sequence[Message]) -> bool:
    """Whether calls of the open tool loop are sent without the thinking before them: another model made them.

    Messages of the user do not end the loop: the API reads them and the results before them as one turn.
    """
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            if not message.calls:
                return False
            if message.native is None:
                return True
    return False


def thinking_fields(reasoning: Reasoning | None, traits: ModelTraits, max_tokens: int) -> JsonObject:
    """Return `thinking` and `effort`, if the request has them."""
    if not traits.thinks:
        return {}
    if reasoning is None:
        # The same as the default of these models, but the thinking is shown. From 5.5 on, it contains what they write
        # between tool calls.
        return _adaptive(Reasoning(), traits) if traits.thinks_by_default else {}
    if reasoning.enabled is False or reasoning.effort == "none":
        return without_thinking(traits)
    if traits.adapts and not (traits.budgets and reasoning.max_tokens is not None):
        return _adaptive(reasoning, traits)
    return _budgeted(reasoning, traits, max_tokens)


def without_thinking(traits: ModelTraits) -> JsonObject:
    """Return the fields that turn thinking off, or make it as short as possible."""
    if traits.off is not None:
        return {"thinking": {"type": traits.off}}
    return {"effort": "low"} if traits.thinks_by_default else {}


def _adaptive(reasoning: Reasoning, traits: ModelTraits) -> JsonObject:
    thinking: JsonObject = {"type": "adaptive"}
    if reasoning.exclude:
        thinking["display"] = "omitted"
    elif traits.hides_thinking:
        thinking["display"] = "summarized"
    effort = _effort_of(reasoning, traits)
    return {"thinking": thinking, "effort": effort} if effort else {"thinking": thinking}


def _budgeted(reasoning: Reasoning, traits: ModelTraits, max_tokens: int) -> JsonObject:
    """Return a budget below the limit, of which an effort uses at most half; none if the limit is too small."""
    if reasoning.max_tokens is not None:
        budget = min(max(reasoning.max_tokens, _LEAST), max_tokens - 1)
    else:
        budget = min(_BUDGETS.get(reasoning.effort or "medium", _BUDGETS["medium"]), max_tokens // 2)
    if budget < _LEAST:
        return {}
    thinking: JsonObject = {"type": "enabled", "budget_tokens": budget}
    effort = _effort_of(reasoning, traits) if reasoning.effort else None
    return {"thinking": thinking, "effort": effort} if effort else {"thinking": thinking}


def _effort_of(reasoning: Reasoning, traits: ModelTraits) -> str | None:
    """Return the effort in the model's words; the next lower one if it does not know the word."""
    if not traits.efforts:
        return None
    effort = reasoning.effort
    if effort is None:
        if (budget := reasoning.max_tokens) is None:
            return None
        return next((name for most, name in _EFFORTS if budget <= most), "high")
    if effort in traits.efforts:
        return effort
    return "high" if effort in ("xhigh", "max") else "low" if effort == "minimal" else None
