"""Provider errors in their own words and format, inside OpenRouter's error body."""

from collections.abc import Callable
from typing import Any

from ..accents import ACCENTS
from ..http.errors import Refused, host_refused
from ..http.incoming import Incoming

Rule = Callable[[Incoming], None]
_MISTRAL = {"3230": "invalid_request_message_order", "3240": "invalid_request_assistant_message"}


def host_of(incoming: Incoming) -> str:
    """Return the provider that receives the request."""
    return ACCENTS[incoming.family].provider(incoming.provider_order)


def host_says(incoming: Incoming, message: str, code: str = "") -> Refused:
    """Return the error in the format of the family's provider."""
    match incoming.family:
        case "anthropic":
            raw: dict[str, Any] = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        case "google":
            raw = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
        case "mistralai":
            kind = _MISTRAL.get(code, "invalid_request_error")
            raw = {"object": "error", "message": message, "type": kind, "param": None, "code": code or None}
        case "x-ai":
            raw = {"code": code or "Client specified an invalid argument", "error": message}
        case _:
            fields = {"message": message, "type": "invalid_request_error", "param": None, "code": code or None}
            raw = {"error": fields}
    return host_refused(host_of(incoming), raw)
