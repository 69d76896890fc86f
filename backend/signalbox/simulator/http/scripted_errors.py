"""The errors of the `sim-error-N` models, with the metadata of real ones."""

import time

from .errors import Rejected

_MESSAGES = {
    400: "Provider returned error",
    401: "User not found.",
    402: "This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only "
    "afford 512. To increase, add more credits to the account.",
    403: "The request was flagged by moderation.",
    404: "No endpoints found that support tool use.",
    408: "The request timed out.",
    413: "The request is too large.",
    422: "The request could not be processed.",
    429: "Rate limit exceeded: free-models-per-min. ",
    500: "Internal Server Error",
    502: "Provider returned error",
    503: "No instances available",
    529: "Provider overloaded",
}


def scripted_error(status: int, provider: str) -> Rejected:
    """Return the error of a status; the body of a 429 has the end of the limit in epoch milliseconds (quirk F1)."""
    metadata: dict[str, object] = {"provider_name": provider, "raw": f"simulated {status}"}
    headers: dict[str, str] = {}
    if status == 429:
        reset = str(int(time.time() * 1000) + 2000)
        metadata["headers"] = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    if status == 503:
        headers["Retry-After"] = "2"
    return Rejected(status, _MESSAGES.get(status, "Simulated error"), metadata=metadata, headers=headers)
