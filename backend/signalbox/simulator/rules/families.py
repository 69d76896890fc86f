"""Additional rules of single families."""

from .ids import ids_are_unique, ids_match
from .offers import (
    gemini_schema,
    no_forced_call_while_thinking,
    no_json_beside_tools,
    no_json_mime_beside_tools,
    no_sampling,
    no_strict,
    parallel_is_taken,
    strict_is_closed,
)
from .pairing import calls_need_tools, results_in_order
from .reasoning import (
    EXPECTED_THINKING,
    details_are_open,
    details_are_own,
    details_come_back,
    last_turn_thinks,
    no_reasoning_to_the_unreasoning,
    text_comes_back,
)
from .turns import (
    no_blank_blocks,
    no_call_first,
    no_empty_string_beside_calls,
    no_last_word,
    no_prefill,
    no_user_after_tool,
    nothing_blank,
    user_says_something,
)
from .words import Rule

_SEALED = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."
_NO_REASONING = "messages[{at}]: 'function_call' was provided without its required 'reasoning' item."
_FOREIGN = "messages[{at}]: reasoning_details of another provider are not supported by this model."

FAMILY_RULES: dict[str, tuple[Rule, ...]] = {
    "openai": (
        ids_match(r".{1,40}", "Invalid 'tool_calls.id': '{id}' is too long, the maximum length is 40."),
        strict_is_closed,
        parallel_is_taken,
        details_are_own(_SEALED, "invalid_encrypted_content"),
        details_come_back(_NO_REASONING, r"call_\w{24}"),
    ),
    "x-ai": (
        no_strict,
        no_json_beside_tools,
        details_are_own(_SEALED),
        details_come_back(_NO_REASONING, r"call_\d{8}"),
    ),
    "anthropic": (
        ids_match(r"[a-zA-Z0-9_-]+", "messages: tool_use.id '{id}' should match pattern '^[a-zA-Z0-9_-]+$'"),
        ids_are_unique,
        calls_need_tools,
        no_prefill,
        no_sampling,
        no_strict,
        no_forced_call_while_thinking("Thinking may not be enabled when tool_choice forces tool use."),
        user_says_something,
        no_blank_blocks,
        details_are_own("messages.{at}.content.0: Invalid `signature` in `thinking` block"),
        details_come_back(EXPECTED_THINKING, r"toolu_\w+"),
        last_turn_thinks,
    ),
    "google": (
        no_call_first,
        results_in_order,
        no_json_mime_beside_tools,
        no_strict,
        gemini_schema,
        details_are_own("Corrupted thought signature."),
        details_come_back(
            "Gemini models require OpenRouter reasoning details to be preserved in each request. "
            "messages[{at}] has function calls without a thought_signature."
        ),
    ),
    "mistralai": (
        ids_match(r"[A-Za-z0-9]{9}", "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.", "3280"),
        no_user_after_tool,
        no_last_word,
        no_empty_string_beside_calls,
        no_strict,
        no_reasoning_to_the_unreasoning,
        details_are_open("Reasoning input is not enabled for this model"),
    ),
    "deepseek": (
        no_strict,
        no_forced_call_while_thinking("Thinking mode does not support this tool_choice", unasked=True),
        details_are_open(_FOREIGN),
        text_comes_back("Missing `reasoning_content` field in the assistant message at index {at}."),
    ),
    "moonshotai": (
        nothing_blank,
        no_strict,
        details_are_open(_FOREIGN),
        text_comes_back(
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
        ),
    ),
    "qwen": (
        no_strict,
        no_forced_call_while_thinking(
            "The tool_choice parameter does not support being set to required or object in thinking mode",
            unasked=True,
        ),
        details_are_open(_FOREIGN),
    ),
}
