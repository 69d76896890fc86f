"""Converts log probabilities to the form of chat completions."""

from itertools import zip_longest

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import TokenLogprobs
from signalbox.wire.gemini.values import object_in, objects_in, text_in


def logprobs_of(candidate: JsonObject) -> TokenLogprobs | None:
    """Return the log probabilities of a candidate's tokens, None if it has none."""
    result = object_in(candidate, "logprobsResult")
    chosen, best = objects_in(result, "chosenCandidates"), objects_in(result, "topCandidates")
    tokens: list[JsonValue] = []
    for token, others in zip_longest(chosen, best[: len(chosen)]):
        top: list[JsonValue] = [_token(other) for other in objects_in(others or {}, "candidates")]
        tokens.append({**_token(token), "top_logprobs": top})
    return TokenLogprobs(tuple(tokens)) if tokens else None


def _token(fields: JsonObject) -> JsonObject:
    token = text_in(fields, "token")
    return {"token": token, "logprob": fields.get("logProbability"), "bytes": [*token.encode("utf-8", "replace")]}
