"""Content encodings: negotiation, and gzip for large responses that are not streams."""

from collections.abc import Collection, Sequence

from starlette.datastructures import Headers
from starlette.middleware.gzip import (
    DEFAULT_EXCLUDED_CONTENT_TYPES,
    GZipMiddleware,
    GZipResponder,
    IdentityResponder,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from signalbox.core.bounds.offload_thresholds import LARGE

# A smaller response fits into one packet anyway.
_MIN_BYTES = 1024
# Higher levels take twice the time for one percent.
_GZIP_LEVEL = 6
_EXCLUDED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")


def accepted(scope: Scope, offered: Sequence[str]) -> str | None:
    """Return the offered encoding that the request prefers, the first of equal ones; None if it accepts none.

    The header must name an encoding or `*`, and `;q=0` excludes one (RFC 9110, 12.5.3).
    """
    weights = dict(_weighted(part) for part in ",".join(Headers(scope=scope).getlist("accept-encoding")).split(","))
    fallback = weights.get("*", 0.0)
    best = max(offered, key=lambda name: weights.get(name, fallback), default="")
    return best if weights.get(best, fallback) > 0 and best else None


def _weighted(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return name, float(parameter[2:])
            except ValueError:
                return name, 0.0
    return name, 1.0


class Compress(GZipMiddleware):
    """Starlette's gzip, but only for clients that accept it: Starlette ignores `gzip;q=0`.

    `streams` are the content types of streams, which are not compressed: their bodies bypass this middleware.
    """

    def __init__(self, app: ASGIApp, streams: Collection[str]) -> None:
        super().__init__(app, _MIN_BYTES, _GZIP_LEVEL, LARGE, exclude_content_types=(*_EXCLUDED, *streams))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Compress the response if the client accepts it and the body is large enough."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        excluded = self.exclude_content_types
        if accepted(scope, ["gzip"]):
            responder: IdentityResponder = GZipResponder(
                self.app, _MIN_BYTES, _GZIP_LEVEL, thread_minimum_size=LARGE, exclude_content_types=excluded
            )
        else:
            responder = IdentityResponder(self.app, _MIN_BYTES, exclude_content_types=excluded)
        await responder(scope, receive, send)
