"""The errors of requests of assistant-ui: those of contract v1.1, with the names that its fields have here."""

from signalbox.core.errors import RequestError
from signalbox.encoders import v1_error

_NAMES = {"parent_id": "parentId", "conversation_id": "threadId", "messages": "commands"}


def error_of(error: RequestError) -> tuple[int, bytes]:
    """Return the HTTP status and the body of an error."""
    field = _NAMES.get(error.field or "", error.field)
    message = error.message
    for name, here in _NAMES.items():
        message = message.replace(name, here) if "_" in name else message
    return v1_error.error_of(RequestError(error.code, message, field, status=error.status))
