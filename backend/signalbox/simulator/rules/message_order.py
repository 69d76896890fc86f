"""Rules of the order of roles, and of blank texts (quirks C4, C6, C7)."""

from ..http.incoming import Incoming, Message, calls_of, text_of
from ..json_values import as_objects
from .provider_errors import provider_error, provider_of


def no_user_after_tool(incoming: Incoming) -> None:
    """Mistral rejects a user message directly after a tool result (quirk C7)."""
    for before, message in zip(incoming.messages, incoming.messages[1:], strict=False):
        if before["role"] == "tool" and message["role"] == "user":
            raise provider_error(incoming, "Unexpected role 'user' after role 'tool'", "3230")


def no_prefill(incoming: Incoming) -> None:
    """Claude 4.6 and later reject a conversation that ends with an assistant message (quirk C6)."""
    if incoming.messages[-1]["role"] == "assistant":
        text = "This model does not support assistant message prefill. "
        raise provider_error(incoming, text + "The conversation must end with a user message.")


def no_assistant_last(incoming: Incoming) -> None:
    """Mistral rejects a conversation that ends with an assistant message (rig#1130, smolagents#757; quirks C6, C7)."""
    if incoming.messages[-1]["role"] == "assistant":
        text = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        raise provider_error(incoming, text, "3230")


def no_call_first(incoming: Incoming) -> None:
    """Gemini rejects a conversation that begins with a call, as a truncated history may (OmniRoute#13573)."""
    messages = [message for message in incoming.messages if message["role"] not in ("system", "developer")]
    if messages and calls_of(messages[0]):
        text = "Please ensure that function call turn comes immediately after a user turn or after a function response"
        raise provider_error(incoming, f"{text} turn.")


def user_text_is_not_blank(incoming: Incoming) -> None:
    """Anthropic rejects user messages without text or image (quirk C4)."""
    for at, message in enumerate(incoming.messages):
        has_image = any(part.get("type") != "text" for part in as_objects(message.get("content")))
        if message["role"] == "user" and not text_of(message).strip() and not has_image:
            raise provider_error(incoming, f"messages.{at}: user messages must have non-empty content")


def no_blank_blocks(incoming: Incoming) -> None:
    """Anthropic accepts `""` from an assistant, but no blank part and no white space (quirk C4).

    Bedrock rejects white space in every message, including tool results.
    """
    on_bedrock = provider_of(incoming) == "Amazon Bedrock"
    for message in incoming.messages:
        content = message.get("content")
        blank = isinstance(content, str) and content != "" and not content.strip()
        if blank and (on_bedrock or message["role"] == "assistant"):
            raise provider_error(incoming, "messages: text content blocks must contain non-whitespace text")
        if _has_blank_part(message):
            raise provider_error(incoming, "messages: text content blocks must be non-empty")


def no_blank_text(incoming: Incoming) -> None:
    """Kimi's providers reject every blank text (quirk C4)."""
    for message in incoming.messages:
        blank = isinstance(message.get("content"), str) and not message["content"].strip()
        is_checked = message["role"] in ("user", "system") or (message["role"] == "assistant" and not calls_of(message))
        if _has_blank_part(message) or (blank and is_checked):
            raise provider_error(incoming, "Invalid request: text content is empty")


def no_empty_string_beside_calls(incoming: Incoming) -> None:
    """A Mistral provider rejected `""` together with calls, but accepted null (recorded; quirk C4)."""
    for message in incoming.messages:
        if message["role"] == "assistant" and message.get("content") == "":
            raise provider_error(incoming, "Assistant message must have content. Got role='assistant' content=''")


def _has_blank_part(message: Message) -> bool:
    texts = [part.get("text") for part in as_objects(message.get("content")) if part.get("type") == "text"]
    return any(not str(text or "").strip() for text in texts)
