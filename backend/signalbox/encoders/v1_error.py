"""Encodes the errors of contract v1.1: `{"error": {"code", "message", "field"?}}`."""

import orjson

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject


def error_of(error: RequestError) -> tuple[int, bytes]:
    """Return the HTTP status and the body of an error: code, message with the suggested action, invalid field."""
    body: JsonObject = {"code": str(error.code), "message": message_of(error)}
    if error.field:
        body["field"] = error.field
    return error.status, orjson.dumps({"error": body})


def message_of(error: RequestError) -> str:
    """Return what is wrong with a request and what to do."""
    has_field = error.field is not None or error.code is not Code.INVALID_REQUEST  # else there is no field to fix
    return f"{error.message} {CODES[error.code].todo}" if has_field else error.message
