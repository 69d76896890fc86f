"""Describes an answer for `signalbox decode`: what only Gemini's API has."""

from collections.abc import Iterable

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.gemini.values import text_in

# Fields of a part besides its content.
_PLAIN = ("text", "thought", "thoughtSignature", "functionCall")


def described_parts(items: Iterable[JsonObject]) -> JsonObject:
    """Return the signatures, with what they are on, and the kinds of parts that are neither text nor calls."""
    signatures: list[JsonValue] = []
    others: list[JsonValue] = []
    for part in items:
        if signature := text_in(part, "thoughtSignature"):
            signatures.append({"on": _place_of(part), "len": len(signature)})
        others += [key for key in part if key not in _PLAIN]
    return {"thought_signatures": signatures, "other_parts": others}


def _place_of(part: JsonObject) -> str:
    if "functionCall" in part:
        return "functionCall"
    if "text" not in part:
        return "other"
    return "text" if part["text"] else "empty-text"
