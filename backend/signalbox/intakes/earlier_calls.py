"""What intakes check in a conversation that a client sends: the arguments of earlier calls, and blank questions."""

from collections import Counter

import orjson
from msgspec import Struct, field

from signalbox.core.bounds.json_depth import is_too_deep
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.handed_calls import handle_in, no_results
from signalbox.core.messages import Content, JsonObject, JsonValue, Message, TextPart, ToolCall, UserMessage

# Characters of invalid arguments that are stored; events show as many.
_MAX_RAW_ARGUMENTS = 2_000


def call_of(call_id: str, name: str, arguments: str | JsonObject) -> ToolCall:
    """Return a call; of invalid arguments only the text is stored, or every later request would fail (quirk A8)."""
    value = arguments if isinstance(arguments, dict) else _object_in(arguments)
    raw = arguments[:_MAX_RAW_ARGUMENTS] if value is None and isinstance(arguments, str) else None
    return ToolCall(id=call_id, name=name, arguments=value or {}, raw=raw)


def _object_in(text: str) -> JsonObject | None:
    """Return the JSON object in a text, an empty one for other JSON, None for invalid JSON."""
    try:
        value: JsonValue = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return None
    if is_too_deep(value):  # it could not be serialized again
        return None
    return value if isinstance(value, dict) else {}


class OpenCalls(Struct):
    """The calls of the message at `place`: their names, and how many results each of them lacks.

    Two calls may have the same id (quirk A15). `takes_handed`: the calls may be those of a stored run, whose names are
    not known here.
    """

    place: int = 0
    names: dict[str, str] = {}
    lacking: Counter[str] = field(default_factory=Counter[str])
    takes_handed: bool = False

    def answer(self, call_id: str, at: str) -> str:
        """Count a result and return the name of its call; raises RequestError for a result too many."""
        if self.takes_handed and call_id not in self.names and handle_in(call_id):
            self.names[call_id], self.lacking[call_id] = "", 1
        if call_id not in self.names:
            words = "This result does not belong to any tool call of the assistant message before it."
            raise RequestError(Code.INVALID_REQUEST, words, at)
        if not self.lacking[call_id]:
            raise RequestError(Code.INVALID_REQUEST, f"There are two results for the tool call {call_id!r}.", at)
        self.lacking[call_id] -= 1
        return self.names[call_id]

    def check_answered(self) -> None:
        """Raise RequestError if a call has no result."""
        if unanswered := +self.lacking:
            raise no_results(unanswered, f"messages.{self.place}")


def reject_blank(message: Message, place: int) -> None:
    """Reject a blank question with a clear message; providers answer 400 (quirk C4)."""
    if isinstance(message, UserMessage) and is_blank(message.content):
        raise RequestError(Code.INVALID_REQUEST, "The last message is blank.", f"messages.{place}.content")


def is_blank(content: Content) -> bool:
    """Return whether the content has no visible part."""
    if isinstance(content, str):
        return not content.strip()
    return all(isinstance(part, TextPart) and not part.text.strip() for part in content)
