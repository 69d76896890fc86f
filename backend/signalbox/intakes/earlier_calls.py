"""What intakes check in a conversation that a client sends: the arguments of earlier calls, and blank questions."""

import orjson

from signalbox.core.bounds.json_depth import is_too_deep
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import Content, JsonObject, JsonValue, Message, TextPart, ToolCall, UserMessage

# Characters of unreadable arguments: as many as events have of a model's.
_MAX_RAW = 2_000


def call_of(call_id: str, name: str, arguments: str | JsonObject) -> ToolCall:
    """Return a call; of arguments that cannot be read only the text, or they would break every later request (A8)."""
    value = arguments if isinstance(arguments, dict) else _object_in(arguments)
    raw = arguments[:_MAX_RAW] if value is None and isinstance(arguments, str) else None
    return ToolCall(id=call_id, name=name, arguments=value or {}, raw=raw)


def _object_in(text: str) -> JsonObject | None:
    """Return the object that a text holds, None if the text cannot be read."""
    try:
        value: JsonValue = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return None
    if is_too_deep(value):  # it could be read, but not written again
        return None
    return value if isinstance(value, dict) else {}


def refuse_blank(message: Message, place: int) -> None:
    """Reject a blank question with a sentence, before the provider rejects it with a 400 (quirk C4)."""
    if isinstance(message, UserMessage) and _is_blank(message.content):
        raise RequestError(Code.INVALID_REQUEST, "The last message is blank.", f"messages.{place}.content")


def _is_blank(content: Content) -> bool:
    if isinstance(content, str):
        return not content.strip()
    return all(isinstance(part, TextPart) and not part.text.strip() for part in content)
