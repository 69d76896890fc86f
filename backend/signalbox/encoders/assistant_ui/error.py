"""Errors for assistant-ui: those of requests are those of contract v1.1, with the names that its fields have here."""

from msgspec import UNSET

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError
from signalbox.core.events import Done
from signalbox.encoders import v1_error

_NAMES = {"parent_id": "parentId", "conversation_id": "threadId", "messages": "commands"}


def error_of(error: RequestError) -> tuple[int, bytes]:
    """Return the HTTP status and the body of a rejected request's error."""
    field = _NAMES.get(error.field or "", error.field)
    message = error.message
    for name, here in _NAMES.items():
        message = message.replace(name, here) if "_" in name else message
    return v1_error.error_of(RequestError(error.code, message, field, status=error.status))


def error_text(done: Done) -> str:
    """Return the sentence that says why a run failed."""
    if done.error is not UNSET:
        return done.error
    return CODES[Code(done.code) if done.code is not UNSET else Code.INTERNAL].sentence
