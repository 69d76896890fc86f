"""Who may speak after whom, and what a turn must say (quirks C4, C6, C7)."""

from ..http.incoming import Incoming, Message, calls_of, text_of
from ..json_values import as_objects
from .provider_errors import provider_error, provider_of


def no_user_after_tool(incoming: Incoming) -> None:
    """Mistral's roles: after tool results comes the assistant (quirk C7)."""
    for before, message in zip(incoming.messages, incoming.messages[1:], strict=False):
        if before["role"] == "tool" and message["role"] == "user":
            raise provider_error(incoming, "Unexpected role 'user' after role 'tool'", "3230")


def no_prefill(incoming: Incoming) -> None:
    """Claude 4.6 and later refuse a conversation that ends with the assistant's words (quirk C6)."""
    if incoming.messages[-1]["role"] == "assistant":
        said = "This model does not support assistant message prefill. "
        raise provider_error(incoming, said + "The conversation must end with a user message.")


def no_assistant_last(incoming: Incoming) -> None:
    """Mistral answers users and tools only (rig#1130, smolagents#757; quirks C6 and C7)."""
    if incoming.messages[-1]["role"] == "assistant":
        said = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        raise provider_error(incoming, said, "3230")


def no_call_first(incoming: Incoming) -> None:
    """Gemini wants a turn before a call: a history whose beginning was cut off may have none (OmniRoute#13573)."""
    completion = [message for message in incoming.messages if message["role"] not in ("system", "developer")]
    if completion and calls_of(completion[0]):
        said = "Please ensure that function call turn comes immediately after a user turn or after a function response"
        raise provider_error(incoming, f"{said} turn.")


def user_text_is_not_blank(incoming: Incoming) -> None:
    """Anthropic refuses user messages without text or picture (quirk C4)."""
    for at, message in enumerate(incoming.messages):
        pictured = any(part.get("type") != "text" for part in as_objects(message.get("content")))
        if message["role"] == "user" and not text_of(message).strip() and not pictured:
            raise provider_error(incoming, f"messages.{at}: user messages must have non-empty content")


def no_blank_blocks(incoming: Incoming) -> None:
    """Anthropic takes `""` from an assistant, but no blank part and no text of white space (quirk C4).

    On Bedrock a lone space is refused wherever it stands, tool results included.
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
    """Kimi's hosts refuse every blank text (quirk C4)."""
    for message in incoming.messages:
        blank = isinstance(message.get("content"), str) and not message["content"].strip()
        completion = message["role"] in ("user", "system") or (message["role"] == "assistant" and not calls_of(message))
        if _has_blank_part(message) or (blank and completion):
            raise provider_error(incoming, "Invalid request: text content is empty")


def no_empty_string_beside_calls(incoming: Incoming) -> None:
    """A Mistral host was recorded refusing `""` beside calls; null is taken (quirk C4)."""
    for message in incoming.messages:
        if message["role"] == "assistant" and message.get("content") == "":
            raise provider_error(incoming, "Assistant message must have content. Got role='assistant' content=''")


def _has_blank_part(message: Message) -> bool:
    texts = [part.get("text") for part in as_objects(message.get("content")) if part.get("type") == "text"]
    return any(not str(text or "").strip() for text in texts)
