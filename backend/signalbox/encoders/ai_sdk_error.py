"""Errors for the AI SDK: its client shows the body of an error response to the user, so the body is a sentence."""

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError


def error_of(error: RequestError) -> tuple[int, str]:
    """Return the HTTP status, and what happened and what to do about it."""
    return error.status, error_text(error.code, error.message)


def error_text(code: Code, message: str) -> str:
    """Return a message with the suggested action. Messages about a single field say what to do themselves."""
    return message if code is Code.INVALID_REQUEST else f"{message or CODES[code].sentence} {CODES[code].todo}"
