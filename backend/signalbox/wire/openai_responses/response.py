"""Reads the response object: where it was served, its usage, and how it ended."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Finish, FinishReason, Served, Usage, UsageReport
from signalbox.wire.finish_reasons import finish_reason
from signalbox.wire.openai_responses.fields import count_of, object_of, price_of, text_of

# A US dollar in xAI's unit of cost (recorded: xai/response_identity; documented by xAI under "Cost tracking").
_TICKS = 10**10
_INCOMPLETE = "incomplete"
# Words for the end of a response. `in_progress` and `queued` are no end, so they count as unknown.
_ENDINGS = {
    "completed": FinishReason.STOP,
    "failed": FinishReason.FAILED,
    "cancelled": FinishReason.FAILED,
}


def served_of(response: JsonObject, known: Served) -> Served:
    """Return what served the response; an id from the response headers stays."""
    return Served(
        known.generation_id or text_of(response.get("id")) or None,
        text_of(response.get("model")) or known.model,
        known.provider,
    )


def finish_of_response(response: JsonObject, word: str, *, has_calls: bool) -> Finish:
    """Return why the response ended; `word` is its status. `incomplete` comes with a reason.

    The Responses API has no stop reason for calls: a response that contains calls is `completed`.
    """
    if word == _INCOMPLETE:
        why = text_of(object_of(response.get("incomplete_details")).get("reason"))
        return Finish(finish_reason(why, None) or FinishReason.UNKNOWN, word)
    if word == "completed" and has_calls:
        return Finish(FinishReason.TOOL_CALLS, word)
    return Finish(_ENDINGS.get(word, FinishReason.UNKNOWN), word)


def usage_of(value: JsonValue) -> UsageReport | None:
    """Return the tokens of a response, and its cost if the upstream reports it: OpenRouter in USD, xAI in ticks."""
    raw = object_of(value)
    if not raw:
        return None
    ticks = price_of(raw.get("cost_in_usd_ticks"))
    details = object_of(raw.get("input_tokens_details"))
    usage = Usage(
        input=count_of(raw.get("input_tokens")),
        output=count_of(raw.get("output_tokens")),
        reasoning=count_of(object_of(raw.get("output_tokens_details")).get("reasoning_tokens")),
        cached=count_of(details.get("cached_tokens")),
        cost=price_of(raw.get("cost")) if ticks is None else ticks / _TICKS,
        cache_written=count_of(details.get("cache_write_tokens")),
    )
    return UsageReport(usage, raw)
