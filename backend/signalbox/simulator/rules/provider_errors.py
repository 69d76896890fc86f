"""Provider errors in the provider's format, inside OpenRouter's error body."""

from collections.abc import Callable
from typing import Any

from ..families import FAMILIES
from ..http.errors import Rejected, wrap_provider_error
from ..http.incoming import Incoming

Rule = Callable[[Incoming], None]
_MISTRAL = {"3230": "invalid_request_message_order", "3240": "invalid_request_assistant_message"}


def provider_of(incoming: Incoming) -> str:
    """Return the provider that receives the request."""
    return FAMILIES[incoming.family].provider(incoming.provider_order)


def provider_error(incoming: Incoming, message: str, code: str = "") -> Rejected:
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
    return wrap_provider_error(provider_of(incoming), raw)
