"""Providers' finish reasons and their normalised meaning, for all dialects.

Unlisted words mean `UNKNOWN`, which counts as a bad ending (quirk A20). Upper and lower case, underscores and the
prefix of an enum do not matter: `MAX_TOKENS`, `maxTokens`, `FinishReason.STOP`.
"""

from functools import lru_cache

from signalbox.core.parts import Finish, FinishReason

_WORDS: dict[FinishReason, str] = {
    # OpenAI, Responses API; Anthropic, Bedrock; Cohere; TGI, Together (eos), watsonx; LM Studio; xAI's gRPC; Baidu.
    FinishReason.STOP: """
        stop, stopped, completed, complete, end_turn, end, eos, eos_token, eos_found, end_of_text, end_token,
        stop_sequence, stop_string_found, stop_token, reason_stop, finish, finished, done, success, succeeded, normal
    """,
    # OpenAI, its API before tools, Anthropic, Cohere, LM Studio, xAI's gRPC.
    FinishReason.TOOL_CALLS: """
        tool_calls, tool_call, tool_use, tool, function_call, function_calls, reason_tool_calls
    """,
    # OpenAI, Responses API, Anthropic, Gemini, Mistral (model_length), Cohere, watsonx, LM Studio, llama.cpp (limit).
    FinishReason.LENGTH: """
        length, max_tokens, max_output_tokens, max_length, model_length, token_limit, limit, context, context_length,
        model_context_window_exceeded, context_window_exceeded, context_length_exceeded, context_length_reached,
        max_predicted_tokens_reached, max_completion_tokens, error_limit, reason_max_len, reason_max_context
    """,
    # Azure, Anthropic, Gemini (safety to model_armor), Bedrock, Cohere (error_toxic), Z.AI (sensitive).
    FinishReason.WITHHELD: """
        content_filter, content_filtered, content_policy, content_policy_violation, refusal, refused, moderation,
        safety, recitation, blocklist, prohibited_content, spii, image_safety, image_prohibited_content,
        image_recitation, image_other, model_armor, guardrail_intervened, guardrails, error_toxic, sensitive
    """,
    # Anthropic: a long turn that continues when the client sends it again.
    FinishReason.PAUSED: "pause_turn, pause, paused, compaction",
    # Gemini, Bedrock.
    FinishReason.MALFORMED_CALL: "malformed_function_call, malformed_tool_use, malformed_tool_call",
    FinishReason.UNEXPECTED_CALL: "unexpected_tool_call",
    # OpenRouter, Mistral, vLLM and SGLang (abort), DeepSeek (insufficient_system_resource), Z.AI (network_error).
    # The last three are Gemini's.
    FinishReason.FAILED: """
        error, failed, failure, abort, aborted, internal_error, server_error, network_error, timeout, reason_time_limit,
        time_limit, cancelled, canceled, user_cancel, insufficient_system_resource, interrupted,
        malformed_response, missing_thought_signature, no_image
    """,
}
# Gemini's enum by number, from providers that forward the protobuf value.
_NUMBERS = {
    "1": FinishReason.STOP,
    "2": FinishReason.LENGTH,
    "3": FinishReason.WITHHELD,
    "4": FinishReason.WITHHELD,
    "6": FinishReason.WITHHELD,
    "7": FinishReason.WITHHELD,
    "8": FinishReason.WITHHELD,
    "9": FinishReason.MALFORMED_CALL,
}
_PREFIXES = ("finishreason", "stopreason")
# If two words disagree, the meaning that comes first here counts: it is more restrictive, or more specific.
_WORST_FIRST = (
    FinishReason.MALFORMED_CALL,
    FinishReason.UNEXPECTED_CALL,
    FinishReason.WITHHELD,
    FinishReason.FAILED,
    FinishReason.LENGTH,
    FinishReason.PAUSED,
    FinishReason.UNKNOWN,
    FinishReason.TOOL_CALLS,
    FinishReason.STOP,
)

# Reasons that a later one replaces: good endings and unknown words.
_REPLACEABLE = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.UNKNOWN)


def _plain(word: str) -> str:
    """Return a word in the form that all its spellings share."""
    letters = "".join(letter for letter in word.lower() if letter.isalnum())
    for prefix in _PREFIXES:
        letters = letters.removeprefix(prefix)
    return letters


_MEANINGS = {_plain(word): meaning for meaning, words in _WORDS.items() for word in words.split(",")} | _NUMBERS


@lru_cache(maxsize=256)
def finish_reason(finish: str | None, native: str | None) -> FinishReason | None:
    """Return what the two words mean together; None if the provider sent neither."""
    meanings = {_MEANINGS.get(_plain(word[:64]), FinishReason.UNKNOWN) for word in (finish, native) if word}
    return next((meaning for meaning in _WORST_FIRST if meaning in meanings), None)


def finish_of(word: str | None, native: str | None = None) -> Finish:
    """Return the `Finish` of an answer that states its finish reason once."""
    return Finish(finish_reason(word, native), word, native)


def later_finish(before: Finish, word: str | None, native: str | None) -> Finish:
    """Return the `Finish` after further finish reasons; each of the two words replaces only its own kind."""
    return finish_of(later_word(before.word, word), later_word(before.native, native))


def later_word(earlier: str | None, later: str | None) -> str | None:
    """Return which of two finish reasons of one stream counts.

    An empty one is ignored, and a later one replaces a good or unknown one (quirk A12). A bad one stays: a proxy that
    adds `tool_calls` after a refusal must not cause the calls to be executed (quirk A20).
    """
    if not later or not earlier:
        return later or earlier
    was = finish_reason(earlier, None)
    if was in _REPLACEABLE:
        return later
    return earlier if finish_reason(earlier, later) is was else later
