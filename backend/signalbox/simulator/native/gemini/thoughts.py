"""Checks the thought signatures of a request (quirks B1, B2 and B4)."""

from ...json_values import as_object
from .contents import Content, Part
from .errors import invalid, violation
from .fields import field
from .model_ids import is_gemini_3
from .signatures import PLACEHOLDERS, decoded, is_signature_of, signs


def check_signatures(model: str, contents: list[Content]) -> None:
    """Raise GeminiError if a signature is missing in the open turn, altered, moved, or from another model."""
    for content in contents:
        for at, part in enumerate(content.parts):
            written = field(part, "thoughtSignature")
            if written is not None:
                _check(model, part, str(written), f"contents[{content.at}].parts[{at}].thought_signature")
    if is_gemini_3(model):
        _none_is_missing(contents)


def _check(model: str, part: Part, written: str, where: str) -> None:
    if written in PLACEHOLDERS:
        return
    if decoded(written) is None:
        text = f"Invalid value at '{where}' (TYPE_BYTES), Base64 decoding failed for \"{written}\""
        raise violation(where, text)
    call = field(part, "functionCall")
    valid = signs(model, written, signed_call(as_object(call))) if call else is_signature_of(model, written)
    if not valid:
        raise invalid("Corrupted thought signature.")


def signed_call(call: Part) -> list[object]:
    """Return what the signature of a function call signs."""
    return [call.get("name"), call.get("args") or {}]


def _none_is_missing(contents: list[Content]) -> None:
    """Check each step since the last question: its first call must be signed."""
    asked = max((content.at for content in contents if content.role == "user" and not content.responses), default=-1)
    for content in contents[asked + 1 :]:
        first = content.calls[0] if content.calls else {}
        if first and not field(first, "thoughtSignature"):
            name = as_object(field(first, "functionCall"))["name"]
            raise invalid(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                f"data, function call `default_api:{name}` , position {content.at + 1}. Please refer to "
                "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )
