"""The additional rules of each family."""

from .call_ids import ids_are_unique, ids_match
from .message_order import (
    no_assistant_last,
    no_blank_blocks,
    no_blank_text,
    no_call_first,
    no_empty_string_beside_calls,
    no_prefill,
    no_user_after_tool,
    user_text_is_not_blank,
)
from .pairing import calls_need_tools, results_in_order
from .provider_errors import Rule
from .reasoning import (
    EXPECTED_THINKING,
    details_are_sent_back,
    details_are_unaltered,
    details_are_unsigned,
    no_reasoning_for_plain_models,
    open_turn_has_thinking,
    reasoning_is_sent_back,
)
from .tool_options import (
    gemini_schema,
    no_forced_call_while_thinking,
    no_json_beside_tools,
    no_json_mime_beside_tools,
    no_parallel_parameter,
    no_sampling,
    no_strict,
    strict_schemas_are_closed,
)

_UNVERIFIED = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."
_NO_REASONING = "messages[{at}]: 'function_call' was provided without its required 'reasoning' item."
_FOREIGN = "messages[{at}]: reasoning_details of another provider are not supported by this model."

FAMILY_RULES: dict[str, tuple[Rule, ...]] = {
    "openai": (
        ids_match(r".{1,40}", "Invalid 'tool_calls.id': '{id}' is too long, the maximum length is 40."),
        strict_schemas_are_closed,
        no_parallel_parameter,
        details_are_unaltered(_UNVERIFIED, "invalid_encrypted_content"),
        details_are_sent_back(_NO_REASONING, r"call_\w{24}"),
    ),
    "x-ai": (
        no_strict,
        no_json_beside_tools,
        details_are_unaltered(_UNVERIFIED),
        details_are_sent_back(_NO_REASONING, r"call_\d{8}"),
    ),
    "anthropic": (
        ids_match(r"[a-zA-Z0-9_-]+", "messages: tool_use.id '{id}' should match pattern '^[a-zA-Z0-9_-]+$'"),
        ids_are_unique,
        calls_need_tools,
        no_prefill,
        no_sampling,
        no_strict,
        no_forced_call_while_thinking("Thinking may not be enabled when tool_choice forces tool use."),
        user_text_is_not_blank,
        no_blank_blocks,
        details_are_unaltered("messages.{at}.content.0: Invalid `signature` in `thinking` block"),
        details_are_sent_back(EXPECTED_THINKING, r"toolu_\w+"),
        open_turn_has_thinking,
    ),
    "google": (
        no_call_first,
        results_in_order,
        no_json_mime_beside_tools,
        no_strict,
        gemini_schema,
        details_are_unaltered("Corrupted thought signature."),
        details_are_sent_back(
            "Gemini models require OpenRouter reasoning details to be preserved in each request. "
            "messages[{at}] has function calls without a thought_signature."
        ),
    ),
    "mistralai": (
        ids_match(r"[A-Za-z0-9]{9}", "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.", "3280"),
        no_user_after_tool,
        no_assistant_last,
        no_empty_string_beside_calls,
        no_strict,
        no_reasoning_for_plain_models,
        details_are_unsigned("Reasoning input is not enabled for this model"),
    ),
    "deepseek": (
        no_strict,
        no_forced_call_while_thinking("Thinking mode does not support this tool_choice", by_default=True),
        details_are_unsigned(_FOREIGN),
        reasoning_is_sent_back("Missing `reasoning_content` field in the assistant message at index {at}."),
    ),
    "moonshotai": (
        no_blank_text,
        no_strict,
        details_are_unsigned(_FOREIGN),
        reasoning_is_sent_back(
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
        ),
    ),
    "qwen": (
        no_strict,
        no_forced_call_while_thinking(
            "The tool_choice parameter does not support being set to required or object in thinking mode",
            by_default=True,
        ),
        details_are_unsigned(_FOREIGN),
    ),
}
