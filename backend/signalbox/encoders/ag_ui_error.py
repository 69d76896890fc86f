"""The errors of AG-UI requests: those of contract v1.1, with the names that its fields have there."""

from signalbox.core.errors import RequestError
from signalbox.encoders import v1_error

_NAMES = {"model": "forwardedProps.model"}


def error_of(error: RequestError) -> tuple[int, bytes]:
    """Return the HTTP status and the body of an error."""
    field = _NAMES.get(error.field or "", error.field)
    return v1_error.error_of(RequestError(error.code, error.message, field, status=error.status))
