"""OpenRouter's error bodies, with the provider's error inside if a provider rejected the request."""

from typing import Any

import orjson

ERROR_TYPES = {
    400: "invalid_request",
    401: "authentication",
    402: "payment_required",
    403: "permission_denied",
    404: "not_found",
    408: "timeout",
    413: "payload_too_large",
    422: "unprocessable",
    429: "rate_limit_exceeded",
    500: "server",
    502: "provider_unavailable",
    503: "provider_unavailable",
    529: "provider_overloaded",
}


class Rejected(Exception):
    """A request is rejected with an error body."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        metadata: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.metadata = metadata or {}
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """Return the body in OpenRouter's format."""
        metadata = {"error_type": ERROR_TYPES.get(self.status, "unmapped"), **self.metadata}
        error = {"code": self.status, "message": self.message, "metadata": metadata}
        return {"error": error, "user_id": "user_simulated"}


def wrap_provider_error(provider: str, raw: dict[str, Any], status: int = 400) -> Rejected:
    """Return OpenRouter's error for a provider's error, whose JSON is a string in `metadata.raw`."""
    text = orjson.dumps(raw).decode()
    return Rejected(status, "Provider returned error", metadata={"raw": text, "provider_name": provider})
